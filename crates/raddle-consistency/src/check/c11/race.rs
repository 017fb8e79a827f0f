//! Data races: two accesses of one location, one of them a write and one of them non-atomic, that
//! happens-before does not order.
//!
//! The order of sequentially consistent fences is ignored, even where they are updates of a hidden location: it is not part
//! of the input, and the answer must not depend on which order was found. In C11 it is no part of happens-before either.
//!
//! A non-atomic access looks at the first conflicting access of every other thread that does not
//! happen before it; if that one happens after it, so do all later ones. O(nk).

use super::by_location::{ByLocation, LocationAccess, ThreadSegment, cut};
use super::clocks::HbClocks;
use super::graph::{C11Graph, Traits};

/// A race, if there is one: the two accesses in the order of ids.
pub(super) fn find(
    graph: &C11Graph<'_>,
    clocks: &HbClocks,
    by_location: &ByLocation,
) -> Option<(u32, u32)> {
    let mut parts = vec![];
    (0..graph.locations()).find_map(|location| {
        let accesses = by_location.get(location);
        if accesses[1..].iter().all(|access| graph.is(access.event, Traits::ATOMIC)) {
            return None;
        }
        cut(graph, accesses, &mut parts);
        let next_write = next_write(accesses, &parts);
        let search = RaceSearch { graph, clocks, accesses, next_write };
        parts.iter().find_map(|part| search.of(part, &parts))
    })
}

/// Returns `true` if some access is non-atomic.
pub(super) fn is_possible(graph: &C11Graph<'_>) -> bool {
    let accesses = |&event: &u32| graph.is(event, Traits::READ) || graph.is(event, Traits::WRITE);
    let events = graph.locations() as u32..graph.events() as u32;
    events.filter(accesses).any(|event| !graph.is(event, Traits::ATOMIC))
}

/// By access: the first write of its thread from there on, or the end of the thread's accesses.
fn next_write(accesses: &[LocationAccess], parts: &[ThreadSegment]) -> Vec<usize> {
    let mut next = vec![0; accesses.len()];
    for part in parts {
        let mut write = part.end;
        for at in (part.start..part.end).rev() {
            if accesses[at].is_write() {
                write = at;
            }
            next[at] = write;
        }
    }
    next
}

struct RaceSearch<'a, 'e> {
    graph: &'a C11Graph<'e>,
    clocks: &'a HbClocks,
    accesses: &'a [LocationAccess],
    next_write: Vec<usize>,
}

impl RaceSearch<'_, '_> {
    /// A race of a non-atomic access of a thread with one of another.
    fn of(&self, own: &ThreadSegment, parts: &[ThreadSegment]) -> Option<(u32, u32)> {
        parts.iter().filter(|part| part.thread != own.thread).find_map(|part| {
            let mut seen = part.start;
            self.accesses[own.start..own.end].iter().find_map(|access| {
                let event = access.event;
                if self.graph.is(event, Traits::ATOMIC) {
                    return None;
                }
                while seen < part.end && self.hb(self.accesses[seen].event, event) {
                    seen += 1;
                }
                let other = match access.is_write() {
                    _ if seen == part.end => return None,
                    true => seen,
                    false => self.next_write[seen],
                };
                let other = self.accesses[..part.end].get(other)?.event;
                (!self.hb(event, other)).then(|| (event.min(other), event.max(other)))
            })
        })
    }

    fn hb(&self, from: u32, to: u32) -> bool {
        self.clocks.happens_before(self.graph, from, to)
    }
}
