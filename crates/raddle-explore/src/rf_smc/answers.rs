//! What questions read and write, and what threads are told.

use raddle_core::execution::Value;
use raddle_core::program::{Answer, OpKind};
use raddle_core::trace::{Observed, TraceEvent};

use super::graph::Graph;

/// What a question does with what it observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) read: Option<Value>,
    pub(super) written: Option<Value>,
}

/// What a question may do where it observes this value (a lock has none): one thing; or, a weak
/// compare-exchange that finds what it expects, two; or none, if it waits for another value.
pub(super) fn outcomes(kind: OpKind, value: Option<Value>) -> Vec<Outcome> {
    let writes = |written| vec![Outcome { read: value, written: Some(written) }];
    let reads = || vec![Outcome { read: value, written: None }];
    let Some(read) = value else { return reads() };
    match kind {
        OpKind::Rmw { update, .. } => writes(update.apply(read)),
        OpKind::Sync { guard, update, .. } if guard.admits(read) => writes(update.apply(read)),
        OpKind::Sync { .. } => vec![],
        OpKind::CompareExchange { expected, desired, weak, .. } if read == expected => {
            let fails = if weak { reads() } else { vec![] };
            [writes(desired), fails].concat()
        }
        OpKind::Lock { .. } => vec![Outcome { read: None, written: None }],
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

/// What the thread is told, if this is its next event.
pub(super) fn answer(graph: &Graph, event: &TraceEvent) -> Answer {
    let source = match event.observed {
        Some(Observed::Event(source)) => Some(&graph.events[source]),
        _ => None,
    };
    match (event.op.kind, event.observed, source) {
        (_, Some(Observed::Choice(choice)), _) => Answer::Choice(choice),
        (OpKind::Join { thread }, ..) => Answer::From(graph.cursor(thread)),
        (kind, _, Some(source)) if is_taker(kind) => Answer::From(source.origin),
        (_, _, Some(source)) if source.event.op.carries() && event.is_spurious() => {
            Answer::SpuriousFrom(source.origin)
        }
        (_, _, Some(source)) if source.event.op.carries() => Answer::From(source.origin),
        (kind, ..) if is_taker(kind) => Answer::Initial,
        _ => {
            let value = event.read.expect("a read has a value");
            if event.is_spurious() { Answer::Spurious(value) } else { Answer::Value(value) }
        }
    }
}
