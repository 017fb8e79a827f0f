//! Waiting by asking again.
//!
//! *Problem.* A lock is often taken by an attempt in the program's code and, if that fails, by a function of a library that waits.
//! If both ask, every failed attempt is an execution of its own.
//!
//! *Idea.* When the library waits, the thread goes back to the question of the failed attempt and asks it again. It is in the same
//! state as before, so the explorer takes that for a round of a waiting loop (`repeats`). Only questions may be taken back that
//! have read and changed nothing since.

use raddle_core::program::{Op, OpKind};

use super::call::{Call, Step, Suspend};
use super::layout::{Location, LocationKind};

impl Call<'_> {
    /// The last questions that the thread has asked since it changed something that others can observe, the last one first.
    pub(crate) fn last_reads(&self) -> impl Iterator<Item = Op> + '_ {
        let thread = self.program.thread();
        let reads = thread.points.get(thread.reads_since..).unwrap_or_default();
        reads.iter().rev().map(|point| point.question)
    }

    /// Returns `true` if a question is about this memory.
    pub(crate) fn is_at(&self, question: Op, address: u64, size: u64) -> bool {
        let location = match question.kind {
            OpKind::Load { location, .. } | OpKind::CompareExchange { location, .. } => location,
            _ => return false,
        };
        let Location { kind, address: known, .. } = self.program.layout.all[location.index()];
        known == address && kind == LocationKind::Memory(size)
    }

    /// Goes back to the question before this many others of [`Call::last_reads`], and asks it again. The caller must return the result
    /// as an error.
    pub(crate) fn ask_again(&mut self, others: usize) -> Suspend {
        let thread = self.program.thread_mut();
        let Some(index) = thread.points.len().checked_sub(1 + others) else {
            return self.refuse("waits before it has asked anything");
        };
        thread.points.truncate(index + 1);
        let point = &thread.points[index];
        let location = point.question.kind.location();
        thread.active = Some(point.active.clone());
        thread.own = point.own.clone();
        let (guest, snapshot) = (thread.guest, point.snapshot.clone());
        self.program.process.restore_thread(guest, &snapshot);
        self.program.awaited.extend(location);
        Suspend::Back
    }

    /// Makes memory shared, so that every access to it is an op.
    pub(crate) fn require_shared(&mut self, address: u64, size: u64) -> Step<()> {
        if self.program.layout.is_all_shared(address, address + size) {
            return Ok(());
        }
        self.program.share(address, size);
        Err(self.again())
    }

    /// Waits in a modelled function that has read a variable and found that it must wait: asks again. The caller must return the
    /// result as an error.
    pub(crate) fn wait_for_change(&mut self, address: u64, size: u64) -> Suspend {
        let own = self.last_reads().next();
        if own.is_some_and(|question| self.is_at(question, address, size)) {
            return self.ask_again(0);
        }
        // No other thread has touched the variable so far. If none does, this thread waits forever.
        self.program.share(address, size);
        self.again()
    }
}
