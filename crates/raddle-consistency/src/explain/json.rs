//! Witnesses and violations as JSON. The names of the fields are stable: scripts depend on them.

use serde::{Serialize, Serializer};

use super::axiom::relation_name;
use super::{does, observed_sources, sentence};
use crate::witness::{self, CycleLink, Fact, MoFact, NotFrom, OrderEdge, Why, WhyMo};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;

/// A step of a witness. Events go by their names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum StepJson {
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

/// A witness: a run, or the orders of a C11-style model.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum WitnessJson {
    /// The steps of a run.
    Run(Vec<StepJson>),
    /// Sources and orders under a C11-style model.
    Coherence(CoherenceJson),
}

/// Sources and modification orders. Events go by their names.
#[derive(Debug, Serialize)]
pub struct CoherenceJson {
    /// By event, what it observes.
    rf: Entries<String>,
    /// By location, its writes in order.
    mo: Entries<Vec<String>>,
    /// The sequentially consistent fences in order, if the model orders them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fences: Vec<String>,
}

/// An object whose fields keep their order.
#[derive(Debug)]
struct Entries<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Converts a witness.
#[must_use]
pub fn witness(execution: &Execution, witness: &witness::Witness) -> WitnessJson {
    match witness {
        witness::Witness::Run(run) => WitnessJson::Run(steps(execution, run)),
        witness::Witness::Coherence(order) => WitnessJson::Coherence(coherence(execution, order)),
    }
}

fn coherence(
    execution: &Execution,
    coherence: &raddle_core::execution::Coherence,
) -> CoherenceJson {
    let name = |event| execution.name(event);
    let names = |order: &[EventId]| order.iter().map(|&event| name(event)).collect();
    let rf = execution.events().zip(&coherence.rf);
    let rf = rf.filter_map(|(event, source)| Some((name(event), name((*source)?))));
    let mo = execution.locations().zip(&coherence.mo);
    let mo = mo.map(|(id, order)| (execution.location(id).name.clone(), names(order)));
    CoherenceJson {
        rf: Entries(rf.collect()),
        mo: Entries(mo.collect()),
        fences: names(&coherence.fences),
    }
}

fn steps(execution: &Execution, run: &witness::MachineRun) -> Vec<StepJson> {
    let sources = observed_sources(execution, run);
    let step = |step: &witness::MachineStep| match *step {
        witness::MachineStep::Run(event) => StepJson::Run {
            run: execution.name(event),
            does: does(execution, event, sources[event.index()]),
        },
        witness::MachineStep::Flush(event) => StepJson::Flush { flush: execution.name(event) },
    };
    run.steps.iter().map(step).collect()
}

/// A violation, with a sentence that says it to a person.
#[derive(Debug, Serialize)]
pub struct ViolationJson {
    kind: &'static str,
    message: String,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Detail {
    UnwrittenValue { read: String },
    Axiom { axiom: String, cycle: Vec<RelatedJson>, derivation: Vec<OrderJson> },
    Race { first: String, second: String, location: String },
    Cycle { cycle: Vec<OrderJson>, derivation: Vec<Derived> },
    NoSource { read: String, derivation: Vec<Derived> },
    Core { events: Vec<String>, size: &'static str },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Derived {
    Order(OrderJson),
    Excluded(ExcludedJson),
}

/// `from` comes before `to`.
#[derive(Debug, Serialize)]
struct OrderJson {
    from: String,
    to: String,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// `from` and `to` are related.
#[derive(Debug, Serialize)]
struct RelatedJson {
    from: String,
    to: String,
    relation: &'static str,
}

/// `read` does not observe `not_from`.
#[derive(Debug, Serialize)]
struct ExcludedJson {
    read: String,
    not_from: String,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// A violation under the model.
#[must_use]
pub fn violation(
    execution: &Execution,
    model: Model,
    violation: &witness::Violation,
) -> ViolationJson {
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
        witness::Violation::Axiom { axiom, cycle, derivation } => {
            let cycle = cycle.iter().map(|link| related(execution, link)).collect();
            let derivation = derivation.iter().map(|fact| mo_fact(execution, fact)).collect();
            ("axiom", Detail::Axiom { axiom: axiom.to_string(), cycle, derivation })
        }
        witness::Violation::Race { first, second, .. } => {
            ("race", race(execution, *first, *second))
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
    ViolationJson { kind, message: sentence(execution, model, violation), detail }
}

fn race(execution: &Execution, first: EventId, second: EventId) -> Detail {
    let location = execution.action(first).location();
    let location = location.map(|location| execution.location(location).name.clone());
    Detail::Race {
        first: execution.name(first),
        second: execution.name(second),
        location: location.unwrap_or_default(),
    }
}

fn related(execution: &Execution, link: &CycleLink) -> RelatedJson {
    let (from, to) = (execution.name(link.from), execution.name(link.to));
    RelatedJson { from, to, relation: relation_name(link.relation) }
}

fn mo_fact(execution: &Execution, fact: &MoFact) -> OrderJson {
    let (why, read) = match fact.why {
        WhyMo::HappensBefore => ("happens-before", None),
        WhyMo::Update => ("update", None),
        WhyMo::Read { read } => ("read", Some(execution.name(read))),
        WhyMo::Chains => ("chains", None),
    };
    let (from, to) = (execution.name(fact.from), execution.name(fact.to));
    OrderJson { from, to, why, read, source: None }
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

fn order(execution: &Execution, edge: &OrderEdge) -> OrderJson {
    let name = |event| Some(execution.name(event));
    let (why, read, source) = match edge.why {
        Why::Program => ("program", None, None),
        Why::ReadsFrom => ("reads-from", None, None),
        Why::FirstSource => ("first-source", None, None),
        Why::OwnStoreFirst { read } => ("own-store-first", name(read), None),
        Why::BeforeSource { read } => ("before-source", name(read), None),
        Why::BeforeOverwrite { source } => ("before-overwrite", None, name(source)),
    };
    OrderJson { from: execution.name(edge.from), to: execution.name(edge.to), why, read, source }
}

fn excluded(execution: &Execution, read: EventId, source: EventId, why: NotFrom) -> ExcludedJson {
    let (why, by) = match why {
        NotFrom::Later => ("later", None),
        NotFrom::Hidden { by } => ("hidden", Some(execution.name(by))),
        NotFrom::OwnStore { by } => ("own-store", Some(execution.name(by))),
    };
    ExcludedJson { read: execution.name(read), not_from: execution.name(source), why, by }
}
