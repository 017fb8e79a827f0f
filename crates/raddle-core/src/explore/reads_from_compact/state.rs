//! The execution that the explorer extends and takes back.

use std::time::Instant;

use super::super::face::{Effect, Face};
use super::super::row::Row;
use super::super::{Extent, Summary};
use super::stamps::Stamp;
use super::{Exploration, Wide};
use crate::execution::{LocationId, MemoryOrder, ThreadId, Value};
use crate::program::{Answer, End, Guard, Histories, NodeId, Op, OpKind, Origin};

/// The thread that runs from the start.
pub(super) const MAIN: usize = 0;

/// The initial write, where an event is expected.
pub(super) const INIT: u32 = u32::MAX;

/// How many threads and locations the tables have room for.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) threads: usize,
    pub(super) locations: usize,
}

/// The exploration has to start again with more room, or another face.
#[derive(Clone, Copy)]
pub(super) enum TooSmall {
    /// There are more events than bits in a row.
    Events,
    /// There are more threads or locations.
    Tables(Sizes),
    /// The face cannot follow what happens.
    Lost,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// It was not started.
    Absent,
    /// A load.
    Load,
    /// A compare-exchange.
    Compare,
    /// An update.
    Update,
    /// A lock or another synchronization object.
    Sync,
    /// The end of a thread.
    Join,
    /// A choice.
    Choose,
    /// A cell.
    Cell,
    /// Nothing: its history has ended.
    Ended,
}

/// What the search has to know of a history.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// What its thread asks at its end.
    ask: Ask,
    /// The location of the question; for a join the thread.
    location: u32,
    /// Where its effects are in `steps`.
    effects: (u32, u32),
    /// Whether one of them is a spawn.
    spawns: bool,
    /// Whether it ends otherwise than with a question or the end of the thread.
    is_unfinished: bool,
    /// Whether all its effects are atomic stores, fences and releases.
    is_quiet: bool,
}

/// An effect, in the form in which it is carried out often.
#[derive(Clone, Copy)]
enum Effected {
    Store { location: u32, order: MemoryOrder, carries: bool, value: Value },
    Unlock { lock: u32 },
    Fence { order: MemoryOrder },
    StoreFence,
    Init { location: u32, value: Value },
    Spawn { child: u32 },
    WriteCell { location: u32 },
}

impl Effected {
    fn new(op: &Op) -> Self {
        let index = |location: LocationId| location.index() as u32;
        match op.kind {
            OpKind::Store { location, value, order, carries } => {
                Effected::Store { location: index(location), order, carries, value }
            }
            OpKind::Unlock { lock } => Effected::Unlock { lock: index(lock) },
            OpKind::Fence { order } => Effected::Fence { order },
            OpKind::StoreFence => Effected::StoreFence,
            OpKind::Init { location, value } => Effected::Init { location: index(location), value },
            OpKind::Spawn { thread } => Effected::Spawn { child: thread.index() as u32 },
            OpKind::WriteCell { location } => Effected::WriteCell { location: index(location) },
            _ => unreachable!("a question is not an effect: {op:?}"),
        }
    }
}

/// A thread of the execution.
#[derive(Clone, Copy)]
pub(super) struct Thread {
    /// Its history so far.
    pub(super) node: NodeId,
    pub(super) ask: Ask,
    /// The location of its question; for a join the thread.
    pub(super) location: u32,
    /// Its causal map: 0 if its read has not been tried before, otherwise it may observe only events
    /// with at least this id plus one.
    pub(super) floor: u32,
}

/// What an event does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Read,
    Write,
    Update,
    /// A fence, which has no location.
    Fence,
    ReadCell,
    WriteCell,
}

/// An event of the execution.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) location: u32,
    /// What it observes: an event or [`INIT`].
    pub(super) source: u32,
    pub(super) role: Role,
    /// Whether its value is a pointer.
    pub(super) carries: bool,
    /// The value that it writes; for a read the value that it reads.
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A location of the execution.
#[derive(Clone, Copy)]
pub(super) struct Location<R> {
    pub(super) writes: R,
    /// Reads that do not write.
    pub(super) reads: R,
    /// Non-atomic accesses, or accesses of the cell.
    pub(super) plain: R,
    /// Whether an update has read the initial write.
    pub(super) init_taken: bool,
    /// For a lock or another synchronization object: its last update.
    pub(super) last: u32,
    pub(super) initial: Value,
    /// When it was last written.
    pub(super) written: Stamp,
    /// When an update of it was last pending.
    pub(super) pending: Stamp,
    /// The threads that ever wrote it.
    pub(super) writers: R,
}

/// What has to be put back.
pub(super) enum Undo {
    Thread(u32, Thread),
    Last(u32, u32),
    /// The model has a level more.
    Level,
}

/// The state of an exploration.
pub(super) struct Explorer<'s, 'a, R, F> {
    pub(super) outer: &'s mut Exploration<'a>,
    pub(super) histories: Histories,
    /// By history.
    known: Vec<Known>,
    /// The effects of all of them.
    steps: Vec<Effected>,
    pub(super) face: F,
    pub(super) threads: Vec<Thread>,
    pub(super) locations: Vec<Location<R>>,
    /// How many of the locations have their initial values.
    known_locations: usize,
    pub(super) events: Vec<Event>,
    /// How many events there are.
    pub(super) len: usize,
    /// Writes that an update has read.
    pub(super) taken: R,
    /// Threads that ask something.
    pub(super) asking: R,
    /// Those of them that may have to wait, or have a choice.
    pub(super) special: R,
    /// How many threads ended without finishing.
    pub(super) unfinished: u32,
    /// The histories of the execution in the order in which they were reached, and how many events there
    /// were before each.
    pub(super) past: Vec<NodeId>,
    pub(super) first_events: Vec<u32>,
    pub(super) undo: Vec<Undo>,
    /// The causal maps to put back, of all nodes on the stack.
    pub(super) floors: Vec<(u32, u32)>,
    pub(super) clock: u64,
    /// When a subtree was last left unexplored, so that its stamps mean nothing.
    pub(super) unexplored: u64,
    /// Whether there ever was an access that may race.
    pub(super) has_plain: bool,
    /// Two racing events of the current execution.
    pub(super) race: Option<(usize, usize)>,
    /// A thread of the current execution for whose next events there is no room.
    pub(super) cut: Option<usize>,
    pub(super) shares_memory: bool,
    pub(super) classes: u64,
    pub(super) blocked: u64,
    /// How many leaves were reached.
    pub(super) leaves: u64,
    pub(super) hit_limit: bool,
    /// Why the exploration ends early.
    pub(super) stop: Option<Stop>,
}

/// Why an exploration ends early.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Extent(Extent),
    Again(TooSmall),
}

impl<'s, 'a, R: Row, F: Face<R>> Explorer<'s, 'a, R, F> {
    pub(super) fn new(outer: &'s mut Exploration<'a>, sizes: Sizes) -> Self {
        let none = R::default();
        let thread = Thread { node: NodeId(0), ask: Ask::Absent, location: 0, floor: 0 };
        let location = Location {
            writes: none,
            reads: none,
            plain: none,
            init_taken: false,
            last: INIT,
            initial: 0,
            written: Stamp::default(),
            pending: Stamp::default(),
            writers: none,
        };
        let event = Event {
            location: 0,
            source: INIT,
            role: Role::Fence,
            carries: false,
            value: 0,
            origin: Origin { node: NodeId(0), index: 0 },
        };
        Explorer {
            histories: std::mem::take(&mut outer.histories),
            known: vec![],
            steps: vec![],
            face: F::new(sizes.threads, sizes.locations),
            threads: vec![thread; sizes.threads],
            locations: vec![location; sizes.locations],
            known_locations: 0,
            events: vec![event; R::BITS],
            len: 0,
            taken: none,
            asking: none,
            special: none,
            unfinished: 0,
            past: vec![],
            first_events: vec![],
            undo: vec![],
            floors: vec![],
            clock: 1,
            unexplored: 0,
            has_plain: false,
            race: None,
            cut: None,
            shares_memory: outer.program.shares_memory(),
            classes: 0,
            blocked: 0,
            leaves: 0,
            hit_limit: false,
            stop: None,
            outer,
        }
    }

    /// Explores everything, or stops early.
    pub(super) fn explore(&mut self) -> Result<Summary, TooSmall> {
        let main = self.histories.start(self.outer.program, &[], ThreadId::new(0), None);
        self.enter(MAIN, main);
        self.descend();
        let histories = self.histories.len() as u64;
        self.outer.histories = std::mem::take(&mut self.histories);
        let extent = match self.stop {
            Some(Stop::Again(why)) => return Err(why),
            Some(Stop::Extent(extent)) => extent,
            None if self.hit_limit => Extent::Events,
            None => Extent::All,
        };
        Ok(Summary { extent, classes: self.classes, blocked: self.blocked, histories })
    }

    /// What there is to know of a history.
    #[inline]
    fn known(&mut self, node: NodeId) -> Known {
        if self.known.len() <= node.0 as usize {
            self.learn();
        }
        self.known[node.0 as usize]
    }

    /// Looks at the histories that are new, and whether the tables have room for them.
    #[cold]
    fn learn(&mut self) {
        for node in self.known.len()..self.histories.len() {
            let node = NodeId(node as u32);
            let end = self.histories.end(node);
            let (ask, location) = match end {
                End::Question(op) => question(op),
                _ => (Ask::Ended, 0),
            };
            let effects = self.histories.effects(node);
            let first = self.steps.len() as u32;
            self.steps.extend(effects.iter().map(Effected::new));
            self.known.push(Known {
                ask,
                location,
                effects: (first, self.steps.len() as u32),
                spawns: effects.iter().any(|op| matches!(op.kind, OpKind::Spawn { .. })),
                is_unfinished: !matches!(end, End::Question(_) | End::Finished),
                is_quiet: effects.iter().all(is_quiet),
            });
        }
        let (threads, locations) = self.histories.sizes();
        if threads > self.threads.len() || locations > self.locations.len() {
            let threads = threads.max(self.threads.len()) * 2;
            let locations = locations.max(self.locations.len()) * 2;
            self.stop = Some(Stop::Again(TooSmall::Tables(Sizes { threads, locations })));
            return;
        }
        for location in self.known_locations..locations {
            let initial = self.outer.program.initial_value(LocationId::new(location));
            self.locations[location].initial = initial;
        }
        self.known_locations = locations;
    }

    /// A thread that was spawned starts with a history.
    fn start(&mut self, thread: usize, node: NodeId) {
        if F::FENCES_ARE_EVENTS && self.len < R::BITS {
            self.mark(thread, MemoryOrder::Acquire, node);
        }
        self.enter(thread, node);
    }

    /// Marks the start or the end of a thread, which the order of sequentially consistent accesses
    /// respects, with a fence that has nothing to order. See [`Trace::to_execution`].
    ///
    /// [`Trace::to_execution`]: super::super::Trace::to_execution
    fn mark(&mut self, thread: usize, order: MemoryOrder, node: NodeId) {
        self.face.push_fence(self.len, thread, order);
        self.add_fence(Origin { node, index: 0 });
    }

    /// A thread has reached a history: does its effects, starts what it spawns.
    #[inline]
    pub(super) fn enter(&mut self, thread: usize, node: NodeId) {
        let known = self.known(node);
        let (first, last) = known.effects;
        let room = self.len + ((last - first) as usize) + 2 < R::BITS && thread < R::BITS;
        if !room || self.stop.is_some() {
            return self.no_room(thread);
        }
        self.past.push(node);
        self.first_events.push(self.len as u32);
        for step in first..last {
            let origin = Origin { node, index: step - first + 1 };
            self.effect(thread, self.steps[step as usize], origin);
        }
        self.wait(thread, node, known);
        if known.spawns {
            self.start_children(node);
        }
    }

    /// There are more events than bits. With the widest rows the execution is cut here; otherwise the
    /// exploration starts again with wider ones.
    #[cold]
    fn no_room(&mut self, thread: usize) {
        if R::BITS == Wide::BITS && self.stop.is_none() {
            self.cut = Some(thread);
            self.hit_limit = true;
        } else {
            self.stop.get_or_insert(Stop::Again(TooSmall::Events));
        }
    }

    #[cold]
    fn start_children(&mut self, node: NodeId) {
        for index in 0..self.histories.effects(node).len() {
            let op = self.histories.effects(node)[index];
            let OpKind::Spawn { thread } = op.kind else { continue };
            let origin = Origin { node, index: index as u32 + 1 };
            let spawned_by = self.shares_memory.then_some(origin);
            let program = &mut *self.outer.program;
            let child = self.histories.start(program, &self.past, thread, spawned_by);
            self.start(thread.index(), child);
        }
    }

    /// The thread now waits with the question at the end of its history, if there is one.
    #[inline]
    fn wait(&mut self, thread: usize, node: NodeId, known: Known) {
        let Known { ask, location, .. } = known;
        self.threads[thread] = Thread { node, ask, location, floor: 0 };
        match ask {
            Ask::Ended => {
                self.asking.remove(thread);
                self.special.remove(thread);
                if F::FENCES_ARE_EVENTS && !known.is_unfinished && thread != MAIN {
                    self.mark(thread, MemoryOrder::Release, node);
                }
                if known.is_unfinished {
                    self.unfinished += 1;
                    self.hit_limit |= matches!(self.histories.end(node), End::Limit);
                }
                return;
            }
            Ask::Sync | Ask::Join | Ask::Choose | Ask::Cell => self.special.insert(thread),
            _ => self.special.remove(thread),
        }
        self.asking.insert(thread);
        if matches!(ask, Ask::Compare | Ask::Update | Ask::Sync) {
            self.clock += 1;
            self.locations[location as usize].pending.set(thread, self.clock);
        }
    }

    #[inline]
    fn effect(&mut self, thread: usize, effect: Effected, origin: Origin) {
        let event = self.len;
        match effect {
            Effected::Store { location, order, carries, value } => {
                let location = location as usize;
                self.check_race(thread, location, true, order);
                self.face.push_store(event, thread, location, order);
                self.add_write(thread, location, value, carries, origin);
            }
            Effected::Unlock { lock } => self.unlock(thread, lock as usize, origin),
            Effected::Fence { order } => {
                self.face.push_fence(event, thread, order);
                self.add_fence(origin);
            }
            Effected::StoreFence => {
                self.face.push_store_fence(event, thread);
                self.add_fence(origin);
            }
            Effected::Init { location, value } => self.locations[location as usize].initial = value,
            Effected::Spawn { child } => self.face.push_spawn(thread, child as usize),
            Effected::WriteCell { location } => self.write_cell(thread, location as usize, origin),
        }
    }

    fn unlock(&mut self, thread: usize, lock: usize, origin: Origin) {
        let event = self.len;
        let acquire = self.locations[lock].last;
        self.face.push_unlock(event, thread, lock, acquire as usize);
        self.taken.insert(acquire as usize);
        self.add_write(thread, lock, 0, false, origin);
        self.events[event].source = acquire;
        self.set_last(lock, event);
    }

    fn add_fence(&mut self, origin: Origin) {
        if F::FENCES_ARE_EVENTS {
            self.add_event(0, INIT, Role::Fence, origin);
        }
    }

    #[inline]
    pub(super) fn add_event(&mut self, location: usize, source: u32, role: Role, origin: Origin) {
        let location = location as u32;
        let new = Event { location, source, role, carries: false, value: 0, origin };
        self.events[self.len] = new;
        self.len += 1;
    }

    #[inline]
    fn add_write(
        &mut self,
        thread: usize,
        location: usize,
        value: Value,
        carries: bool,
        origin: Origin,
    ) {
        let event = self.len;
        self.add_event(location, INIT, Role::Write, origin);
        self.events[event].value = value;
        self.events[event].carries = carries;
        self.note_write(event, thread, location);
    }

    /// The event writes the location.
    #[inline]
    pub(super) fn note_write(&mut self, event: usize, thread: usize, location: usize) {
        self.locations[location].writes.insert(event);
        self.note_writer(thread, location);
    }

    /// The thread writes the location now.
    #[inline]
    pub(super) fn note_writer(&mut self, thread: usize, location: usize) {
        self.clock += 1;
        let place = &mut self.locations[location];
        place.written.set(thread, self.clock);
        place.writers.insert(thread);
    }

    /// The thread writes now what it writes in a history.
    #[inline]
    pub(super) fn note_writers(&mut self, thread: usize, node: NodeId) {
        let (first, last) = self.known[node.0 as usize].effects;
        for step in first..last {
            match self.steps[step as usize] {
                Effected::Store { location, .. } | Effected::Unlock { lock: location } => {
                    self.note_writer(thread, location as usize);
                }
                _ => {}
            }
        }
    }

    /// Whether a known history is the end of its thread, without anything that concerns others.
    #[inline]
    pub(super) fn is_quiet_end(&self, node: NodeId) -> bool {
        let known = self.known.get(node.0 as usize);
        known.is_some_and(|it| it.ask == Ask::Ended && !it.is_unfinished && it.is_quiet)
    }

    /// The last update of a synchronization object is this event.
    pub(super) fn set_last(&mut self, location: usize, event: usize) {
        let place = &mut self.locations[location];
        self.undo.push(Undo::Last(location as u32, place.last));
        place.last = event as u32;
    }

    /// The value of a write, or the initial one.
    #[inline]
    pub(super) fn value(&self, location: usize, source: u32) -> Value {
        match source {
            INIT => self.locations[location].initial,
            event => self.events[event as usize].value,
        }
    }

    /// What a thread learns that observed this write.
    #[inline]
    pub(super) fn answer(&self, location: usize, source: u32) -> Answer {
        match source {
            INIT => Answer::Value(self.locations[location].initial),
            event => {
                let Event { carries, value, origin, .. } = self.events[event as usize];
                if carries { Answer::From(origin) } else { Answer::Value(value) }
            }
        }
    }

    /// What a thread learns that takes over memory from the event.
    #[inline]
    pub(super) fn identity(&self, source: u32) -> Answer {
        if source == INIT || !self.shares_memory {
            return Answer::Initial;
        }
        Answer::From(self.events[source as usize].origin)
    }

    /// The question of a thread.
    #[inline]
    pub(super) fn question(&self, thread: usize) -> Op {
        match self.histories.end(self.threads[thread].node) {
            End::Question(op) => *op,
            end => unreachable!("a thread that asks has a question, not {end:?}"),
        }
    }

    /// Does what needs no decision: joins of finished threads and reads of cells.
    pub(super) fn settle(&mut self) {
        while self.goes_on() && !self.special.is_empty() {
            let ready = self.special.iter().find(|&thread| match self.threads[thread].ask {
                Ask::Join => self.is_finished(self.threads[thread].location as usize),
                Ask::Cell => true,
                _ => false,
            });
            let Some(thread) = ready else { return };
            self.undo.push(Undo::Thread(thread as u32, self.threads[thread]));
            self.face.push_level(thread);
            self.undo.push(Undo::Level);
            match self.threads[thread].ask {
                Ask::Join => self.join(thread),
                _ => self.read_cell(thread),
            }
        }
    }

    /// Whether the current execution is explored further.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.stop.is_none() && self.race.is_none() && self.cut.is_none()
    }

    fn join(&mut self, thread: usize) {
        let Thread { node, location: child, .. } = self.threads[thread];
        self.face.push_join(thread, child as usize);
        let last = self.threads[child as usize].node;
        let index = self.histories.effects(last).len() as u32;
        let from = Answer::From(Origin { node: last, index });
        let answer = if self.shares_memory { from } else { Answer::Initial };
        self.follow(thread, node, answer);
    }

    /// The thread gets an answer.
    #[inline]
    pub(super) fn follow(&mut self, thread: usize, node: NodeId, answer: Answer) {
        let next = match self.histories.known(node, answer) {
            Some(next) => next,
            None => self.histories.after(self.outer.program, &self.past, node, answer),
        };
        self.enter(thread, next);
    }

    fn is_finished(&self, thread: usize) -> bool {
        self.threads[thread].ask == Ask::Ended
            && matches!(self.histories.end(self.threads[thread].node), End::Finished)
    }

    /// Whether a thread that asks for a synchronization object can have it now.
    #[inline]
    pub(super) fn is_free(&self, thread: usize) -> bool {
        let location = self.threads[thread].location as usize;
        let value = self.value(location, self.locations[location].last);
        match self.histories.end(self.threads[thread].node) {
            End::Question(Op { kind: OpKind::Sync { guard, .. }, .. }) => guard.admits(value),
            _ => Guard::Equal(0).admits(value),
        }
    }

    /// Takes back all events from `first` on.
    #[inline]
    pub(super) fn remove_events(&mut self, first: usize) {
        for event in first..self.len {
            let Event { location, role, source, .. } = self.events[event];
            let place = &mut self.locations[location as usize];
            match role {
                Role::Read | Role::ReadCell => place.reads.remove(event),
                Role::Write | Role::WriteCell => place.writes.remove(event),
                Role::Update => {
                    place.writes.remove(event);
                    place.init_taken &= source != INIT;
                }
                Role::Fence => {}
            }
            place.plain.remove(event);
        }
        self.len = first;
    }

    /// Takes back what is noted since the mark, last first.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop().expect("longer than the mark") {
                Undo::Thread(thread, old) => self.threads[thread as usize] = old,
                Undo::Last(location, old) => self.locations[location as usize].last = old,
                Undo::Level => self.face.pop(),
            }
        }
    }

    /// Whether the time is up or the limit of classes reached; asked at leaves.
    pub(super) fn check_limits(&mut self) {
        let limits = self.outer.limits;
        if limits.classes.is_some_and(|most| self.classes >= most) {
            self.stop = Some(Stop::Extent(Extent::Classes));
        }
        if self.leaves.is_multiple_of(256)
            && limits.deadline.is_some_and(|end| Instant::now() >= end)
        {
            self.stop = Some(Stop::Extent(Extent::Deadline));
        }
    }
}

/// Whether an effect is an atomic store, a fence or a release.
fn is_quiet(op: &Op) -> bool {
    match op.kind {
        OpKind::Store { order, .. } => order.is_atomic(),
        kind => matches!(kind, OpKind::Fence { .. } | OpKind::StoreFence | OpKind::Unlock { .. }),
    }
}

/// What kind of question an op is, and its location.
fn question(op: &Op) -> (Ask, u32) {
    let location = op.kind.location().map_or(0, |location| location.index() as u32);
    match op.kind {
        OpKind::Load { .. } => (Ask::Load, location),
        OpKind::CompareExchange { .. } => (Ask::Compare, location),
        OpKind::Rmw { .. } => (Ask::Update, location),
        OpKind::Lock { .. } | OpKind::Sync { .. } => (Ask::Sync, location),
        OpKind::Join { thread } => (Ask::Join, thread.index() as u32),
        OpKind::Choose { .. } => (Ask::Choose, 0),
        OpKind::ReadCell { .. } => (Ask::Cell, location),
        _ => unreachable!("an effect is not a question: {op:?}"),
    }
}

/// What a read does once the value that it reads is known.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) effect: Effect,
    pub(super) order: MemoryOrder,
    /// What it writes.
    pub(super) written: Option<Value>,
    pub(super) carries: bool,
}
