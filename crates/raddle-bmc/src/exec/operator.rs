//! Operators: arithmetic with the conversions of C, assignments, and pointer arithmetic.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, Expression, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::Node as Ast;
use raddle_core::outcome::FindingKind;

use super::access::{AccessOrder, UpdateEffect};
use super::{CValue, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, INT, LONG, ULONG, common_type};
use crate::term::{BinaryOp, FALSE, Term};

/// For assignment operators, the operation of a compound assignment: `Some(None)` for `=`, `Some(Some(Plus))` for `+=`.
fn assigned_operation(operator: &BinaryOperator) -> Option<Option<BinaryOperator>> {
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

const UNSUPPORTED_OPERANDS: &str = "this operation is supported on integers and pointers only";

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn eval_unary(
        &mut self,
        unary: &'a UnaryOperatorExpression,
        whole: &'a Ast<Expression>,
    ) -> Result<(CValue, AbiType)> {
        use UnaryOperator as U;
        match unary.operator.node {
            U::Address => {
                let (at, ty) = self.lvalue(&unary.operand)?;
                Ok((CValue::Scalar(at), AbiType::pointer_to(ty)))
            }
            U::Indirection => self.load_lvalue(whole),
            U::Negate => {
                let truth = self.condition(&unary.operand)?;
                let not = self.terms.not(truth);
                Ok(self.bool_to_int(not))
            }
            U::Plus | U::Minus | U::Complement => {
                let (term, from) = self.scalar(&unary.operand)?;
                let ty = from.promoted();
                let term = self.convert(term, &from, &ty)?;
                let zero = self.int_constant(0, &ty);
                let term = match unary.operator.node {
                    U::Minus => self.terms.binary(BinaryOp::Sub, zero, term),
                    U::Complement => self.terms.not(term),
                    _ => term,
                };
                Ok((CValue::Scalar(term), ty))
            }
            U::PostIncrement | U::PostDecrement | U::PreIncrement | U::PreDecrement => {
                let down = matches!(unary.operator.node, U::PostDecrement | U::PreDecrement);
                let post = matches!(unary.operator.node, U::PostIncrement | U::PostDecrement);
                let (at, ty) = self.lvalue(&unary.operand)?;
                self.here = whole.span;
                let one = (self.terms.constant(1, 32), INT);
                let operator = if down { BinaryOperator::Minus } else { BinaryOperator::Plus };
                let (old, new) = self.modify_in_place(at, &ty, &operator, one)?;
                Ok((CValue::Scalar(if post { old } else { new }), ty.unqualified().clone()))
            }
        }
    }

    /// Updates an object by an operation, atomically if its type is. Returns the old value and the new one.
    fn modify_in_place(
        &mut self,
        at: Term,
        ty: &AbiType,
        operator: &BinaryOperator,
        (operand, operand_type): (Term, AbiType),
    ) -> Result<(Term, Term)> {
        let Some(width) = ty.width() else { return self.unsupported(UNSUPPORTED_OPERANDS) };
        let plain = ty.unqualified().clone();
        let compute = |exec: &mut Self, old: Term| -> Result<Term> {
            let (new, from) = exec.apply_operator(
                operator,
                (old, plain.clone()),
                (operand, operand_type.clone()),
            )?;
            exec.convert(new, &from, &plain)
        };
        if ty.is_atomic() {
            let mut result = None;
            let old = self.read_modify_write(at, width, |exec, old| {
                let new = compute(exec, old)?;
                result = Some(new);
                Ok(UpdateEffect::always(new))
            })?;
            return Ok((old, result.unwrap_or(old)));
        }
        let old = self.read(at, width)?;
        let new = compute(self, old)?;
        self.write(at, new, AccessOrder::Plain)?;
        Ok((old, new))
    }

    pub(super) fn eval_binary(
        &mut self,
        binary: &'a BinaryOperatorExpression,
        whole: &'a Ast<Expression>,
    ) -> Result<(CValue, AbiType)> {
        use BinaryOperator as B;
        let operator = &binary.operator.node;
        match operator {
            B::Index => return self.load_lvalue(whole),
            B::LogicalAnd | B::LogicalOr => {
                let is_and = *operator == B::LogicalAnd;
                let first = self.condition(&binary.lhs)?;
                let needs_second = if is_and { first } else { self.terms.not(first) };
                let rhs = &binary.rhs;
                let (second, _) =
                    self.branch(needs_second, |exec| exec.condition(rhs), |_| Ok(FALSE))?;
                let second = second.unwrap_or(FALSE);
                let truth = if is_and {
                    self.terms.and(first, second)
                } else {
                    self.terms.or(first, second)
                };
                return Ok(self.bool_to_int(truth));
            }
            _ => {}
        }
        if let Some(operation) = assigned_operation(operator) {
            return self.eval_assignment(binary, operation, whole);
        }
        let a = self.scalar(&binary.lhs)?;
        let b = self.scalar(&binary.rhs)?;
        self.here = whole.span;
        let (term, ty) = self.apply_operator(operator, a, b)?;
        Ok((CValue::Scalar(term), ty))
    }

    fn eval_assignment(
        &mut self,
        binary: &'a BinaryOperatorExpression,
        operation: Option<BinaryOperator>,
        whole: &'a Ast<Expression>,
    ) -> Result<(CValue, AbiType)> {
        let Some(operator) = operation else {
            let (value, from) = self.eval(&binary.rhs)?;
            let (at, ty) = self.lvalue(&binary.lhs)?;
            self.here = whole.span;
            let value = self.convert_value(value, &from, &ty)?;
            self.store(at, &ty, value.clone())?;
            return Ok((value, ty.unqualified().clone()));
        };
        let operand = self.scalar(&binary.rhs)?;
        let (at, ty) = self.lvalue(&binary.lhs)?;
        self.here = whole.span;
        let (_, new) = self.modify_in_place(at, &ty, &operator, operand)?;
        Ok((CValue::Scalar(new), ty.unqualified().clone()))
    }

    /// Applies an operator other than an assignment to two integers or pointers.
    pub(super) fn apply_operator(
        &mut self,
        operator: &BinaryOperator,
        (a, a_type): (Term, AbiType),
        (b, b_type): (Term, AbiType),
    ) -> Result<(Term, AbiType)> {
        use BinaryOperator as B;
        match operator {
            B::Plus | B::Minus if a_type.is_pointer() || b_type.is_pointer() => {
                return self.pointer_arithmetic(a, &a_type, b, &b_type, *operator == B::Minus);
            }
            B::ShiftLeft | B::ShiftRight => {
                return self.eval_shift(operator, (a, a_type), (b, b_type));
            }
            _ => {}
        }
        let ty = match a_type.is_pointer() || b_type.is_pointer() {
            true => ULONG,
            false => common_type(&a_type, &b_type),
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
            _ => return self.eval_arithmetic(operator, a, b, ty),
        };
        Ok((self.terms.zext(truth, 32), INT))
    }

    /// Arithmetic on operands of the common type `ty`. Adds checks for undefined divisions.
    fn eval_arithmetic(
        &mut self,
        operator: &BinaryOperator,
        a: Term,
        b: Term,
        ty: AbiType,
    ) -> Result<(Term, AbiType)> {
        use BinaryOperator as B;
        let term = match operator {
            B::Plus => self.terms.binary(BinaryOp::Add, a, b),
            B::Minus => self.terms.binary(BinaryOp::Sub, a, b),
            B::Multiply => self.terms.binary(BinaryOp::Mul, a, b),
            B::BitwiseAnd => self.terms.and(a, b),
            B::BitwiseOr => self.terms.or(a, b),
            B::BitwiseXor => self.terms.binary(BinaryOp::Xor, a, b),
            B::Divide | B::Modulo => {
                let is_remainder = *operator == B::Modulo;
                let is_zero = self.terms.is(b, 0);
                self.fails_if(is_zero, FindingKind::Division, "a division by zero");
                if ty.is_signed() {
                    let width = self.terms.width(a);
                    let (least, minus_one) =
                        (self.terms.is(a, 1 << (width - 1)), self.terms.is(b, u64::MAX));
                    let overflow = self.terms.and(least, minus_one);
                    self.fails_if(
                        overflow,
                        FindingKind::Division,
                        "a division whose result overflows",
                    );
                    self.terms.signed_division(a, b, is_remainder)
                } else {
                    let op = if is_remainder { BinaryOp::Urem } else { BinaryOp::Udiv };
                    self.terms.binary(op, a, b)
                }
            }
            _ => return self.unsupported(UNSUPPORTED_OPERANDS),
        };
        Ok((term, ty))
    }

    /// Shifts. The distance is taken modulo the width, as x86-64 does.
    fn eval_shift(
        &mut self,
        operator: &BinaryOperator,
        (a, a_type): (Term, AbiType),
        (b, b_type): (Term, AbiType),
    ) -> Result<(Term, AbiType)> {
        let ty = a_type.promoted();
        let a = self.convert(a, &a_type, &ty)?;
        let by = self.convert(b, &b_type, &ty)?;
        let width = self.terms.width(a);
        let max_distance = self.terms.constant(u64::from(width) - 1, width);
        let by = self.terms.and(by, max_distance);
        let op = match operator {
            BinaryOperator::ShiftLeft => BinaryOp::Shl,
            _ if ty.is_signed() => BinaryOp::Ashr,
            _ => BinaryOp::Lshr,
        };
        Ok((self.terms.binary(op, a, by), ty))
    }

    /// The sum of a pointer and an integer, or the difference of a pointer and an integer or two pointers.
    pub(super) fn pointer_arithmetic(
        &mut self,
        a: Term,
        a_type: &AbiType,
        b: Term,
        b_type: &AbiType,
        is_difference: bool,
    ) -> Result<(Term, AbiType)> {
        if a_type.is_pointer() && b_type.is_pointer() {
            let size = self.size(a_type.target().unwrap_or(&AbiType::Void))?;
            let bytes = self.terms.binary(BinaryOp::Sub, a, b);
            let size = self.terms.constant(size, 64);
            return Ok((self.terms.signed_division(bytes, size, false), LONG));
        }
        let (pointer, pointer_type, index, index_type) = match a_type.is_pointer() {
            true => (a, a_type, b, b_type),
            false => (b, b_type, a, a_type),
        };
        let Some(target) = pointer_type.target() else {
            return self.unsupported("the indexed expression is not a pointer or array");
        };
        let size = self.size(target)?;
        let index = self.terms.resize(index, 64, index_type.is_signed());
        let size = self.terms.constant(size, 64);
        let bytes = self.terms.binary(BinaryOp::Mul, index, size);
        let op = if is_difference { BinaryOp::Sub } else { BinaryOp::Add };
        Ok((self.terms.binary(op, pointer, bytes), pointer_type.unqualified().clone()))
    }
}
