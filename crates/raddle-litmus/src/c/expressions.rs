//! C expressions, parsed by precedence climbing.

use crate::code::Instruction;
use crate::expression::{BinaryOperator, RegisterExpression};
use crate::lex::{LitmusToken, Notation, ParseResult, SyntaxError, Tokens};
use crate::types::{self, CType};
use crate::value::{IntType, location};
use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::NonAtomic;

use super::{CVariable, FunctionParser, TypedExpression};

/// Binary operators by precedence, lowest first. `&&` and `||` are handled separately because they branch.
const LEVELS: [&[(&str, BinaryOperator)]; 8] = [
    &[("|", BinaryOperator::Or)],
    &[("^", BinaryOperator::Xor)],
    &[("&", BinaryOperator::And)],
    &[("==", BinaryOperator::Equal), ("!=", BinaryOperator::NotEqual)],
    &[
        ("<=", BinaryOperator::LessOrEqual),
        (">=", BinaryOperator::GreaterOrEqual),
        ("<", BinaryOperator::Less),
        (">", BinaryOperator::Greater),
    ],
    &[("<<", BinaryOperator::ShiftLeft), (">>", BinaryOperator::ShiftRight)],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Sub)],
    &[("*", BinaryOperator::Mul), ("/", BinaryOperator::Div), ("%", BinaryOperator::Rem)],
];

/// Maximal number of operators in a statement: expressions are evaluated recursively.
const MAX_OPERATORS: usize = 500;

/// Applies an operator to two values, with the conversions of C.
pub(super) fn combine(
    operator: BinaryOperator,
    left: TypedExpression,
    right: TypedExpression,
) -> TypedExpression {
    if left.ty.stars > 0 || right.ty.stars > 0 {
        let ty = if left.ty.stars > 0 { left.ty } else { right.ty };
        let ty = if operator.compares() { CType::INT } else { ty };
        return TypedExpression {
            value: RegisterExpression::binary(operator, left.value, right.value),
            ty,
        };
    }
    let (one, two) = (left.ty.integer(), right.ty.integer());
    let shifts = matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
    let common = if shifts { one.promoted() } else { one.common(two) };
    let by = if shifts { two.promoted() } else { common };
    let value = RegisterExpression::binary(operator, left.value.wrap(common), right.value.wrap(by));
    if operator.compares() {
        return TypedExpression { value, ty: CType::INT };
    }
    TypedExpression { value: value.wrap(common), ty: CType::of(common) }
}

impl FunctionParser<'_> {
    /// Parses an expression. Its loads are in registers afterwards.
    pub(super) fn expression(&mut self) -> ParseResult<TypedExpression> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::choice)
    }

    /// Parses `a ? b : c`.
    fn choice(&mut self) -> ParseResult<TypedExpression> {
        let condition = self.or()?;
        let place = self.tokens().at();
        if !self.tokens().eat("?") {
            return Ok(condition);
        }
        let result = self.body.temporary();
        let otherwise = self.body.unless(condition.value, place);
        let one = self.expression()?;
        let first =
            self.body.push(Instruction::Set { target: result, value: one.value.clone() }, place);
        let over = self.body.jump(place);
        self.tokens().sign(":")?;
        let here = self.body.here();
        self.body.land(otherwise, here);
        let two = self.expression()?;
        let ty = match (one.ty.stars, two.ty.stars) {
            (0, 0) => CType::of(one.ty.integer().common(two.ty.integer())),
            (0, _) => two.ty,
            _ => one.ty,
        };
        let kept = ty.integer();
        self.body.code[first] = Instruction::Set { target: result, value: one.value.wrap(kept) };
        self.body.push(Instruction::Set { target: result, value: two.value.wrap(kept) }, place);
        let here = self.body.here();
        self.body.land(over, here);
        Ok(TypedExpression { value: RegisterExpression::Register(result), ty })
    }

    fn or(&mut self) -> ParseResult<TypedExpression> {
        let mut left = self.and()?;
        while self.tokens().eat("||") {
            let not_left = left.value.clone().not();
            left = self.short_circuit(not_left, 1, Self::and)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> ParseResult<TypedExpression> {
        let mut left = self.binary(0)?;
        while self.tokens().eat("&&") {
            left = self.short_circuit(left.value, 0, |function| function.binary(0))?;
        }
        Ok(left)
    }

    /// Generates code for `&&` and `||`. If `evaluates_right` is not 0 the result is the truth of the right side,
    /// otherwise `otherwise`.
    fn short_circuit(
        &mut self,
        evaluates_right: RegisterExpression,
        otherwise: i128,
        right: impl FnOnce(&mut Self) -> ParseResult<TypedExpression>,
    ) -> ParseResult<TypedExpression> {
        let place = self.tokens().at();
        let result = self.body.temporary();
        self.body.push(Instruction::Set { target: result, value: otherwise.into() }, place);
        let skip = self.body.unless(evaluates_right, place);
        let right = right(self)?;
        let value = right.value.not().not();
        self.body.push(Instruction::Set { target: result, value }, place);
        let here = self.body.here();
        self.body.land(skip, here);
        Ok(TypedExpression { value: RegisterExpression::Register(result), ty: CType::INT })
    }

    fn binary(&mut self, level: usize) -> ParseResult<TypedExpression> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let next = operators.iter().find(|(sign, _)| self.draft.tokens.is_sign(sign));
            let Some(&(_, operator)) = next else { return Ok(left) };
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return self.tokens().expected(&format!("at most {MAX_OPERATORS} operators"));
            }
            self.tokens().skip();
            let right = self.binary(level + 1)?;
            left = combine(operator, left, right);
        }
    }

    pub(super) fn unary(&mut self) -> ParseResult<TypedExpression> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::any_unary)
    }

    fn any_unary(&mut self) -> ParseResult<TypedExpression> {
        let place = self.tokens().at();
        let zero = || TypedExpression { value: 0.into(), ty: CType::INT };
        if self.tokens().eat("*") {
            let pointer = self.unary()?;
            return Ok(self.load(pointer, place));
        }
        if self.tokens().eat("&") {
            return self.address_of();
        }
        if self.tokens().eat("!") {
            return Ok(combine(BinaryOperator::Equal, self.unary()?, zero()));
        }
        if self.tokens().eat("-") {
            return Ok(combine(BinaryOperator::Sub, zero(), self.unary()?));
        }
        if self.tokens().eat("+") {
            return Ok(combine(BinaryOperator::Add, zero(), self.unary()?));
        }
        if self.tokens().eat("~") {
            let ones = TypedExpression { value: (-1).into(), ty: CType::INT };
            return Ok(combine(BinaryOperator::Xor, self.unary()?, ones));
        }
        self.primary()
    }

    /// Generates a plain load.
    pub(super) fn load(&mut self, pointer: TypedExpression, place: usize) -> TypedExpression {
        let ty = pointer.ty.pointee();
        let target = self.body.temporary();
        let (at, bits) = (pointer.value, ty.integer().bits);
        self.body.push(Instruction::Load { target, at, bits, order: NonAtomic }, place);
        TypedExpression { value: RegisterExpression::Register(target).wrap(ty.integer()), ty }
    }

    /// Parses the operand of `&`. `&x` of a parameter is the parameter: tests mean the location.
    fn address_of(&mut self) -> ParseResult<TypedExpression> {
        let at = self.tokens().at();
        let name = self.tokens().word("the name of a location")?;
        match self.find(&name) {
            Some(CVariable::Parameter(parameter)) => Ok(parameter.clone()),
            _ => {
                let message = format!("{} has no address: expected a parameter", quote(&name));
                Err(SyntaxError::new(at, message))
            }
        }
    }

    fn primary(&mut self) -> ParseResult<TypedExpression> {
        let at = self.tokens().at();
        match self.draft.tokens.peek() {
            &LitmusToken::Number(value, notation) => {
                self.tokens().skip();
                Ok(TypedExpression { value: value.into(), ty: CType::of(type_of(value, notation)) })
            }
            LitmusToken::Sign("(") => self.parentheses(),
            LitmusToken::Word(name) => {
                let name = name.clone();
                if self.is_call() {
                    return self.call();
                }
                let named = match self.find(&name) {
                    Some(CVariable::Parameter(parameter)) => parameter.clone(),
                    Some(&CVariable::Local(slot, ty)) => {
                        TypedExpression { value: RegisterExpression::Register(slot), ty }
                    }
                    None => {
                        let message = format!(
                            "{} is not declared: expected a parameter, a local variable or an atomic \
                             operation",
                            quote(&name)
                        );
                        return Err(SyntaxError::new(at, message));
                    }
                };
                self.tokens().skip();
                Ok(named)
            }
            _ => self.tokens().expected("an expression"),
        }
    }

    /// Parses `(e)`, or a cast.
    fn parentheses(&mut self) -> ParseResult<TypedExpression> {
        self.tokens().skip();
        if let Some(ty) = types::optional(self.tokens())? {
            self.tokens().sign(")")?;
            let inner = self.unary()?;
            return Ok(TypedExpression { value: inner.value.wrap(ty.integer()), ty });
        }
        let inner = self.expression()?;
        self.tokens().sign(")")?;
        Ok(inner)
    }
}

/// Returns the type of a literal: the first one that can represent it, of those that its notation admits.
fn type_of(value: i128, notation: Notation) -> IntType {
    debug_assert!(location(value).is_none(), "literals have at most 64 bits");
    let Notation { hexadecimal, unsigned, long } = notation;
    let wide = IntType { bits: 64, signed: true };
    let admitted = |ty: &IntType| {
        let sign = if ty.signed { !unsigned } else { unsigned || hexadecimal };
        sign && (ty.bits == 64 || !long) && ty.wrap(value) == value
    };
    let all = [IntType::INT, IntType::INT.unsigned(), wide];
    all.into_iter().find(admitted).unwrap_or(wide.unsigned())
}
