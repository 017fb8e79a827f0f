//! Threads as functions of C: `P0 (atomic_int *x, int *y) { ... }`.
//!
//! A parameter is the location of the same name, or, if the initial state gives it a value, whatever
//! that is. `*x` is a plain access whatever the type of `x` says; that is how herd reads tests, though C
//! makes it sequentially consistent where the type is atomic. Code is made while it is read: expressions
//! have no side effects but loads and calls, which go into registers of their own in the order in which
//! they are written.

mod atomics;
mod control;
mod expressions;
mod spelling;

use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::NonAtomic;

use super::code::{Body, Code, Register};
use super::draft::Draft;
use super::expression::{Expression, Operator};
use super::lex::{Fault, Parsed, Token, Tokens};
use super::types::{self, CType};
use super::value::address;
use control::Jumps;

/// A value and its type.
#[derive(Clone, Debug)]
struct Typed {
    value: Expression,
    ty: CType,
}

/// Something that has a name in a function.
#[derive(Clone, Debug)]
enum Named {
    /// A parameter: the address of a location.
    Parameter(Typed),
    /// A local variable, in this register.
    Local(usize, CType),
}

/// A function while it is being read.
struct Function<'a> {
    draft: &'a mut Draft,
    body: Body,
    names: Vec<(String, Named)>,
    /// Jumps out of the innermost loop, and to its next round.
    loops: Vec<Jumps>,
    /// Jumps to the end.
    returns: Vec<usize>,
    /// How many operators the current statement has.
    operators: usize,
}

/// Reads all threads.
pub(super) fn threads(draft: &mut Draft) -> Parsed<()> {
    while draft.threads.is_empty() || is_function(&draft.tokens) {
        draft.tokens.eat_word("void");
        let expected = format!("P{}", draft.threads.len());
        if !draft.tokens.eat_word(&expected) {
            return draft.tokens.expected(&format!("'{expected}' and its parameters"));
        }
        let body = function(draft)?;
        draft.threads.push(body);
        draft.check_thread_count(draft.threads.len())?;
        while draft.tokens.eat(";") {}
    }
    Ok(())
}

fn is_function(tokens: &Tokens) -> bool {
    let is_name = |token: &Token| match token {
        Token::Word(word) => {
            word.strip_prefix('P').is_some_and(|number| number.parse::<u32>().is_ok())
        }
        _ => false,
    };
    is_name(tokens.peek()) || tokens.is_word("void")
}

fn function(draft: &mut Draft) -> Parsed<Body> {
    let (body, names) = (Body::default(), vec![]);
    let mut function =
        Function { draft, body, names, loops: vec![], returns: vec![], operators: 0 };
    function.parameters()?;
    function.draft.tokens.sign("{")?;
    while !function.draft.tokens.eat("}") {
        function.statement()?;
    }
    let end = function.draft.tokens.end_of_last() - 1;
    let last = function.body.push(Code::End, end);
    for jump in std::mem::take(&mut function.returns) {
        function.body.land(jump, last);
    }
    Ok(function.body)
}

impl Function<'_> {
    fn tokens(&mut self) -> &mut Tokens {
        &mut self.draft.tokens
    }

    fn parameters(&mut self) -> Parsed<()> {
        self.tokens().sign("(")?;
        if self.tokens().is_word("void") {
            self.tokens().skip();
        }
        while !self.tokens().eat(")") {
            let Some(ty) = types::optional(self.tokens())? else {
                return self.tokens().expected("the type of a parameter, such as 'atomic_int*'");
            };
            let at = self.tokens().at();
            let name = self.tokens().word("the name of a parameter")?;
            self.parameter(&name, ty, at)?;
            if !self.tokens().eat(",") && !self.tokens().is_sign(")") {
                return self.tokens().expected("',' or ')'");
            }
        }
        Ok(())
    }

    fn parameter(&mut self, name: &str, ty: CType, at: usize) -> Parsed<()> {
        if self.find(name).is_some() {
            return Err(Fault::new(at, format!("the parameter {} is there twice", quote(name))));
        }
        let thread = self.draft.threads.len();
        let given = self.draft.given.iter().any(|it| it.thread == thread && it.name == name);
        if given {
            return self.declare(name, ty, at).map(drop);
        }
        if ty.stars == 0 {
            let message = format!("the parameter {} is no pointer to a location", quote(name));
            return Err(Fault::new(at, message));
        }
        let location = self.draft.location(name);
        let kept = ty.pointee().integer();
        let known = &mut self.draft.locations[location];
        match known.ty {
            Some(known) if known.bits != kept.bits => {
                let (bits, name) = (known.bits, quote(name));
                let message = format!(
                    "{name} has {} bits here and {bits} elsewhere: expected the same; accesses to \
                     parts of a location are not supported",
                    kept.bits
                );
                return Err(Fault::new(at, message));
            }
            Some(_) => {}
            None => known.ty = Some(kept),
        }
        let value = Expression::Number(address(location));
        self.names.push((name.to_owned(), Named::Parameter(Typed { value, ty })));
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Named> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, named)| named)
    }

    /// A new local variable. Conditions know one variable of each name, so those of different blocks
    /// with the same name are the same.
    fn declare(&mut self, name: &str, ty: CType, at: usize) -> Parsed<usize> {
        let kept = ty.integer();
        let slot = match self.body.named.iter().find(|it| it.name == name) {
            Some(known) if known.ty == kept => known.slot,
            Some(_) => {
                let name = quote(name);
                let message = format!("{name} is declared in another block, as something else");
                return Err(Fault::new(at, message));
            }
            None => {
                let slot = self.body.temporary();
                self.body.named.push(Register { name: name.to_owned(), ty: kept, slot });
                slot
            }
        };
        self.names.push((name.to_owned(), Named::Local(slot, ty)));
        Ok(slot)
    }

    fn statement(&mut self) -> Parsed<()> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::any_statement)
    }

    fn any_statement(&mut self) -> Parsed<()> {
        self.operators = 0;
        let place = self.tokens().at();
        if self.tokens().eat(";") {
            return Ok(());
        }
        if self.tokens().eat("{") {
            return self.scope(|function| {
                while !function.tokens().eat("}") {
                    function.statement()?;
                }
                Ok(())
            });
        }
        for (word, read) in [
            ("if", Self::branch as fn(&mut Self, usize) -> Parsed<()>),
            ("while", Self::while_loop),
            ("do", Self::do_loop),
            ("for", Self::for_loop),
        ] {
            if self.tokens().eat_word(word) {
                return read(self, place);
            }
        }
        if types::is_next(self.tokens()) {
            self.declaration()?;
        } else if !self.leave(place)? {
            self.assignment()?;
        }
        self.tokens().sign(";")
    }

    /// Names that are declared in what is read are not known after it.
    fn scope(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let known = self.names.len();
        read(self)?;
        self.names.truncate(known);
        Ok(())
    }

    /// `int r0 = 1, *r1 = x`
    fn declaration(&mut self) -> Parsed<()> {
        let Some(first) = types::optional(self.tokens())? else { return Ok(()) };
        let mut ty = first;
        loop {
            let at = self.tokens().at();
            let name = self.tokens().word("the name of a variable")?;
            if self.find(&name).is_some() {
                return Err(Fault::new(at, format!("{} is declared already", quote(&name))));
            }
            let slot = self.declare(&name, ty, at)?;
            if self.tokens().eat("=") {
                let value = self.expression()?;
                self.set(slot, value, ty, at);
            }
            if !self.tokens().eat(",") {
                return Ok(());
            }
            ty = types::stars(self.tokens(), first.without_stars());
        }
    }

    fn set(&mut self, slot: usize, value: Typed, ty: CType, place: usize) {
        let value = value.value.wrap(ty.integer());
        self.body.push(Code::Set { target: slot, value }, place);
    }

    /// `r0 = e`, `*x = e`, `r0 += e`, `r0++`, or a call.
    fn assignment(&mut self) -> Parsed<()> {
        let place = self.tokens().at();
        if self.tokens().eat("*") {
            let pointer = self.unary()?;
            self.tokens().sign("=")?;
            let value = self.expression()?;
            let ty = pointer.ty.pointee();
            let value = value.value.wrap(ty.integer());
            let (at, bits) = (pointer.value, ty.integer().bits);
            self.body.push(Code::Store { at, bits, value, order: NonAtomic }, place);
            return Ok(());
        }
        let local = match (self.draft.tokens.peek(), self.draft.tokens.ahead(1)) {
            (Token::Word(name), Token::Sign(sign)) if assigns(sign) => {
                let name = name.clone();
                let sign = *sign;
                let Some(Named::Local(slot, ty)) = self.find(&name) else {
                    return self.tokens().expected("a local variable before an assignment");
                };
                Some((*slot, *ty, sign))
            }
            _ => None,
        };
        let Some((slot, ty, sign)) = local else { return self.expression().map(drop) };
        self.tokens().skip();
        self.tokens().skip();
        let old = Typed { value: Expression::Register(slot), ty };
        let one = Typed { value: 1.into(), ty: CType::INT };
        let value = match sign {
            "=" => self.expression()?,
            "++" => expressions::combine(Operator::Add, old, one),
            "--" => expressions::combine(Operator::Sub, old, one),
            _ => {
                let right = self.expression()?;
                expressions::combine(compound(sign), old, right)
            }
        };
        self.set(slot, value, ty, place);
        Ok(())
    }

    fn condition(&mut self) -> Parsed<Expression> {
        self.tokens().sign("(")?;
        let condition = self.expression()?;
        self.tokens().sign(")")?;
        Ok(condition.value)
    }
}

fn assigns(sign: &str) -> bool {
    matches!(sign, "=" | "+=" | "-=" | "*=" | "&=" | "|=" | "^=" | "++" | "--")
}

fn compound(sign: &str) -> Operator {
    match sign {
        "+=" => Operator::Add,
        "-=" => Operator::Sub,
        "*=" => Operator::Mul,
        "&=" => Operator::And,
        "|=" => Operator::Or,
        _ => Operator::Xor,
    }
}
