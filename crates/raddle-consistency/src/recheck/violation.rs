//! Rechecking violations.
//!
//! A violation with a derivation is proved if every fact follows by its rule and the facts end in a contradiction: a cycle,
//! or a read without a source. A core is proved by brute force; a claim that no smaller core exists is not rechecked. Broken
//! axioms are rechecked in `axiom.rs`; a race is a witness that holds and has two unordered accesses.
//!
//! A derivation of f facts over n events costs O(f * n), plus the sizes of the source sets.

use crate::reference::{brute_force, enumerate};
use crate::witness::{Fact, NotFrom, OrderEdge, Violation, Why};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::relations::Relations;
use raddle_core::model::{Model, is_race};

use super::axiom::{check_axiom, events_of_axiom};
use super::coherence::recheck_coherence;
use super::derivation::Derivation;
use super::{RecheckError, Rechecked, conclude};

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
        Violation::Cycle { .. } | Violation::NoSource { .. } if !model.has_store_buffers() => {
            Err(RecheckError::OtherModel)
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
        Violation::Axiom { axiom, cycle, derivation } => {
            check_axiom(execution, model, *axiom, cycle, derivation)
        }
        Violation::Race { first, second, coherence } => {
            check_race(execution, model, (*first, *second), coherence)
        }
        Violation::Core { lens, .. } => check_core(execution, model, lens, budget),
    }
}

/// Accepts the facts one by one. Returns `None` if the budget is exhausted.
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

/// Checks that the edges are facts or program order and close a cycle.
fn check_cycle(
    cycle: &[OrderEdge],
    facts: &[Fact],
    derived: &mut Derivation<'_>,
) -> Result<Rechecked, RecheckError> {
    conclude(!cycle.is_empty(), "the cycle is empty")?;
    let next = cycle.iter().cycle().skip(1);
    let closed = cycle.iter().zip(next).all(|(edge, next)| edge.to == next.from);
    conclude(closed, "the cycle does not close")?;
    for edge in cycle {
        let holds = match edge.why {
            Why::Program => derived.in_program_order(edge.from, edge.to),
            _ => facts.contains(&Fact::Order(*edge)),
        };
        conclude(holds, "an edge of the cycle is no fact")?;
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
    let core = execution.prefix(lens);
    let allowed = if model.has_store_buffers() {
        search_runs(&core, model, budget)
    } else {
        search_orders(&core, model, budget)
    };
    match allowed {
        Some(false) => Ok(Rechecked::Proved),
        None => Ok(Rechecked::TooLarge),
        Some(true) => Err(RecheckError::Conclusion { why: "the core is allowed" }),
    }
}

/// Returns whether a store-buffer model allows an execution, or `None` if the budget is exhausted.
fn search_runs(execution: &Execution, model: Model, budget: usize) -> Option<bool> {
    match brute_force::search(execution, model, budget) {
        brute_force::BruteForceOutcome::Allowed(_) => Some(true),
        brute_force::BruteForceOutcome::Forbidden => Some(false),
        brute_force::BruteForceOutcome::TooLarge => None,
    }
}

/// Returns whether a C11-style model allows an execution, or `None` if the budget is exhausted. Every test of the axioms
/// costs one unit for each event.
fn search_orders(execution: &Execution, model: Model, budget: usize) -> Option<bool> {
    match enumerate::search(execution, model, budget / execution.event_count().max(1)) {
        enumerate::EnumerationOutcome::Allowed(_) => Some(true),
        enumerate::EnumerationOutcome::Forbidden => Some(false),
        enumerate::EnumerationOutcome::TooLarge => None,
    }
}

/// Checks that the axioms allow the execution and that the two events race in it.
fn check_race(
    execution: &Execution,
    model: Model,
    (first, second): (EventId, EventId),
    coherence: &Coherence,
) -> Result<Rechecked, RecheckError> {
    if recheck_coherence(execution, model, coherence)? == Rechecked::TooLarge {
        return Ok(Rechecked::TooLarge);
    }
    // Races do not depend on the order of fences, see `model::race`.
    let given = Coherence { fences: vec![], ..coherence.clone() };
    let relations = Relations::new(execution, model, &given);
    let races = first < second && is_race(execution, model, &relations, first, second);
    conclude(races, "the two events do not race")?;
    Ok(Rechecked::Proved)
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
        Violation::Axiom { cycle, derivation, .. } => events_of_axiom(cycle, derivation),
        Violation::Race { first, second, .. } => vec![*first, *second],
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

fn events_of_edge(edge: &OrderEdge) -> Vec<EventId> {
    let third = match edge.why {
        Why::OwnStoreFirst { read } | Why::BeforeSource { read } => Some(read),
        Why::BeforeOverwrite { source } => Some(source),
        Why::Program | Why::ReadsFrom | Why::FirstSource => None,
    };
    [edge.from, edge.to].into_iter().chain(third).collect()
}
