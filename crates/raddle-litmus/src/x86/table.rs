//! Table of x86 instructions.

use crate::expression::{BinaryOperator, RegisterExpression};
use crate::lex::{ParseResult, SyntaxError};
use crate::value::IntType;
use raddle_consistency::history::quote;
use raddle_core::program::UpdateKind;

use super::FLAGS;

/// Supported instructions, for messages.
const KNOWN: &str = "MOV, XCHG, XADD, CMPXCHG, ADD, SUB, AND, OR, XOR, INC, DEC, CMP, TEST, MFENCE, \
                     SFENCE, LFENCE, NOP, JMP, a conditional jump, or LOCK before one of them";

/// Arithmetic instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Arithmetic {
    pub(super) operator: BinaryOperator,
    pub(super) kind: UpdateKind,
    /// Whether it writes its target, and not only the flags.
    pub(super) writes_target: bool,
    /// Whether it sets the carry flag.
    pub(super) sets_carry: bool,
}

/// Returns the computation of an arithmetic instruction.
pub(super) fn arithmetic(name: &str) -> Option<Arithmetic> {
    use BinaryOperator::{Add, And, Or, Sub, Xor};
    let (operator, kind) = match name {
        "ADD" | "INC" | "XADD" => (Add, UpdateKind::Add),
        "SUB" | "DEC" | "CMP" => (Sub, UpdateKind::Sub),
        "AND" | "TEST" => (And, UpdateKind::And),
        "OR" => (Or, UpdateKind::Or),
        "XOR" => (Xor, UpdateKind::Xor),
        _ => return None,
    };
    let (writes_target, sets_carry) =
        (!matches!(name, "CMP" | "TEST"), !matches!(name, "INC" | "DEC"));
    Some(Arithmetic { operator, kind, writes_target, sets_carry })
}

/// Splits a mnemonic into its name and the width suffix.
pub(super) fn split(word: &str, at: usize) -> ParseResult<(&str, Option<IntType>)> {
    if is_known(word) {
        return Ok((word, None));
    }
    for (letter, bits) in [('L', 32), ('Q', 64)] {
        if let Some(name) = word.strip_suffix(letter).filter(|name| has_width(name)) {
            return Ok((name, Some(IntType { bits, signed: true })));
        }
    }
    let narrow = word.strip_suffix(['B', 'W']).is_some_and(has_width);
    let expected = if narrow { "32 or 64 bits; others are not supported" } else { KNOWN };
    Err(SyntaxError::new(at, format!("found {}: expected {expected}", quote(word))))
}

fn has_width(name: &str) -> bool {
    arithmetic(name).is_some() || matches!(name, "MOV" | "XCHG" | "CMPXCHG")
}

fn is_known(name: &str) -> bool {
    let without = ["MFENCE", "SFENCE", "LFENCE", "NOP", "ENDBR64", "JMP"];
    has_width(name) || without.contains(&name) || condition(name).is_some()
}

/// Returns the condition under which a conditional jump is taken.
pub(super) fn condition(name: &str) -> Option<RegisterExpression> {
    use BinaryOperator::{NotEqual, Or};
    let flag = RegisterExpression::Register;
    let less = || RegisterExpression::binary(NotEqual, flag(FLAGS.sign), flag(FLAGS.overflow));
    let or = |one, two| RegisterExpression::binary(Or, one, two);
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
