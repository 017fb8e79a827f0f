//! Evaluation of expressions. Lvalues are in `lvalue`, operators in `operator`.

use lang_c::ast::{Constant, Expression, Integer, IntegerBase, IntegerSize, OffsetMember};
use lang_c::span::Node as Ast;

use super::{CSymbol, CValue, FLOATING_POINT, PathState, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, INT, LONG, UINT, ULONG, common_type};
use crate::term::{FALSE, Term};

impl<'a> SymbolicExecutor<'a> {
    /// A constant of an integer type.
    pub(super) fn int_constant(&mut self, value: u64, ty: &AbiType) -> Term {
        self.terms.constant(value, ty.width().unwrap_or(32))
    }

    /// A truth value as an `int`.
    pub(super) fn bool_to_int(&mut self, truth: Term) -> (CValue, AbiType) {
        (CValue::Scalar(self.terms.zext(truth, 32)), INT)
    }

    /// The value of a scalar expression, with its type.
    pub(super) fn scalar(&mut self, expression: &'a Ast<Expression>) -> Result<(Term, AbiType)> {
        match self.eval(expression)? {
            (CValue::Scalar(term), ty) => Ok((term, ty)),
            (CValue::Record(_), _) => {
                self.unsupported("a structure is used where a scalar is expected")
            }
        }
    }

    /// The truth value of an expression: whether it is not zero.
    pub(super) fn condition(&mut self, expression: &'a Ast<Expression>) -> Result<Term> {
        let (term, _) = self.scalar(expression)?;
        Ok(self.terms.truth(term))
    }

    /// Converts a scalar to another type.
    pub(super) fn convert(&mut self, term: Term, from: &AbiType, to: &AbiType) -> Result<Term> {
        match to.unqualified() {
            AbiType::Bool => {
                let truth = self.terms.truth(term);
                Ok(self.terms.zext(truth, 8))
            }
            AbiType::Void => Ok(term),
            AbiType::Float => self.unsupported(FLOATING_POINT),
            other => match other.width() {
                Some(width) => Ok(self.terms.resize(term, width, from.is_signed())),
                None => self.unsupported("conversions to this type are not supported"),
            },
        }
    }

    /// Converts a scalar; structures remain as they are.
    pub(super) fn convert_value(
        &mut self,
        value: CValue,
        from: &AbiType,
        to: &AbiType,
    ) -> Result<CValue> {
        match value {
            CValue::Scalar(term) => self.convert(term, from, to).map(CValue::Scalar),
            record => Ok(record),
        }
    }

    /// Executes two alternatives under a condition and its negation, and merges their states. Returns their results;
    /// `None` for an alternative that is infeasible.
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
        let after_then =
            std::mem::replace(&mut self.state, PathState { guard: no, ..before.clone() });
        let mut second = None;
        if no != FALSE {
            second = Some(other(self)?);
        }
        let after_other = self.state.clone();
        // If no path ended in an alternative, the guard is that before the branch, which is simpler.
        let no_path_ended = after_then.guard == yes && after_other.guard == no;
        self.state = self.merge(condition, after_then, after_other);
        if no_path_ended {
            self.state.guard = before.guard;
        }
        Ok((first, second))
    }

    /// `a` if the condition is true, otherwise `b`. If one of them is missing or their shapes differ, the one that
    /// exists.
    pub(super) fn select_value(
        &mut self,
        condition: Term,
        a: Option<CValue>,
        b: Option<CValue>,
    ) -> Option<CValue> {
        match (a, b) {
            (Some(CValue::Scalar(a)), Some(CValue::Scalar(b)))
                if self.terms.width(a) == self.terms.width(b) =>
            {
                Some(CValue::Scalar(self.terms.ite(condition, a, b)))
            }
            (Some(CValue::Record(a)), Some(CValue::Record(b))) => {
                let parts = a.into_iter().zip(b);
                Some(CValue::Record(parts.map(|(a, b)| self.terms.ite(condition, a, b)).collect()))
            }
            (a, b) => a.or(b),
        }
    }

    /// Evaluates an expression. Returns its value and type.
    pub(super) fn eval(&mut self, expression: &'a Ast<Expression>) -> Result<(CValue, AbiType)> {
        self.here = expression.span;
        match &expression.node {
            Expression::Constant(constant) => self.eval_literal(&constant.node),
            Expression::Identifier(name) => {
                if let Some(CSymbol::Constant(value)) = self.lookup(&name.node.name) {
                    let ty = if i32::try_from(value).is_ok() { INT } else { LONG };
                    return Ok((CValue::Scalar(self.int_constant(value as u64, &ty)), ty));
                }
                self.load_lvalue(expression)
            }
            Expression::StringLiteral(_)
            | Expression::Member(_)
            | Expression::CompoundLiteral(_) => self.load_lvalue(expression),
            Expression::Call(call) => self.eval_call(&call.node, expression.span),
            Expression::SizeOfTy(of) => {
                let ty = self.type_name(&of.node.0.node)?;
                let size = self.size(&ty)?;
                Ok((CValue::Scalar(self.terms.constant(size, 64)), ULONG))
            }
            Expression::SizeOfVal(of) => {
                let ty = self.type_of(&of.node.0)?;
                let size = self.size(&ty)?;
                Ok((CValue::Scalar(self.terms.constant(size, 64)), ULONG))
            }
            Expression::AlignOf(of) => {
                let ty = self.type_name(&of.node.0.node)?;
                let align = self.align(&ty)?;
                Ok((CValue::Scalar(self.terms.constant(align, 64)), ULONG))
            }
            Expression::UnaryOperator(unary) => self.eval_unary(&unary.node, expression),
            Expression::Cast(cast) => {
                let to = self.type_name(&cast.node.type_name.node)?;
                let (value, from) = self.eval(&cast.node.expression)?;
                let value = self.convert_value(value, &from, &to)?;
                Ok((value, to.unqualified().clone()))
            }
            Expression::BinaryOperator(binary) => self.eval_binary(&binary.node, expression),
            Expression::Conditional(conditional) => {
                let condition = self.condition(&conditional.node.condition)?;
                let (then, other) =
                    (&conditional.node.then_expression, &conditional.node.else_expression);
                self.eval_conditional(condition, then, other)
            }
            Expression::Comma(all) => {
                let mut last = None;
                for expression in all.iter() {
                    last = Some(self.eval(expression)?);
                }
                last.map_or_else(|| self.unsupported("this expression is empty"), Ok)
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
                        _ => {
                            return self
                                .unsupported("`offsetof` with an array index is not supported");
                        }
                    }
                }
                Ok((CValue::Scalar(self.terms.constant(offset, 64)), ULONG))
            }
            Expression::Statement(statement) => self.statement_value(statement),
            Expression::GenericSelection(_) => self.unsupported("`_Generic` is not supported"),
            Expression::VaArg(_) => self.unsupported("`va_arg` is not supported"),
        }
    }

    /// The conditional operator. The type of an operand that is infeasible is computed without evaluating it.
    fn eval_conditional(
        &mut self,
        condition: Term,
        then: &'a Ast<Expression>,
        other: &'a Ast<Expression>,
    ) -> Result<(CValue, AbiType)> {
        let (a, b) = self.branch(condition, |exec| exec.eval(then), |exec| exec.eval(other))?;
        let ty = match (&a, &b) {
            (Some((_, a)), Some((_, b))) if a.is_integer() && b.is_integer() => common_type(a, b),
            (Some((_, a)), Some((_, b))) => {
                let is_void = |ty: &AbiType| matches!(ty.target(), None | Some(AbiType::Void));
                if a.is_pointer() && !is_void(a) || !b.is_pointer() { a.clone() } else { b.clone() }
            }
            (Some((_, ty)), None) | (None, Some((_, ty))) => {
                let ty = ty.clone();
                let infeasible = if a.is_some() { other } else { then };
                match self.type_of(infeasible) {
                    Ok(second) if ty.is_integer() && second.is_integer() => {
                        common_type(&ty, &second)
                    }
                    Ok(second) if second.is_pointer() && ty.is_integer() => second,
                    _ => ty,
                }
            }
            (None, None) => INT,
        };
        let mut converted = |side: Option<(CValue, AbiType)>| match side {
            Some((value, from)) if ty.is_scalar() && from.is_scalar() => {
                self.convert_value(value, &from, &ty).map(Some)
            }
            side => Ok(side.map(|(value, _)| value)),
        };
        let (a, b) = (converted(a)?, converted(b)?);
        let value = self.select_value(condition, a, b);
        Ok((value.unwrap_or_else(|| CValue::Scalar(self.terms.constant(0, 32))), ty))
    }

    fn eval_literal(&mut self, constant: &Constant) -> Result<(CValue, AbiType)> {
        match constant {
            Constant::Integer(integer) => self.eval_integer(integer),
            Constant::Character(text) => {
                let inner = text.trim_start_matches(['L', 'u', 'U']).trim_matches('\'');
                let mut bytes = inner.bytes().peekable();
                let byte = match bytes.next() {
                    Some(b'\\') => super::init::escape(&mut bytes),
                    Some(byte) => byte,
                    None => b'\'',
                };
                if bytes.next().is_some() {
                    return self.unsupported("character constants must have one character");
                }
                let value = i64::from(byte as i8) as u64;
                Ok((CValue::Scalar(self.terms.constant(value, 32)), INT))
            }
            Constant::Float(_) => self.unsupported(FLOATING_POINT),
        }
    }

    /// An integer literal, with the first type of the standard's list that holds it.
    fn eval_integer(&mut self, integer: &Integer) -> Result<(CValue, AbiType)> {
        let base = match integer.base {
            IntegerBase::Decimal => 10,
            IntegerBase::Octal => 8,
            IntegerBase::Hexadecimal => 16,
            IntegerBase::Binary => 2,
        };
        let digits = if integer.number.is_empty() { "0" } else { &*integer.number };
        let Ok(value) = u64::from_str_radix(digits, base) else {
            return self.unsupported(format!("the integer {digits} is too large"));
        };
        let (is_long, unsigned) =
            (integer.suffix.size != IntegerSize::Int, integer.suffix.unsigned);
        let may_be_unsigned = base != 10 || unsigned;
        let ty = match value {
            _ if !is_long && !unsigned && value <= i32::MAX as u64 => INT,
            _ if !is_long && may_be_unsigned && value <= u64::from(u32::MAX) => UINT,
            _ if !unsigned && value <= i64::MAX as u64 => LONG,
            _ => ULONG,
        };
        Ok((CValue::Scalar(self.int_constant(value, &ty)), ty))
    }
}
