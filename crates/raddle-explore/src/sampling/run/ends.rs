//! How a run ended, for those who want to know.

use std::collections::BTreeMap;

use raddle_core::execution::ThreadId;
use raddle_core::program::End;

use super::super::super::ending_of;
use super::super::decide::Decide;
use super::super::machine::{Machine, Racing};
use super::super::threads::Threads;
use super::scheduling::{Status, Thread};
use super::{Last, Run, Stop};
use raddle_core::trace::{Ending, Pending, ThreadEnd, Trace};

impl<M: Machine, T: Threads, D: Decide + ?Sized> Run<'_, M, T, D> {
    /// The two events that race: the last one is the second.
    pub(super) fn racing(&mut self, Racing { thread, ops }: Racing) -> (usize, usize) {
        let Some(log) = &mut self.log else { return (0, 0) };
        let first = log.event(thread, ops);
        log.need(first);
        (first, self.events as usize - 1)
    }

    /// The thread has gone round a loop.
    pub(super) fn came_back(&mut self, thread: usize, ops: usize) -> Result<(), Last> {
        if let Some(log) = &mut self.log {
            log.came_back(thread, ops);
        }
        let now = Some((ops, self.changes));
        let state = &mut self.states[thread];
        let same = state.back == now && !state.stale;
        (state.back, state.stale) = (now, false);
        state.spun = same.then_some(self.changes);
        let spins = |&thread: &u32| self.states[thread as usize].spun == Some(self.changes);
        if self.ready.iter().all(spins) {
            return Err(Last::Stop(Stop::Ending(self.ending())));
        }
        Ok(())
    }

    /// How the run ended, in which nobody can go on, or somebody has failed.
    pub(super) fn ending(&self) -> Ending {
        if let Some((first, second)) = self.survived {
            return Ending::Race(first, second);
        }
        let started = self.states.iter().filter(|it| it.status != Status::Absent);
        if started.into_iter().all(|it| it.end == Some(End::Finished)) {
            return Ending::Complete;
        }
        let end = |thread: ThreadId| self.states[thread.index()].end.clone().unwrap_or(End::Limit);
        ending_of(&self.ends(), end).unwrap_or_else(Ending::Livelock)
    }

    /// How the threads that were started ended.
    fn ends(&self) -> BTreeMap<ThreadId, ThreadEnd> {
        let end = |thread: &Thread| match (&thread.end, thread.status) {
            (Some(End::Finished), _) => ThreadEnd::Finished,
            (Some(End::Assume), _) => ThreadEnd::Assume,
            (Some(End::Failed(_)), _) => ThreadEnd::Failed,
            (Some(_), _) => ThreadEnd::Limit,
            (None, Status::Waiting) => ThreadEnd::Waiting,
            (None, _) if thread.spun == Some(self.changes) => ThreadEnd::Repeats,
            (None, _) => ThreadEnd::Open,
        };
        let started = self.states.iter().enumerate();
        let started = started.filter(|(_, thread)| thread.status != Status::Absent);
        started.map(|(at, thread)| (ThreadId::new(at), end(thread))).collect()
    }

    /// The trace of a run that was kept, and the ending in its terms.
    pub(in super::super) fn trace(&self, ending: Ending) -> (Ending, Trace) {
        let Some(log) = &self.log else { return (ending, Trace::default()) };
        let ends = self.ends();
        let pending = |(thread, end): (&ThreadId, &ThreadEnd)| {
            let at = thread.index();
            let is_open = matches!(end, ThreadEnd::Waiting | ThreadEnd::Open);
            let question = self.states[at].op;
            match log.loop_of(at) {
                Some(ops) if *end == ThreadEnd::Repeats => Some((*thread, Pending::Loop(ops))),
                _ if is_open && question.kind.is_question() => {
                    Some((*thread, Pending::Question(question)))
                }
                _ => None,
            }
        };
        let pending = ends.iter().filter_map(pending).collect();
        let (trace, placed) = log.trace(ends, pending);
        let ending = match ending {
            Ending::Race(first, second) => Ending::Race(placed[first], placed[second]),
            ending => ending,
        };
        (ending, trace)
    }
}
