//! How the threads of a run start, wait for each other, and end.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Continuation, End, Op, OpKind, PlaceId};

use super::super::decider::Decider;
use super::super::event::RunEvent;
use super::super::machine::MemoryMachine;
use super::super::threads::ThreadRunner;
use super::{LastStep, RunStop, SampleRun};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadStatus {
    NotStarted,
    Ready,
    /// Waits for a lock, a synchronization object, or the end of another thread.
    Waiting,
    /// Has executed its last op, with stores still in its buffer.
    Draining,
    Ended,
}

/// Thread of a run.
pub(super) struct SampledThread {
    pub(super) status: ThreadStatus,
    /// Continuation op. During the op itself, the current one.
    pub(super) op: Op,
    /// How the thread ended, if it has.
    pub(super) end: Option<End>,
    /// Number of steps, including flushes and futile attempts.
    pub(super) steps: u32,
    pub(super) last_event: RunEvent,
    /// Last completed loop iteration without effect: number of ops before the loop, and the run's number of changes.
    pub(super) loop_closed: Option<(usize, u64)>,
    /// Whether the thread has since read a stale value or failed spuriously, so that the next iteration may differ.
    pub(super) has_stale_read: bool,
    /// The run's number of changes when the thread completed two equal iterations. The thread spins forever if nothing
    /// changes any more.
    pub(super) spins_at: Option<u64>,
}

impl Default for SampledThread {
    fn default() -> Self {
        SampledThread {
            status: ThreadStatus::NotStarted,
            op: Op { kind: OpKind::StoreFence, place: PlaceId::default() },
            end: None,
            steps: 0,
            last_event: RunEvent::INITIAL,
            loop_closed: None,
            has_stale_read: false,
            spins_at: None,
        }
    }
}

impl<M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized> SampleRun<'_, M, T, D> {
    /// Returns `true` if the next op of the thread need not wait for other threads.
    #[inline]
    pub(super) fn is_enabled(&mut self, thread: ThreadId) -> bool {
        match self.threads[thread.index()].op.kind {
            OpKind::Lock { lock } => self.object(lock).value == 0,
            OpKind::Sync { location, guard, .. } => guard.admits(self.object(location).value),
            OpKind::Join { thread } => self.has_finished(thread),
            _ => true,
        }
    }

    fn has_finished(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread.index())
            .is_some_and(|it| it.status == ThreadStatus::Ended && it.end == Some(End::Finished))
    }

    /// Moves a thread that is not enabled to the waiting ones.
    pub(super) fn block(&mut self, thread: ThreadId) {
        self.threads[thread.index()].status = ThreadStatus::Waiting;
        self.ready.retain(|&it| it != thread);
        self.waiting.push(thread);
        let is_joining = matches!(self.threads[thread.index()].op.kind, OpKind::Join { .. });
        self.machine.set_joining(thread, is_joining);
    }

    /// Makes the waiting threads ready that are enabled now.
    pub(super) fn wake(&mut self) {
        let mut at = 0;
        while at < self.waiting.len() {
            let thread = self.waiting[at];
            if self.is_enabled(thread) {
                self.waiting.swap_remove(at);
                self.threads[thread.index()].status = ThreadStatus::Ready;
                self.ready.push(thread);
                self.machine.set_joining(thread, false);
            } else {
                at += 1;
            }
        }
    }

    /// Starts the child if the op just executed is a spawn.
    #[inline]
    pub(super) fn start_spawned(&mut self, thread: ThreadId) -> Result<(), LastStep> {
        match self.threads[thread.index()].op.kind {
            OpKind::Spawn { thread: child } => self.start(child, Some(thread)),
            _ => Ok(()),
        }
    }

    /// Starts a thread and makes it ready. `parent` is the thread that spawns it, `None` for the main thread. Fails if the
    /// thread was started before, or if its first op ends the run.
    pub(super) fn start(
        &mut self,
        thread: ThreadId,
        parent: Option<ThreadId>,
    ) -> Result<(), LastStep> {
        while self.threads.len() <= thread.index() {
            self.threads.push(SampledThread::default());
        }
        let own = &mut self.threads[thread.index()];
        if own.status != ThreadStatus::NotStarted {
            return Err(LastStep::malformed());
        }
        own.status = ThreadStatus::Ready;
        self.machine.start(thread, parent);
        self.ready.push(thread);
        let by = match parent {
            Some(_) => RunEvent::new(self.events - 1),
            None => RunEvent::INITIAL,
        };
        let next = self.runner.start(thread, by);
        self.set_next(thread, next)
    }

    /// Sets the next op of the thread, or ends the thread.
    #[inline]
    pub(super) fn set_next(
        &mut self,
        thread: ThreadId,
        next: Continuation,
    ) -> Result<(), LastStep> {
        match next {
            Continuation::Op(Op { kind: OpKind::Choose { options: 0 }, .. }) => {
                Err(LastStep::malformed())
            }
            Continuation::Op(op) => {
                self.threads[thread.index()].op = op;
                Ok(())
            }
            Continuation::End(end) => self.end_program_order(thread, end),
        }
    }

    /// The thread has no further op. Its buffered stores still have to reach memory.
    fn end_program_order(&mut self, thread: ThreadId, end: End) -> Result<(), LastStep> {
        let has_failed = matches!(end, End::Failed(_));
        let own = &mut self.threads[thread.index()];
        own.end = Some(end);
        own.status = ThreadStatus::Draining;
        self.note_change();
        if has_failed {
            return Err(LastStep::Stop(RunStop::Ending(self.ending())));
        }
        if self.machine.is_drained(thread) {
            self.finish(thread);
        }
        Ok(())
    }

    /// Ends a thread whose ops are executed and whose buffer is empty.
    pub(super) fn finish(&mut self, thread: ThreadId) {
        self.threads[thread.index()].status = ThreadStatus::Ended;
        self.ready.retain(|&it| it != thread);
        self.machine.end(thread);
        self.wake();
    }
}
