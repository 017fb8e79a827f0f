//! Threads as functions of C: `P0 (atomic_int *x, int *y) { ... }`.
//!
//! A parameter denotes the location of the same name, unless the initial state gives it a value. `*x` is a plain access
//! whatever the type of `x` is: that is how herd interprets tests, although C makes it sequentially consistent if the
//! type is atomic. Code is generated while parsing: expressions have no side effects except loads and calls, whose
//! results go into registers of their own in textual order.

mod atomics;
mod control;
mod expressions;
mod spelling;

use raddle_consistency::history::quote;
use raddle_core::execution::MemoryOrder::NonAtomic;

use super::code::{Instruction, Register, ThreadCode};
use super::draft::TestDraft;
use super::expression::{BinaryOperator, RegisterExpression};
use super::lex::{LitmusToken, ParseResult, SyntaxError, Tokens};
use super::types::{self, CType};
use super::value::address;
use control::LoopJumps;

/// Expression with its C type.
#[derive(Clone, Debug)]
struct TypedExpression {
    value: RegisterExpression,
    ty: CType,
}

/// Name in a function.
#[derive(Clone, Debug)]
enum CVariable {
    /// Parameter: the address of a location.
    Parameter(TypedExpression),
    /// Local variable: its register and type.
    Local(usize, CType),
}

/// Parser of a function.
struct FunctionParser<'a> {
    draft: &'a mut TestDraft,
    body: ThreadCode,
    names: Vec<(String, CVariable)>,
    /// Open jumps of the enclosing loops, innermost last.
    loops: Vec<LoopJumps>,
    /// Open jumps to the end of the function.
    returns: Vec<usize>,
    /// Number of operators in the current statement so far.
    operators: usize,
}

/// Parses all threads.
pub(super) fn threads(draft: &mut TestDraft) -> ParseResult<()> {
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
    let is_name = |token: &LitmusToken| match token {
        LitmusToken::Word(word) => {
            word.strip_prefix('P').is_some_and(|number| number.parse::<u32>().is_ok())
        }
        _ => false,
    };
    is_name(tokens.peek()) || tokens.is_word("void")
}

fn function(draft: &mut TestDraft) -> ParseResult<ThreadCode> {
    let (body, names) = (ThreadCode::default(), vec![]);
    let mut function =
        FunctionParser { draft, body, names, loops: vec![], returns: vec![], operators: 0 };
    function.parameters()?;
    function.draft.tokens.sign("{")?;
    while !function.draft.tokens.eat("}") {
        function.statement()?;
    }
    let end = function.draft.tokens.end_of_last() - 1;
    let last = function.body.push(Instruction::End, end);
    for jump in std::mem::take(&mut function.returns) {
        function.body.land(jump, last);
    }
    Ok(function.body)
}

impl FunctionParser<'_> {
    fn tokens(&mut self) -> &mut Tokens {
        &mut self.draft.tokens
    }

    fn parameters(&mut self) -> ParseResult<()> {
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

    fn parameter(&mut self, name: &str, ty: CType, at: usize) -> ParseResult<()> {
        if self.find(name).is_some() {
            return Err(SyntaxError::new(
                at,
                format!(
                    "the parameter {} is declared twice: expected different names",
                    quote(name)
                ),
            ));
        }
        let thread = self.draft.threads.len();
        let given = self.draft.given.iter().any(|it| it.thread == thread && it.name == name);
        if given {
            return self.declare(name, ty, at).map(drop);
        }
        if ty.stars == 0 {
            let message = format!(
                "the parameter {} is not a pointer: expected a pointer to a location",
                quote(name)
            );
            return Err(SyntaxError::new(at, message));
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
                return Err(SyntaxError::new(at, message));
            }
            Some(_) => {}
            None => known.ty = Some(kept),
        }
        let value = RegisterExpression::Number(address(location));
        self.names.push((name.to_owned(), CVariable::Parameter(TypedExpression { value, ty })));
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&CVariable> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, named)| named)
    }

    /// Declares a local variable and returns its register. Conditions refer to variables by name only, so variables
    /// with the same name in different blocks are the same.
    fn declare(&mut self, name: &str, ty: CType, at: usize) -> ParseResult<usize> {
        let kept = ty.integer();
        let slot = match self.body.named.iter().find(|it| it.name == name) {
            Some(known) if known.ty == kept => known.slot,
            Some(_) => {
                let name = quote(name);
                let message = format!(
                    "{name} is declared with another type in another block: expected the same type"
                );
                return Err(SyntaxError::new(at, message));
            }
            None => {
                let slot = self.body.temporary();
                self.body.named.push(Register { name: name.to_owned(), ty: kept, slot });
                slot
            }
        };
        self.names.push((name.to_owned(), CVariable::Local(slot, ty)));
        Ok(slot)
    }

    fn statement(&mut self) -> ParseResult<()> {
        Tokens::nested(self, |function| &mut function.draft.tokens, Self::any_statement)
    }

    fn any_statement(&mut self) -> ParseResult<()> {
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
            ("if", Self::branch as fn(&mut Self, usize) -> ParseResult<()>),
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

    /// Calls a parser and removes the names that it declares.
    fn scope(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<()>) -> ParseResult<()> {
        let known = self.names.len();
        read(self)?;
        self.names.truncate(known);
        Ok(())
    }

    /// Parses `int r0 = 1, *r1 = x`.
    fn declaration(&mut self) -> ParseResult<()> {
        let Some(first) = types::optional(self.tokens())? else { return Ok(()) };
        let mut ty = first;
        loop {
            let at = self.tokens().at();
            let name = self.tokens().word("the name of a variable")?;
            if self.find(&name).is_some() {
                return Err(SyntaxError::new(
                    at,
                    format!("{} is declared twice: expected another name", quote(&name)),
                ));
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

    fn set(&mut self, slot: usize, value: TypedExpression, ty: CType, place: usize) {
        let value = value.value.wrap(ty.integer());
        self.body.push(Instruction::Set { target: slot, value }, place);
    }

    /// Parses `r0 = e`, `*x = e`, `r0 += e`, `r0++`, or a call.
    fn assignment(&mut self) -> ParseResult<()> {
        let place = self.tokens().at();
        if self.tokens().eat("*") {
            let pointer = self.unary()?;
            self.tokens().sign("=")?;
            let value = self.expression()?;
            let ty = pointer.ty.pointee();
            let value = value.value.wrap(ty.integer());
            let (at, bits) = (pointer.value, ty.integer().bits);
            self.body.push(Instruction::Store { at, bits, value, order: NonAtomic }, place);
            return Ok(());
        }
        let local = match (self.draft.tokens.peek(), self.draft.tokens.ahead(1)) {
            (LitmusToken::Word(name), LitmusToken::Sign(sign)) if assigns(sign) => {
                let name = name.clone();
                let sign = *sign;
                let Some(CVariable::Local(slot, ty)) = self.find(&name) else {
                    return self.tokens().expected("a local variable before an assignment");
                };
                Some((*slot, *ty, sign))
            }
            _ => None,
        };
        let Some((slot, ty, sign)) = local else { return self.expression().map(drop) };
        self.tokens().skip();
        self.tokens().skip();
        let old = TypedExpression { value: RegisterExpression::Register(slot), ty };
        let one = TypedExpression { value: 1.into(), ty: CType::INT };
        let value = match sign {
            "=" => self.expression()?,
            "++" => expressions::combine(BinaryOperator::Add, old, one),
            "--" => expressions::combine(BinaryOperator::Sub, old, one),
            _ => {
                let right = self.expression()?;
                expressions::combine(compound(sign), old, right)
            }
        };
        self.set(slot, value, ty, place);
        Ok(())
    }

    fn condition(&mut self) -> ParseResult<RegisterExpression> {
        self.tokens().sign("(")?;
        let condition = self.expression()?;
        self.tokens().sign(")")?;
        Ok(condition.value)
    }
}

fn assigns(sign: &str) -> bool {
    matches!(sign, "=" | "+=" | "-=" | "*=" | "&=" | "|=" | "^=" | "++" | "--")
}

fn compound(sign: &str) -> BinaryOperator {
    match sign {
        "+=" => BinaryOperator::Add,
        "-=" => BinaryOperator::Sub,
        "*=" => BinaryOperator::Mul,
        "&=" => BinaryOperator::And,
        "|=" => BinaryOperator::Or,
        _ => BinaryOperator::Xor,
    }
}
