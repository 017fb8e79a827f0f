//! One run: threads take steps until none can.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::execution::{LocationId, MemoryOrder, ThreadId, Value};
use crate::program::{End, Next, Op, OpKind};

use super::super::{Ending, Observed, Pending, ThreadEnd, Trace, Unsupported, ending_of};
use super::decide::{Decide, Kind, Moment};
use super::log::{Entry, Log, observed};
use super::machine::{Access, Change, Machine, Racing, Source, StartAgain, Stored, Turn};
use super::threads::{NONE, Threads, Told};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Absent,
    Ready,
    Waiting,
    /// At its end, with stores on their way.
    Draining,
    Ended,
}

struct Thread {
    status: Status,
    op: Op,
    end: Option<End>,
    turns: u32,
    ops: u32,
    last_event: u32,
    /// Where it came back to, and how many changes there were then.
    back: Option<(usize, u64)>,
    /// Whether since then it has observed something that others may never again.
    stale: bool,
    /// It went round for the second time, and all was the same as now if there have been as many changes.
    spun: Option<u64>,
}

/// A lock or another synchronization object.
#[derive(Clone, Copy)]
struct Object {
    value: Value,
    /// Its last update.
    event: u32,
}

/// A run.
pub(super) struct Run<'a, M> {
    threads: &'a mut dyn Threads,
    machine: &'a mut M,
    decide: &'a mut dyn Decide,
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

impl<'a, M: Machine> Run<'a, M> {
    pub(super) fn new(
        threads: &'a mut dyn Threads,
        machine: &'a mut M,
        decide: &'a mut dyn Decide,
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

    /// The two events that race: the last one is the second.
    fn racing(&mut self, Racing { thread, ops }: Racing) -> (usize, usize) {
        let Some(log) = &mut self.log else { return (0, 0) };
        let first = log.event(thread, ops);
        log.need(first);
        (first, self.events as usize - 1)
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
    fn turn(&mut self, thread: usize) -> (&mut M, Turn<'_>) {
        let plain = self.quiet > CALM * (self.ready.len() as u64 + 1);
        let moment = Moment { thread: thread as u32, turn: self.states[thread].turns };
        let turn = Turn { decide: &mut *self.decide, moment, plain, event: self.events };
        (&mut *self.machine, turn)
    }

    /// Whether a store of the thread reaches memory before it does anything else.
    fn leaves_first(&mut self, thread: usize) -> bool {
        let Thread { status, op, .. } = &self.states[thread];
        if *status == Status::Draining || drains(&op.kind) || self.machine.is_full(thread) {
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

    /// Whether the thread need not wait for others.
    #[inline]
    fn can_go_on(&mut self, thread: usize) -> bool {
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

    fn wait(&mut self, thread: usize) {
        self.states[thread].status = Status::Waiting;
        self.ready.retain(|&it| it as usize != thread);
        self.waiting.push(thread as u32);
        let joins = matches!(self.states[thread].op.kind, OpKind::Join { .. });
        self.machine.set_joining(thread, joins);
    }

    /// Threads that wait go on, if they can.
    fn wake(&mut self) {
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

    /// The object at a location.
    fn object(&mut self, location: LocationId) -> Object {
        let location = self.locate(location);
        if self.objects.len() <= location {
            self.objects.resize(location + 1, None);
        }
        let value = self.initial[location].unwrap_or(0);
        *self.objects[location].get_or_insert(Object { value, event: NONE })
    }

    /// The index of a location, which is known from now on.
    #[inline]
    fn locate(&mut self, location: LocationId) -> usize {
        let index = location.index();
        if self.initial.get(index).is_none_or(Option::is_none) {
            let value = self.threads.program().initial_value(location);
            self.know(index, value);
        }
        index
    }

    #[cold]
    fn know(&mut self, location: usize, initial: Value) {
        if self.initial.len() <= location {
            self.initial.resize(location + 1, None);
        }
        self.initial[location] = Some(initial);
        self.machine.add_location(location, initial);
    }

    /// The thread does its op.
    #[inline]
    fn perform(&mut self, thread: usize) -> Result<Told, Last> {
        let op = self.states[thread].op;
        self.machine.begin(thread);
        self.states[thread].ops += 1;
        let nothing = Told { source: NONE, ..Told::default() };
        match op.kind {
            OpKind::Load { location, order } => self.load(thread, &op, location, order),
            OpKind::Store { location, value, order, carries } => {
                let location = self.locate(location);
                let race = self.race(thread, location, true, order)?;
                let (machine, mut turn) = self.turn(thread);
                machine.store(&mut turn, &Stored { location, value, carries, order });
                self.changed();
                self.done(thread, &op, None, None, Some(value));
                self.survive(race)?;
                Ok(nothing)
            }
            OpKind::Rmw { location, update, order } => {
                self.change(thread, &op, location, Change::Update(update), (order, order))
            }
            OpKind::CompareExchange {
                location,
                expected,
                desired,
                carries,
                success,
                failure,
                weak,
            } => {
                let change = Change::CompareExchange { expected, desired, carries, weak };
                self.change(thread, &op, location, change, (success, failure))
            }
            OpKind::Lock { lock } => Ok(self.synchronize(thread, &op, lock, |_| 1)),
            OpKind::Unlock { lock } => {
                if self.object(lock).value != 1 {
                    return Err(Last::Stop(Stop::Unsupported(Unsupported::Malformed)));
                }
                self.synchronize(thread, &op, lock, |_| 0);
                Ok(nothing)
            }
            OpKind::Sync { location, update, .. } => {
                Ok(self.synchronize(thread, &op, location, |value| update.apply(value)))
            }
            _ => self.perform_other(thread, &op),
        }
    }

    fn perform_other(&mut self, thread: usize, op: &Op) -> Result<Told, Last> {
        let mut told = Told { source: NONE, ..Told::default() };
        let mut seen = None;
        let mut race = None;
        match op.kind {
            OpKind::Init { location, value } => {
                let is_new = |known: Option<&Option<Value>>| known.is_none_or(Option::is_none);
                if is_new(self.initial.get(location.index())) {
                    self.know(location.index(), value);
                }
            }
            OpKind::Fence { order } => self.machine.fence(thread, order),
            OpKind::StoreFence => self.machine.store_fence(thread),
            OpKind::Spawn { .. } => self.changed(),
            OpKind::Join { thread: child } => {
                self.machine.join(thread, child.index());
                seen = Some(observed(self.states[child.index()].last_event));
                self.changed();
            }
            OpKind::Choose { options } => {
                let (_, mut turn) = self.turn(thread);
                let choice = turn.pick(Kind::Choose, options as usize);
                told.value = choice as Value;
                seen = Some(Observed::Choice(choice as u32));
                self.changed();
            }
            OpKind::WriteCell { location } => {
                race = self.cell(thread, location, true)?;
                let object = self.object(location);
                let event = self.events;
                self.objects[location.index()] = Some(Object { event, ..object });
                self.changed();
            }
            OpKind::ReadCell { location } => {
                race = self.cell(thread, location, false)?;
                told.source = self.object(location).event;
                seen = Some(observed(told.source));
            }
            kind => unreachable!("handled before: {kind:?}"),
        }
        self.done(thread, op, seen, None, None);
        self.survive(race)?;
        Ok(told)
    }

    fn load(
        &mut self,
        thread: usize,
        op: &Op,
        location: LocationId,
        order: MemoryOrder,
    ) -> Result<Told, Last> {
        let location = self.locate(location);
        let (machine, mut turn) = self.turn(thread);
        let source = machine.load(&mut turn, location, order);
        let race = self.race(thread, location, false, order)?;
        let Source { value, carries, event, newest } = source;
        self.states[thread].stale |= !newest;
        self.done(thread, op, Some(observed(event)), Some(value), None);
        self.survive(race)?;
        Ok(Told { value, spurious: false, carries, source: event })
    }

    fn change(
        &mut self,
        thread: usize,
        op: &Op,
        location: LocationId,
        change: Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> Result<Told, Last> {
        let location = self.locate(location);
        let (machine, mut turn) = self.turn(thread);
        let changed = machine.change(&mut turn, location, &change, orders);
        let Source { value, carries, event, newest } = changed.source;
        let written = changed.written.map(|(written, _)| written);
        let order = if written.is_some() { orders.0 } else { orders.1 };
        let race = self.race(thread, location, written.is_some(), order)?;
        self.states[thread].stale |= !newest || changed.spurious;
        if written.is_some_and(|written| written != value) {
            self.changed();
        }
        self.done(thread, op, Some(observed(event)), Some(value), written);
        self.survive(race)?;
        Ok(Told { value, spurious: changed.spurious, carries, source: event })
    }

    /// The thread updates a lock or another synchronization object.
    fn synchronize(
        &mut self,
        thread: usize,
        op: &Op,
        location: LocationId,
        update: impl FnOnce(Value) -> Value,
    ) -> Told {
        let Object { value, event: source } = self.object(location);
        let written = update(value);
        self.objects[location.index()] = Some(Object { value: written, event: self.events });
        self.machine.synchronize(thread, location.index());
        if written != value {
            self.changed();
        }
        let asks = op.kind.is_question().then(|| observed(source));
        match op.kind {
            OpKind::Sync { .. } => self.done(thread, op, asks, Some(value), Some(written)),
            _ => self.done(thread, op, asks, None, None),
        }
        if written != value && !self.waiting.is_empty() {
            self.wake();
        }
        Told { value, spurious: false, carries: false, source }
    }

    /// What an access of a location races with.
    #[inline]
    fn race(
        &mut self,
        thread: usize,
        location: usize,
        writes: bool,
        order: MemoryOrder,
    ) -> Result<Option<Racing>, Last> {
        if !self.machine.has_races() {
            return Ok(None);
        }
        let plain = order == MemoryOrder::NonAtomic;
        Ok(self.machine.race(thread, Access { location, writes, plain })?)
    }

    fn cell(
        &mut self,
        thread: usize,
        location: LocationId,
        writes: bool,
    ) -> Result<Option<Racing>, Last> {
        let location = self.locate(location);
        Ok(self.machine.race(thread, Access { location, writes, plain: true })?)
    }

    /// The event that was done last races with another one: the run ends, or goes on.
    #[inline]
    fn survive(&mut self, race: Option<Racing>) -> Result<(), Last> {
        let Some(racing) = race else { return Ok(()) };
        if !self.survives_races {
            return Err(Last::Race(racing));
        }
        if self.survived.is_none() {
            self.survived = Some(self.racing(racing));
        }
        Ok(())
    }

    /// The op of the thread is an event.
    #[inline]
    fn done(
        &mut self,
        thread: usize,
        op: &Op,
        observed: Option<Observed>,
        read: Option<Value>,
        written: Option<Value>,
    ) {
        self.states[thread].last_event = self.events;
        self.events += 1;
        if let Some(log) = &mut self.log {
            log.push(Entry { thread: thread as u32, op: *op, observed, read, written });
        }
    }

    /// The thread has gone round a loop.
    fn came_back(&mut self, thread: usize, ops: usize) -> Result<(), Last> {
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

    /// If the last op started a thread, it starts now.
    #[inline]
    fn spawned(&mut self, thread: usize) -> Result<(), Last> {
        match self.states[thread].op.kind {
            OpKind::Spawn { thread: child } => self.start(child.index(), Some(thread)),
            _ => Ok(()),
        }
    }

    fn start(&mut self, thread: usize, parent: Option<usize>) -> Result<(), Last> {
        while self.states.len() <= thread {
            self.states.push(Thread {
                status: Status::Absent,
                op: Op { kind: OpKind::StoreFence, place: crate::program::PlaceId(0) },
                end: None,
                turns: 0,
                ops: 0,
                last_event: NONE,
                back: None,
                stale: false,
                spun: None,
            });
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
    fn set_next(&mut self, thread: usize, next: Next) -> Result<(), Last> {
        match next {
            Next::Op(Op { kind: OpKind::Choose { options: 0 }, .. }) => {
                Err(Last::Stop(Stop::Unsupported(Unsupported::Malformed)))
            }
            Next::Op(op) => {
                self.states[thread].op = op;
                Ok(())
            }
            Next::End(end) => self.come_to_end(thread, end),
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
    fn finish(&mut self, thread: usize) {
        self.states[thread].status = Status::Ended;
        self.ready.retain(|&it| it as usize != thread);
        self.machine.end(thread);
        self.wake();
    }

    /// How the run ended, in which nobody can go on, or somebody has failed.
    fn ending(&self) -> Ending {
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
    pub(super) fn trace(&self, ending: Ending) -> (Ending, Trace) {
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

/// Whether an op waits until all stores of its thread have reached memory.
fn drains(kind: &OpKind) -> bool {
    match kind {
        OpKind::Load { .. }
        | OpKind::Choose { .. }
        | OpKind::StoreFence
        | OpKind::Init { .. }
        | OpKind::WriteCell { .. }
        | OpKind::ReadCell { .. } => false,
        OpKind::Store { order, .. } | OpKind::Fence { order } => *order == MemoryOrder::SeqCst,
        OpKind::Rmw { .. }
        | OpKind::CompareExchange { .. }
        | OpKind::Lock { .. }
        | OpKind::Unlock { .. }
        | OpKind::Sync { .. }
        | OpKind::Spawn { .. }
        | OpKind::Join { .. } => true,
    }
}
