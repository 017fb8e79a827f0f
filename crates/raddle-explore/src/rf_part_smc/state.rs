//! The execution that the explorer extends and takes back.

use std::time::Instant;

use super::super::{Extent, Summary};
use super::Exploration;
use super::memo::{Ask, Edge, Effected, Known, Memo, ValueId};
use super::open_classes::OpenClasses;
use super::route::Route;
use super::stamps::Stamp;
use crate::driver::{Restart, TableSizes};
use crate::event_map::EventMap;
use crate::event_set::{EventSet, WideSet};
use crate::model::{Effect, IncrementalModel};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, Op, OpKind, Origin};

/// The thread that runs from the start.
pub(super) const MAIN: usize = 0;

/// The initial write, where an event is expected.
pub(super) const INIT: u32 = u32::MAX;

/// A thread of the execution.
#[derive(Clone, Copy)]
pub(super) struct Thread {
    /// Its history so far.
    pub(super) node: HistoryId,
    pub(super) ask: Ask,
    /// The location of its question; for a join the thread.
    pub(super) location: u32,
    /// Its causal map: 0 if its read has not been tried before, otherwise it may observe only events
    /// with at least this id plus one.
    pub(super) floor: u32,
    /// How many threads it was the first to join.
    pub(super) joins: u32,
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
    /// The value that it writes.
    pub(super) value: ValueId,
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
    pub(super) initial: ValueId,
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
pub(super) struct Explorer<'s, 'a, R: EventSet, F> {
    pub(super) outer: &'s mut Exploration<'a>,
    pub(super) histories: LocalHistories,
    pub(super) memo: Memo,
    pub(super) face: F,
    pub(super) threads: Vec<Thread>,
    pub(super) locations: Vec<Location<R>>,
    /// How many of the locations have their initial values.
    known_locations: usize,
    pub(super) events: R::Map<Event>,
    /// How many events there are.
    pub(super) len: usize,
    /// Writes that an update has read.
    pub(super) taken: R,
    /// Threads that ask something.
    pub(super) asking: R,
    /// Those of them that may have to wait, or have a choice.
    pub(super) special: R,
    /// Threads that were joined.
    pub(super) joined: R,
    /// How many threads ended without finishing.
    pub(super) unfinished: u32,
    /// The histories of the execution in the order in which they were reached, and how many events there
    /// were before each.
    pub(super) past: Vec<HistoryId>,
    pub(super) first_events: Vec<u32>,
    pub(super) undo: Vec<Undo>,
    /// The causal maps to put back, of all nodes on the stack.
    pub(super) floors: Vec<(u32, u32)>,
    pub(super) open: OpenClasses,
    pub(super) clock: u64,
    /// When a subtree was last left unexplored, so that its stamps mean nothing.
    pub(super) unexplored: u64,
    /// Whether there ever was an access that may race.
    pub(super) has_plain: bool,
    /// Two racing events of the current execution, which ends with them.
    pub(super) race: Option<(usize, usize)>,
    /// The first two racing events of the current execution, if it goes on nevertheless.
    pub(super) survived: Option<(usize, usize)>,
    pub(super) survives_races: bool,
    /// A thread of the current execution for whose next events there is no room.
    pub(super) cut: Option<usize>,
    pub(super) shares_memory: bool,
    pub(super) classes: u64,
    pub(super) blocked: u64,
    /// How many leaves were reached.
    pub(super) leaves: u64,
    /// Whether it is still learned who writes what, which decides what is tried first.
    pub(super) learns: bool,
    pub(super) hit_limit: bool,
    /// Whether that was so before the first question.
    pub(super) began_at_limit: bool,
    /// Why the exploration ends early.
    pub(super) stop: Option<Stop>,
    /// Which part of the tree is explored.
    pub(super) route: Route,
}

/// Why an exploration ends early.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Extent(Extent),
    Restart(Restart),
    /// The budget of a subtree is spent: what is left is left behind.
    Suspended,
}

impl<'s, 'a, R: EventSet, F: IncrementalModel<R>> Explorer<'s, 'a, R, F> {
    pub(super) fn new(outer: &'s mut Exploration<'a>, sizes: TableSizes) -> Self {
        let none = R::default();
        let thread =
            Thread { node: HistoryId(0), ask: Ask::Absent, location: 0, floor: 0, joins: 0 };
        let location = Location {
            writes: none,
            reads: none,
            plain: none,
            init_taken: false,
            last: INIT,
            initial: ValueId::ZERO,
            written: Stamp::default(),
            pending: Stamp::default(),
            writers: none,
        };
        let event = Event {
            location: 0,
            source: INIT,
            role: Role::Fence,
            carries: false,
            value: ValueId::NONE,
            origin: Origin { node: HistoryId(0), index: 0 },
        };
        let mut face = F::new(sizes.threads, sizes.locations);
        face.configure(&outer.options);
        Explorer {
            histories: std::mem::take(&mut outer.histories),
            memo: Memo::default(),
            face,
            threads: vec![thread; sizes.threads],
            locations: vec![location; sizes.locations],
            known_locations: 0,
            events: R::Map::filled(event),
            len: 0,
            taken: none,
            asking: none,
            special: none,
            joined: none,
            unfinished: 0,
            past: vec![],
            first_events: vec![],
            undo: vec![],
            floors: vec![],
            open: OpenClasses::default(),
            clock: 1,
            unexplored: 0,
            has_plain: false,
            race: None,
            survived: None,
            survives_races: outer.program.goes_on_after_races(),
            cut: None,
            shares_memory: outer.program.shares_memory(),
            classes: 0,
            blocked: 0,
            leaves: 0,
            learns: true,
            hit_limit: false,
            began_at_limit: false,
            stop: None,
            route: Route::default(),
            outer,
        }
    }

    /// Explores everything, or stops early.
    pub(super) fn explore(&mut self) -> Result<Summary, Restart> {
        let main = self.histories.start(self.outer.program, &[], ThreadId::new(0), None);
        self.enter(MAIN, main);
        self.began_at_limit = self.hit_limit;
        let explored = if self.stop.is_some() {
            Ok(())
        } else if self.outer.probes.is_some() {
            self.probe()
        } else if self.outer.has_subtrees() {
            self.explore_subtrees()
        } else {
            self.descend();
            Ok(())
        };
        let histories = self.histories.len() as u64;
        self.outer.histories = std::mem::take(&mut self.histories);
        explored?;
        let extent = match self.stop {
            Some(Stop::Restart(why)) => return Err(why),
            Some(Stop::Extent(extent)) => extent,
            _ if self.hit_limit => Extent::Events,
            _ => Extent::All,
        };
        Ok(Summary { extent, classes: self.classes, blocked: self.blocked, histories })
    }

    /// Looks at the histories that are new, and whether the tables have room for them.
    #[cold]
    fn learn(&mut self) {
        self.memo.learn(&self.histories);
        let (threads, locations) = self.histories.sizes();
        if threads > self.threads.len() || locations > self.locations.len() {
            let threads = threads.max(self.threads.len()) * 2;
            let locations = locations.max(self.locations.len()) * 2;
            self.stop =
                Some(Stop::Restart(Restart::LargerTables(TableSizes { threads, locations })));
            return;
        }
        for location in self.known_locations..locations {
            let initial = self.outer.program.initial_value(LocationId::new(location));
            self.locations[location].initial = self.memo.values.id(initial);
        }
        self.known_locations = locations;
    }

    /// A thread that was spawned starts with a history.
    fn start(&mut self, thread: usize, node: HistoryId) {
        self.threads[thread].joins = 0;
        self.face.push_mark(thread);
        self.enter(thread, node);
    }

    /// A thread has reached a history: does its effects, starts what it spawns.
    #[inline]
    pub(super) fn enter(&mut self, thread: usize, node: HistoryId) {
        if self.memo.len() <= node.0 as usize {
            self.learn();
        }
        let known = self.memo.get(node);
        let ((first, last), spawns) = (known.effects, known.spawns);
        let room = self.len + ((last - first) as usize) + 2 < R::BITS && thread < R::BITS;
        if !room || self.stop.is_some() {
            return self.no_room(thread);
        }
        self.past.push(node);
        self.first_events.push(self.len as u32);
        for step in first..last {
            let origin = Origin { node, index: step - first + 1 };
            self.effect(thread, self.memo.steps[step as usize], origin);
        }
        self.wait(thread, node);
        if spawns {
            self.start_children(node);
        }
    }

    /// There are more events than bits. With the widest rows the execution is cut here; otherwise the
    /// exploration starts again with wider ones.
    #[cold]
    fn no_room(&mut self, thread: usize) {
        if R::BITS == WideSet::BITS && self.stop.is_none() {
            self.cut = Some(thread);
            self.hit_limit = true;
        } else {
            self.stop.get_or_insert(Stop::Restart(Restart::WiderSets));
        }
    }

    #[cold]
    fn start_children(&mut self, node: HistoryId) {
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
    fn wait(&mut self, thread: usize, node: HistoryId) {
        let &Known { ask, location, is_unfinished, .. } = self.memo.get(node);
        let Thread { joins, .. } = self.threads[thread];
        self.threads[thread] = Thread { node, ask, location, floor: 0, joins };
        if ask == Ask::Ended {
            return self.end(thread, node, is_unfinished);
        }
        if ask.is_special() {
            self.special.insert(thread);
        } else {
            self.special.remove(thread);
        }
        self.asking.insert(thread);
        if ask.competes() {
            self.clock += 1;
            self.locations[location as usize].pending.set(thread, self.clock);
        }
    }

    /// The thread has come to the end of its history.
    #[inline]
    fn end(&mut self, thread: usize, node: HistoryId, is_unfinished: bool) {
        self.asking.remove(thread);
        self.special.remove(thread);
        if !is_unfinished {
            self.face.push_mark(thread);
        } else {
            self.unfinished += 1;
            self.hit_limit |= matches!(self.histories.end(node), End::Limit);
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
        self.add_write(thread, lock, ValueId::ZERO, false, origin);
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
        let value = ValueId::NONE;
        let new = Event { location, source, role, carries: false, value, origin };
        self.events[self.len] = new;
        self.len += 1;
    }

    #[inline]
    fn add_write(
        &mut self,
        thread: usize,
        location: usize,
        value: ValueId,
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
        if self.is_open() {
            self.open_write(event, thread, location);
        }
    }

    /// The thread writes the location now. That matters to reads of others, unless all of these are over: a thread
    /// that has joined all others writes after their reads in every execution.
    #[inline]
    pub(super) fn note_writer(&mut self, thread: usize, location: usize) {
        if self.threads[thread].joins > 0 && self.has_joined_all(thread) {
            return;
        }
        self.clock += 1;
        let place = &mut self.locations[location];
        place.written.set(thread, self.clock);
        if self.learns {
            place.writers.insert(thread);
        }
    }

    #[cold]
    fn has_joined_all(&self, thread: usize) -> bool {
        let started = self.threads.iter().filter(|it| it.ask != Ask::Absent).count();
        self.threads[thread].joins as usize + 1 == started
    }

    /// The thread writes now what it writes in a history.
    #[inline]
    pub(super) fn note_writers(&mut self, thread: usize, node: HistoryId) {
        let (first, last) = self.memo.get(node).effects;
        for step in first..last {
            match self.memo.steps[step as usize] {
                Effected::Store { location, .. } | Effected::Unlock { lock: location } => {
                    self.note_writer(thread, location as usize);
                }
                _ => {}
            }
        }
    }

    /// Whether a known history is the end of its thread, without anything that concerns others.
    #[inline]
    pub(super) fn is_quiet_end(&self, node: HistoryId) -> bool {
        let known = self.memo.get(node);
        known.ask == Ask::Ended && !known.is_unfinished && known.is_quiet
    }

    /// The last update of a synchronization object is this event.
    pub(super) fn set_last(&mut self, location: usize, event: usize) {
        let place = &mut self.locations[location];
        self.undo.push(Undo::Last(location as u32, place.last));
        place.last = event as u32;
    }

    /// The value of a write, or the initial one.
    #[inline]
    pub(super) fn value(&self, location: usize, source: u32) -> ValueId {
        match source {
            INIT => self.locations[location].initial,
            event => self.events[event as usize].value,
        }
    }

    /// What a thread learns that observed this write.
    #[inline]
    pub(super) fn told(&self, location: usize, source: u32) -> Told {
        match source {
            INIT => Told::Value(self.locations[location].initial),
            event => {
                let Event { carries, value, origin, .. } = self.events[event as usize];
                if carries { Told::Other(Answer::From(origin)) } else { Told::Value(value) }
            }
        }
    }

    /// What a thread learns that takes over memory from the event.
    #[inline]
    pub(super) fn identity(&self, source: u32) -> Told {
        if source == INIT || !self.shares_memory {
            return Told::Value(ValueId::NONE);
        }
        Told::Other(Answer::From(self.events[source as usize].origin))
    }

    /// The question at the end of a history.
    pub(super) fn question(&self, node: HistoryId) -> Op {
        match self.histories.end(node) {
            End::Question(op) => *op,
            end => unreachable!("a thread that asks has a question, not {end:?}"),
        }
    }

    /// Does what needs no decision: joins of finished threads and reads of cells. What a thread does of it
    /// in a row is one level.
    pub(super) fn settle(&mut self) {
        let mut level_of = None;
        while self.goes_on() && !self.special.is_empty() {
            let ready = self.special.iter().find(|&thread| match self.threads[thread].ask {
                Ask::Join => self.is_finished(self.threads[thread].location as usize),
                Ask::Cell => true,
                _ => false,
            });
            let Some(thread) = ready else { return };
            if level_of != Some(thread) {
                level_of = Some(thread);
                self.undo.push(Undo::Thread(thread as u32, self.threads[thread]));
                self.face.push_level(thread);
                self.undo.push(Undo::Level);
            }
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
        if !self.joined.has(child as usize) {
            self.joined.insert(child as usize);
            self.threads[thread].joins += 1;
        }
        let last = self.threads[child as usize].node;
        let told = match self.memo.result(last) {
            _ if !self.shares_memory => Told::Value(ValueId::NONE),
            Some(value) => Told::Value(value),
            None => Told::Other(self.histories.joined(last)),
        };
        self.follow(thread, node, told, ValueId::NONE);
    }

    /// How a history goes on, if that is known.
    #[inline]
    pub(super) fn after(&self, node: HistoryId, told: Told) -> Option<HistoryId> {
        match told {
            Told::Value(value) => self.memo.after(node, value).map(|Edge { next, .. }| next),
            Told::Other(answer) => {
                let next = self.histories.known(node, answer);
                next.filter(|next| self.memo.len() > next.0 as usize)
            }
        }
    }

    /// The thread gets an answer, and writes something.
    #[inline]
    pub(super) fn follow(&mut self, thread: usize, node: HistoryId, told: Told, written: ValueId) {
        let next = self.after(node, told);
        let next = next.unwrap_or_else(|| self.grow(node, told, written));
        self.enter(thread, next);
    }

    /// Finds out how a history goes on.
    #[cold]
    pub(super) fn grow(&mut self, node: HistoryId, told: Told, written: ValueId) -> HistoryId {
        let answer = match told {
            Told::Value(value) => self.memo.answer(value),
            Told::Other(answer) => answer,
        };
        let next = self.histories.after(self.outer.program, &self.past, node, answer);
        if let Told::Value(read) = told {
            self.memo.connect(node, read, written, next);
        }
        next
    }

    fn is_finished(&self, thread: usize) -> bool {
        self.threads[thread].ask == Ask::Ended
            && matches!(self.histories.end(self.threads[thread].node), End::Finished)
    }

    /// Whether a thread that asks for a synchronization object can have it now.
    #[inline]
    pub(super) fn is_free(&self, thread: usize) -> bool {
        let Thread { ask, location, node, .. } = self.threads[thread];
        let value = self.value(location as usize, self.locations[location as usize].last);
        if ask == Ask::Lock {
            return value == ValueId::ZERO;
        }
        let OpKind::Sync { guard, .. } = self.question(node).kind else {
            unreachable!("a thread that waits for a synchronization object has a guard")
        };
        guard.admits(self.memo.values.get(value))
    }

    /// Takes back all events from `first` on.
    #[inline]
    pub(super) fn remove_events(&mut self, first: usize) {
        for event in first..self.len {
            let Event { location, role, source, .. } = self.events[event];
            let took_init = source == INIT && self.is_only(event, source);
            let place = &mut self.locations[location as usize];
            match role {
                Role::Read | Role::ReadCell => place.reads.remove(event),
                Role::Write | Role::WriteCell => place.writes.remove(event),
                Role::Update => {
                    place.writes.remove(event);
                    place.init_taken &= !took_init;
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
        if self.leaves.is_multiple_of(256) {
            if limits.deadline.is_some_and(|end| Instant::now() >= end) {
                self.stop = Some(Stop::Extent(Extent::Deadline));
            } else if self.outer.is_cancelled() {
                self.stop = Some(Stop::Extent(Extent::Stopped));
            } else if !self.learns && self.leaves >= self.outer.visited && self.outer.is_enough() {
                self.stop = Some(Stop::Suspended);
            }
        }
        if self.leaves == self.route.budget && self.stop.is_none() {
            self.stop = Some(Stop::Suspended);
        }
    }
}

/// What a thread learns from an answer.
#[derive(Clone, Copy)]
pub(super) enum Told {
    /// This value, or nothing.
    Value(ValueId),
    /// Something else.
    Other(Answer),
}

/// What a read does once the value that it reads is known.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) effect: Effect,
    pub(super) order: MemoryOrder,
    /// What it writes, if it does.
    pub(super) written: ValueId,
    pub(super) carries: bool,
    /// How the thread goes on, if that is known.
    pub(super) next: Option<HistoryId>,
}

impl Reading {
    #[inline]
    pub(super) fn writes(&self) -> bool {
        self.written != ValueId::NONE
    }
}
