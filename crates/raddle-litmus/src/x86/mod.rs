//! Threads of x86 instructions: one column per thread, one row per instruction.
//!
//! `X86` tests use Intel syntax (`MOV EAX,[x]`), `X86_64` tests AT&T syntax (`movl (x),%eax`). Integers have 32 bits,
//! or 64 if the register has. Narrower accesses are errors, and so are all instructions that are not in the table: an
//! unknown fence must not be ignored.

mod instructions;
mod registers;
mod table;

use raddle_consistency::history::quote;
use raddle_core::execution::Value;

use super::code::{Instruction, ThreadCode};
use super::draft::TestDraft;
use super::expression::{BinaryOperator, RegisterExpression};
use super::lex::{LitmusToken, ParseResult, SyntaxError};
use super::value::{IntType, address};

/// Assembly syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// The target operand comes first.
    Intel,
    /// The target operand comes last.
    Att,
}

/// Operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
enum X86Operand {
    Register(registers::RegisterRef),
    Number(Value),
    /// Memory: its address, and its type if known.
    Memory(RegisterExpression, Option<IntType>),
}

/// Thread being parsed.
struct ThreadColumn {
    body: ThreadCode,
    /// Labels with the index of the next instruction.
    labels: Vec<(String, usize)>,
    /// Open jumps: index of the instruction, label, and offset of the label in the text.
    jumps: Vec<(usize, String, usize)>,
}

/// Indices of the registers for flags, which follow those of the machine.
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

/// Maximal number of summands of an address.
const MAX_ADDRESS_PARTS: usize = 4;

/// Parses all threads.
pub(super) fn threads(draft: &mut TestDraft, syntax: Syntax) -> ParseResult<()> {
    let mut columns = heads(draft, syntax)?;
    while !is_end(draft) {
        row(draft, syntax, &mut columns)?;
    }
    for column in columns {
        draft.threads.push(column.finish()?);
    }
    Ok(())
}

/// Parses `P0 | P1 ;`.
fn heads(draft: &mut TestDraft, syntax: Syntax) -> ParseResult<Vec<ThreadColumn>> {
    let mut columns = vec![];
    loop {
        let expected = format!("P{}", columns.len());
        if !draft.tokens.eat_word(&expected) {
            return draft.tokens.expected(&format!("'{expected}'"));
        }
        let registers = FLAGS.overflow + 1;
        let named = registers::named(syntax);
        let body = ThreadCode { named, registers, any_case: true, ..ThreadCode::default() };
        columns.push(ThreadColumn { body, labels: vec![], jumps: vec![] });
        draft.check_thread_count(columns.len())?;
        if !draft.tokens.eat("|") {
            draft.tokens.sign(";")?;
            return Ok(columns);
        }
    }
}

/// Returns `true` if the condition, `locations` or `filter` is next.
fn is_end(draft: &TestDraft) -> bool {
    let words = ["exists", "forall", "locations", "filter", "final", "not"];
    let starts = words.iter().any(|word| draft.tokens.is_word(word));
    starts || draft.tokens.is_sign("~") || *draft.tokens.peek() == LitmusToken::End
}

/// Parses a row: one instruction per thread.
fn row(draft: &mut TestDraft, syntax: Syntax, columns: &mut [ThreadColumn]) -> ParseResult<()> {
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

/// Parses labels and an optional instruction.
fn cell(draft: &mut TestDraft, syntax: Syntax, column: &mut ThreadColumn) -> ParseResult<()> {
    while let (LitmusToken::Word(label), LitmusToken::Sign(":")) =
        (draft.tokens.peek(), draft.tokens.ahead(1))
    {
        let label = label.clone();
        if column.labels.iter().any(|(known, _)| *known == label) {
            let message =
                format!("the label {} is defined twice: expected different labels", quote(&label));
            return Err(SyntaxError::new(draft.tokens.at(), message));
        }
        column.labels.push((label, column.body.here()));
        draft.tokens.skip();
        draft.tokens.skip();
    }
    if matches!(draft.tokens.peek(), LitmusToken::Word(_)) {
        instructions::instruction(draft, syntax, column)?;
    }
    Ok(())
}

impl ThreadColumn {
    /// Resolves the jumps, and adds the end.
    fn finish(mut self) -> ParseResult<ThreadCode> {
        for (jump, label, at) in self.jumps {
            let Some((_, target)) = self.labels.iter().find(|(known, _)| *known == label) else {
                let names: Vec<&str> = self.labels.iter().map(|(name, _)| name.as_str()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let message = format!("there is no label {}: expected {names}", quote(&label));
                return Err(SyntaxError::new(at, message));
            };
            self.body.land(jump, *target);
        }
        let end = self.body.places.last().copied().unwrap_or_default();
        self.body.push(Instruction::End, end);
        Ok(self.body)
    }
}

/// Parses an operand: `EAX`, `%eax`, `$1`, `1`, `$x`, `[x]`, `(%rax)`, `[x+EAX]`, `DWORD PTR [x]`.
fn operand(draft: &mut TestDraft, syntax: Syntax) -> ParseResult<X86Operand> {
    let mut width = None;
    for (word, bits) in [("dword", 32), ("qword", 64)] {
        if draft.tokens.eat_word(word) {
            width = Some(IntType { bits, signed: true });
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
    if let LitmusToken::Word(name) = draft.tokens.peek() {
        let name = name.clone();
        if dollar {
            draft.tokens.skip();
            return Ok(X86Operand::Number(address(draft.location(&name))));
        }
        return register(draft, &name).map(X86Operand::Register);
    }
    if percent {
        return draft.tokens.expected("a register");
    }
    // In AT&T syntax a number without a dollar is an address.
    if syntax == Syntax::Att && !dollar && matches!(draft.tokens.peek(), LitmusToken::Number(..)) {
        return draft.tokens.expected("'$' before a number");
    }
    draft
        .tokens
        .number("a register, a number such as $1, or memory such as [x]")
        .map(X86Operand::Number)
}

/// Consumes the register with this name, which is the next token.
fn register(draft: &mut TestDraft, name: &str) -> ParseResult<registers::RegisterRef> {
    if let Some(register) = registers::find(name) {
        draft.tokens.skip();
        return Ok(register);
    }
    if registers::is_narrow(name) {
        return draft.tokens.expected("a register of 32 or 64 bits; others are not supported");
    }
    draft.tokens.expected("a register, a number such as $1, or memory such as [x]")
}

/// Parses a sum of locations, registers and numbers, whose value must be the address of a location at run time.
fn effective_address(draft: &mut TestDraft) -> ParseResult<RegisterExpression> {
    let mut sum: Option<RegisterExpression> = None;
    for _ in 0..MAX_ADDRESS_PARTS {
        let percent = draft.tokens.eat("%");
        let part = match draft.tokens.peek() {
            LitmusToken::Number(value, _) => {
                let value = *value;
                draft.tokens.skip();
                RegisterExpression::Number(value)
            }
            LitmusToken::Word(name) => {
                let name = name.clone();
                if percent || registers::find(&name).is_some() || registers::is_narrow(&name) {
                    let register = register(draft, &name)?;
                    RegisterExpression::Register(register.slot).wrap(register.ty)
                } else {
                    draft.tokens.skip();
                    RegisterExpression::Number(address(draft.location(&name)))
                }
            }
            _ => return draft.tokens.expected("the name of a location, or a register"),
        };
        sum = Some(match sum {
            None => part,
            Some(sum) => RegisterExpression::binary(BinaryOperator::Add, sum, part),
        });
        if !draft.tokens.eat("+") {
            return Ok(sum.unwrap_or(RegisterExpression::Number(0)));
        }
    }
    draft.tokens.expected(&format!("at most {MAX_ADDRESS_PARTS} parts of an address"))
}

/// Returns a memory operand. Its type is `width`, or what the initial state declares.
fn memory(
    draft: &TestDraft,
    at: RegisterExpression,
    width: Option<IntType>,
) -> ParseResult<X86Operand> {
    let declared = match &at {
        RegisterExpression::Number(value) => {
            super::value::location(*value).and_then(|location| draft.locations[location].ty)
        }
        _ => None,
    };
    Ok(X86Operand::Memory(at, width.or(declared)))
}
