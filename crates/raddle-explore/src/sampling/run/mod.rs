//! One run: threads take steps until none can.
//!
//! `lives` has how threads start, wait and end, `perform` what their ops do, `objects` what locks hold, `ends` what is told
//! about the run.
//!
//! *Cost.* Who runs threads, who decides and which machine there is are types: a step calls nothing that is not known when
//! this is compiled but the program, and most of it is inlined.

mod ends;
mod objects;
mod perform;
mod scheduling;

use std::time::Instant;

use raddle_core::execution::{ThreadId, Value};

use super::super::Unsupported;
use super::decide::{Decide, Kind, Moment};
use super::log::Log;
use super::machine::{Machine, Racing, StartAgain, Turn};
use super::threads::Threads;
use objects::Object;
use raddle_core::trace::Ending;
use scheduling::{Status, Thread};

/// If nothing has changed for so many steps of each thread, reads observe the newest writes, until something does.
const CALM: u64 = 64;

/// How often the time is looked at: every so many steps.
const LOOKS: u32 = 1 << 14;

/// How far a run goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// At most so many events.
    pub(super) events: u32,
    /// If nothing changes for so many steps, threads may go round in loops for ever.
    pub(super) patience: u64,
    pub(super) deadline: Option<Instant>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    Ending(Ending),
    /// Perhaps threads go round for ever.
    Suspicion,
    Deadline,
    Unsupported(Unsupported),
}

/// Why the current step is the last one.
enum Last {
    Stop(Stop),
    /// It races with this.
    Race(Racing),
    Again,
}

impl From<StartAgain> for Last {
    fn from(_: StartAgain) -> Self {
        Last::Again
    }
}

/// A run.
pub(super) struct Run<'a, M, T, D: ?Sized> {
    threads: &'a mut T,
    machine: &'a mut M,
    decide: &'a mut D,
    reach: Reach,
    states: Vec<Thread>,
    ready: Vec<u32>,
    waiting: Vec<u32>,
    /// The initial values of the locations that are known.
    initial: Vec<Option<Value>>,
    objects: Vec<Option<Object>>,
    pub(super) events: u32,
    changes: u64,
    quiet: u64,
    last: u32,
    log: Option<Log>,
    survives_races: bool,
    /// The first race, if the run goes on nevertheless.
    survived: Option<(usize, usize)>,
}

impl<'a, M: Machine, T: Threads, D: Decide + ?Sized> Run<'a, M, T, D> {
    pub(super) fn new(
        threads: &'a mut T,
        machine: &'a mut M,
        decide: &'a mut D,
        reach: Reach,
        is_kept: bool,
    ) -> Self {
        Run {
            survives_races: threads.program().goes_on_after_races(),
            threads,
            machine,
            decide,
            reach,
            states: vec![],
            ready: vec![],
            waiting: vec![],
            initial: vec![],
            objects: vec![],
            events: 0,
            changes: 0,
            quiet: 0,
            last: 0,
            log: is_kept.then(Log::default),
            survived: None,
        }
    }

    /// Runs to the end. None: the machine has to start again.
    pub(super) fn run(&mut self) -> Option<Stop> {
        self.threads.restart();
        self.machine.restart();
        let mut taken = self.start(0, None);
        let mut looks = LOOKS;
        while taken.is_ok() && !self.ready.is_empty() {
            looks -= 1;
            if looks == 0 {
                looks = LOOKS;
                if self.reach.deadline.is_some_and(|end| Instant::now() >= end) {
                    return Some(Stop::Deadline);
                }
            }
            taken = self.step();
        }
        match taken {
            Ok(()) => Some(Stop::Ending(self.ending())),
            Err(Last::Stop(stop)) => Some(stop),
            Err(Last::Race(racing)) => {
                let (first, second) = self.racing(racing);
                Some(Stop::Ending(Ending::Race(first, second)))
            }
            Err(Last::Again) => None,
        }
    }

    /// A thread takes a step.
    #[inline]
    fn step(&mut self) -> Result<(), Last> {
        let thread = self.next_thread();
        self.last = thread;
        if self.events >= self.reach.events {
            let ending = Ending::Limit(ThreadId::new(thread as usize));
            return Err(Last::Stop(Stop::Ending(ending)));
        }
        self.quiet += 1;
        if self.quiet > self.reach.patience {
            return Err(Last::Stop(Stop::Suspicion));
        }
        let at = thread as usize;
        self.states[at].turns += 1;
        if !self.machine.is_drained(at) && self.leaves_first(at) {
            self.flush(at);
            return Ok(());
        }
        if !self.can_go_on(at) {
            self.wait(at);
            return Ok(());
        }
        let told = self.perform(at)?;
        let next = self.threads.go_on(at, &told);
        if let Some(ops) = self.threads.came_back() {
            self.came_back(at, ops)?;
        }
        self.spawned(at)?;
        self.set_next(at, next)
    }

    #[inline]
    fn next_thread(&mut self) -> u32 {
        if let [only] = self.ready[..] {
            return only;
        }
        let moment = self.moment(self.last as usize);
        self.decide.thread(moment, &self.ready, self.quiet)
    }

    fn moment(&self, thread: usize) -> Moment {
        Moment { thread: thread as u32, turn: self.states[thread].turns }
    }

    #[inline]
    fn turn(&mut self, thread: usize) -> (&mut M, Turn<'_, D>) {
        let plain = self.quiet > CALM * (self.ready.len() as u64 + 1);
        let moment = Moment { thread: thread as u32, turn: self.states[thread].turns };
        let turn = Turn { decide: &mut *self.decide, moment, plain, event: self.events };
        (&mut *self.machine, turn)
    }

    /// Whether a store of the thread reaches memory before it does anything else.
    fn leaves_first(&mut self, thread: usize) -> bool {
        let Thread { status, op, .. } = &self.states[thread];
        if *status == Status::Draining
            || self.machine.drains(&op.kind)
            || self.machine.is_full(thread)
        {
            return true;
        }
        let (_, mut turn) = self.turn(thread);
        turn.pick(Kind::Keep, 2) == 0
    }

    fn flush(&mut self, thread: usize) {
        let (machine, mut turn) = self.turn(thread);
        machine.flush(&mut turn);
        self.changed();
        if self.states[thread].status == Status::Draining && self.machine.is_drained(thread) {
            self.finish(thread);
        }
    }

    fn changed(&mut self) {
        self.changes += 1;
        self.quiet = 0;
    }
}
