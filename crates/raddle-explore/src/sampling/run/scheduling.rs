//! How the threads of a run start, wait for each other, and end.

use raddle_core::program::{Continuation, End, Op, OpKind, PlaceId};

use super::super::super::Unsupported;
use super::super::decide::Decide;
use super::super::machine::Machine;
use super::super::threads::{NONE, Threads};
use super::{Last, Run, Stop};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Absent,
    Ready,
    Waiting,
    /// At its end, with stores on their way.
    Draining,
    Ended,
}

pub(super) struct Thread {
    pub(super) status: Status,
    /// What it does next.
    pub(super) op: Op,
    pub(super) end: Option<End>,
    pub(super) turns: u32,
    pub(super) last_event: u32,
    /// Where it came back to, and how many changes there were then.
    pub(super) back: Option<(usize, u64)>,
    /// Whether since then it has observed something that others may never again.
    pub(super) stale: bool,
    /// It went round for the second time, and all was the same as now if there have been as many changes.
    pub(super) spun: Option<u64>,
}

impl Default for Thread {
    fn default() -> Self {
        Thread {
            status: Status::Absent,
            op: Op { kind: OpKind::StoreFence, place: PlaceId::default() },
            end: None,
            turns: 0,
            last_event: NONE,
            back: None,
            stale: false,
            spun: None,
        }
    }
}

impl<M: Machine, T: Threads, D: Decide + ?Sized> Run<'_, M, T, D> {
    /// Whether the thread need not wait for others.
    #[inline]
    pub(super) fn can_go_on(&mut self, thread: usize) -> bool {
        match self.states[thread].op.kind {
            OpKind::Lock { lock } => self.object(lock).value == 0,
            OpKind::Sync { location, guard, .. } => guard.admits(self.object(location).value),
            OpKind::Join { thread } => self.has_finished(thread.index()),
            _ => true,
        }
    }

    fn has_finished(&self, thread: usize) -> bool {
        self.states
            .get(thread)
            .is_some_and(|it| it.status == Status::Ended && it.end == Some(End::Finished))
    }

    pub(super) fn wait(&mut self, thread: usize) {
        self.states[thread].status = Status::Waiting;
        self.ready.retain(|&it| it as usize != thread);
        self.waiting.push(thread as u32);
        let joins = matches!(self.states[thread].op.kind, OpKind::Join { .. });
        self.machine.set_joining(thread, joins);
    }

    /// Threads that wait go on, if they can.
    pub(super) fn wake(&mut self) {
        let mut at = 0;
        while at < self.waiting.len() {
            let thread = self.waiting[at] as usize;
            if self.can_go_on(thread) {
                self.waiting.swap_remove(at);
                self.states[thread].status = Status::Ready;
                self.ready.push(thread as u32);
                self.machine.set_joining(thread, false);
            } else {
                at += 1;
            }
        }
    }

    /// If the last op started a thread, it starts now.
    #[inline]
    pub(super) fn spawned(&mut self, thread: usize) -> Result<(), Last> {
        match self.states[thread].op.kind {
            OpKind::Spawn { thread: child } => self.start(child.index(), Some(thread)),
            _ => Ok(()),
        }
    }

    pub(super) fn start(&mut self, thread: usize, parent: Option<usize>) -> Result<(), Last> {
        while self.states.len() <= thread {
            self.states.push(Thread::default());
        }
        if self.states[thread].status != Status::Absent {
            return Err(Last::Stop(Stop::Unsupported(Unsupported::Malformed)));
        }
        self.machine.start(thread, parent);
        self.states[thread].status = Status::Ready;
        self.ready.push(thread as u32);
        let by = if parent.is_some() { self.events - 1 } else { NONE };
        let next = self.threads.start(thread, by);
        self.set_next(thread, next)
    }

    /// What the thread does next.
    #[inline]
    pub(super) fn set_next(&mut self, thread: usize, next: Continuation) -> Result<(), Last> {
        match next {
            Continuation::Op(Op { kind: OpKind::Choose { options: 0 }, .. }) => {
                Err(Last::Stop(Stop::Unsupported(Unsupported::Malformed)))
            }
            Continuation::Op(op) => {
                self.states[thread].op = op;
                Ok(())
            }
            Continuation::End(end) => self.come_to_end(thread, end),
        }
    }

    fn come_to_end(&mut self, thread: usize, end: End) -> Result<(), Last> {
        let fails = matches!(end, End::Failed(_));
        self.states[thread].end = Some(end);
        self.states[thread].status = Status::Draining;
        self.changed();
        if fails {
            return Err(Last::Stop(Stop::Ending(self.ending())));
        }
        if self.machine.is_drained(thread) {
            self.finish(thread);
        }
        Ok(())
    }

    /// The thread has come to its end, and so have its stores.
    pub(super) fn finish(&mut self, thread: usize) {
        self.states[thread].status = Status::Ended;
        self.ready.retain(|&it| it as usize != thread);
        self.machine.end(thread);
        self.wake();
    }
}
