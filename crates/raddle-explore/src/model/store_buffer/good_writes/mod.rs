//! SC, TSO and PSO where a read may observe any of several writes: its *good-writes*.
//!
//! *Problem.* Is there a run of the store-buffer machine in which every read observes one of its
//! good-writes? Exploring by values asks this, where exploring by reads-from asks for one source.
//!
//! *Idea.* As [`Linear`], which does all that does not depend on sources: one event for each write, a
//! witness that is carried along and repaired. A new read is tried in stages, cheapest first:
//!
//! 1. insert it into the witness where one of its good-writes is in memory, or is the newest one in the
//!    buffer of its own thread (`insert.rs`);
//! 2. saturate what every witness must obey (`closure.rs`): a cycle, or a read without a source, means
//!    no;
//! 3. make another witness, guided by the old one: greedily, and if that fails by searching (`search.rs`).
//!
//! *Paper.* Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, *Stateless Model Checking under a
//! Reads-Value-From Equivalence*, CAV 2021, section 4. Where we differ: updates are one event; TSO and
//! PSO, with one event for each write, its flush; the witness is kept from one read to the next.
//!
//! *Cost.* Stage 1 is O(w²) for w writes of the location. Nothing is allocated once the tables have grown.

mod closure;
mod insert;
mod search;

use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::RvfOptions;
use crate::model::{Effect, IncrementalModel, Reads, Sources};
use raddle_core::execution::MemoryOrder;

use super::{Event, Level, Linear, PSO, SC, TSO};
use search::Search;

/// Sequential consistency.
pub(crate) type Sc<R> = Good<R, SC>;
/// Total store order.
pub(crate) type Tso<R> = Good<R, TSO>;
/// Partial store order.
pub(crate) type Pso<R> = Good<R, PSO>;

/// A model with store buffers that follows an execution whose reads have sets of sources.
pub(crate) struct Good<R: EventSet, const BUFFERS: u8> {
    /// What does not depend on sources. A read with one good-write has it as its source there.
    base: Linear<R, BUFFERS>,
    /// By event that reads, what it may observe; for the next event what was offered.
    good: R::Map<R>,
    /// Events that may observe the initial write.
    from_initial: R,
    /// By location, the events that read it.
    reads: Vec<R>,
    /// All events that read.
    all_reads: R,
    /// Taken while a new witness is made.
    search: Option<Box<Search<R>>>,
    /// What the last read observes that [`IncrementalModel::admits_at_once`] has admitted.
    admitted: Option<usize>,
    options: RvfOptions,
    is_lost: bool,
}

impl<R: EventSet, const BUFFERS: u8> Good<R, BUFFERS> {
    fn offered(&self, event: usize) -> Sources<R> {
        Sources { writes: self.good[event], initial: self.from_initial.has(event) }
    }

    /// Whether the read may observe the write, or the initial one.
    #[inline]
    fn is_good(&self, read: usize, write: Option<usize>) -> bool {
        match write {
            Some(write) => self.good[read].has(write),
            None => self.from_initial.has(read),
        }
    }

    /// The event of a new read, and what is before it for sure.
    #[inline]
    fn new_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        effect: Effect,
    ) -> (Event<R>, R) {
        let Sources { writes, initial } = self.offered(event);
        let first = writes.first();
        let is_final = !self.options.open || effect == Effect::Sync;
        let only = first.filter(|&write| is_final && !initial && writes == R::one(write));
        let (read, before, _) = self.base.new_read(event, thread, location, only, effect);
        (read, before)
    }

    /// Writes that were taken back are no good-writes any more.
    fn forget_writes(&mut self) {
        let left = R::below(self.base.witness.len());
        for read in self.all_reads.iter() {
            self.good[read] = self.good[read].and(left);
        }
    }

    #[inline]
    fn forget_read(&mut self, event: usize) {
        let location = self.base.events[event].location as usize;
        self.reads[location].remove(event);
        self.all_reads.remove(event);
    }
}

fn writes(effect: Effect) -> bool {
    matches!(effect, Effect::Update | Effect::Sync)
}

impl<R: EventSet, const BUFFERS: u8> IncrementalModel<R> for Good<R, BUFFERS> {
    const FENCES_ARE_EVENTS: bool = false;
    const RACES: bool = false;
    const BY_VALUE: bool = true;

    fn new(threads: usize, locations: usize) -> Self {
        Good {
            base: Linear::new(threads, locations),
            good: R::Map::filled(R::default()),
            from_initial: R::default(),
            reads: vec![R::default(); locations],
            all_reads: R::default(),
            search: Some(Box::new(Search::new(locations))),
            admitted: None,
            options: RvfOptions::default(),
            is_lost: false,
        }
    }

    fn configure(&mut self, options: &RvfOptions) {
        self.options = *options;
    }

    #[inline]
    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder) {
        self.base.push_store(event, thread, location, order);
    }

    #[inline]
    fn push_unlock(&mut self, event: usize, thread: usize, lock: usize, acquire: usize) {
        self.base.push_unlock(event, thread, lock, acquire);
    }

    #[inline]
    fn push_fence(&mut self, event: usize, thread: usize, order: MemoryOrder) {
        self.base.push_fence(event, thread, order);
    }

    #[inline]
    fn push_store_fence(&mut self, event: usize, thread: usize) {
        self.base.push_store_fence(event, thread);
    }

    fn push_spawn(&mut self, parent: usize, child: usize) {
        self.base.push_spawn(parent, child);
    }

    fn push_join(&mut self, parent: usize, child: usize) {
        self.base.push_join(parent, child);
    }

    /// What happens before depends on which of its good-writes a read observes, so nothing can be said
    /// of races.
    fn push_access(&mut self, event: usize, thread: usize) {
        self.is_lost = true;
        self.base.push_access(event, thread);
    }

    #[inline]
    fn sources(
        &mut self,
        thread: usize,
        location: usize,
        reads: Reads,
        order: MemoryOrder,
    ) -> Sources<R> {
        self.base.sources(thread, location, reads, order)
    }

    #[inline]
    fn offer(&mut self, event: usize, good: Sources<R>) {
        self.good[event] = good.writes;
        if good.initial {
            self.from_initial.insert(event);
        } else {
            self.from_initial.remove(event);
        }
    }

    fn extend_good(&mut self, read: usize, write: usize) {
        self.good[read].insert(write);
    }

    #[inline]
    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        _source: Option<usize>,
        effect: Effect,
        _order: MemoryOrder,
    ) -> bool {
        let (read, before) = self.new_read(event, thread, location, effect);
        self.base.witness.settle(event);
        let place = self.insertion(event, &read, effect);
        self.base.add_read(event, read, before, writes(effect));
        self.reads[location].insert(event);
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
        self.base.start_level(event, thread, &read, effect);
        true
    }

    #[inline]
    fn admits_at_once(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        _source: Option<usize>,
        effect: Effect,
    ) -> bool {
        let (read, _) = self.new_read(event, thread, location, effect);
        self.base.witness.settle(event);
        let place = self.insertion(event, &read, effect);
        self.admitted = place.and_then(|place| place.source);
        place.is_some()
    }

    fn push_level(&mut self, thread: usize) {
        self.base.push_level(thread);
    }

    #[inline]
    fn pop(&mut self) {
        if let Some(&Level { first, is_read: true, .. }) = self.base.levels.last() {
            self.forget_read(first);
        }
        self.base.pop();
        if self.options.open {
            self.forget_writes();
        }
    }

    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        let only = |&(location, write): &(usize, Option<usize>)| {
            let writes = write.map_or(R::default(), R::one);
            (location, Sources { writes, initial: write.is_none() })
        };
        let last: Vec<(usize, Sources<R>)> = last.iter().map(only).collect();
        self.can_be_last_of(&last)
    }

    fn can_be_last_of(&mut self, last: &[(usize, Sources<R>)]) -> bool {
        self.ends_with(last)
    }

    fn observed(&self, event: usize, _source: Option<usize>) -> Option<usize> {
        if event < self.base.witness.len() { self.source_in_witness(event) } else { self.admitted }
    }

    fn good_writes(&self, event: usize, _source: Option<usize>) -> Sources<R> {
        self.offered(event)
    }

    fn happened_before(&self, thread: usize) -> R {
        self.base.happened_before(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.is_lost
    }
}
