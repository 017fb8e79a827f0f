//! Sentences for short cycles under C11-style models.
//!
//! Most axioms forbid cycles of two or three links, which have few shapes. A sentence about each shape is easier to
//! understand than the cycle.

use super::edge_cycles::both_update;
use super::phrases::Phrases;
use crate::witness::{Axiom, CycleLink, Relation};
use raddle_core::execution::{Action, EventId};

/// The largest number of links for which there is a sentence.
const LONGEST: usize = 3;

/// What a cycle means, as a sentence without a full stop, if there is one for its shape. The cycle may start with any
/// link.
pub(super) fn sentence(words: Phrases<'_>, axiom: Axiom, cycle: &[CycleLink]) -> Option<String> {
    let starts = if cycle.len() > LONGEST { 0..0 } else { 0..cycle.len() };
    starts.into_iter().find_map(|start| {
        let mut rotated = cycle.to_vec();
        rotated.rotate_left(start);
        rotated_sentence(words, axiom, &rotated)
    })
}

fn rotated_sentence(words: Phrases<'_>, axiom: Axiom, cycle: &[CycleLink]) -> Option<String> {
    use Relation::{Fr, Hb, Mo, Po, Rf, RfInverse};
    let relations: Vec<Relation> = cycle.iter().map(|link| link.relation).collect();
    let at = |index: usize| cycle[index].from;
    let name = |event| words.name(event);
    match (axiom, relations.as_slice()) {
        (Axiom::PoRf, [Rf, Po]) => {
            Some(format!("{}, which comes later in the same thread", words.reads(at(1), at(0))))
        }
        (Axiom::PoRf, [Rf, Hb]) => {
            Some(format!("{}, but happens before it", words.reads(at(1), at(0))))
        }
        (Axiom::WeakAtomicity, [Rf, Rf]) => {
            let (one, other) = (cycle[0].to, cycle[1].to);
            Some(both_update(words, one.min(other), one.max(other), at(0)))
        }
        (Axiom::WeakReadCoherence, [Hb, Hb, RfInverse]) => Some(missed(words, at(2), at(0), at(1))),
        (Axiom::ReadCoherence, [Fr, Hb]) => {
            Some(missed(words, at(0), source(words, at(0))?, at(1)))
        }
        (Axiom::ReadCoherence, [Fr, Rf, Hb]) => {
            let reads = reads_value(words, at(0), source(words, at(0))?);
            Some(format!(
                "{reads}, but {}, which happens before the read, has read the newer {}",
                name(at(2)),
                name(at(1)),
            ))
        }
        (Axiom::Atomicity, [Fr, Mo]) => between(words, at(0), at(1)),
        (_, [Mo]) => {
            Some(format!("{} must come before itself in {}", name(at(0)), mo(words, at(0))))
        }
        (_, [Mo, Mo]) => Some(format!(
            "{} and {} must each come before the other in {}",
            name(at(0)),
            name(at(1)),
            mo(words, at(0)),
        )),
        (_, [Mo, Hb]) => Some(format!(
            "{} happens before {}, but must come after it in {}",
            name(at(1)),
            name(at(0)),
            mo(words, at(0)),
        )),
        (_, [Mo, Rf]) => Some(format!(
            "{}, which must come later in {}",
            words.reads(at(0), at(1)),
            mo(words, at(0)),
        )),
        (_, [Mo, Rf, Hb]) => Some(format!(
            "{} and happens before {}, but {} must come after it in {}",
            words.reads(at(2), at(1)),
            name(at(0)),
            name(at(1)),
            mo(words, at(0)),
        )),
        _ => None,
    }
}

fn mo(words: Phrases<'_>, event: EventId) -> String {
    format!("the modification order of {}", words.location(event))
}

/// The only write that an event can observe.
fn source(words: Phrases<'_>, read: EventId) -> Option<EventId> {
    match words.execution.sources(read) {
        [source] => Some(*source),
        _ => None,
    }
}

/// `P1.1 reads x = 0 from init x`.
fn reads_value(words: Phrases<'_>, read: EventId, source: EventId) -> String {
    match words.execution.action(read) {
        Action::Lock { .. } | Action::Unlock { .. } => words.reads(read, source),
        _ => format!("{} from {}", words.observes(read), words.name(source)),
    }
}

/// A read misses a write that happens before it.
fn missed(words: Phrases<'_>, read: EventId, source: EventId, missed: EventId) -> String {
    let (reads, missed) = (reads_value(words, read, source), words.name(missed));
    match (words.is_lock(read), words.execution.is_init(source)) {
        (true, true) => format!("{reads}, but {missed} comes before"),
        (true, false) => format!("{reads}, but {missed} comes in between"),
        (false, _) => format!("{reads}, but {missed} overwrites it and happens before the read"),
    }
}

/// A write comes between an update and its source.
fn between(words: Phrases<'_>, update: EventId, write: EventId) -> Option<String> {
    let from = source(words, update)?;
    if words.execution.action(write).is_atomic_update() && source(words, write) == Some(from) {
        return Some(both_update(words, update.min(write), update.max(write), from));
    }
    let (reads, write) = (reads_value(words, update, from), words.name(write));
    let order = mo(words, update);
    Some(format!("{reads} in an atomic update, but {write} must come between them in {order}"))
}
