//! Memory that no op carries.
//!
//! Two accesses of a cell race if one of them writes and neither happens before the other: by the order of
//! threads, by starts and joins, and by who observed whose write. That is less than what a trace orders,
//! and the same in all executions of a trace. Where nothing races, who accesses a cell when makes no
//! difference, so nobody notices it; an execution ends with its first race.
//!
//! Cost: each access walks back through the execution. Programs with cells are few and small.

use super::footprint::NONE;
use super::state::{Cut, Logged, State};
use crate::event_set::EventSet;
use raddle_core::execution::LocationId;
use raddle_core::program::{End, HistoryId, HistoryStep, OpKind, Origin};

impl<R: EventSet> State<'_, R> {
    /// The thread writes a cell.
    pub(super) fn write_cell(&mut self, thread: u32, location: LocationId) {
        let race = self.cell_race(thread, location, true);
        self.log_effect(thread, None, false);
        self.cut_by(race);
    }

    /// The thread, whose history ends with that, reads a cell.
    pub(super) fn read_cell(&mut self, thread: u32, node: HistoryId, location: LocationId) {
        let race = self.cell_race(thread, location, false);
        let is_write = |entry: &Logged| self.op(entry).kind == OpKind::WriteCell { location };
        let source = self.log.iter().rposition(is_write).map_or(NONE, |at| at as u32);
        self.go_on(thread, node, self.identity(source), source, None, false);
        self.cut_by(race);
    }

    /// The execution ends with the last op if that races with another one.
    fn cut_by(&mut self, race: Option<u32>) {
        if let Some(other) = race {
            self.cut = Some(Cut::Race(other, self.log.len() as u32 - 1));
        }
    }

    /// An access of the cell that does not happen before the next op of the thread.
    fn cell_race(&self, thread: u32, location: LocationId, writes: bool) -> Option<u32> {
        let before = self.ops_before(thread);
        let races = |entry: &Logged| {
            let conflicts = match self.op(entry).kind {
                OpKind::WriteCell { location: other } => other == location,
                OpKind::ReadCell { location: other } => writes && other == location,
                _ => false,
            };
            conflicts && before[entry.thread as usize] <= entry.position
        };
        self.log.iter().position(races).map(|at| at as u32)
    }

    /// How many ops of each thread happen before the next one of this thread.
    fn ops_before(&self, thread: u32) -> Vec<u32> {
        let mut before = vec![0; self.threads.len()];
        before[thread as usize] = self.threads[thread as usize].ops;
        self.observe(&mut before, self.spawned(thread));
        // Whatever happens before an op comes earlier in the log.
        for entry in self.log.iter().rev() {
            if entry.position >= before[entry.thread as usize] {
                continue;
            }
            if !matches!(self.op(entry).kind, OpKind::Choose { .. }) {
                self.observe(&mut before, entry.source);
            }
            if entry.position == 0 {
                self.observe(&mut before, self.spawned(entry.thread));
            }
        }
        before
    }

    /// An op, if it is one, and what comes before it in its thread happen before.
    fn observe(&self, before: &mut [u32], source: u32) {
        if let Some(&Logged { thread, position, .. }) = self.log.get(source as usize) {
            let known = &mut before[thread as usize];
            *known = (*known).max(position + 1);
        }
    }

    /// The op that started a thread, if one did.
    fn spawned(&self, thread: u32) -> u32 {
        let starts = |entry: &Logged| {
            matches!(self.op(entry).kind, OpKind::Spawn { thread: child }
                if child.index() == thread as usize)
        };
        self.log.iter().position(starts).map_or(NONE, |at| at as u32)
    }

    /// What an entry of the log is.
    pub(super) fn op(&self, entry: &Logged) -> raddle_core::program::Op {
        let Origin { node, index } = entry.origin;
        if index > 0 {
            return self.histories.effects(node)[index as usize - 1];
        }
        match self.histories.step(node) {
            HistoryStep::After(before, _) => match self.histories.end(before) {
                End::Question(op) => *op,
                end => unreachable!("a history goes on after a question, not {end:?}"),
            },
            HistoryStep::Start(..) => unreachable!("a thread starts without an op"),
        }
    }
}
