//! Rechecking violations.
//!
//! A violation with a derivation is proved if every fact of it follows by its rule and the facts
//! end in a contradiction: a circle, or a read without a source. A core is proved by brute force.
//! (That no smaller core exists, as one may claim, is not rechecked.)
//!
//! A derivation of f facts over n events costs O(f * n), plus the sizes of the source sets.

use crate::execution::{EventId, Execution};
use crate::model::Model;
use crate::reference::brute_force::{Outcome, search};
use crate::witness::{Edge, Fact, NotFrom, Violation, Why};

use super::RecheckError;
use super::derivation::Derivation;

/// What a recheck without objections found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rechecked {
    /// The execution is forbidden indeed.
    Proved,
    /// The budget did not suffice to tell.
    TooLarge,
}

/// Checks that a violation proves that the model forbids the execution. The budget bounds the
/// states that a brute-force search may meet, or the events that a derivation may look at.
///
/// # Errors
/// If the violation proves nothing.
pub fn recheck_violation(
    execution: &Execution,
    model: Model,
    violation: &Violation,
    budget: usize,
) -> Result<Rechecked, RecheckError> {
    let exists = |event: EventId| event.index() < execution.event_count();
    conclude(events_of(violation).into_iter().all(exists), "it is about events that do not exist")?;
    match violation {
        Violation::UnwrittenValue { read } => {
            conclude(execution.action(*read).has_source(), "the event reads nothing")?;
            conclude(execution.sources(*read).is_empty(), "the read has sources")?;
            Ok(Rechecked::Proved)
        }
        Violation::Cycle { cycle, derivation } => {
            let Some(mut derived) = follow(execution, model, derivation, budget)? else {
                return Ok(Rechecked::TooLarge);
            };
            check_cycle(cycle, derivation, &mut derived)
        }
        Violation::NoSource { read, derivation } => {
            let Some(derived) = follow(execution, model, derivation, budget)? else {
                return Ok(Rechecked::TooLarge);
            };
            conclude(execution.action(*read).has_source(), "the event reads nothing")?;
            conclude(derived.left(*read).is_empty(), "the read has a source left")?;
            Ok(Rechecked::Proved)
        }
        Violation::Core { lens, .. } => check_core(execution, model, lens, budget),
    }
}

fn conclude(condition: bool, why: &'static str) -> Result<(), RecheckError> {
    if condition { Ok(()) } else { Err(RecheckError::Conclusion { why }) }
}

/// Accepts the facts one by one; `None` if the budget ends before the facts do.
fn follow<'a>(
    execution: &'a Execution,
    model: Model,
    facts: &[Fact],
    budget: usize,
) -> Result<Option<Derivation<'a>>, RecheckError> {
    let mut derivation = Derivation::new(execution, model);
    for (index, fact) in facts.iter().enumerate() {
        if derivation.work() > budget {
            return Ok(None);
        }
        derivation.accept(fact).map_err(|why| RecheckError::Fact { index, why })?;
    }
    Ok(Some(derivation))
}

/// The edges are facts or program order, and they close a circle.
fn check_cycle(
    cycle: &[Edge],
    facts: &[Fact],
    derived: &mut Derivation<'_>,
) -> Result<Rechecked, RecheckError> {
    conclude(!cycle.is_empty(), "the circle is empty")?;
    let next = cycle.iter().cycle().skip(1);
    let closed = cycle.iter().zip(next).all(|(edge, next)| edge.to == next.from);
    conclude(closed, "the circle does not close")?;
    for edge in cycle {
        let holds = match edge.why {
            Why::Program => derived.in_program_order(edge.from, edge.to),
            _ => facts.contains(&Fact::Order(*edge)),
        };
        conclude(holds, "an edge of the circle is no fact")?;
    }
    Ok(Rechecked::Proved)
}

fn check_core(
    execution: &Execution,
    model: Model,
    lens: &[usize],
    budget: usize,
) -> Result<Rechecked, RecheckError> {
    let fits = lens.len() == execution.thread_count()
        && execution.threads().zip(lens).all(|(t, &len)| len <= execution.thread_len(t));
    conclude(fits, "the core is not a part of the execution")?;
    conclude(execution.is_closed(lens), "the core is not closed")?;
    match search(&execution.prefix(lens), model, budget) {
        Outcome::Forbidden => Ok(Rechecked::Proved),
        Outcome::TooLarge => Ok(Rechecked::TooLarge),
        Outcome::Allowed(_) => Err(RecheckError::Conclusion { why: "the core is allowed" }),
    }
}

/// All events that a violation mentions.
fn events_of(violation: &Violation) -> Vec<EventId> {
    match violation {
        Violation::UnwrittenValue { read } => vec![*read],
        Violation::Cycle { cycle, derivation } => {
            let cycle = cycle.iter().flat_map(events_of_edge);
            cycle.chain(derivation.iter().flat_map(events_of_fact)).collect()
        }
        Violation::NoSource { read, derivation } => {
            derivation.iter().flat_map(events_of_fact).chain([*read]).collect()
        }
        Violation::Core { .. } => vec![],
    }
}

fn events_of_fact(fact: &Fact) -> Vec<EventId> {
    match *fact {
        Fact::Order(edge) => events_of_edge(&edge),
        Fact::Excluded { read, source, why: NotFrom::Later } => vec![read, source],
        Fact::Excluded { read, source, why: NotFrom::Hidden { by } | NotFrom::OwnStore { by } } => {
            vec![read, source, by]
        }
    }
}

fn events_of_edge(edge: &Edge) -> Vec<EventId> {
    let third = match edge.why {
        Why::OwnStoreFirst { read } | Why::BeforeSource { read } => Some(read),
        Why::BeforeOverwrite { source } => Some(source),
        Why::Program | Why::ReadsFrom | Why::FirstSource => None,
    };
    [edge.from, edge.to].into_iter().chain(third).collect()
}
