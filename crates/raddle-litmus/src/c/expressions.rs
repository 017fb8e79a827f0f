//! Expressions of C, by precedence climbing.

use crate::code::Code;
use crate::expression::{Expression, Operator};
use crate::lex::{Fault, Notation, Parsed, Token, Tokens};
use crate::types::{self, CType};
use crate::value::{Type, location};
use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::NonAtomic;

use super::{Function, Named, Typed};

/// Binary operators, those that bind more loosely first; `&&` and `||` have branches of their own.
const LEVELS: [&[(&str, Operator)]; 8] = [
    &[("|", Operator::Or)],
    &[("^", Operator::Xor)],
    &[("&", Operator::And)],
    &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Sub)],
    &[("*", Operator::Mul), ("/", Operator::Div), ("%", Operator::Rem)],
];

/// A statement has at most this many operators: expressions are evaluated by recursion.
const OPERATORS: usize = 500;

/// An operation on two values, with the conversions of C.
pub(super) fn combine(operator: Operator, left: Typed, right: Typed) -> Typed {
    if left.ty.stars > 0 || right.ty.stars > 0 {
        let ty = if left.ty.stars > 0 { left.ty } else { right.ty };
        let ty = if operator.compares() { CType::INT } else { ty };
        return Typed { value: Expression::binary(operator, left.value, right.value), ty };
    }
    let (one, two) = (left.ty.integer(), right.ty.integer());
    let shifts = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
    let common = if shifts { one.promoted() } else { one.common(two) };
    let by = if shifts { two.promoted() } else { common };
    let value = Expression::binary(operator, left.value.wrap(common), right.value.wrap(by));
    if operator.compares() {
        return Typed { value, ty: CType::INT };
    }
    Typed { value: value.wrap(common), ty: CType::of(common) }
}

impl Function<'_> {
    /// Reads an expression; what it loads is in registers afterwards.
    pub(super) fn expression(&mut self) -> Parsed<Typed> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::choice)
    }

    /// `a ? b : c`
    fn choice(&mut self) -> Parsed<Typed> {
        let condition = self.or()?;
        let place = self.tokens().at();
        if !self.tokens().eat("?") {
            return Ok(condition);
        }
        let result = self.body.temporary();
        let otherwise = self.body.unless(condition.value, place);
        let one = self.expression()?;
        let first = self.body.push(Code::Set { target: result, value: one.value.clone() }, place);
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
        self.body.code[first] = Code::Set { target: result, value: one.value.wrap(kept) };
        self.body.push(Code::Set { target: result, value: two.value.wrap(kept) }, place);
        let here = self.body.here();
        self.body.land(over, here);
        Ok(Typed { value: Expression::Register(result), ty })
    }

    fn or(&mut self) -> Parsed<Typed> {
        let mut left = self.and()?;
        while self.tokens().eat("||") {
            let not_left = left.value.clone().not();
            left = self.short_circuit(not_left, 1, Self::and)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Typed> {
        let mut left = self.binary(0)?;
        while self.tokens().eat("&&") {
            left = self.short_circuit(left.value, 0, |function| function.binary(0))?;
        }
        Ok(left)
    }

    /// Whether the right side holds, if that has to be looked at; otherwise `settled`.
    fn short_circuit(
        &mut self,
        look: Expression,
        settled: i128,
        right: impl FnOnce(&mut Self) -> Parsed<Typed>,
    ) -> Parsed<Typed> {
        let place = self.tokens().at();
        let result = self.body.temporary();
        self.body.push(Code::Set { target: result, value: settled.into() }, place);
        let skip = self.body.unless(look, place);
        let right = right(self)?;
        let value = right.value.not().not();
        self.body.push(Code::Set { target: result, value }, place);
        let here = self.body.here();
        self.body.land(skip, here);
        Ok(Typed { value: Expression::Register(result), ty: CType::INT })
    }

    fn binary(&mut self, level: usize) -> Parsed<Typed> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let next = operators.iter().find(|(sign, _)| self.draft.tokens.is_sign(sign));
            let Some(&(_, operator)) = next else { return Ok(left) };
            self.operators += 1;
            if self.operators > OPERATORS {
                return self.tokens().expected(&format!("at most {OPERATORS} operators"));
            }
            self.tokens().skip();
            let right = self.binary(level + 1)?;
            left = combine(operator, left, right);
        }
    }

    pub(super) fn unary(&mut self) -> Parsed<Typed> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::any_unary)
    }

    fn any_unary(&mut self) -> Parsed<Typed> {
        let place = self.tokens().at();
        let zero = || Typed { value: 0.into(), ty: CType::INT };
        if self.tokens().eat("*") {
            let pointer = self.unary()?;
            return Ok(self.load(pointer, place));
        }
        if self.tokens().eat("&") {
            return self.address_of();
        }
        if self.tokens().eat("!") {
            return Ok(combine(Operator::Equal, self.unary()?, zero()));
        }
        if self.tokens().eat("-") {
            return Ok(combine(Operator::Sub, zero(), self.unary()?));
        }
        if self.tokens().eat("+") {
            return Ok(combine(Operator::Add, zero(), self.unary()?));
        }
        if self.tokens().eat("~") {
            let ones = Typed { value: (-1).into(), ty: CType::INT };
            return Ok(combine(Operator::Xor, self.unary()?, ones));
        }
        self.primary()
    }

    /// A plain load.
    pub(super) fn load(&mut self, pointer: Typed, place: usize) -> Typed {
        let ty = pointer.ty.pointee();
        let target = self.body.temporary();
        let (at, bits) = (pointer.value, ty.integer().bits);
        self.body.push(Code::Load { target, at, bits, order: NonAtomic }, place);
        Typed { value: Expression::Register(target).wrap(ty.integer()), ty }
    }

    /// `&x` of a parameter is the parameter: tests mean the location.
    fn address_of(&mut self) -> Parsed<Typed> {
        let at = self.tokens().at();
        let name = self.tokens().word("the name of a location")?;
        match self.find(&name) {
            Some(Named::Parameter(parameter)) => Ok(parameter.clone()),
            _ => {
                let message = format!("{} has no address: expected a parameter", quote(&name));
                Err(Fault::new(at, message))
            }
        }
    }

    fn primary(&mut self) -> Parsed<Typed> {
        let at = self.tokens().at();
        match self.draft.tokens.peek() {
            &Token::Number(value, notation) => {
                self.tokens().skip();
                Ok(Typed { value: value.into(), ty: CType::of(type_of(value, notation)) })
            }
            Token::Sign("(") => self.parentheses(),
            Token::Word(name) => {
                let name = name.clone();
                if self.is_call() {
                    return self.call();
                }
                let named = match self.find(&name) {
                    Some(Named::Parameter(parameter)) => parameter.clone(),
                    Some(&Named::Local(slot, ty)) => {
                        Typed { value: Expression::Register(slot), ty }
                    }
                    None => {
                        let message = format!(
                            "{} is not declared: expected a parameter, a local variable or an atomic \
                             operation",
                            quote(&name)
                        );
                        return Err(Fault::new(at, message));
                    }
                };
                self.tokens().skip();
                Ok(named)
            }
            _ => self.tokens().expected("an expression"),
        }
    }

    /// `(e)`, or a cast.
    fn parentheses(&mut self) -> Parsed<Typed> {
        self.tokens().skip();
        if let Some(ty) = types::optional(self.tokens())? {
            self.tokens().sign(")")?;
            let inner = self.unary()?;
            return Ok(Typed { value: inner.value.wrap(ty.integer()), ty });
        }
        let inner = self.expression()?;
        self.tokens().sign(")")?;
        Ok(inner)
    }
}

/// The type of a number: the first one that has it, of those that its notation admits.
fn type_of(value: i128, notation: Notation) -> Type {
    debug_assert!(location(value).is_none(), "no number is that large");
    let Notation { hexadecimal, unsigned, long } = notation;
    let wide = Type { bits: 64, signed: true };
    let admitted = |ty: &Type| {
        let sign = if ty.signed { !unsigned } else { unsigned || hexadecimal };
        sign && (ty.bits == 64 || !long) && ty.wrap(value) == value
    };
    let all = [Type::INT, Type::INT.unsigned(), wide];
    all.into_iter().find(admitted).unwrap_or(wide.unsigned())
}
