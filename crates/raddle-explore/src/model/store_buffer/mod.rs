//! SC, TSO and PSO while an execution grows: a witness is kept and repaired.
//!
//! *Problem.* Is there a run of the store-buffer machine in which every read observes its source? For a
//! given reads-from that is NP-hard, yet an explorer asks it a million times a second.
//!
//! *Idea.* One event for every write, its *flush* to memory; a read of the thread's own buffer then
//! observes a write that comes later. The models differ only in which events of a thread keep their order:
//! under SC all; under TSO everything except a write and later reads; under PSO also writes of
//! different locations. A *witness* is a linear order of the events that keeps these orders and in which
//! every read observes the last write before it. A new read is tried in stages, cheapest first:
//!
//! 1. writes that are overwritten in happens-before are no candidates (a mask, [`IncrementalModel::sources`]);
//! 2. insert the read into the witness behind its source, if no other write is in the way;
//! 3. reorder the witness greedily from where the conflict starts (`greedy.rs`);
//! 4. saturate the order with what every witness must obey (`saturate.rs`): a cycle means no; then
//!    greedily again;
//! 5. search (`search.rs`), which hardly ever happens but makes the answer exact.
//!
//! `order.rs` decides which of the last three is tried when.
//!
//! *Paper.* Bui, Chatterjee, Gautam, Pavlogiannis, Toman, *The Reads-From Equivalence for the TSO and PSO
//! Memory Models*, OOPSLA 2021, has the closure rules; the witness that is carried along and repaired is
//! ours, and so is deciding all three models with one event for each write.
//!
//! *Cost.* Stages 1 and 2, O(n) bytes for a read, suffice for more than half of all reads. Saturated
//! rows are computed when they are needed first and shared by all extensions. Nothing is allocated once
//! the tables have grown.
//!
//! *Rejected.* Two events for each write, as in the paper: twice as many bits. Masks of the positions of
//! the writes of each location: the few writes of a location are looked up as quickly, and the masks
//! had to be shifted at every insertion.

pub(crate) mod good_writes;
mod greedy;
mod order;
mod place;
mod saturate;
mod search;
mod witness;

use raddle_core::execution::MemoryOrder;
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};

use super::{Effect, IncrementalModel, Reads, Sources};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use order::Scratch;
use witness::Witness;

/// No source: a plain write.
const NONE: u32 = u32::MAX;
/// The source is the initial write.
const INIT: u32 = u32::MAX - 1;

/// Which store buffers there are.
const SC: u8 = 0;
const TSO: u8 = 1;
const PSO: u8 = 2;

/// Sequential consistency.
pub(crate) type Sc<R> = Linear<R, SC>;
/// Total store order.
pub(crate) type Tso<R> = Linear<R, TSO>;
/// Partial store order.
pub(crate) type Pso<R> = Linear<R, PSO>;

/// What is known of a thread.
#[derive(Clone, Copy, Default)]
struct Thread<R> {
    /// Its events.
    events: R,
    /// Its writes that may still be in its store buffer: none under SC.
    buffered: R,
    /// The events behind which its next read comes; all its other events except `buffered` are before
    /// one of these.
    front: R,
    /// Those of `buffered` behind which its next write comes, because of a store-store fence (PSO).
    fenced: R,
    /// Everything that happens before its next event: for races only.
    past: R,
}

/// One event.
#[derive(Clone, Copy)]
struct Event<R> {
    thread: u32,
    location: u32,
    /// What it observes: an event, [`INIT`] or [`NONE`].
    source: u32,
    /// The events of its thread (or of those it was spawned by or joined) right before it.
    front: R,
    /// Everything that happened before it, itself included, when threads synchronize by every read.
    past: R,
}

/// What is restored when a level is taken back.
#[derive(Clone, Copy)]
struct Level<R> {
    /// The first event of the level.
    first: usize,
    /// The thread that started it, and what was known of it.
    thread: usize,
    saved: Thread<R>,
    /// Whether it starts with a read.
    is_read: bool,
}

/// A model with store buffers that follows an execution.
pub(crate) struct Linear<R: EventSet, const BUFFERS: u8> {
    threads: Vec<Thread<R>>,
    events: R::Map<Event<R>>,
    /// By event, everything that comes before it in the preserved order and reads-from.
    before: R::Map<R>,
    /// By location, its writes.
    writes: Vec<R>,
    /// All writes.
    all_writes: R,
    /// By event, who reads it.
    readers: R::Map<R>,
    /// By location, who reads its initial write.
    readers_of_init: Vec<R>,
    /// What to restore, last level last.
    levels: Vec<Level<R>>,
    witness: Witness<R>,
    /// Taken while a new witness is made.
    scratch: Option<Box<Scratch<R>>>,
    /// What [`IncrementalModel::sources`] found out for the next event.
    asked: Asked<R>,
}

/// What comes right before the next event of a thread, and all that comes before it.
#[derive(Clone, Copy)]
struct Asked<R> {
    thread: usize,
    event: usize,
    drains: bool,
    front: R,
    before: R,
}

impl<R: EventSet, const BUFFERS: u8> Linear<R, BUFFERS> {
    /// The store buffers, as the table of orders names them.
    const KIND: StoreBuffers = match BUFFERS {
        SC => StoreBuffers::None,
        TSO => StoreBuffers::PerThread,
        PSO => StoreBuffers::PerLocation,
        _ => panic!("there are three kinds of store buffers"),
    };

    /// What the next event of the thread comes right behind, if it waits for an empty buffer or not.
    #[inline]
    fn front(&self, thread: usize, drains: bool) -> R {
        let Thread { front, buffered, .. } = self.threads[thread];
        if BUFFERS == SC || !drains { front } else { front.or(self.newest(buffered)) }
    }

    /// The last of these buffered writes of a thread: under TSO one of them is, under PSO all may be.
    #[inline]
    fn newest(&self, buffered: R) -> R {
        match buffered.last() {
            Some(last) if BUFFERS == TSO => R::one(last),
            _ => buffered,
        }
    }

    /// Everything before an event with this front.
    #[inline]
    fn before(&self, front: R) -> R {
        front.iter().fold(front, |before, event| before.or(self.before[event]))
    }

    #[inline]
    fn ask(&mut self, thread: usize, drains: bool) -> Asked<R> {
        let front = self.front(thread, drains);
        let before = self.before(front);
        let event = self.witness.len();
        self.asked = Asked { thread, event, drains, front, before };
        self.asked
    }

    #[inline]
    fn known_or_asked(&mut self, thread: usize, event: usize, drains: bool) -> Asked<R> {
        let known = self.asked;
        if known.thread == thread
            && known.event == event
            && (BUFFERS == SC || known.drains == drains)
        {
            return known;
        }
        self.ask(thread, drains)
    }

    /// The writes of a location that the thread did itself.
    #[inline]
    fn own_writes(&self, thread: usize, location: usize) -> R {
        self.threads[thread].events.and(self.writes[location])
    }

    /// The writes of its own location that the thread of an event did before it.
    #[inline]
    fn own_before(&self, event: usize) -> R {
        let Event { thread, location, .. } = self.events[event];
        self.own_writes(thread as usize, location as usize).and(R::below(event))
    }

    /// Whether a read observes a write that was still in the buffer of its own thread, so that it may
    /// come before that write.
    #[inline]
    fn is_forwarded(&self, event: usize) -> bool {
        let Event { source, .. } = self.events[event];
        source < INIT && !self.before[event].has(source as usize)
    }

    #[inline]
    fn add(&mut self, event: usize, new: Event<R>, before: R) {
        let thread = &mut self.threads[new.thread as usize];
        thread.events.insert(event);
        thread.past.insert(event);
        self.events[event] = new;
        self.before[event] = before;
    }

    /// The thread writes: at once, or through its buffer.
    #[inline]
    fn add_write(&mut self, event: usize, thread: usize, location: usize, at_once: bool) {
        let known = self.threads[thread];
        let at_once = BUFFERS == SC || at_once;
        let front = match BUFFERS {
            _ if at_once => self.front(thread, true),
            TSO => known.front.or(self.newest(known.buffered)),
            _ => {
                let same =
                    known.buffered.and(self.writes[location]).last().map_or(R::default(), R::one);
                known.front.or(same).or(known.fenced)
            }
        };
        let before = self.before(front);
        let past = known.past.or(R::one(event));
        let (thread32, location32) = (thread as u32, location as u32);
        let new = Event { thread: thread32, location: location32, source: NONE, front, past };
        self.add(event, new, before);
        if at_once {
            self.after_drain(event, thread);
        } else {
            self.threads[thread].buffered.insert(event);
        }
        self.writes[location].insert(event);
        self.all_writes.insert(event);
        self.readers[event] = R::default();
        self.witness.append(event);
    }

    /// The event waited for an empty buffer.
    #[inline]
    fn after_drain(&mut self, event: usize, thread: usize) {
        let known = &mut self.threads[thread];
        known.front = R::one(event);
        known.buffered = R::default();
        known.fenced = R::default();
    }

    /// The thread waits for an empty buffer, without an event.
    fn drain(&mut self, thread: usize) {
        let front = self.front(thread, true);
        let known = &mut self.threads[thread];
        known.front = front;
        known.buffered = R::default();
        known.fenced = R::default();
    }

    #[inline]
    fn readers_mut(&mut self, source: u32, location: usize) -> &mut R {
        match source {
            INIT => &mut self.readers_of_init[location],
            event => &mut self.readers[event as usize],
        }
    }

    /// Puts a read into the tables, or takes it out again: not into the witness.
    #[inline]
    fn add_read(&mut self, event: usize, read: Event<R>, before: R, writes: bool) {
        self.events[event] = read;
        self.before[event] = before;
        self.readers_mut(read.source, read.location as usize).insert(event);
        if writes {
            self.writes[read.location as usize].insert(event);
            self.all_writes.insert(event);
            self.readers[event] = R::default();
        }
    }

    #[inline]
    fn remove_read(&mut self, event: usize) {
        let Event { source, location, .. } = self.events[event];
        self.readers_mut(source, location as usize).remove(event);
        self.remove_write(event);
    }

    #[inline]
    fn remove_write(&mut self, event: usize) {
        let location = self.events[event].location as usize;
        if self.all_writes.has(event) {
            self.writes[location].remove(event);
            self.all_writes.remove(event);
        }
    }

    /// The event of a new read, what comes before it, and whether it observes the buffer of its own
    /// thread.
    #[inline]
    fn new_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
    ) -> (Event<R>, R, bool) {
        let drains = effect != Effect::Load;
        let saved = self.threads[thread];
        // Nobody asks for the sources of a synchronization object.
        let Asked { front, mut before, .. } = match effect {
            Effect::Sync => self.ask(thread, true),
            _ => self.known_or_asked(thread, event, drains),
        };
        let mut past = saved.past.or(R::one(event));
        let mut forwards = false;
        if let Some(source) = source {
            forwards = BUFFERS != SC && !drains && saved.buffered.has(source);
            past = past.or(self.events[source].past);
            if !forwards {
                before = before.or(self.before[source]).or(R::one(source));
            }
        }
        let source = source.map_or(INIT, |source| source as u32);
        let (thread32, location) = (thread as u32, location as u32);
        let read = Event { thread: thread32, location, source, front, past };
        (read, before, forwards)
    }

    /// A new level starts with the read, which is in the tables and in the witness.
    #[inline]
    fn start_level(&mut self, event: usize, thread: usize, read: &Event<R>, effect: Effect) {
        let saved = self.threads[thread];
        self.levels.push(Level { first: event, thread, saved, is_read: true });
        let known = &mut self.threads[thread];
        known.events.insert(event);
        known.past = read.past;
        if effect != Effect::Load {
            self.after_drain(event, thread);
        } else {
            known.front = R::one(event);
        }
    }

    /// Stage 2: where in the witness the read can be inserted, if nothing is in the way.
    #[inline]
    fn insertion(&self, read: &Event<R>, forwards: bool, writes: bool) -> Option<usize> {
        let at = |event: usize| self.witness.position(event);
        let behind = |position: usize, event: usize| position.max(at(event) + 1);
        let first = read.front.iter().fold(0, behind);
        let after_source = if read.source == INIT { 0 } else { at(read.source as usize) + 1 };
        if forwards && first < after_source {
            return Some(first);
        }
        let all = self.writes[read.location as usize];
        let place = first.max(after_source);
        let in_the_way = |write: usize| (after_source..place).contains(&at(write));
        if (after_source < place && all.iter().any(in_the_way))
            || !self.own_are_flushed(read, after_source)
        {
            return None;
        }
        if !writes {
            return Some(place);
        }
        let later = all.iter().map(at).filter(|&position| position >= place);
        Some(later.min().unwrap_or(self.witness.len()))
    }

    /// Whether the own buffered writes of the read's location come before its source, which another
    /// thread wrote.
    #[inline]
    fn own_are_flushed(&self, read: &Event<R>, after_source: usize) -> bool {
        if BUFFERS == SC || read.source == INIT {
            return true;
        }
        let known = &self.threads[read.thread as usize];
        let own = known.buffered.and(self.writes[read.location as usize]);
        own.is_empty()
            || own.has(read.source as usize)
            || own.iter().all(|write| self.witness.position(write) < after_source)
    }
}

impl<R: EventSet, const BUFFERS: u8> IncrementalModel<R> for Linear<R, BUFFERS> {
    const FENCES_ARE_EVENTS: bool = false;
    const RACES: bool = false;

    fn new(threads: usize, locations: usize) -> Self {
        let none = R::default();
        let event = Event { thread: 0, location: 0, source: NONE, front: none, past: none };
        Linear {
            threads: vec![Thread::default(); threads],
            events: R::Map::filled(event),
            before: R::Map::filled(none),
            writes: vec![none; locations],
            all_writes: none,
            readers: R::Map::filled(none),
            readers_of_init: vec![none; locations],
            levels: vec![],
            witness: Witness::new(),
            scratch: Some(Box::new(Scratch::new(locations))),
            asked: Asked { thread: usize::MAX, event: 0, drains: false, front: none, before: none },
        }
    }

    #[inline]
    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder) {
        let effect = Self::KIND.store(order);
        if effect == StoreEffect::BufferedBehindFence {
            self.push_store_fence(event, thread);
        }
        self.add_write(event, thread, location, effect == StoreEffect::AtOnce);
    }

    #[inline]
    fn push_unlock(&mut self, event: usize, thread: usize, lock: usize, _acquire: usize) {
        self.add_write(event, thread, lock, true);
    }

    #[inline]
    fn push_fence(&mut self, event: usize, thread: usize, order: MemoryOrder) {
        match Self::KIND.fence(order) {
            FenceEffect::Drain => self.drain(thread),
            FenceEffect::StoreStore => self.push_store_fence(event, thread),
            FenceEffect::Nothing => {}
        }
    }

    #[inline]
    fn push_store_fence(&mut self, _event: usize, thread: usize) {
        let known = &mut self.threads[thread];
        known.fenced = known.buffered;
    }

    fn push_spawn(&mut self, parent: usize, child: usize) {
        self.drain(parent);
        let Thread { front, past, .. } = self.threads[parent];
        self.threads[child] = Thread { front, past, ..Thread::default() };
    }

    fn push_join(&mut self, parent: usize, child: usize) {
        self.drain(parent);
        self.drain(child);
        let Thread { front, past, .. } = self.threads[child];
        let known = &mut self.threads[parent];
        known.front = known.front.or(front);
        known.past = known.past.or(past);
    }

    fn push_access(&mut self, event: usize, thread: usize) {
        let Thread { past, .. } = self.threads[thread];
        let none = R::default();
        let past = past.or(R::one(event));
        let thread = thread as u32;
        // It has no front: it is free to stand anywhere in the witness.
        let access = Event { thread, location: u32::MAX, source: NONE, front: none, past };
        self.add(event, access, none);
        self.readers[event] = none;
        self.witness.append(event);
    }

    #[inline]
    fn sources(
        &mut self,
        thread: usize,
        location: usize,
        reads: Reads,
        _order: MemoryOrder,
    ) -> Sources<R> {
        let all = self.writes[location];
        let own = self.own_writes(thread, location);
        let seen = self.ask(thread, reads != Reads::Load).before.and(all);
        if seen.is_empty() && own.is_empty() {
            return Sources { writes: all, initial: true };
        }
        let older = |row: R, write: usize| row.or(self.before[write]);
        let hidden = seen.iter().fold(R::default(), older);
        // The own buffered writes must have left the buffer before the source, unless it is the newest.
        let hidden_for_others = own.minus(seen).iter().fold(hidden, older);
        let newest = own.last().map_or(R::default(), R::one);
        let foreign = all.minus(own).minus(hidden_for_others);
        Sources { writes: foreign.or(newest.minus(hidden)), initial: false }
    }

    #[inline]
    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        _order: MemoryOrder,
    ) -> bool {
        let (read, before, forwards) = self.new_read(event, thread, location, source, effect);
        let writes = matches!(effect, Effect::Update | Effect::Sync);
        self.witness.settle(event);
        match self.insertion(&read, forwards, writes) {
            Some(place) => {
                self.add_read(event, read, before, writes);
                self.witness.push_insertion(event, place);
            }
            None => {
                self.add_read(event, read, before, writes);
                if !self.reorder(event) {
                    self.remove_read(event);
                    return false;
                }
            }
        }
        self.start_level(event, thread, &read, effect);
        true
    }

    /// If the read can be inserted into the witness.
    #[inline]
    fn admits_at_once(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
    ) -> bool {
        let (read, _, forwards) = self.new_read(event, thread, location, source, effect);
        self.witness.settle(event);
        self.insertion(&read, forwards, false).is_some()
    }

    fn push_level(&mut self, thread: usize) {
        let first = self.witness.len();
        self.witness.settle(first);
        self.witness.push_same();
        let saved = self.threads[thread];
        self.levels.push(Level { first, thread, saved, is_read: false });
    }

    #[inline]
    fn pop(&mut self) {
        let Level { first, thread, saved, is_read } =
            self.levels.pop().expect("as many levels are taken back as were started");
        let len = self.witness.len();
        let mut later = first;
        if is_read {
            self.remove_read(first);
            later += 1;
        }
        for event in later..len {
            self.remove_write(event);
        }
        self.threads[thread] = saved;
        self.witness.pop(first);
    }

    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        self.orders_with_last(last)
    }

    fn happened_before(&self, thread: usize) -> R {
        self.threads[thread].past
    }
}
