//! Accesses of a cycle: their threads, locations and values.
//!
//! Accesses of one location are consecutive in the cycle, and in the execution that the test asks for they happen in
//! this order: a write has the next value, a read the value of the last write.

use super::edge::{AccessDirection, CycleEdge, EdgeKind};
use super::normal::threads;

/// Access of a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleAccess {
    pub(super) direction: AccessDirection,
    /// Index of the location.
    pub(super) location: usize,
    /// Value that it writes, or reads according to the condition.
    pub(super) value: usize,
    /// Relation from the preceding access of its thread.
    pub(super) before: Option<CycleEdge>,
}

/// Accesses of a cycle.
#[derive(Clone, Debug)]
pub(super) struct CycleAccesses {
    /// By thread.
    pub(super) threads: Vec<Vec<CycleAccess>>,
    /// By location: number of writes.
    pub(super) writes: Vec<usize>,
}

impl CycleAccesses {
    /// Returns the names and final values of locations in the condition: those with several writes.
    pub(super) fn final_values(&self) -> impl Iterator<Item = (String, usize)> {
        let several = self.writes.iter().enumerate().filter(|(_, writes)| **writes > 1);
        several.map(|(location, writes)| (location_name(location), *writes))
    }
}

/// Returns `true` if the relation is program order without communication.
pub(super) fn is_program_order(edge: CycleEdge) -> bool {
    matches!(edge.kind, EdgeKind::Program | EdgeKind::Fenced(_) | EdgeKind::Dependent(_))
}

/// Returns the name of a location: x, y, z, a, b, c, ...
pub(super) fn location_name(location: usize) -> String {
    let letter = b'a' + ((location + 23) % 26) as u8;
    char::from(letter).to_string()
}

/// Returns the accesses of a cycle in normal form.
pub(super) fn events(edges: &[CycleEdge]) -> CycleAccesses {
    let locations = locations(edges);
    let (values, writes) = values(edges, &locations);
    let mut at = 0;
    let threads = threads(edges)
        .into_iter()
        .map(|thread| {
            let mut before = None;
            let events = thread.iter().map(|edge| {
                let event = CycleAccess {
                    direction: edge.source,
                    location: locations[at],
                    value: values[at],
                    before,
                };
                before = Some(*edge);
                at += 1;
                event
            });
            events.collect()
        })
        .collect();
    CycleAccesses { threads, writes }
}

/// Returns the location of each access: the next one after each relaxation between different locations, cyclically.
fn locations(edges: &[CycleEdge]) -> Vec<usize> {
    let count = edges.iter().filter(|edge| edge.different).count().max(1);
    let mut location = 0;
    edges
        .iter()
        .map(|edge| {
            let own = location % count;
            location += usize::from(edge.different);
            own
        })
        .collect()
}

/// Returns the value of each access, and the number of writes of each location.
fn values(edges: &[CycleEdge], locations: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let length = edges.len();
    let starts_chain = |at: &usize| {
        let before = edges[(at + length - 1) % length];
        if edges.iter().any(|edge| edge.different) {
            before.different
        } else {
            is_program_order(before)
        }
    };
    let start = (0..length).find(starts_chain).unwrap_or(0);
    let mut values = vec![0; length];
    let mut writes = vec![0; locations.iter().max().map_or(1, |last| last + 1)];
    for at in (start..start + length).map(|at| at % length) {
        let last = &mut writes[locations[at]];
        *last += usize::from(edges[at].source == AccessDirection::Write);
        values[at] = *last;
    }
    (values, writes)
}
