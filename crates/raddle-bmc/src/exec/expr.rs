//! Expressions, but those with an address (`place`) and operators (`operator`).

use lang_c::ast::{Constant, Expression, Integer, IntegerBase, IntegerSize, OffsetMember};
use lang_c::span::Node as Ast;

use super::{Exec, Result, State, Symbol, Value};
use crate::term::{FALSE, Term};
use crate::types::{INT, LONG, Type, UINT, ULONG, usual};

impl<'a> Exec<'a> {
    /// An integer constant as a term of a type.
    pub(super) fn number(&mut self, value: u64, ty: &Type) -> Term {
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
}
