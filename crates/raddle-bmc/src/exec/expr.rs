//! Expressions.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, Constant, Expression, Integer, IntegerBase,
    IntegerSize, MemberExpression, MemberOperator, OffsetMember, UnaryOperator,
    UnaryOperatorExpression,
};
use lang_c::span::Node as Ast;

use super::access::Order;
use super::{Exec, Result, State, Symbol, Value};
use crate::space::spot;
use crate::term::{FALSE, Op, TRUE, Term};
use crate::types::{CHAR, INT, LONG, Type, UINT, ULONG, usual};

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
    /// An integer constant as a term of a type.
    fn number(&mut self, value: u64, ty: &Type) -> Term {
        self.terms.constant(value, ty.width().unwrap_or(32))
    }

    /// A truth value as an `int`.
    pub(super) fn boolean(&mut self, truth: Term) -> (Value, Type) {
        (Value::Scalar(self.terms.zext(truth, 32)), INT)
    }

    /// A scalar, with its type.
    pub(super) fn scalar(&mut self, expression: &'a Ast<Expression>) -> Result<(Term, Type)> {
        match self.eval(expression)? {
            (Value::Scalar(term), ty) => Ok((term, ty)),
            (Value::Record(_), _) => self.refuse("a structure where a number is needed"),
        }
    }

    /// Whether an expression is not zero.
    pub(super) fn condition(&mut self, expression: &'a Ast<Expression>) -> Result<Term> {
        let (term, _) = self.scalar(expression)?;
        Ok(self.terms.truth(term))
    }

    /// A scalar converted to another type.
    pub(super) fn convert(&mut self, term: Term, from: &Type, to: &Type) -> Result<Term> {
        match to.plain() {
            Type::Bool => {
                let truth = self.terms.truth(term);
                Ok(self.terms.zext(truth, 8))
            }
            Type::Void => Ok(term),
            Type::Float => self.refuse("floating point"),
            other => match other.width() {
                Some(width) => Ok(self.terms.resize(term, width, from.is_signed())),
                None => self.refuse("a conversion to this type"),
            },
        }
    }

    pub(super) fn convert_value(&mut self, value: Value, from: &Type, to: &Type) -> Result<Value> {
        match value {
            Value::Scalar(term) => self.convert(term, from, to).map(Value::Scalar),
            record => Ok(record),
        }
    }

    /// Executes one of two things and has the value of either.
    pub(super) fn branch<R>(
        &mut self,
        condition: Term,
        then: impl FnOnce(&mut Self) -> Result<R>,
        other: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(Option<R>, Option<R>)> {
        let before = self.state.clone();
        let not = self.terms.not(condition);
        let yes = self.terms.and(before.guard, condition);
        let no = self.terms.and(before.guard, not);
        let mut first = None;
        self.state.guard = yes;
        if yes != FALSE {
            first = Some(then(self)?);
        }
        let after_then = std::mem::replace(&mut self.state, State { guard: no, ..before.clone() });
        let mut second = None;
        if no != FALSE {
            second = Some(other(self)?);
        }
        let after_other = self.state.clone();
        let whole = after_then.guard == yes && after_other.guard == no;
        self.state = self.merge(condition, after_then, after_other);
        if whole {
            self.state.guard = before.guard;
        }
        Ok((first, second))
    }

    /// One of two values.
    pub(super) fn choose(
        &mut self,
        condition: Term,
        a: Option<Value>,
        b: Option<Value>,
    ) -> Option<Value> {
        match (a, b) {
            (Some(Value::Scalar(a)), Some(Value::Scalar(b)))
                if self.terms.width(a) == self.terms.width(b) =>
            {
                Some(Value::Scalar(self.terms.ite(condition, a, b)))
            }
            (Some(Value::Record(a)), Some(Value::Record(b))) => {
                let parts = a.into_iter().zip(b);
                Some(Value::Record(parts.map(|(a, b)| self.terms.ite(condition, a, b)).collect()))
            }
            (a, b) => a.or(b),
        }
    }

    /// The value of an expression, with its type.
    pub(super) fn eval(&mut self, expression: &'a Ast<Expression>) -> Result<(Value, Type)> {
        self.here = expression.span;
        match &expression.node {
            Expression::Constant(constant) => self.literal(&constant.node),
            Expression::Identifier(name) => {
                if let Some(Symbol::Constant(value)) = self.lookup(&name.node.name) {
                    let ty = if i32::try_from(value).is_ok() { INT } else { LONG };
                    return Ok((Value::Scalar(self.number(value as u64, &ty)), ty));
                }
                self.place_value(expression)
            }
            Expression::StringLiteral(_)
            | Expression::Member(_)
            | Expression::CompoundLiteral(_) => self.place_value(expression),
            Expression::Call(call) => self.eval_call(&call.node, expression.span),
            Expression::SizeOfTy(of) => {
                let ty = self.type_name(&of.node.0.node)?;
                let size = self.size(&ty)?;
                Ok((Value::Scalar(self.terms.constant(size, 64)), ULONG))
            }
            Expression::SizeOfVal(of) => {
                let ty = self.type_of(&of.node.0)?;
                let size = self.size(&ty)?;
                Ok((Value::Scalar(self.terms.constant(size, 64)), ULONG))
            }
            Expression::AlignOf(of) => {
                let ty = self.type_name(&of.node.0.node)?;
                let align = self.align(&ty)?;
                Ok((Value::Scalar(self.terms.constant(align, 64)), ULONG))
            }
            Expression::UnaryOperator(unary) => self.unary(&unary.node, expression),
            Expression::Cast(cast) => {
                let to = self.type_name(&cast.node.type_name.node)?;
                let (value, from) = self.eval(&cast.node.expression)?;
                let value = self.convert_value(value, &from, &to)?;
                Ok((value, to.plain().clone()))
            }
            Expression::BinaryOperator(binary) => self.binary(&binary.node, expression),
            Expression::Conditional(conditional) => {
                let condition = self.condition(&conditional.node.condition)?;
                let (then, other) =
                    (&conditional.node.then_expression, &conditional.node.else_expression);
                self.conditional(condition, then, other)
            }
            Expression::Comma(all) => {
                let mut last = None;
                for expression in all.iter() {
                    last = Some(self.eval(expression)?);
                }
                last.map_or_else(|| self.refuse("an empty expression"), Ok)
            }
            Expression::OffsetOf(of) => {
                let mut ty = self.type_name(&of.node.type_name.node)?;
                let designator = &of.node.designator.node;
                let (mut offset, next) = self.field(&ty, &designator.base.node.name)?;
                ty = next;
                for member in &designator.members {
                    match &member.node {
                        OffsetMember::Member(name) => {
                            let (by, next) = self.field(&ty, &name.node.name)?;
                            (offset, ty) = (offset + by, next);
                        }
                        _ => return self.refuse("this form of offsetof"),
                    }
                }
                Ok((Value::Scalar(self.terms.constant(offset, 64)), ULONG))
            }
            Expression::Statement(statement) => self.statement_value(statement),
            Expression::GenericSelection(_) => self.refuse("_Generic"),
            Expression::VaArg(_) => self.refuse("va_arg"),
        }
    }

    fn conditional(
        &mut self,
        condition: Term,
        then: &'a Ast<Expression>,
        other: &'a Ast<Expression>,
    ) -> Result<(Value, Type)> {
        let (a, b) = self.branch(condition, |exec| exec.eval(then), |exec| exec.eval(other))?;
        let ty = match (&a, &b) {
            (Some((_, a)), Some((_, b))) if a.is_integer() && b.is_integer() => usual(a, b),
            (Some((_, a)), Some((_, b))) => {
                let is_void = |ty: &Type| matches!(ty.target(), None | Some(Type::Void));
                if a.is_pointer() && !is_void(a) || !b.is_pointer() { a.clone() } else { b.clone() }
            }
            (Some((_, ty)), None) | (None, Some((_, ty))) => {
                let ty = ty.clone();
                let (dead, _) = if a.is_some() { (other, 0) } else { (then, 0) };
                match self.type_of(dead) {
                    Ok(second) if ty.is_integer() && second.is_integer() => usual(&ty, &second),
                    Ok(second) if second.is_pointer() && ty.is_integer() => second,
                    _ => ty,
                }
            }
            (None, None) => INT,
        };
        let mut fitting = |side: Option<(Value, Type)>| match side {
            Some((value, from)) if ty.is_scalar() && from.is_scalar() => {
                self.convert_value(value, &from, &ty).map(Some)
            }
            side => Ok(side.map(|(value, _)| value)),
        };
        let (a, b) = (fitting(a)?, fitting(b)?);
        let value = self.choose(condition, a, b);
        Ok((value.unwrap_or_else(|| Value::Scalar(self.terms.constant(0, 32))), ty))
    }

    fn literal(&mut self, constant: &Constant) -> Result<(Value, Type)> {
        match constant {
            Constant::Integer(integer) => self.integer(integer),
            Constant::Character(text) => {
                let inner = text.trim_start_matches(['L', 'u', 'U']).trim_matches('\'');
                let mut bytes = inner.bytes().peekable();
                let byte = match bytes.next() {
                    Some(b'\\') => super::init::escape(&mut bytes),
                    Some(byte) => byte,
                    None => b'\'',
                };
                if bytes.next().is_some() {
                    return self.refuse("a character constant of several characters");
                }
                let value = i64::from(byte as i8) as u64;
                Ok((Value::Scalar(self.terms.constant(value, 32)), INT))
            }
            Constant::Float(_) => self.refuse("floating point"),
        }
    }

    fn integer(&mut self, integer: &Integer) -> Result<(Value, Type)> {
        let base = match integer.base {
            IntegerBase::Decimal => 10,
            IntegerBase::Octal => 8,
            IntegerBase::Hexadecimal => 16,
            IntegerBase::Binary => 2,
        };
        let digits = if integer.number.is_empty() { "0" } else { &*integer.number };
        let Ok(value) = u64::from_str_radix(digits, base) else {
            return self.refuse("a number that is too large");
        };
        let (is_long, unsigned) =
            (integer.suffix.size != IntegerSize::Int, integer.suffix.unsigned);
        let any_sign = base != 10 || unsigned;
        let ty = match value {
            _ if !is_long && !unsigned && value <= i32::MAX as u64 => INT,
            _ if !is_long && any_sign && value <= u64::from(u32::MAX) => UINT,
            _ if !unsigned && value <= i64::MAX as u64 => LONG,
            _ => ULONG,
        };
        Ok((Value::Scalar(self.number(value, &ty)), ty))
    }

    /// The value of something that has an address; arrays and functions become pointers.
    fn place_value(&mut self, expression: &'a Ast<Expression>) -> Result<(Value, Type)> {
        let (at, ty) = self.lvalue(expression)?;
        self.here = expression.span;
        match ty.plain() {
            Type::Array(of, _) => Ok((Value::Scalar(at), Type::Pointer(of.clone()))),
            Type::Function(_) => Ok((Value::Scalar(at), Type::pointer(ty))),
            _ => {
                let value = self.load(at, &ty)?;
                Ok((value, ty.plain().clone()))
            }
        }
    }

    /// The type of something that has an address; nothing if it has none.
    pub(super) fn lvalue_type(&mut self, expression: &'a Ast<Expression>) -> Result<Option<Type>> {
        match &expression.node {
            Expression::Identifier(name)
                if matches!(self.lookup(&name.node.name), Some(Symbol::Constant(_))) =>
            {
                Ok(None)
            }
            Expression::Identifier(_)
            | Expression::StringLiteral(_)
            | Expression::CompoundLiteral(_) => self.lvalue(expression).map(|(_, ty)| Some(ty)),
            Expression::Member(member) => {
                let inner = &member.node.expression;
                let of = match member.node.operator.node {
                    MemberOperator::Direct => self.type_of(inner)?,
                    MemberOperator::Indirect => {
                        let ty = self.type_of(inner)?;
                        ty.target().cloned().unwrap_or(ty)
                    }
                };
                self.field(&of, &member.node.identifier.node.name).map(|(_, ty)| Some(ty))
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let ty = self.type_of(&unary.node.operand)?;
                Ok(ty.target().cloned())
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let ty = self.type_of(&binary.node.lhs)?;
                Ok(ty.target().cloned())
            }
            _ => Ok(None),
        }
    }

    /// The address and type of something that has an address.
    pub(super) fn lvalue(&mut self, expression: &'a Ast<Expression>) -> Result<(Term, Type)> {
        self.here = expression.span;
        match &expression.node {
            Expression::Identifier(name) => self.named(&name.node.name),
            Expression::StringLiteral(text) => {
                let (at, size) = self.string(spot(text.span), &text.node)?;
                Ok((at, Type::Array(std::rc::Rc::new(CHAR), Some(size))))
            }
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name.node)?;
                self.here = expression.span;
                self.compound(ty, &literal.node.initializer_list)
            }
            Expression::Member(member) => self.member(&member.node),
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let (at, ty) = self.scalar(&unary.node.operand)?;
                self.pointed(at, &ty)
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let (a, a_type) = self.scalar(&binary.node.lhs)?;
                let (b, b_type) = self.scalar(&binary.node.rhs)?;
                self.here = expression.span;
                let (at, ty) = self.add(a, &a_type, b, &b_type, false)?;
                self.pointed(at, &ty)
            }
            _ => match self.eval(expression)? {
                // A structure that a function returned: an object of its own.
                (value @ Value::Record(_), ty) => {
                    let size = self.size(&ty)?;
                    let object = self.make("(value)", size, false);
                    let at = self.address(object);
                    self.store(at, &ty, value)?;
                    Ok((at, ty))
                }
                _ => self.refuse("something that has no address"),
            },
        }
    }

    fn pointed(&mut self, at: Term, ty: &Type) -> Result<(Term, Type)> {
        match ty.target() {
            Some(target) => Ok((at, target.clone())),
            None => self.refuse("something that is no pointer is followed"),
        }
    }

    fn member(&mut self, member: &'a MemberExpression) -> Result<(Term, Type)> {
        let (at, ty) = match member.operator.node {
            MemberOperator::Direct => self.lvalue(&member.expression)?,
            MemberOperator::Indirect => {
                let (at, ty) = self.scalar(&member.expression)?;
                self.pointed(at, &ty)?
            }
        };
        let (offset, field) = self.field(&ty, &member.identifier.node.name)?;
        Ok((self.offset(at, offset), field))
    }

    /// Where a field is, and its type.
    pub(super) fn field(&self, ty: &Type, name: &str) -> Result<(u64, Type)> {
        let Type::Record(number) = ty.plain() else {
            return self.refuse(format!("a field {name} of what is no structure"));
        };
        let record = &self.records[*number];
        let Some(fields) = &record.fields else {
            return self.refuse(format!("struct {} is not defined", record.name));
        };
        for field in fields {
            match &field.name {
                Some(known) if known == name => return Ok((field.offset, field.ty.clone())),
                None if matches!(field.ty, Type::Record(_)) => {
                    if let Ok((offset, ty)) = self.field(&field.ty, name) {
                        return Ok((field.offset + offset, ty));
                    }
                }
                _ => {}
            }
        }
        self.refuse(format!("struct {} has no field {name}", record.name))
    }

    fn unary(
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
                    U::Minus => self.terms.binary(Op::Sub, zero, term),
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

    fn binary(
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
        let less = if ty.is_signed() { Op::Slt } else { Op::Ult };
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
            B::Plus => self.terms.binary(Op::Add, a, b),
            B::Minus => self.terms.binary(Op::Sub, a, b),
            B::Multiply => self.terms.binary(Op::Mul, a, b),
            B::BitwiseAnd => self.terms.and(a, b),
            B::BitwiseOr => self.terms.or(a, b),
            B::BitwiseXor => self.terms.binary(Op::Xor, a, b),
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
                    self.terms.binary(if remainder { Op::Urem } else { Op::Udiv }, a, b)
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
            BinaryOperator::ShiftLeft => Op::Shl,
            _ if ty.is_signed() => Op::Ashr,
            _ => Op::Lshr,
        };
        Ok((self.terms.binary(op, a, by), ty))
    }

    /// A sum or difference with a pointer.
    fn add(
        &mut self,
        a: Term,
        a_type: &Type,
        b: Term,
        b_type: &Type,
        minus: bool,
    ) -> Result<(Term, Type)> {
        if a_type.is_pointer() && b_type.is_pointer() {
            let size = self.size(a_type.target().unwrap_or(&Type::Void))?;
            let bytes = self.terms.binary(Op::Sub, a, b);
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
        let bytes = self.terms.binary(Op::Mul, index, size);
        let op = if minus { Op::Sub } else { Op::Add };
        Ok((self.terms.binary(op, pointer, bytes), pointer_type.plain().clone()))
    }
}
