//! How a run ended, and its trace.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::End;
use raddle_core::trace::{Ending, Pending, ThreadEnd, Trace, map_of};

use super::super::decider::Decider;
use super::super::machine::{MemoryMachine, RacingEvent};
use super::super::threads::ThreadRunner;
use super::scheduling::{SampledThread, ThreadStatus};
use super::{LastStep, RunStop, SampleRun};
use crate::ending_of;

impl<M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized> SampleRun<'_, M, T, D> {
    /// Returns the indices of `racing` and of the last event, which race. Both are 0 if the run is not recorded.
    pub(super) fn race_with_last_event(&mut self, racing: RacingEvent) -> (usize, usize) {
        let Some(log) = &mut self.log else { return (0, 0) };
        (log.require(racing), self.events as usize - 1)
    }

    /// Notes that the thread is in the state it had after `ops` ops. If that is so for all ready threads, nothing has
    /// changed and no read was stale in the meantime, and no store is buffered, the run ends in a livelock.
    pub(super) fn close_loop(&mut self, thread: ThreadId, ops: usize) -> Result<(), LastStep> {
        if let Some(log) = &mut self.log {
            log.close_loop(thread, ops);
        }
        let now = Some((ops, self.changes));
        let own = &mut self.threads[thread.index()];
        let is_same = own.loop_closed == now && !own.has_stale_read;
        (own.loop_closed, own.has_stale_read) = (now, false);
        own.spins_at = is_same.then_some(self.changes);
        let spins = |&thread: &ThreadId| {
            let spins_at = self.threads[thread.index()].spins_at;
            spins_at == Some(self.changes) && self.machine.is_drained(thread)
        };
        if self.ready.iter().all(spins) {
            return Err(LastStep::Stop(RunStop::Ending(self.ending())));
        }
        Ok(())
    }

    /// Returns the ending of a run in which no thread can continue, or one has failed.
    pub(super) fn ending(&self) -> Ending {
        if let Some((first, second)) = self.first_race {
            return Ending::Race(first, second);
        }
        let mut started = self.threads.iter().filter(|it| it.status != ThreadStatus::NotStarted);
        if started.all(|it| it.end == Some(End::Finished)) {
            return Ending::Complete;
        }
        let end = |thread: ThreadId| self.threads[thread.index()].end.clone().unwrap_or(End::Limit);
        ending_of(&self.ends(), end).unwrap_or_else(Ending::Livelock)
    }

    /// Returns how each thread ended that was started.
    fn ends(&self) -> BTreeMap<ThreadId, ThreadEnd> {
        let end = |thread: &SampledThread| match (&thread.end, thread.status) {
            (Some(End::Finished), _) => ThreadEnd::Finished,
            (Some(End::Assume), _) => ThreadEnd::Assume,
            (Some(End::Failed(_)), _) => ThreadEnd::Failed,
            (Some(_), _) => ThreadEnd::Limit,
            (None, ThreadStatus::Waiting) => ThreadEnd::Waiting,
            (None, _) if thread.spins_at == Some(self.changes) => ThreadEnd::Repeats,
            (None, _) => ThreadEnd::Open,
        };
        let started = self.threads.iter().enumerate();
        let started = started.filter(|(_, thread)| thread.status != ThreadStatus::NotStarted);
        map_of(started.map(|(at, thread)| (ThreadId::new(at), end(thread))))
    }

    /// Returns the trace of a recorded run, and `ending` with its events translated to those of the trace. The trace is
    /// empty if the run is not recorded.
    pub(in super::super) fn trace(&self, ending: Ending) -> (Ending, Trace) {
        let Some(log) = &self.log else { return (ending, Trace::default()) };
        let ends = self.ends();
        let pending = |(&thread, end): (&ThreadId, &ThreadEnd)| {
            let is_open = matches!(end, ThreadEnd::Waiting | ThreadEnd::Open);
            let op = self.threads[thread.index()].op;
            match log.loop_start(thread) {
                Some(ops) if *end == ThreadEnd::Repeats => Some((thread, Pending::Loop(ops))),
                _ if is_open && op.kind.is_question() => Some((thread, Pending::Question(op))),
                _ => None,
            }
        };
        let pending = map_of(ends.iter().filter_map(pending));
        let (trace, indices) = log.trace(ends, pending);
        let ending = match ending {
            Ending::Race(first, second) => Ending::Race(indices[first], indices[second]),
            ending => ending,
        };
        (ending, trace)
    }
}
