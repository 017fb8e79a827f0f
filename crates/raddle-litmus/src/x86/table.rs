//! The names of the instructions of x86.

use crate::expression::{Expression, Operator};
use crate::lex::{Fault, Parsed};
use crate::value::Type;
use raddle_consistency::history::quote;
use raddle_core::program::UpdateKind;

use super::FLAGS;

/// What there is, for messages.
const KNOWN: &str = "MOV, XCHG, XADD, CMPXCHG, ADD, SUB, AND, OR, XOR, INC, DEC, CMP, TEST, MFENCE, \
                     SFENCE, LFENCE, NOP, JMP, a conditional jump, or LOCK before one of them";

/// An instruction with two operands that computes something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Arithmetic {
    pub(super) operator: Operator,
    pub(super) kind: UpdateKind,
    /// Whether the result is kept, or only the flags.
    pub(super) keeps: bool,
    /// Whether it changes the carry flag.
    pub(super) carries: bool,
}

/// What an instruction computes, if that is its purpose.
pub(super) fn arithmetic(name: &str) -> Option<Arithmetic> {
    use Operator::{Add, And, Or, Sub, Xor};
    let (operator, kind) = match name {
        "ADD" | "INC" | "XADD" => (Add, UpdateKind::Add),
        "SUB" | "DEC" | "CMP" => (Sub, UpdateKind::Sub),
        "AND" | "TEST" => (And, UpdateKind::And),
        "OR" => (Or, UpdateKind::Or),
        "XOR" => (Xor, UpdateKind::Xor),
        _ => return None,
    };
    let (keeps, carries) = (!matches!(name, "CMP" | "TEST"), !matches!(name, "INC" | "DEC"));
    Some(Arithmetic { operator, kind, keeps, carries })
}

/// The name without the letter for the width, and the width.
pub(super) fn split(word: &str, at: usize) -> Parsed<(&str, Option<Type>)> {
    if is_known(word) {
        return Ok((word, None));
    }
    for (letter, bits) in [('L', 32), ('Q', 64)] {
        if let Some(name) = word.strip_suffix(letter).filter(|name| has_width(name)) {
            return Ok((name, Some(Type { bits, signed: true })));
        }
    }
    let narrow = word.strip_suffix(['B', 'W']).is_some_and(has_width);
    let expected = if narrow { "32 or 64 bits; others are not supported" } else { KNOWN };
    Err(Fault::new(at, format!("found {}: expected {expected}", quote(word))))
}

fn has_width(name: &str) -> bool {
    arithmetic(name).is_some() || matches!(name, "MOV" | "XCHG" | "CMPXCHG")
}

fn is_known(name: &str) -> bool {
    let without = ["MFENCE", "SFENCE", "LFENCE", "NOP", "ENDBR64", "JMP"];
    has_width(name) || without.contains(&name) || condition(name).is_some()
}

/// When a conditional jump is taken.
pub(super) fn condition(name: &str) -> Option<Expression> {
    use Operator::{NotEqual, Or};
    let flag = Expression::Register;
    let less = || Expression::binary(NotEqual, flag(FLAGS.sign), flag(FLAGS.overflow));
    let or = |one, two| Expression::binary(Or, one, two);
    let (taken, negated) = match name {
        "JE" | "JZ" => (flag(FLAGS.zero), false),
        "JNE" | "JNZ" => (flag(FLAGS.zero), true),
        "JL" | "JNGE" => (less(), false),
        "JGE" | "JNL" => (less(), true),
        "JLE" | "JNG" => (or(less(), flag(FLAGS.zero)), false),
        "JG" | "JNLE" => (or(less(), flag(FLAGS.zero)), true),
        "JB" | "JC" | "JNAE" => (flag(FLAGS.carry), false),
        "JAE" | "JNC" | "JNB" => (flag(FLAGS.carry), true),
        "JBE" | "JNA" => (or(flag(FLAGS.carry), flag(FLAGS.zero)), false),
        "JA" | "JNBE" => (or(flag(FLAGS.carry), flag(FLAGS.zero)), true),
        "JS" => (flag(FLAGS.sign), false),
        "JNS" => (flag(FLAGS.sign), true),
        "JO" => (flag(FLAGS.overflow), false),
        "JNO" => (flag(FLAGS.overflow), true),
        _ => return None,
    };
    Some(if negated { taken.not() } else { taken })
}
