//! Which states can be completed, by exhaustive search.
//!
//! The oracle uses only the machine of [`PartialRun`]: no order from the closure, no stores that must be flushed first, and
//! all sources of every read. So everything that the searches add to the machine is under test.

use rustc_hash::FxHashMap;

use super::AuditStop;
use crate::check::store_buffer::instance::NONE;
use crate::check::store_buffer::run::{PartialRun, Question};
use crate::witness::MachineStep;

/// The largest number of states to explore.
const MOST_STATES: usize = 20_000;

/// A run that follows another one, and the known answers for visited states.
pub(super) struct Truth<'i> {
    run: PartialRun<'i>,
    known: FxHashMap<Vec<u32>, bool>,
}

impl<'i> Truth<'i> {
    pub(super) fn new(question: Question<'i>) -> Self {
        Truth { run: PartialRun::new(question), known: FxHashMap::default() }
    }

    /// Everything that the future of a run depends on: the positions of the threads, the flushed stores, and memory.
    pub(super) fn state(&self) -> Vec<u32> {
        let Question { instance, buffers, .. } = self.run.question;
        let positions = self.run.threads().map(|thread| self.run.position(thread));
        let heads = (0..buffers.queues.len() as u32).map(|queue| self.run.head(queue));
        let memory = (0..instance.locations as u32).map(|l| self.run.memory.active(l));
        positions.chain(heads).chain(memory).collect()
    }

    /// Takes the steps of a run that are new since the last time.
    pub(super) fn follow(&mut self, steps: &[MachineStep]) -> Result<(), AuditStop> {
        for &step in &steps[self.run.mark()..] {
            if !self.take(step) {
                return Err(AuditStop::Fault(format!("{step:?} is not possible after {steps:?}")));
            }
        }
        Ok(())
    }

    pub(super) fn undo_to(&mut self, mark: usize) {
        self.run.undo_to(mark);
    }

    /// Whether the run can be completed.
    pub(super) fn can_complete(&mut self) -> Result<bool, AuditStop> {
        if self.run.is_complete() {
            return Ok(true);
        }
        let state = self.state();
        if let Some(&known) = self.known.get(&state) {
            return Ok(known);
        }
        if self.known.len() == MOST_STATES {
            return Err(AuditStop::TooLarge);
        }
        let can_complete = self.can_complete_by_a_step()?;
        self.known.insert(state, can_complete);
        Ok(can_complete)
    }

    fn can_complete_by_a_step(&mut self) -> Result<bool, AuditStop> {
        let mark = self.run.mark();
        for step in self.candidates() {
            let found = self.take(step) && self.can_complete()?;
            self.run.undo_to(mark);
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next event of every thread and the oldest store of every buffer.
    fn candidates(&self) -> Vec<MachineStep> {
        let threads = self.run.threads();
        let events = threads.clone().filter_map(|thread| self.run.next(thread));
        let queues = threads.flat_map(|thread| self.run.busy(thread));
        let stores = queues.filter_map(|&queue| self.run.front(queue));
        let event = |index: u32| raddle_core::execution::EventId::new(index as usize);
        let flushes = stores.map(|store| MachineStep::Flush(event(store)));
        events.map(|next| MachineStep::Run(event(next))).chain(flushes).collect()
    }

    /// Takes a step, if it is possible.
    fn take(&mut self, step: MachineStep) -> bool {
        match step {
            MachineStep::Run(event) => self.take_event(event.index() as u32),
            MachineStep::Flush(store) => self.take_flush(store.index() as u32),
        }
    }

    fn take_event(&mut self, event: u32) -> bool {
        let thread = self.run.question.instance.thread_of[event as usize];
        let possible = self.run.next(thread) == Some(event) && self.run.can_run(thread, event);
        if possible {
            self.run.run(thread, event);
        }
        possible
    }

    fn take_flush(&mut self, store: u32) -> bool {
        let queue = self.run.question.buffers.queue_of[store as usize];
        let is_front = queue != NONE && self.run.front(queue) == Some(store);
        let possible = is_front && self.run.can_flush(store);
        if possible {
            self.run.flush(queue, store);
        }
        possible
    }
}
