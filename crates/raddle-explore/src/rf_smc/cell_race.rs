//! Races of cell accesses.

use raddle_core::program::OpKind;

use super::graph::Graph;
use super::past::Pasts;

/// A race of two accesses of a cell, the second of which is the last event of the execution.
pub(super) fn race(graph: &Graph) -> Option<(usize, usize)> {
    let last = graph.events.len().checked_sub(1)?;
    let kind = graph.events[last].event.op.kind;
    let (OpKind::ReadCell { location } | OpKind::WriteCell { location }) = kind else {
        return None;
    };
    let read = OpKind::ReadCell { location };
    let write = OpKind::WriteCell { location };
    let pasts = Pasts::new(graph);
    let races = |&at: &usize| {
        let other = graph.events[at].event.op.kind;
        let conflicts = other == write || other == read && kind == write;
        conflicts && !pasts.of(Some(last)).contains(at)
    };
    (0..last).find(races).map(|first| (first, last))
}
