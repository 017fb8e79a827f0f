//! Threads of x86 instructions: a column for each thread, a row for each instruction.
//!
//! `X86` tests have the syntax of Intel (`MOV EAX,[x]`), `X86_64` tests that of AT&T (`movl (x),%eax`).
//! Integers have 32 bits, or 64 if the register has. Narrower ones are refused, and so are all
//! instructions that are not in the table: a fence that nobody knows must not become nothing.

mod instructions;
mod registers;
mod table;

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

use super::code::{Body, Code};
use super::draft::Draft;
use super::expression::{Expression, Operator};
use super::lex::{Fault, Parsed, Token};
use super::value::{Type, address};

/// How instructions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// The target comes first.
    Intel,
    /// The target comes last.
    Att,
}

/// What an instruction is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Register(registers::Operand),
    Number(Value),
    /// Memory: its address, and its type if that is known.
    Memory(Expression, Option<Type>),
}

/// A thread while it is being read.
struct Column {
    body: Body,
    labels: Vec<(String, usize)>,
    /// Jumps, with the labels that they go to and where these are mentioned.
    jumps: Vec<(usize, String, usize)>,
}

/// Registers that hold the flags, after those of the machine.
#[derive(Clone, Copy)]
struct Flags {
    zero: usize,
    sign: usize,
    carry: usize,
    overflow: usize,
}

const FLAGS: Flags = Flags {
    zero: registers::COUNT,
    sign: registers::COUNT + 1,
    carry: registers::COUNT + 2,
    overflow: registers::COUNT + 3,
};

/// An address has at most this many parts.
const PARTS: usize = 4;

/// Reads all threads.
pub(super) fn threads(draft: &mut Draft, syntax: Syntax) -> Parsed<()> {
    let mut columns = heads(draft, syntax)?;
    while !is_end(draft) {
        row(draft, syntax, &mut columns)?;
    }
    for column in columns {
        draft.threads.push(column.finish()?);
    }
    Ok(())
}

/// `P0 | P1 ;`
fn heads(draft: &mut Draft, syntax: Syntax) -> Parsed<Vec<Column>> {
    let mut columns = vec![];
    loop {
        let expected = format!("P{}", columns.len());
        if !draft.tokens.eat_word(&expected) {
            return draft.tokens.expected(&format!("'{expected}'"));
        }
        let registers = FLAGS.overflow + 1;
        let named = registers::named(syntax);
        let body = Body { named, registers, any_case: true, ..Body::default() };
        columns.push(Column { body, labels: vec![], jumps: vec![] });
        draft.check_thread_count(columns.len())?;
        if !draft.tokens.eat("|") {
            draft.tokens.sign(";")?;
            return Ok(columns);
        }
    }
}

/// Whether the condition, or what belongs to it, is next.
fn is_end(draft: &Draft) -> bool {
    let words = ["exists", "forall", "locations", "filter", "final", "not"];
    let starts = words.iter().any(|word| draft.tokens.is_word(word));
    starts || draft.tokens.is_sign("~") || *draft.tokens.peek() == Token::End
}

/// The next instruction of every thread.
fn row(draft: &mut Draft, syntax: Syntax, columns: &mut [Column]) -> Parsed<()> {
    let mut at = 0;
    loop {
        let Some(column) = columns.get_mut(at) else {
            let last = columns.len() - 1;
            return draft.tokens.expected(&format!("';' after the instruction of P{last}"));
        };
        cell(draft, syntax, column)?;
        if draft.tokens.eat("|") {
            at += 1;
        } else if draft.tokens.eat("||") {
            at += 2;
        } else if draft.tokens.eat(";") {
            return Ok(());
        } else {
            return draft.tokens.expected("'|' or ';' after an instruction");
        }
    }
}

/// Labels, and an instruction or nothing.
fn cell(draft: &mut Draft, syntax: Syntax, column: &mut Column) -> Parsed<()> {
    while let (Token::Word(label), Token::Sign(":")) = (draft.tokens.peek(), draft.tokens.ahead(1))
    {
        let label = label.clone();
        if column.labels.iter().any(|(known, _)| *known == label) {
            let message = format!("the label {} is there twice", quote(&label));
            return Err(Fault::new(draft.tokens.at(), message));
        }
        column.labels.push((label, column.body.here()));
        draft.tokens.skip();
        draft.tokens.skip();
    }
    if matches!(draft.tokens.peek(), Token::Word(_)) {
        instructions::instruction(draft, syntax, column)?;
    }
    Ok(())
}

impl Column {
    /// Lets jumps go to their labels, and adds the end.
    fn finish(mut self) -> Parsed<Body> {
        for (jump, label, at) in self.jumps {
            let Some((_, target)) = self.labels.iter().find(|(known, _)| *known == label) else {
                let names: Vec<&str> = self.labels.iter().map(|(name, _)| name.as_str()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let message = format!("there is no label {}: expected {names}", quote(&label));
                return Err(Fault::new(at, message));
            };
            self.body.land(jump, *target);
        }
        let end = self.body.places.last().copied().unwrap_or_default();
        self.body.push(Code::End, end);
        Ok(self.body)
    }
}

/// Reads an operand: `EAX`, `%eax`, `$1`, `1`, `$x`, `[x]`, `(%rax)`, `[x+EAX]`, `DWORD PTR [x]`.
fn operand(draft: &mut Draft, syntax: Syntax) -> Parsed<Operand> {
    let mut width = None;
    for (word, bits) in [("dword", 32), ("qword", 64)] {
        if draft.tokens.eat_word(word) {
            width = Some(Type { bits, signed: true });
            if !draft.tokens.eat_word("ptr") {
                return draft.tokens.expected("'ptr'");
            }
        }
    }
    for (open, close) in [("[", "]"), ("(", ")")] {
        if draft.tokens.eat(open) {
            let at = effective_address(draft)?;
            draft.tokens.sign(close)?;
            return memory(draft, at, width);
        }
    }
    if width.is_some() {
        return draft.tokens.expected("'[' and the name of a location");
    }
    let dollar = draft.tokens.eat("$");
    let percent = !dollar && draft.tokens.eat("%");
    if let Token::Word(name) = draft.tokens.peek() {
        let name = name.clone();
        if dollar {
            draft.tokens.skip();
            return Ok(Operand::Number(address(draft.location(&name))));
        }
        return register(draft, &name).map(Operand::Register);
    }
    if percent {
        return draft.tokens.expected("a register");
    }
    // With the syntax of AT&T that is an address.
    if syntax == Syntax::Att && !dollar && matches!(draft.tokens.peek(), Token::Number(..)) {
        return draft.tokens.expected("'$' before a number");
    }
    draft
        .tokens
        .number("a register, a number such as $1, or memory such as [x]")
        .map(Operand::Number)
}

/// The register with this name, which is next.
fn register(draft: &mut Draft, name: &str) -> Parsed<registers::Operand> {
    if let Some(register) = registers::find(name) {
        draft.tokens.skip();
        return Ok(register);
    }
    if registers::is_narrow(name) {
        return draft.tokens.expected("a register of 32 or 64 bits; others are not supported");
    }
    draft.tokens.expected("a register, a number such as $1, or memory such as [x]")
}

/// A sum of locations and registers that is the address of a location, when the time comes.
fn effective_address(draft: &mut Draft) -> Parsed<Expression> {
    let mut sum: Option<Expression> = None;
    for _ in 0..PARTS {
        let percent = draft.tokens.eat("%");
        let part = match draft.tokens.peek() {
            Token::Number(value, _) => {
                let value = *value;
                draft.tokens.skip();
                Expression::Number(value)
            }
            Token::Word(name) => {
                let name = name.clone();
                if percent || registers::find(&name).is_some() || registers::is_narrow(&name) {
                    let register = register(draft, &name)?;
                    Expression::Register(register.slot).wrap(register.ty)
                } else {
                    draft.tokens.skip();
                    Expression::Number(address(draft.location(&name)))
                }
            }
            _ => return draft.tokens.expected("the name of a location, or a register"),
        };
        sum = Some(match sum {
            None => part,
            Some(sum) => Expression::binary(Operator::Add, sum, part),
        });
        if !draft.tokens.eat("+") {
            return Ok(sum.unwrap_or(Expression::Number(0)));
        }
    }
    draft.tokens.expected(&format!("at most {PARTS} parts of an address"))
}

/// Memory, with the type that the initial state declares.
fn memory(draft: &Draft, at: Expression, width: Option<Type>) -> Parsed<Operand> {
    let declared = match &at {
        Expression::Number(value) => {
            super::value::location(*value).and_then(|location| draft.locations[location].ty)
        }
        _ => None,
    };
    Ok(Operand::Memory(at, width.or(declared)))
}
