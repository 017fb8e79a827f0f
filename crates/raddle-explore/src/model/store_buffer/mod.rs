//! SC, TSO and PSO: a witness is kept and repaired.
//!
//! *Problem.* Is there a run of the store-buffer machine in which every read observes its source? For a given
//! reads-from that is NP-hard, yet an explorer asks it a million times a second.
//!
//! *Idea.* Every write is one event, its *flush* to memory; a read from the thread's own buffer then observes a write
//! that comes later. The models differ only in which events of a thread keep their order: under SC all; under TSO
//! everything except a write and later reads; under PSO also not writes of different locations. A *witness* is a linear
//! order of the events that keeps these orders and in which every read observes the last write before it. A new read is
//! tried in stages, cheapest first:
//!
//! 1. writes that are overwritten in happens-before are no candidates (a mask, [`IncrementalModel::sources`]);
//! 2. insert the read into the witness behind its source, if no other write is in between;
//! 3. repair the witness greedily from where the conflict begins (`greedy.rs`);
//! 4. saturate the order with what every witness must obey (`saturate.rs`): a cycle means no; then repair greedily
//!    again;
//! 5. search (`search.rs`), which hardly ever happens but makes the answer exact.
//!
//! `reorder.rs` decides which of the last three is tried when.
//!
//! *Paper.* Bui, Chatterjee, Gautam, Pavlogiannis, Toman, *The Reads-From Equivalence for the TSO and PSO Memory
//! Models*, OOPSLA 2021, has the closure rules. Keeping and repairing a witness is ours, and so is deciding all three
//! models with one event per write.
//!
//! *Cost.* Stages 1 and 2, O(n) bytes per read, suffice for more than half of all reads. Saturated rows are computed
//! when they are first needed and shared by all extensions. Nothing is allocated once the tables have grown.
//!
//! *Rejected.* Two events per write, as in the paper: twice as many bits. Masks of the positions of the writes of each
//! location: the few writes of a location are looked up as quickly, and the masks had to be shifted at every insertion.

pub(crate) mod good_writes;
mod greedy;
mod linearization;
mod reorder;
mod saturate;
mod search;
mod witness;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};

use super::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, ReadEffect,
    ReadKind, RfSources,
};
use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use reorder::ReorderScratch;
use witness::LinearWitness;

/// Which store buffers there are.
const SC: u8 = 0;
const TSO: u8 = 1;
const PSO: u8 = 2;

/// Sequential consistency.
pub(crate) type Sc<R> = StoreBufferModel<R, SC>;
/// Total store order.
pub(crate) type Tso<R> = StoreBufferModel<R, TSO>;
/// Partial store order.
pub(crate) type Pso<R> = StoreBufferModel<R, PSO>;

/// State of a thread.
#[derive(Clone, Copy, Default)]
struct LinearizedThread<R> {
    /// Its events.
    events: R,
    /// Its writes that may still be in its store buffer: none under SC.
    buffered: R,
    /// The events directly before its next read. All its other events except `buffered` precede one of these.
    front: R,
    /// Those of `buffered` that must precede its next write because of a store-store fence (PSO).
    fenced: R,
    /// Everything that happens before its next event: only for races.
    past: R,
}

/// State of an event.
#[derive(Clone, Copy)]
struct LinearizedEvent<R> {
    thread: ThreadId,
    /// Meaningless for accesses of cells.
    location: LocationId,
    /// What it observes, [`RfSource::NONE`] if it does not read.
    source: RfSource,
    /// The events of its thread (or of those that spawned it or that it joined) directly before it.
    front: R,
    /// Everything that happened before it, itself included, as if threads synchronized by every read.
    past: R,
}

/// State to restore when a level is undone.
#[derive(Clone, Copy)]
struct BufferLevel<R> {
    /// The first event of the level.
    first: EventIndex,
    /// The thread that began it, and its state then.
    thread: ThreadId,
    saved: LinearizedThread<R>,
    /// Whether it begins with a read.
    is_read: bool,
}

/// What precedes the next event of a thread. Kept from the question about its sources to the attempts to add it.
#[derive(Clone, Copy)]
struct NextEvent<R> {
    thread: ThreadId,
    event: EventIndex,
    drains: bool,
    /// The events directly before it.
    front: R,
    /// All events before it in the preserved order and reads-from.
    before: R,
}

/// A model with store buffers that follows an execution.
pub(crate) struct StoreBufferModel<R: EventSet, const BUFFERS: u8> {
    threads: Vec<LinearizedThread<R>>,
    events: R::Map<LinearizedEvent<R>>,
    /// By event: everything that precedes it in the preserved order and reads-from.
    before: R::Map<R>,
    /// By location: its writes.
    writes: Vec<R>,
    /// All writes.
    all_writes: R,
    /// By event: the events that read it.
    readers: R::Map<R>,
    /// By location: the events that read its initial write.
    readers_of_init: Vec<R>,
    /// The last level last.
    levels: Vec<BufferLevel<R>>,
    witness: LinearWitness<R>,
    /// Taken while a new witness is made.
    scratch: Option<Box<ReorderScratch<R>>>,
    next: NextEvent<R>,
}

impl<R: EventSet, const BUFFERS: u8> StoreBufferModel<R, BUFFERS> {
    /// The store buffers, as the table of orders names them.
    const KIND: StoreBuffers = match BUFFERS {
        SC => StoreBuffers::None,
        TSO => StoreBuffers::PerThread,
        PSO => StoreBuffers::PerLocation,
        _ => panic!("there are three kinds of store buffers"),
    };

    /// The events directly before the next event of the thread, which waits for an empty buffer (`drains`) or not.
    #[inline]
    fn front(&self, thread: ThreadId, drains: bool) -> R {
        let LinearizedThread { front, buffered, .. } = &self.threads[thread.index()];
        if BUFFERS == SC || !drains {
            front.clone()
        } else {
            front.or(&self.newest(buffered.clone()))
        }
    }

    /// The last of these buffered writes of a thread: under TSO one of them is, under PSO all may be.
    #[inline]
    fn newest(&self, buffered: R) -> R {
        match buffered.last() {
            Some(last) if BUFFERS == TSO => R::one(last),
            _ => buffered,
        }
    }

    /// Everything that precedes an event with this front.
    #[inline]
    fn before(&self, front: R) -> R {
        front.iter().fold(front, |before, event| before.or(&self.before[event]))
    }

    /// Computes what precedes the next event of the thread.
    #[inline]
    fn next_event(&mut self, thread: ThreadId, drains: bool) -> NextEvent<R> {
        let front = self.front(thread, drains);
        let before = self.before(front.clone());
        let event = EventIndex::new(self.witness.len());
        self.next = NextEvent { thread, event, drains, front, before };
        self.next.clone()
    }

    /// As [`Self::next_event`], unless that was the last question.
    #[inline]
    fn known_next_event(
        &mut self,
        thread: ThreadId,
        event: EventIndex,
        drains: bool,
    ) -> NextEvent<R> {
        let known = &self.next;
        if known.thread == thread
            && known.event == event
            && (BUFFERS == SC || known.drains == drains)
        {
            return known.clone();
        }
        self.next_event(thread, drains)
    }

    /// The writes of a location that the thread performed itself.
    #[inline]
    fn own_writes(&self, thread: ThreadId, location: LocationId) -> R {
        self.threads[thread.index()].events.and(&self.writes[location.index()])
    }

    /// The writes of its own location that the thread of an event performed before it.
    #[inline]
    fn own_before(&self, event: EventIndex) -> R {
        let LinearizedEvent { thread, location, .. } = self.events[event];
        self.own_writes(thread, location).and(&R::below(event))
    }

    /// Returns `true` if a read observes a write that was still in the buffer of its own thread, so that it may precede
    /// that write.
    #[inline]
    fn is_forwarded(&self, event: EventIndex) -> bool {
        let source = self.events[event].source.event();
        source.is_some_and(|source| !self.before[event].has(source))
    }

    #[inline]
    fn add(&mut self, event: EventIndex, new: LinearizedEvent<R>, before: R) {
        let thread = &mut self.threads[new.thread.index()];
        thread.events.insert(event);
        thread.past.insert(event);
        self.events[event] = new;
        self.before[event] = before;
    }

    /// Adds a write that reaches memory at once, or through the buffer.
    #[inline]
    fn add_write(
        &mut self,
        event: EventIndex,
        thread: ThreadId,
        location: LocationId,
        at_once: bool,
    ) {
        let known = &self.threads[thread.index()];
        let at_once = BUFFERS == SC || at_once;
        let writes = &mut self.writes[location.index()];
        let same_location = known.buffered.and(writes).last();
        writes.insert(event);
        let front = match BUFFERS {
            _ if at_once => self.front(thread, true),
            TSO => known.front.or(&self.newest(known.buffered.clone())),
            _ => known.front.or(&same_location.map_or(R::default(), R::one)).or(&known.fenced),
        };
        let before = self.before(front.clone());
        let past = known.past.or(&R::one(event));
        let source = RfSource::NONE;
        self.add(event, LinearizedEvent { thread, location, source, front, past }, before);
        if at_once {
            self.after_drain(event, thread);
        } else {
            self.threads[thread.index()].buffered.insert(event);
        }
        self.all_writes.insert(event);
        self.readers[event] = R::default();
        self.witness.append(event);
    }

    /// Empties the buffer of the thread before its event.
    #[inline]
    fn after_drain(&mut self, event: EventIndex, thread: ThreadId) {
        let known = &mut self.threads[thread.index()];
        known.front = R::one(event);
        known.buffered = R::default();
        known.fenced = R::default();
    }

    /// Empties the buffer of the thread, without an event.
    fn drain(&mut self, thread: ThreadId) {
        let front = self.front(thread, true);
        let known = &mut self.threads[thread.index()];
        known.front = front;
        known.buffered = R::default();
        known.fenced = R::default();
    }

    #[inline]
    fn readers_mut(&mut self, source: RfSource, location: LocationId) -> &mut R {
        match source.event() {
            None => &mut self.readers_of_init[location.index()],
            Some(event) => &mut self.readers[event],
        }
    }

    /// Adds a read to the tables, but not to the witness.
    #[inline]
    fn add_read(&mut self, event: EventIndex, read: &LinearizedEvent<R>, before: R, writes: bool) {
        self.events[event] = read.clone();
        self.before[event] = before;
        self.readers_mut(read.source, read.location).insert(event);
        if writes {
            self.writes[read.location.index()].insert(event);
            self.all_writes.insert(event);
            self.readers[event] = R::default();
        }
    }

    /// Removes a read from the tables.
    #[inline]
    fn remove_read(&mut self, event: EventIndex) {
        let LinearizedEvent { source, location, .. } = self.events[event];
        self.readers_mut(source, location).remove(event);
        self.remove_write(event);
    }

    /// Removes an event from the tables of writes, if it is one.
    #[inline]
    fn remove_write(&mut self, event: EventIndex) {
        if self.all_writes.has(event) {
            self.writes[self.events[event].location.index()].remove(event);
            self.all_writes.remove(event);
        }
    }

    /// The state of a new read, what precedes it, and whether it observes the buffer of its own thread.
    #[inline(always)]
    fn new_read(&mut self, read: NewRead, source: RfSource) -> (LinearizedEvent<R>, R, bool) {
        let NewRead { event, thread, location, effect, .. } = read;
        // Explorers do not ask for the sources of a synchronization object.
        let NextEvent { front, mut before, .. } = match effect {
            ReadEffect::Sync => self.next_event(thread, true),
            _ => self.known_next_event(thread, event, effect.drains()),
        };
        let saved = &self.threads[thread.index()];
        let mut past = saved.past.or(&R::one(event));
        let mut forwards = false;
        if let Some(source) = source.event() {
            forwards = BUFFERS != SC && !effect.drains() && saved.buffered.has(source);
            past = past.or(&self.events[source].past);
            if !forwards {
                before = before.or(&self.before[source]).or(&R::one(source));
            }
        }
        (LinearizedEvent { thread, location, source, front, past }, before, forwards)
    }

    /// Begins a level with a read that is in the tables and in the witness.
    #[inline]
    fn begin_level(&mut self, event: EventIndex, read: &LinearizedEvent<R>, effect: ReadEffect) {
        let thread = read.thread;
        let saved = self.threads[thread.index()].clone();
        self.levels.push(BufferLevel { first: event, thread, saved, is_read: true });
        let known = &mut self.threads[thread.index()];
        known.events.insert(event);
        known.past = read.past.clone();
        if effect.drains() {
            self.after_drain(event, thread);
        } else {
            known.front = R::one(event);
        }
    }

    /// Stage 2: the position in the witness at which the read can be inserted, if no write is in between.
    #[inline]
    fn insertion(&self, read: &LinearizedEvent<R>, forwards: bool, writes: bool) -> Option<usize> {
        let at = |event: EventIndex| self.witness.position(event);
        let behind = |position: usize, event: EventIndex| position.max(at(event) + 1);
        let first = read.front.iter().fold(0, behind);
        let after_source = read.source.event().map_or(0, |source| at(source) + 1);
        if forwards && first < after_source {
            return Some(first);
        }
        let all = &self.writes[read.location.index()];
        let place = first.max(after_source);
        let is_between = |write: EventIndex| (after_source..place).contains(&at(write));
        if (after_source < place && all.iter().any(is_between))
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

    /// Returns `true` if the own buffered writes of the read's location precede its source, unless the source is one of
    /// them.
    #[inline]
    fn own_are_flushed(&self, read: &LinearizedEvent<R>, after_source: usize) -> bool {
        if BUFFERS == SC {
            return true;
        }
        let Some(source) = read.source.event() else { return true };
        let known = &self.threads[read.thread.index()];
        let own = known.buffered.and(&self.writes[read.location.index()]);
        own.is_empty()
            || own.has(source)
            || own.iter().all(|write| self.witness.position(write) < after_source)
    }
}

impl<R: EventSet, const BUFFERS: u8> NewModel for StoreBufferModel<R, BUFFERS> {
    fn new(threads: usize, locations: usize) -> Self {
        let none = R::default();
        let (thread, location, source) = (ThreadId::new(0), LocationId::new(0), RfSource::NONE);
        let event =
            LinearizedEvent { thread, location, source, front: none.clone(), past: none.clone() };
        // No event has this index: nothing is known of the next event yet.
        let unknown = EventIndex::new(R::BITS);
        StoreBufferModel {
            threads: vec![LinearizedThread::default(); threads],
            events: R::Map::filled(event),
            before: R::Map::filled(none.clone()),
            writes: vec![none.clone(); locations],
            all_writes: none.clone(),
            readers: R::Map::filled(none.clone()),
            readers_of_init: vec![none.clone(); locations],
            levels: vec![],
            witness: LinearWitness::new(),
            scratch: Some(Box::new(ReorderScratch::new(locations))),
            next: NextEvent {
                thread,
                event: unknown,
                drains: false,
                front: none.clone(),
                before: none,
            },
        }
    }
}

impl<R: EventSet, const BUFFERS: u8> IncrementalModel<R> for StoreBufferModel<R, BUFFERS> {
    #[inline]
    fn fences_are_events(&self) -> bool {
        false
    }

    #[inline]
    fn races_are_errors(&self) -> bool {
        false
    }

    #[inline]
    fn reorders_stores(&self) -> bool {
        BUFFERS == PSO
    }

    #[inline]
    fn push_store(&mut self, store: NewStore) {
        let NewStore { event, thread, location, order } = store;
        let effect = Self::KIND.store(order);
        if effect == StoreEffect::BufferedBehindFence {
            self.push_store_fence(event, thread);
        }
        self.add_write(event, thread, location, effect == StoreEffect::AtOnce);
    }

    #[inline]
    fn push_unlock(&mut self, unlock: NewUnlock) {
        self.add_write(unlock.event, unlock.thread, unlock.lock, true);
    }

    #[inline]
    fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        match Self::KIND.fence(order) {
            FenceEffect::Drain => self.drain(thread),
            FenceEffect::StoreStore => self.push_store_fence(event, thread),
            FenceEffect::Nothing => {}
        }
    }

    #[inline]
    fn push_store_fence(&mut self, _event: EventIndex, thread: ThreadId) {
        let known = &mut self.threads[thread.index()];
        known.fenced = known.buffered.clone();
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.drain(parent);
        let LinearizedThread { front, past, .. } = self.threads[parent.index()].clone();
        self.threads[child.index()] =
            LinearizedThread { front, past, ..LinearizedThread::default() };
    }

    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.drain(parent);
        self.drain(child);
        let LinearizedThread { front, past, .. } = self.threads[child.index()].clone();
        let known = &mut self.threads[parent.index()];
        known.front = known.front.or(&front);
        known.past = known.past.or(&past);
    }

    #[inline]
    fn push_quiet_access(&mut self, thread: ThreadId, step: QuietStep) {
        let effect = match step {
            QuietStep::Load => return,
            QuietStep::Store(order) => Self::KIND.store(order),
            QuietStep::Update => StoreEffect::AtOnce,
        };
        match effect {
            StoreEffect::Buffered => {}
            StoreEffect::AtOnce => self.drain(thread),
            StoreEffect::BufferedBehindFence => {
                let known = &mut self.threads[thread.index()];
                known.fenced = known.buffered.clone();
            }
        }
    }

    /// The event has no front: it may stand anywhere in the witness.
    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        let none = R::default();
        let past = self.threads[thread.index()].past.or(&R::one(event));
        let (location, source) = (LocationId::new(0), RfSource::NONE);
        self.add(
            event,
            LinearizedEvent { thread, location, source, front: none.clone(), past },
            none.clone(),
        );
        self.readers[event] = none;
        self.witness.append(event);
    }

    #[inline]
    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        let PendingRead { thread, location, kind, .. } = read;
        let own = self.own_writes(thread, location);
        let before = self.next_event(thread, kind != ReadKind::Load).before;
        let all = &self.writes[location.index()];
        let seen = before.and(all);
        if seen.is_empty() && own.is_empty() {
            return RfSources { writes: all.clone(), initial: true };
        }
        let older = |set: R, write: EventIndex| set.or(&self.before[write]);
        // What precedes the newest one has been added with it: the writes of a location are often a chain.
        let newest = seen.last().map_or(R::default(), |write| self.before[write].clone());
        let hidden = seen.minus(&newest).iter().fold(newest, older);
        // The own buffered writes must have left the buffer before the source, unless it is the newest.
        let hidden_for_others = own.minus(&seen).iter().fold(hidden.clone(), older);
        let newest = own.last().map_or(R::default(), R::one);
        let foreign = all.minus(&own).minus(&hidden_for_others);
        RfSources { writes: foreign.or(&newest.minus(&hidden)), initial: false }
    }

    #[inline(always)]
    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool {
        let NewRead { event, effect, .. } = read;
        let (read, before, forwards) = self.new_read(read, source);
        self.witness.materialize(event);
        let place = self.insertion(&read, forwards, effect.writes());
        self.add_read(event, &read, before, effect.writes());
        match place {
            Some(place) => self.witness.push_insertion(event, place),
            None if self.reorder(event) => {}
            None => {
                self.remove_read(event);
                return false;
            }
        }
        self.begin_level(event, &read, effect);
        true
    }

    /// Whether the read can be inserted into the witness.
    #[inline(always)]
    fn admits_cheaply(&mut self, read: NewRead, source: RfSource) -> bool {
        let event = read.event;
        let (read, _, forwards) = self.new_read(read, source);
        self.witness.materialize(event);
        self.insertion(&read, forwards, false).is_some()
    }

    fn push_level(&mut self, thread: ThreadId) {
        let first = EventIndex::new(self.witness.len());
        self.witness.materialize(first);
        self.witness.push_same();
        let saved = self.threads[thread.index()].clone();
        self.levels.push(BufferLevel { first, thread, saved, is_read: false });
    }

    #[inline]
    fn pop(&mut self) {
        let BufferLevel { first, thread, saved, is_read } =
            self.levels.pop().expect("every level is popped once");
        let mut later = first;
        if is_read {
            self.remove_read(first);
            later = first.next();
        }
        for event in later.index()..self.witness.len() {
            self.remove_write(EventIndex::new(event));
        }
        self.threads[thread.index()] = saved;
        self.witness.pop(first);
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        self.has_order_with_last(last)
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        self.threads[thread.index()].past.clone()
    }

    fn events_of(&self, thread: ThreadId) -> R {
        self.threads[thread.index()].events.clone()
    }
}
