//! SC, TSO and PSO where a read may observe any of several writes: its *good-writes*.
//!
//! *Problem.* Is there a run of the store-buffer machine in which every read observes one of its good-writes? Exploring
//! by values asks this, where exploring by reads-from asks for one source.
//!
//! *Idea.* As [`StoreBufferModel`], which does everything that does not depend on sources: one event per write, a
//! witness that is kept and repaired. A new read is tried in stages, cheapest first:
//!
//! 1. insert it into the witness where one of its good-writes is in memory, or is the newest one in the buffer of its
//!    own thread (`insert.rs`);
//! 2. saturate what every witness must obey (`closure.rs`): a cycle, or a read without a source, means no;
//! 3. make another witness near the old one: greedily, and if that fails by searching (`search.rs`).
//!
//! *Paper.* Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, *Stateless Model Checking under a Reads-Value-From
//! Equivalence*, CAV 2021, section 4. Where we differ: updates are one event; TSO and PSO, with one event per write,
//! its flush; the witness is kept from one read to the next.
//!
//! *Cost.* Stage 1 is O(w²) for w writes of the location. Nothing is allocated once the tables have grown.

mod closure;
mod insert;
mod search;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};

use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, ReadEffect,
    RfSources, RvfOptions,
};

use super::{BufferLevel, LinearizedEvent, PSO, SC, StoreBufferModel, TSO};
use search::GoodWritesSearch;

/// Sequential consistency.
pub(crate) type Sc<R> = GoodWritesModel<R, SC>;
/// Total store order.
pub(crate) type Tso<R> = GoodWritesModel<R, TSO>;
/// Partial store order.
pub(crate) type Pso<R> = GoodWritesModel<R, PSO>;

/// A model with store buffers that follows an execution whose reads have sets of sources.
pub(crate) struct GoodWritesModel<R: EventSet, const BUFFERS: u8> {
    /// What does not depend on sources. A read with one good-write has it as its source there; others have the initial
    /// write.
    base: StoreBufferModel<R, BUFFERS>,
    /// By event that reads: the writes that it may observe; for the next event those that were offered.
    good: R::Map<R>,
    /// Events that may observe the initial write.
    from_initial: R,
    /// By location: the events that read it.
    reads: Vec<R>,
    /// All events that read.
    all_reads: R,
    /// Taken while a new witness is made.
    search: Option<Box<GoodWritesSearch<R>>>,
    /// What the read observes that [`IncrementalModel::admits_cheaply`] admitted last.
    admitted: RfSource,
    options: RvfOptions,
    /// Whether a cell was accessed. Not undone.
    saw_cell_access: bool,
}

impl<R: EventSet, const BUFFERS: u8> GoodWritesModel<R, BUFFERS> {
    fn offered(&self, event: EventIndex) -> RfSources<R> {
        RfSources { writes: self.good[event].clone(), initial: self.from_initial.has(event) }
    }

    /// Returns `true` if the write is one of the good-writes of the read.
    #[inline]
    fn is_good(&self, read: EventIndex, write: RfSource) -> bool {
        match write.event() {
            Some(write) => self.good[read].has(write),
            None => self.from_initial.has(read),
        }
    }

    /// The state of a new read, and what must precede it.
    #[inline]
    fn new_read(&mut self, read: NewRead) -> (LinearizedEvent<R>, R) {
        let RfSources { writes, initial } = self.offered(read.event);
        let first = writes.first();
        let is_final = !self.options.open || read.effect == ReadEffect::Sync;
        let only = first.filter(|&write| is_final && !initial && writes == R::one(write));
        let (read, before, _) = self.base.new_read(read, only.into());
        (read, before)
    }

    /// Removes writes that are no longer part of the execution from the good-writes of all reads.
    fn forget_writes(&mut self) {
        let left = R::below(EventIndex::new(self.base.witness.len()));
        for read in self.all_reads.iter() {
            self.good[read] = self.good[read].and(&left);
        }
    }

    #[inline]
    fn forget_read(&mut self, event: EventIndex) {
        let location = self.base.events[event].location;
        self.reads[location.index()].remove(event);
        self.all_reads.remove(event);
    }
}

impl<R: EventSet, const BUFFERS: u8> NewModel for GoodWritesModel<R, BUFFERS> {
    fn new(threads: usize, locations: usize) -> Self {
        GoodWritesModel {
            base: StoreBufferModel::new(threads, locations),
            good: R::Map::filled(R::default()),
            from_initial: R::default(),
            reads: vec![R::default(); locations],
            all_reads: R::default(),
            search: Some(Box::new(GoodWritesSearch::new(locations))),
            admitted: RfSource::INITIAL,
            options: RvfOptions::default(),
            saw_cell_access: false,
        }
    }
}

impl<R: EventSet, const BUFFERS: u8> IncrementalModel<R> for GoodWritesModel<R, BUFFERS> {
    #[inline]
    fn fences_are_events(&self) -> bool {
        false
    }

    #[inline]
    fn races_are_errors(&self) -> bool {
        false
    }

    #[inline]
    fn observes_by_value(&self) -> bool {
        true
    }

    #[inline]
    fn reorders_stores(&self) -> bool {
        self.base.reorders_stores()
    }

    fn configure(&mut self, options: &RvfOptions) {
        self.options = *options;
    }

    #[inline]
    fn push_store(&mut self, store: NewStore) {
        self.base.push_store(store);
    }

    #[inline]
    fn push_unlock(&mut self, unlock: NewUnlock) {
        self.base.push_unlock(unlock);
    }

    #[inline]
    fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        self.base.push_fence(event, thread, order);
    }

    #[inline]
    fn push_store_fence(&mut self, event: EventIndex, thread: ThreadId) {
        self.base.push_store_fence(event, thread);
    }

    #[inline]
    fn push_quiet_access(&mut self, thread: ThreadId, step: QuietStep) {
        self.base.push_quiet_access(thread, step);
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.base.push_spawn(parent, child);
    }

    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.base.push_join(parent, child);
    }

    /// Happens-before depends on which of its good-writes a read observes, so races cannot be decided.
    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        self.saw_cell_access = true;
        self.base.push_cell_access(event, thread);
    }

    #[inline]
    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        self.base.sources(read)
    }

    #[inline]
    fn offer_sources(&mut self, event: EventIndex, good: RfSources<R>) {
        self.good[event] = good.writes;
        if good.initial {
            self.from_initial.insert(event);
        } else {
            self.from_initial.remove(event);
        }
    }

    fn add_good_write(&mut self, read: EventIndex, write: EventIndex) {
        self.good[read].insert(write);
    }

    #[inline]
    fn try_read(&mut self, read: NewRead, _source: RfSource) -> bool {
        let NewRead { event, location, effect, .. } = read;
        let (read, before) = self.new_read(read);
        self.base.witness.materialize(event);
        let place = self.insertion(event, &read, effect);
        self.base.add_read(event, &read, before, effect.writes());
        self.reads[location.index()].insert(event);
        self.all_reads.insert(event);
        match place {
            Some(place) => self.base.witness.push_insertion(event, place.at),
            None if self.reorder(event) => {}
            None => {
                self.forget_read(event);
                self.base.remove_read(event);
                return false;
            }
        }
        self.base.begin_level(event, &read, effect);
        true
    }

    #[inline]
    fn admits_cheaply(&mut self, read: NewRead, _source: RfSource) -> bool {
        let NewRead { event, effect, .. } = read;
        let (read, _) = self.new_read(read);
        self.base.witness.materialize(event);
        let place = self.insertion(event, &read, effect);
        self.admitted = place.map_or(RfSource::INITIAL, |place| place.source);
        place.is_some()
    }

    fn push_level(&mut self, thread: ThreadId) {
        self.base.push_level(thread);
    }

    #[inline]
    fn pop(&mut self) {
        if let Some(&BufferLevel { first, is_read: true, .. }) = self.base.levels.last() {
            self.forget_read(first);
        }
        self.base.pop();
        if self.options.open {
            self.forget_writes();
        }
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        let only = |&(location, write): &(LocationId, RfSource)| (location, RfSources::only(write));
        let last: Vec<(LocationId, RfSources<R>)> = last.iter().map(only).collect();
        self.can_be_last_of(&last)
    }

    fn can_be_last_of(&mut self, last: &[(LocationId, RfSources<R>)]) -> bool {
        self.has_order_with_last(last)
    }

    fn observed(&self, read: EventIndex, _source: RfSource) -> RfSource {
        if read.index() < self.base.witness.len() {
            self.source_in_witness(read)
        } else {
            self.admitted
        }
    }

    fn good_writes(&self, read: EventIndex, _source: RfSource) -> RfSources<R> {
        self.offered(read)
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        self.base.happened_before(thread)
    }

    fn events_of(&self, thread: ThreadId) -> R {
        self.base.events_of(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.saw_cell_access
    }
}
