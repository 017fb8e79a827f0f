//! Races of cells, which are memory that is not accessed through ops.
//!
//! Two accesses of a cell race if one of them writes and neither happens before the other, by program order, spawns,
//! joins and reads-from. This relation is weaker than the order of a trace, and the same in all executions of a trace.
//! Without a race the time of an access makes no difference, so accesses of cells are invisible. An execution ends with
//! its first race.
//!
//! *Cost.* Each access walks back through the execution. Programs with cells are few and small.

use super::footprint::NONE;
use super::state::{DporState, EarlyEnd, LoggedOp};
use super::step::AnsweredQuestion;
use crate::event_set::EventSet;
use raddle_core::execution::LocationId;
use raddle_core::program::{End, HistoryId, HistoryStep, Op, OpKind, Origin};

impl<R: EventSet> DporState<'_, R> {
    /// Executes a write of a cell.
    pub(super) fn write_cell(&mut self, thread: u32, location: LocationId) {
        let race = self.find_cell_race(thread, location, true);
        self.log_effect(thread, None, false);
        self.end_with_race(race);
    }

    /// Executes a read of a cell, the question at the end of the history.
    pub(super) fn read_cell(&mut self, thread: u32, node: HistoryId, location: LocationId) {
        let race = self.find_cell_race(thread, location, false);
        let is_write = |entry: &LoggedOp| self.op(entry).kind == OpKind::WriteCell { location };
        let source = self.log.iter().rposition(is_write).map_or(NONE, |at| at as u32);
        let answer = self.identity_answer(source);
        self.continue_thread(thread, AnsweredQuestion::read(node, answer, source));
        self.end_with_race(race);
    }

    /// Ends the execution if there is a race of the last op with another one.
    fn end_with_race(&mut self, race: Option<u32>) {
        if let Some(other) = race {
            self.early_end = Some(EarlyEnd::Race(other, self.log.len() as u32 - 1));
        }
    }

    /// Returns the log index of an access of the cell that races with the next op of the thread.
    fn find_cell_race(&self, thread: u32, location: LocationId, writes: bool) -> Option<u32> {
        let before = self.ops_before(thread);
        let races = |entry: &LoggedOp| {
            let conflicts = match self.op(entry).kind {
                OpKind::WriteCell { location: other } => other == location,
                OpKind::ReadCell { location: other } => writes && other == location,
                _ => false,
            };
            conflicts && before[entry.thread as usize] <= entry.position
        };
        self.log.iter().position(races).map(|at| at as u32)
    }

    /// Returns by thread how many of its ops happen before the next op of `thread`.
    fn ops_before(&self, thread: u32) -> Vec<u32> {
        let mut before = vec![0; self.threads.len()];
        before[thread as usize] = self.threads[thread as usize].ops;
        self.observe(&mut before, self.spawn_op(thread));
        // What happens before an op precedes it in the log, so one pass backwards suffices.
        for entry in self.log.iter().rev() {
            if entry.position >= before[entry.thread as usize] {
                continue;
            }
            if !matches!(self.op(entry).kind, OpKind::Choose { .. }) {
                self.observe(&mut before, entry.source);
            }
            if entry.position == 0 {
                self.observe(&mut before, self.spawn_op(entry.thread));
            }
        }
        before
    }

    /// Adds an op and its predecessors in program order to `before`. Ignores [`NONE`].
    fn observe(&self, before: &mut [u32], source: u32) {
        if let Some(&LoggedOp { thread, position, .. }) = self.log.get(source as usize) {
            let known = &mut before[thread as usize];
            *known = (*known).max(position + 1);
        }
    }

    /// Returns the log index of the op that spawned a thread, or [`NONE`].
    fn spawn_op(&self, thread: u32) -> u32 {
        let starts = |entry: &LoggedOp| {
            matches!(self.op(entry).kind, OpKind::Spawn { thread: child }
                if child.index() == thread as usize)
        };
        self.log.iter().position(starts).map_or(NONE, |at| at as u32)
    }

    /// Returns the op of a log entry.
    pub(super) fn op(&self, entry: &LoggedOp) -> Op {
        let Origin { node, index } = entry.origin;
        if index > 0 {
            return self.histories.effects(node)[index as usize - 1];
        }
        match self.histories.step(node) {
            HistoryStep::After(before, _) => match self.histories.end(before) {
                End::Question(op) => *op,
                end => unreachable!("a history continues after a question, not {end:?}"),
            },
            HistoryStep::Start(..) => unreachable!("a thread starts without an op"),
        }
    }
}
