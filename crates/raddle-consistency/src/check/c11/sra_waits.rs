//! What the writes of an execution must wait for under SRA.
//!
//! As in `forced`, but for all locations together: in one order of all events, a write waits for events of every thread.

use super::basis::Basis;
use super::by_location::ThreadSegment;
use super::explain::explain;
use super::forced::force;
use super::graph::{C11Graph, NONE};
use super::observe::{LocationWalk, observe};
use crate::witness::Violation;

/// For every write that starts a chain, how many events of each thread must come before it, as far
/// as reads force that.
pub(super) struct Waits {
    threads: usize,
    /// By event: its row, or [`NONE`].
    row_of: Vec<u32>,
    rows: Vec<u32>,
}

impl Waits {
    /// Computes what reads force.
    ///
    /// # Errors
    /// If a single read breaks read coherence.
    pub(super) fn new(graph: &C11Graph<'_>, basis: &Basis) -> Result<Waits, Violation> {
        let mut waits =
            Waits { threads: graph.threads(), row_of: vec![NONE; graph.events()], rows: vec![] };
        let mut walk = LocationWalk::default();
        // By access that starts a chain: its row, or `NONE`.
        let mut row_of: Vec<u32> = vec![];
        for location in 0..graph.locations() {
            let accesses = basis.by_location.get(location);
            row_of.clear();
            row_of.resize(accesses.len(), NONE);
            let local = walk.enter(graph, &basis.clocks, accesses);
            let mut clash = None;
            observe(local, |access, seen| {
                let Some(target) = accesses[access as usize].target(access) else { return };
                let row = &mut row_of[accesses[target as usize].top as usize];
                let force = || {
                    force(accesses, access, target, seen, |write| {
                        let segment = local.segments[local.segment_of(write)];
                        waits.raise(row, segment, accesses[write as usize].event);
                    })
                };
                clash = clash.take().or_else(force);
            });
            if let Some(clash) = clash {
                return Err(explain(graph, basis, location, clash));
            }
            for (access, row) in accesses.iter().zip(&row_of).filter(|&(_, &row)| row != NONE) {
                waits.row_of[access.event as usize] = *row;
            }
        }
        Ok(waits)
    }

    /// Makes a row wait for a write of a thread. Creates the row if necessary.
    #[inline]
    fn raise(&mut self, row: &mut u32, segment: ThreadSegment, write: u32) {
        if *row == NONE {
            *row = (self.rows.len() / self.threads) as u32;
            self.rows.resize(self.rows.len() + self.threads, 0);
        }
        let entry = &mut self.rows[*row as usize * self.threads + segment.thread as usize];
        *entry = (*entry).max(write - segment.first + 1);
    }

    /// By thread, the number of events that the write that starts a chain waits for. Empty for other events.
    pub(super) fn get(&self, event: u32) -> &[u32] {
        match self.row_of[event as usize] {
            NONE => &[],
            row => &self.rows[row as usize * self.threads..][..self.threads],
        }
    }
}
