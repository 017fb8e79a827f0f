//! WRA in O(nk) (Tunç et al., PLDI 2023, Algorithm 1).
//!
//! Weak release/acquire knows no modification order: a read must not observe a write when another
//! write of the location comes between the two in happens-before. Of each thread it suffices to look
//! at the last write that happens before the read.

use super::basis::Basis;
use super::graph::{Graph, NONE, id};
use super::observe::{Rows, Walk};
use crate::witness::{Axiom, Link, Relation, Violation};

/// Checks weak read coherence.
///
/// # Errors
/// If it is broken. The caller has seen that `po-rf` and `weak-atomicity` hold.
pub(super) fn check(graph: &Graph<'_>, basis: &Basis) -> Result<(), Violation> {
    let mut walk: Walk<Note> = Walk::default();
    let mut segment_of = vec![NONE; graph.threads()];
    for location in 0..graph.locations() {
        let events = basis.by_location.get(location);
        walk.cut(graph, events);
        for (at, segment) in walk.segments.iter().enumerate() {
            segment_of[segment.thread as usize] = at as u32;
        }
        let mut found = None;
        let note = |write| Note::new(graph, basis, &segment_of, write);
        walk.observe(graph, &basis.clocks, events, note, |read, seen, rows| {
            let Some(source) = read.source.filter(|_| found.is_none()) else { return };
            let hides = |write: &Note| source.happens_before(*write, rows);
            let mut writes = seen.iter().filter_map(|seen| seen.write);
            found = writes.find(hides).map(|write| hidden(source.write, write.write, read.event));
        });
        if let Some(violation) = found {
            return Err(violation);
        }
    }
    Ok(())
}

/// Where a write is.
#[derive(Clone, Copy)]
struct Note {
    write: u32,
    /// Its index among the accesses of the location.
    index: u32,
    /// The segment of its thread, or [`NONE`] for an initial write.
    segment: u32,
    /// Its position in its thread.
    position: u32,
}

impl Note {
    fn new(graph: &Graph<'_>, basis: &Basis, segment_of: &[u32], write: u32) -> Note {
        let index = basis.by_location.index(write);
        let (segment, position) = match graph.thread_of(write) {
            NONE => (NONE, 0),
            thread => (segment_of[thread as usize], graph.position(write)),
        };
        Note { write, index, segment, position }
    }

    /// Whether the write happens before another one that is no initial write.
    #[inline]
    fn happens_before(self, other: Note, rows: &Rows) -> bool {
        self.segment == NONE
            || (self.write != other.write
                && self.position < rows.get(other.index as usize, self.segment as usize))
    }
}

fn hidden(source: u32, write: u32, read: u32) -> Violation {
    let link = |from: u32, to: u32, relation| Link { from: id(from), to: id(to), relation };
    Violation::Axiom {
        axiom: Axiom::WeakReadCoherence,
        cycle: vec![
            link(source, write, Relation::Hb),
            link(write, read, Relation::Hb),
            link(read, source, Relation::RfInverse),
        ],
        derivation: vec![],
    }
}
