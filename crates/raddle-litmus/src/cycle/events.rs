//! The accesses of a cycle: their threads, locations and values.
//!
//! Accesses of one location follow each other in the cycle, and in the execution that the test asks for
//! they happen in this order: a write has the next value, and a read the value of the last write.

use super::edge::{Direction, Edge, Kind};
use super::normal::threads;

/// One access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) direction: Direction,
    /// The number of its location.
    pub(super) location: usize,
    /// The value that it writes, or should read.
    pub(super) value: usize,
    /// What it has to do with the access before it in its thread.
    pub(super) before: Option<Edge>,
}

/// All accesses.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// Those of each thread.
    pub(super) threads: Vec<Vec<Event>>,
    /// How many writes each location has.
    pub(super) writes: Vec<usize>,
}

impl Events {
    /// The locations that the test asks for, with their last values: those with several writes.
    pub(super) fn asked(&self) -> impl Iterator<Item = (String, usize)> {
        let several = self.writes.iter().enumerate().filter(|(_, writes)| **writes > 1);
        several.map(|(location, writes)| (location_name(location), *writes))
    }
}

/// Whether the next access comes later in program order, and nothing else.
pub(super) fn is_program_order(edge: Edge) -> bool {
    matches!(edge.kind, Kind::Program | Kind::Fenced(_) | Kind::Dependent(_))
}

/// The name of a location: x, y, z, a, b, c, ...
pub(super) fn location_name(location: usize) -> String {
    let letter = b'a' + ((location + 23) % 26) as u8;
    char::from(letter).to_string()
}

/// The accesses of a cycle that starts where it should.
pub(super) fn events(edges: &[Edge]) -> Events {
    let locations = locations(edges);
    let (values, writes) = values(edges, &locations);
    let mut at = 0;
    let threads = threads(edges)
        .into_iter()
        .map(|thread| {
            let mut before = None;
            let events = thread.iter().map(|edge| {
                let event = Event {
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
    Events { threads, writes }
}

/// The location of each access: another one after each relaxation that says so, back to the first.
fn locations(edges: &[Edge]) -> Vec<usize> {
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

/// The value of each access, and how many writes each location has.
fn values(edges: &[Edge], locations: &[usize]) -> (Vec<usize>, Vec<usize>) {
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
        *last += usize::from(edges[at].source == Direction::Write);
        values[at] = *last;
    }
    (values, writes)
}
