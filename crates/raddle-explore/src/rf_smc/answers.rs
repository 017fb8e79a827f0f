//! What questions read and write, and what threads are told.

use raddle_core::execution::Value;
use raddle_core::program::{Answer, LocalHistories, OpKind, UpdateKind};
use raddle_core::trace::{Observed, TraceEvent};

use super::graph::Graph;

/// What a question does with what it observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuestionOutcome {
    pub(super) read: Option<Value>,
    pub(super) written: Option<Value>,
}

/// What a question may do where it observes this value (a lock has none): one thing; or, a weak
/// compare-exchange that finds what it expects, two; or none, if it waits for another value.
pub(super) fn outcomes(kind: OpKind, value: Option<Value>) -> Vec<QuestionOutcome> {
    let writes = |written| vec![QuestionOutcome { read: value, written: Some(written) }];
    let reads = || vec![QuestionOutcome { read: value, written: None }];
    let Some(read) = value else { return reads() };
    match kind {
        OpKind::Rmw { update, .. } => writes(update.apply(read)),
        OpKind::Sync { guard, update, .. } if guard.admits(read) => writes(update.apply(read)),
        OpKind::Sync { .. } => vec![],
        OpKind::CompareExchange { expected, desired, weak, .. } if read == expected => {
            let fails = if weak { reads() } else { vec![] };
            [writes(desired), fails].concat()
        }
        OpKind::Lock { .. } => vec![QuestionOutcome { read: None, written: None }],
        _ => reads(),
    }
}

/// Whether the question takes the last state of its location, and waits if it cannot. Such a location
/// has no other accesses.
pub(super) fn is_taker(kind: OpKind) -> bool {
    matches!(kind, OpKind::Lock { .. } | OpKind::Sync { .. })
}

/// Whether the question observes memory, so that the memory model must agree. Everything else can be
/// added to every consistent execution.
pub(super) fn reads_memory(kind: OpKind) -> bool {
    matches!(kind, OpKind::Load { .. } | OpKind::Rmw { .. } | OpKind::CompareExchange { .. })
}

/// The answer that the thread gets, if this is its next event. If threads share no memory but what ops carry
/// ([`Program::shares_memory`](raddle_core::program::Program::shares_memory)), the answers of locks, objects and joins
/// name no event.
pub(super) fn answer(
    graph: &Graph,
    histories: &LocalHistories,
    shares_memory: bool,
    event: &TraceEvent,
) -> Answer {
    match (event.op.kind, event.observed) {
        (OpKind::Join { thread }, _) if shares_memory => {
            histories.joined(graph.cursor(thread).node)
        }
        (OpKind::Lock { .. } | OpKind::Sync { .. } | OpKind::ReadCell { .. }, observed)
            if shares_memory =>
        {
            match observed {
                Some(Observed::Event(source)) => Answer::From(graph.events[source].origin),
                _ => Answer::Initial,
            }
        }
        (OpKind::Join { .. } | OpKind::Lock { .. } | OpKind::ReadCell { .. }, _) => Answer::Initial,
        (_, Some(Observed::Choice(choice))) => Answer::Choice(choice),
        (_, Some(Observed::Event(source))) if carries(graph, source) => {
            let origin = graph.events[source].origin;
            if event.is_spurious() { Answer::SpuriousFrom(origin) } else { Answer::From(origin) }
        }
        _ => {
            let value = event.read.expect("a read has a value");
            if event.is_spurious() { Answer::Spurious(value) } else { Answer::Value(value) }
        }
    }
}

/// Returns `true` if the event wrote a pointer to memory that no op carries. An update that does not replace the value
/// keeps the pointer that it read.
fn carries(graph: &Graph, event: usize) -> bool {
    let TraceEvent { op, observed, .. } = &graph.events[event].event;
    let keeps = matches!(op.kind, OpKind::Rmw { update, .. } if update.kind != UpdateKind::Swap);
    match observed {
        _ if op.carries() => true,
        Some(Observed::Event(source)) if keeps => carries(graph, *source),
        _ => false,
    }
}
