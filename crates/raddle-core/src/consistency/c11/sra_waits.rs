//! What the writes of an execution must wait for under SRA.
//!
//! As in `forced`, but where that file compares the writes of one location, all locations go together
//! here: in one order of all events, a write waits for events of every thread.

use super::basis::Basis;
use super::chains::Chains;
use super::explain::explain;
use super::graph::{Graph, NONE};
use super::observe::{Seen, Walk};
use super::sort::Clash;
use crate::witness::Violation;

/// For every write that starts a chain, how many events of each thread must come before it, as far
/// as reads force that.
pub(super) struct Waits {
    threads: usize,
    /// By event: its row, or [`NONE`].
    row_of: Vec<u32>,
    rows: Vec<u32>,
}

/// Where a write is.
#[derive(Clone, Copy)]
struct Note {
    write: u32,
    /// The first write of its chain, and its position there.
    top: u32,
    place: u32,
    /// Its thread, or [`NONE`] for an initial write, and its position there.
    thread: u32,
    position: u32,
}

impl Note {
    fn new(graph: &Graph<'_>, chains: &Chains, write: u32) -> Note {
        let (top, place) = (chains.top(write), chains.place(write));
        let thread = graph.thread_of(write);
        let position = if thread == NONE { 0 } else { graph.position(write) };
        Note { write, top, place, thread, position }
    }
}

impl Waits {
    /// Finds what reads force.
    ///
    /// # Errors
    /// If a single read breaks read coherence.
    pub(super) fn new(graph: &Graph<'_>, basis: &Basis) -> Result<Waits, Violation> {
        let mut waits =
            Waits { threads: graph.threads(), row_of: vec![NONE; graph.events()], rows: vec![] };
        let mut walk: Walk<Note> = Walk::default();
        for location in 0..graph.locations() {
            let events = basis.by_location.get(location);
            let mut clash = None;
            walk.cut(graph, events);
            let note = |write| Note::new(graph, &basis.chains, write);
            walk.observe(graph, &basis.clocks, events, note, |access, seen, _| {
                let Some(target) = access.target() else { return };
                for (note, by) in seen.iter().flat_map(Seen::writes) {
                    let same = note.top == target.top;
                    if note.thread == NONE || same && note.place <= target.place {
                        continue;
                    }
                    if same || graph.is_init(target.top) {
                        let (read, write) = (access.event, note.write);
                        clash.get_or_insert(Clash::Stale { read, write, by });
                    } else {
                        waits.raise(target.top, note);
                    }
                }
            });
            if let Some(clash) = clash {
                return Err(explain(graph, basis, events, clash));
            }
        }
        Ok(waits)
    }

    fn raise(&mut self, top: u32, note: Note) {
        if self.row_of[top as usize] == NONE {
            self.row_of[top as usize] = (self.rows.len() / self.threads) as u32;
            self.rows.resize(self.rows.len() + self.threads, 0);
        }
        let row = self.row_of[top as usize] as usize * self.threads;
        let entry = &mut self.rows[row + note.thread as usize];
        *entry = (*entry).max(note.position + 1);
    }

    /// By thread, for how many events the write that starts a chain waits; empty for others.
    pub(super) fn get(&self, event: u32) -> &[u32] {
        match self.row_of[event as usize] {
            NONE => &[],
            row => &self.rows[row as usize * self.threads..][..self.threads],
        }
    }
}
