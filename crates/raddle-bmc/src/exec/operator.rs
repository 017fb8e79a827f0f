//! Operators: arithmetic with C's conversions, assignments, pointers.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, Expression, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::Node as Ast;

use super::access::Order;
use super::{Exec, Result, Value};
use crate::term::{BinaryOp, FALSE, TRUE, Term};
use crate::types::{INT, LONG, Type, ULONG, usual};

/// What an assignment does, if it is not only one.
fn assigning(operator: &BinaryOperator) -> Option<Option<BinaryOperator>> {
    use BinaryOperator as B;
    Some(match operator {
        B::Assign => None,
        B::AssignMultiply => Some(B::Multiply),
        B::AssignDivide => Some(B::Divide),
        B::AssignModulo => Some(B::Modulo),
        B::AssignPlus => Some(B::Plus),
        B::AssignMinus => Some(B::Minus),
        B::AssignShiftLeft => Some(B::ShiftLeft),
        B::AssignShiftRight => Some(B::ShiftRight),
        B::AssignBitwiseAnd => Some(B::BitwiseAnd),
        B::AssignBitwiseXor => Some(B::BitwiseXor),
        B::AssignBitwiseOr => Some(B::BitwiseOr),
        _ => return None,
    })
}

impl<'a> Exec<'a> {
    pub(super) fn unary(
        &mut self,
        unary: &'a UnaryOperatorExpression,
        whole: &'a Ast<Expression>,
    ) -> Result<(Value, Type)> {
        use UnaryOperator as U;
        match unary.operator.node {
            U::Address => {
                let (at, ty) = self.lvalue(&unary.operand)?;
                Ok((Value::Scalar(at), Type::pointer(ty)))
            }
            U::Indirection => self.place_value(whole),
            U::Negate => {
                let truth = self.condition(&unary.operand)?;
                let not = self.terms.not(truth);
                Ok(self.boolean(not))
            }
            U::Plus | U::Minus | U::Complement => {
                let (term, from) = self.scalar(&unary.operand)?;
                let ty = from.promoted();
                let term = self.convert(term, &from, &ty)?;
                let zero = self.number(0, &ty);
                let term = match unary.operator.node {
                    U::Minus => self.terms.binary(BinaryOp::Sub, zero, term),
                    U::Complement => self.terms.not(term),
                    _ => term,
                };
                Ok((Value::Scalar(term), ty))
            }
            U::PostIncrement | U::PostDecrement | U::PreIncrement | U::PreDecrement => {
                let down = matches!(unary.operator.node, U::PostDecrement | U::PreDecrement);
                let post = matches!(unary.operator.node, U::PostIncrement | U::PostDecrement);
                let (at, ty) = self.lvalue(&unary.operand)?;
                self.here = whole.span;
                let one = (self.terms.constant(1, 32), INT);
                let operator = if down { BinaryOperator::Minus } else { BinaryOperator::Plus };
                let (old, new) = self.modify(at, &ty, &operator, one)?;
                Ok((Value::Scalar(if post { old } else { new }), ty.plain().clone()))
            }
        }
    }

    /// Changes a variable by an operation: what was there, and what is.
    fn modify(
        &mut self,
        at: Term,
        ty: &Type,
        operator: &BinaryOperator,
        (operand, operand_type): (Term, Type),
    ) -> Result<(Term, Term)> {
        let Some(width) = ty.width() else { return self.refuse("an operation on this type") };
        let plain = ty.plain().clone();
        let compute = |exec: &mut Self, old: Term| -> Result<Term> {
            let (new, from) =
                exec.apply(operator, (old, plain.clone()), (operand, operand_type.clone()))?;
            exec.convert(new, &from, &plain)
        };
        if ty.is_atomic() {
            let mut result = None;
            let old = self.update(at, width, |exec, old| {
                let new = compute(exec, old)?;
                result = Some(new);
                Ok((new, TRUE, TRUE))
            })?;
            return Ok((old, result.unwrap_or(old)));
        }
        let old = self.read(at, width)?;
        let new = compute(self, old)?;
        self.write(at, new, Order::Plain)?;
        Ok((old, new))
    }

    pub(super) fn binary(
        &mut self,
        binary: &'a BinaryOperatorExpression,
        whole: &'a Ast<Expression>,
    ) -> Result<(Value, Type)> {
        use BinaryOperator as B;
        let operator = &binary.operator.node;
        match operator {
            B::Index => return self.place_value(whole),
            B::LogicalAnd | B::LogicalOr => {
                let is_and = *operator == B::LogicalAnd;
                let first = self.condition(&binary.lhs)?;
                let goes_on = if is_and { first } else { self.terms.not(first) };
                let rhs = &binary.rhs;
                let (second, _) =
                    self.branch(goes_on, |exec| exec.condition(rhs), |_| Ok(FALSE))?;
                let second = second.unwrap_or(FALSE);
                let truth = if is_and {
                    self.terms.and(first, second)
                } else {
                    self.terms.or(first, second)
                };
                return Ok(self.boolean(truth));
            }
            _ => {}
        }
        if let Some(inner) = assigning(operator) {
            return self.assign(binary, inner, whole);
        }
        let a = self.scalar(&binary.lhs)?;
        let b = self.scalar(&binary.rhs)?;
        self.here = whole.span;
        let (term, ty) = self.apply(operator, a, b)?;
        Ok((Value::Scalar(term), ty))
    }

    fn assign(
        &mut self,
        binary: &'a BinaryOperatorExpression,
        inner: Option<BinaryOperator>,
        whole: &'a Ast<Expression>,
    ) -> Result<(Value, Type)> {
        let Some(operator) = inner else {
            let (value, from) = self.eval(&binary.rhs)?;
            let (at, ty) = self.lvalue(&binary.lhs)?;
            self.here = whole.span;
            let value = self.convert_value(value, &from, &ty)?;
            self.store(at, &ty, value.clone())?;
            return Ok((value, ty.plain().clone()));
        };
        let operand = self.scalar(&binary.rhs)?;
        let (at, ty) = self.lvalue(&binary.lhs)?;
        self.here = whole.span;
        let (_, new) = self.modify(at, &ty, &operator, operand)?;
        Ok((Value::Scalar(new), ty.plain().clone()))
    }

    /// An operation on two numbers or pointers.
    pub(super) fn apply(
        &mut self,
        operator: &BinaryOperator,
        (a, a_type): (Term, Type),
        (b, b_type): (Term, Type),
    ) -> Result<(Term, Type)> {
        use BinaryOperator as B;
        match operator {
            B::Plus | B::Minus if a_type.is_pointer() || b_type.is_pointer() => {
                return self.add(a, &a_type, b, &b_type, *operator == B::Minus);
            }
            B::ShiftLeft | B::ShiftRight => return self.shift(operator, (a, a_type), (b, b_type)),
            _ => {}
        }
        let ty = match a_type.is_pointer() || b_type.is_pointer() {
            true => ULONG,
            false => usual(&a_type, &b_type),
        };
        let (a, b) = (self.convert(a, &a_type, &ty)?, self.convert(b, &b_type, &ty)?);
        let less = if ty.is_signed() { BinaryOp::Slt } else { BinaryOp::Ult };
        let truth = match operator {
            B::Less => self.terms.binary(less, a, b),
            B::Greater => self.terms.binary(less, b, a),
            B::LessOrEqual => {
                let greater = self.terms.binary(less, b, a);
                self.terms.not(greater)
            }
            B::GreaterOrEqual => {
                let less = self.terms.binary(less, a, b);
                self.terms.not(less)
            }
            B::Equals => self.terms.eq(a, b),
            B::NotEquals => self.terms.ne(a, b),
            _ => return self.arithmetic(operator, a, b, ty),
        };
        Ok((self.terms.zext(truth, 32), INT))
    }

    fn arithmetic(
        &mut self,
        operator: &BinaryOperator,
        a: Term,
        b: Term,
        ty: Type,
    ) -> Result<(Term, Type)> {
        use BinaryOperator as B;
        let term = match operator {
            B::Plus => self.terms.binary(BinaryOp::Add, a, b),
            B::Minus => self.terms.binary(BinaryOp::Sub, a, b),
            B::Multiply => self.terms.binary(BinaryOp::Mul, a, b),
            B::BitwiseAnd => self.terms.and(a, b),
            B::BitwiseOr => self.terms.or(a, b),
            B::BitwiseXor => self.terms.binary(BinaryOp::Xor, a, b),
            B::Divide | B::Modulo => {
                let remainder = *operator == B::Modulo;
                let zero = self.terms.is(b, 0);
                self.fails_if(zero, "division", "a division by zero");
                if ty.is_signed() {
                    let width = self.terms.width(a);
                    let (least, minus_one) =
                        (self.terms.is(a, 1 << (width - 1)), self.terms.is(b, u64::MAX));
                    let overflow = self.terms.and(least, minus_one);
                    self.fails_if(overflow, "division", "a division whose result is too large");
                    self.terms.signed_division(a, b, remainder)
                } else {
                    self.terms.binary(if remainder { BinaryOp::Urem } else { BinaryOp::Udiv }, a, b)
                }
            }
            _ => return self.refuse("this operation"),
        };
        Ok((term, ty))
    }

    /// The number of places is taken modulo the width, as the machine does.
    fn shift(
        &mut self,
        operator: &BinaryOperator,
        (a, a_type): (Term, Type),
        (b, b_type): (Term, Type),
    ) -> Result<(Term, Type)> {
        let ty = a_type.promoted();
        let a = self.convert(a, &a_type, &ty)?;
        let by = self.convert(b, &b_type, &ty)?;
        let width = self.terms.width(a);
        let places = self.terms.constant(u64::from(width) - 1, width);
        let by = self.terms.and(by, places);
        let op = match operator {
            BinaryOperator::ShiftLeft => BinaryOp::Shl,
            _ if ty.is_signed() => BinaryOp::Ashr,
            _ => BinaryOp::Lshr,
        };
        Ok((self.terms.binary(op, a, by), ty))
    }

    /// A sum or difference with a pointer.
    pub(super) fn add(
        &mut self,
        a: Term,
        a_type: &Type,
        b: Term,
        b_type: &Type,
        minus: bool,
    ) -> Result<(Term, Type)> {
        if a_type.is_pointer() && b_type.is_pointer() {
            let size = self.size(a_type.target().unwrap_or(&Type::Void))?;
            let bytes = self.terms.binary(BinaryOp::Sub, a, b);
            let size = self.terms.constant(size, 64);
            return Ok((self.terms.signed_division(bytes, size, false), LONG));
        }
        let (pointer, pointer_type, index, index_type) = match a_type.is_pointer() {
            true => (a, a_type, b, b_type),
            false => (b, b_type, a, a_type),
        };
        let Some(target) = pointer_type.target() else {
            return self.refuse("an index of what is no pointer");
        };
        let size = self.size(target)?;
        let index = self.terms.resize(index, 64, index_type.is_signed());
        let size = self.terms.constant(size, 64);
        let bytes = self.terms.binary(BinaryOp::Mul, index, size);
        let op = if minus { BinaryOp::Sub } else { BinaryOp::Add };
        Ok((self.terms.binary(op, pointer, bytes), pointer_type.plain().clone()))
    }
}
