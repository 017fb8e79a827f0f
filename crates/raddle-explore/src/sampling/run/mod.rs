//! One run: threads take steps until none can.
//!
//! `scheduling` starts, blocks and ends threads; `perform` executes ops; `sync_objects` holds the state of locks and
//! other synchronization objects; `ending` says how the run ended.
//!
//! *Cost.* About 100 ns per event. The thread runner, the decider and the machine are type parameters, so the only
//! dynamic calls of a step are those into the program.

mod ending;
mod perform;
mod scheduling;
mod sync_objects;

use std::time::Instant;

use raddle_core::execution::{ThreadId, Value};
use raddle_core::trace::Ending;

use super::decider::{ChoiceKind, Decider, StepId};
use super::event::RunEvent;
use super::log::EventLog;
use super::machine::{MemoryMachine, RacingEvent, StepContext};
use super::threads::ThreadRunner;
use crate::Unsupported;
use crate::driver::Restart;
use scheduling::{SampledThread, ThreadStatus};
use sync_objects::SyncObject;

/// Number of quiet steps per ready thread after which every choice gets its default until something changes; so reads
/// observe the newest writes.
const QUIET_STEPS: u64 = 64;

/// Number of steps between two looks at the clock.
const STEPS_PER_CLOCK_CHECK: u32 = 1 << 14;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLimits {
    /// Maximal number of events.
    pub(super) events: u32,
    /// Maximal number of steps without a change. After more, the threads may be in a livelock.
    pub(super) patience: u64,
    pub(super) deadline: Option<Instant>,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RunStop {
    Ending(Ending),
    /// Nothing has changed for as long as the limits permit: perhaps a livelock.
    SuspectedLivelock,
    Deadline,
    Unsupported(Unsupported),
}

/// Why the current step is the last one.
enum LastStep {
    Stop(RunStop),
    /// Its event races with this one.
    Race(RacingEvent),
    Restart(Restart),
}

impl LastStep {
    /// The program did something that has no meaning, such as unlocking a lock it does not hold.
    fn malformed() -> Self {
        LastStep::Stop(RunStop::Unsupported(Unsupported::Malformed))
    }
}

impl From<Restart> for LastStep {
    fn from(restart: Restart) -> Self {
        LastStep::Restart(restart)
    }
}

/// Run in progress.
pub(super) struct SampleRun<'a, M, T: ?Sized, D: ?Sized> {
    runner: &'a mut T,
    machine: &'a mut M,
    decider: &'a mut D,
    limits: RunLimits,
    threads: Vec<SampledThread>,
    /// Threads that can take a step, as far as known.
    ready: Vec<ThreadId>,
    /// Threads that wait for a lock, a synchronization object or a join.
    waiting: Vec<ThreadId>,
    /// By location: its initial value; `None` before the first access.
    initial: Vec<Option<Value>>,
    /// By location; `None` before the first access.
    objects: Vec<Option<SyncObject>>,
    /// Number of events so far.
    pub(super) events: u32,
    /// Number of changes so far of anything that another thread may observe.
    changes: u64,
    /// Number of steps since the last change.
    quiet: u64,
    /// Thread that took the last step.
    last: ThreadId,
    /// `None` if the run is not recorded.
    log: Option<EventLog>,
    continues_after_races: bool,
    /// First race, if the run continues after races.
    first_race: Option<(usize, usize)>,
}

impl<'a, M: MemoryMachine, T: ThreadRunner + ?Sized, D: Decider + ?Sized> SampleRun<'a, M, T, D> {
    pub(super) fn new(
        runner: &'a mut T,
        machine: &'a mut M,
        decider: &'a mut D,
        limits: RunLimits,
        log: Option<EventLog>,
    ) -> Self {
        SampleRun {
            continues_after_races: runner.program().goes_on_after_races(),
            runner,
            machine,
            decider,
            limits,
            threads: vec![],
            ready: vec![],
            waiting: vec![],
            initial: vec![],
            objects: vec![],
            events: 0,
            changes: 0,
            quiet: 0,
            last: ThreadId::new(0),
            log,
            first_race: None,
        }
    }

    /// Runs to the end. Fails if the machine must repeat the run.
    pub(super) fn run(&mut self) -> Result<RunStop, Restart> {
        self.runner.begin_run();
        self.machine.restart();
        let mut outcome = self.start(ThreadId::new(0), None);
        let mut steps_to_check = STEPS_PER_CLOCK_CHECK;
        while outcome.is_ok() && !self.ready.is_empty() {
            steps_to_check -= 1;
            if steps_to_check == 0 {
                steps_to_check = STEPS_PER_CLOCK_CHECK;
                if self.limits.deadline.is_some_and(|end| Instant::now() >= end) {
                    return Ok(RunStop::Deadline);
                }
            }
            outcome = self.step();
        }
        match outcome {
            Ok(()) => Ok(RunStop::Ending(self.ending())),
            Err(LastStep::Stop(stop)) => Ok(stop),
            Err(LastStep::Race(racing)) => {
                let (first, second) = self.race_with_last_event(racing);
                Ok(RunStop::Ending(Ending::Race(first, second)))
            }
            Err(LastStep::Restart(restart)) => Err(restart),
        }
    }

    /// Lets one thread flush a store, execute an op, or block.
    #[inline]
    fn step(&mut self) -> Result<(), LastStep> {
        let thread = self.next_thread();
        self.last = thread;
        if self.events >= self.limits.events {
            return Err(LastStep::Stop(RunStop::Ending(Ending::Limit(thread))));
        }
        self.quiet += 1;
        if self.quiet > self.limits.patience {
            return Err(LastStep::Stop(RunStop::SuspectedLivelock));
        }
        self.threads[thread.index()].steps += 1;
        if !self.machine.is_drained(thread) && self.flushes_first(thread) {
            self.flush(thread);
            return Ok(());
        }
        if !self.is_enabled(thread) {
            self.block(thread);
            return Ok(());
        }
        let result = self.perform(thread)?;
        let next = self.runner.resume(thread, &result);
        if let Some(ops) = self.runner.take_loop_start() {
            self.close_loop(thread, ops)?;
        }
        self.start_spawned(thread)?;
        self.set_next(thread, next)
    }

    #[inline]
    fn next_thread(&mut self) -> ThreadId {
        if let [only] = self.ready[..] {
            return only;
        }
        let last = self.step_id(self.last);
        self.decider.next_thread(last, &self.ready, self.quiet)
    }

    #[inline]
    fn step_id(&self, thread: ThreadId) -> StepId {
        StepId { thread, index: self.threads[thread.index()].steps }
    }

    /// Returns the machine and the context of the current step of the thread.
    #[inline]
    fn context(&mut self, thread: ThreadId) -> (&mut M, StepContext<'_, D>) {
        let forces_default = self.quiet > QUIET_STEPS * (self.ready.len() as u64 + 1);
        let (step, event) = (self.step_id(thread), RunEvent::new(self.events));
        let context = StepContext { decider: &mut *self.decider, step, forces_default, event };
        (&mut *self.machine, context)
    }

    /// Returns `true` if a buffered store of the thread reaches memory in this step, instead of its next op being
    /// executed.
    fn flushes_first(&mut self, thread: ThreadId) -> bool {
        let SampledThread { status, op, .. } = &self.threads[thread.index()];
        if *status == ThreadStatus::Draining
            || self.machine.needs_drained_buffer(&op.kind)
            || self.machine.is_full(thread)
        {
            return true;
        }
        let (_, mut context) = self.context(thread);
        context.choose(ChoiceKind::DelayFlush, 2) == 0
    }

    fn flush(&mut self, thread: ThreadId) {
        let (machine, mut context) = self.context(thread);
        machine.flush(&mut context);
        self.note_change();
        let is_draining = self.threads[thread.index()].status == ThreadStatus::Draining;
        if is_draining && self.machine.is_drained(thread) {
            self.finish(thread);
        }
    }

    /// Notes that something changed which another thread may observe.
    fn note_change(&mut self) {
        self.changes += 1;
        self.quiet = 0;
    }
}
