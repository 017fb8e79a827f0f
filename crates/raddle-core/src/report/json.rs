//! Witnesses and violations as JSON. The names of the fields are stable: scripts depend on them.

use serde::Serialize;

use super::{does, observed_sources, sentence};
use crate::execution::{EventId, Execution};
use crate::model::Model;
use crate::witness::{self, Edge, Fact, NotFrom, Why};

/// A step of a witness. Events go by their names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A thread performs its next event.
    Run {
        /// The event.
        run: String,
        /// What it does, with the source that it observes in this run.
        does: String,
    },
    /// A store reaches memory.
    Flush {
        /// The store.
        flush: String,
    },
}

/// The steps of a witness.
#[must_use]
pub fn witness(execution: &Execution, witness: &witness::Witness) -> Vec<Step> {
    let sources = observed_sources(execution, witness);
    let step = |step: &witness::Step| match *step {
        witness::Step::Run(event) => Step::Run {
            run: execution.name(event),
            does: does(execution, event, sources[event.index()]),
        },
        witness::Step::Flush(event) => Step::Flush { flush: execution.name(event) },
    };
    witness.steps.iter().map(step).collect()
}

/// A violation, with a sentence that says it to a person.
#[derive(Debug, Serialize)]
pub struct Violation {
    kind: &'static str,
    message: String,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Detail {
    UnwrittenValue { read: String },
    Cycle { cycle: Vec<Order>, derivation: Vec<Derived> },
    NoSource { read: String, derivation: Vec<Derived> },
    Core { events: Vec<String>, size: &'static str },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Derived {
    Order(Order),
    Excluded(Excluded),
}

/// `from` comes before `to`.
#[derive(Debug, Serialize)]
struct Order {
    from: String,
    to: String,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// `read` does not observe `not_from`.
#[derive(Debug, Serialize)]
struct Excluded {
    read: String,
    not_from: String,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// A violation under the model.
#[must_use]
pub fn violation(execution: &Execution, model: Model, violation: &witness::Violation) -> Violation {
    let (kind, detail) = match violation {
        witness::Violation::UnwrittenValue { read } => {
            ("unwritten-value", Detail::UnwrittenValue { read: execution.name(*read) })
        }
        witness::Violation::Cycle { cycle, derivation } => {
            let cycle = cycle.iter().map(|edge| order(execution, edge)).collect();
            ("cycle", Detail::Cycle { cycle, derivation: derived(execution, derivation) })
        }
        witness::Violation::NoSource { read, derivation } => {
            let read = execution.name(*read);
            ("no-source", Detail::NoSource { read, derivation: derived(execution, derivation) })
        }
        witness::Violation::Core { lens, size } => {
            let events = first_events(execution, lens);
            let size = match size {
                witness::CoreSize::Smallest => "smallest",
                witness::CoreSize::Minimal => "minimal",
                witness::CoreSize::Unknown => "unknown",
            };
            ("core", Detail::Core { events, size })
        }
    };
    Violation { kind, message: sentence(execution, model, violation), detail }
}

fn first_events(execution: &Execution, lens: &[usize]) -> Vec<String> {
    execution
        .threads()
        .flat_map(|thread| execution.thread_events(thread).take(lens[thread.index()]))
        .map(|event| execution.name(event))
        .collect()
}

fn derived(execution: &Execution, facts: &[Fact]) -> Vec<Derived> {
    let fact = |fact: &Fact| match fact {
        Fact::Order(edge) => Derived::Order(order(execution, edge)),
        Fact::Excluded { read, source, why } => {
            Derived::Excluded(excluded(execution, *read, *source, *why))
        }
    };
    facts.iter().map(fact).collect()
}

fn order(execution: &Execution, edge: &Edge) -> Order {
    let name = |event| Some(execution.name(event));
    let (why, read, source) = match edge.why {
        Why::Program => ("program", None, None),
        Why::ReadsFrom => ("reads-from", None, None),
        Why::FirstSource => ("first-source", None, None),
        Why::OwnStoreFirst { read } => ("own-store-first", name(read), None),
        Why::BeforeSource { read } => ("before-source", name(read), None),
        Why::BeforeOverwrite { source } => ("before-overwrite", None, name(source)),
    };
    Order { from: execution.name(edge.from), to: execution.name(edge.to), why, read, source }
}

fn excluded(execution: &Execution, read: EventId, source: EventId, why: NotFrom) -> Excluded {
    let (why, by) = match why {
        NotFrom::Later => ("later", None),
        NotFrom::Hidden { by } => ("hidden", Some(execution.name(by))),
        NotFrom::OwnStore { by } => ("own-store", Some(execution.name(by))),
    };
    Excluded { read: execution.name(read), not_from: execution.name(source), why, by }
}
