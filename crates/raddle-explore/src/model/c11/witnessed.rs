//! Faces with a witness: RC11, C20 and SRA, and RA and RC20 where there are sequentially consistent
//! fences.
//!
//! Coherence is followed as in [`Views`](super::Views), so the sources offered are those that it admits.
//! But here modification orders of different locations also depend on each other: `psc` must have no
//! cycle, or under SRA `hb ∪ mo`. So a witness is kept: modification orders with which it has none. A read
//! is admitted, cheapest first, if
//!
//! 1. it observes the last write of the witness, or nobody leaves it, or what it adds closes no cycle
//!    (`witness.rs`);
//! 2. the modification order of its location can be changed a little, so that this holds;
//! 3. a search finds other modification orders (`search.rs`). What that has found to be forced remains
//!    forced as long as the read is there.
//!
//! Stores and fences are always admitted: they are last in everything.
//!
//! Under RA and RC20 a sequentially consistent fence is an update of a hidden location; an order of these
//! exists if and only if `psc_F` has no cycle, and without sequentially consistent accesses `psc` is
//! `psc_F`. Under SRA the order of such fences is part of happens-before and would have to be searched for
//! as well: they are beyond this face ([`IncrementalModel::needs_stronger_model`]).
//!
//! *Paper.* Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency in C/C++11*, PLDI 2017,
//! for `psc`; Tunç et al., PLDI 2023, for SRA. Keeping and repairing a witness is ours.

use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{Effect, IncrementalModel, Reads, Sources};
use raddle_core::execution::MemoryOrder;

use super::coherent::{Coherent, Read};
use super::models::{Rules, Strength, access, fence};
use super::scb::{Mark, Scb};
use super::search::{Search, Tables};
use super::threads::Thread;
use super::view::{View, Wide};
use super::witness::Witness;

/// What there was before a level.
#[derive(Clone, Copy, Debug)]
struct Level<R> {
    events: usize,
    scb: Mark<R>,
    witness: usize,
}

/// A face of the model `M`: RC11, C20, SRA, RC20 or RA.
pub struct Witnessed<M, R: EventSet> {
    execution: Coherent<M, R, Wide<R>>,
    scb: Scb<R>,
    witness: Witness<R>,
    tables: Tables<R>,
    levels: Vec<Level<R>>,
    /// Whether there was a fence that this face cannot follow. This is not undone.
    lost: bool,
}

impl<M: Rules, R: EventSet> Witnessed<M, R> {
    /// Adds a read to all but the witness. Coherence admits it.
    #[inline]
    fn apply(&mut self, read: &Read) {
        let Read { event, location, source, .. } = *read;
        self.scb.grow(location);
        let scb = &mut self.scb;
        self.execution.read(read, |thread| enter::<M, R>(scb, read, thread));
        if read.writes() {
            scb.write(event);
        } else {
            scb.read(event, location, source);
        }
    }

    /// Finds a witness for an execution with a new read, if there is one.
    #[inline]
    fn settle(&mut self, read: &Read, known: R) -> bool {
        self.witness.keep(read, known, &self.execution.forced, &self.scb)
            || self.search(read, known)
    }

    #[cold]
    fn search(&mut self, read: &Read, known: R) -> bool {
        let source = read.source.map(|source| self.witness.mo()[source].or(R::one(source)));
        let moves = !known.minus(source.unwrap_or_default()).is_empty();
        let (search, tables) = self.prepare();
        let found = moves && search.relinearise(read.location, tables) || search.run(tables);
        if found {
            self.adopt();
        }
        found
    }

    /// What a search needs; as yet, only what coherence forces must be so.
    fn prepare(&mut self) -> (Search<'_, R>, &mut Tables<R>) {
        let (forced, events) = (&self.execution.forced, self.execution.len());
        self.tables.rows.first_mut(events).copy_from_slice(forced.rows(events));
        let search = Search { forced, scb: &self.scb, old: self.witness.mo(), events };
        (search, &mut self.tables)
    }

    /// Takes over what a search has found.
    fn adopt(&mut self) {
        let forced = &mut self.execution.forced;
        for location in 0..forced.locations() {
            for write in forced.writes(location).iter() {
                forced.extend(write, self.tables.rows[write]);
                self.witness.set_mo(write, self.tables.mo[write]);
            }
        }
        for event in self.scb.events().iter() {
            self.witness.set_psc(event, self.tables.psc[event]);
        }
    }

    /// Adds a fence.
    #[inline]
    fn add_fence(&mut self, event: usize, thread: usize, mut strength: Strength) {
        if M::STRONG {
            self.lost |= strength.sequential;
            strength.sequential = false;
        }
        let scb = &mut self.scb;
        self.execution.fence(Some(event), thread, strength, |thread| {
            scb.fence(event, strength.sequential, thread);
        });
        if strength.sequential {
            let thread = self.execution.threads.get(thread);
            let seen = thread.map_or(R::default(), |thread| thread.now.seen());
            self.witness.fence(event, seen, &self.execution.forced, scb);
        }
    }
}

/// Demands that a write is the last one of its location; `None` if it cannot be. Says whether it is in
/// the old modification orders.
fn demand_last<R: EventSet>(
    search: &Search<'_, R>,
    rows: &mut R::Map<R>,
    location: usize,
    write: Option<usize>,
) -> Option<bool> {
    let forced = search.forced;
    if location >= forced.locations() || forced.writes(location).is_empty() {
        return write.is_none().then_some(true);
    }
    let last = write.filter(|&write| forced.can_be_last(location, Some(write)))?;
    if let Some(top) = forced.top(last) {
        for other in forced.tops(location).filter(|&other| other != top) {
            search.order(location, other, top, rows);
        }
    }
    Some(search.old[last].count() + 1 == forced.writes(location).count())
}

/// A read enters its thread.
#[inline]
fn enter<M: Rules, R: EventSet>(scb: &mut Scb<R>, read: &Read, thread: &mut Thread<R, Wide<R>>) {
    if M::STRONG {
        scb.strong_access(read.event, read.location, read.writes(), thread);
    } else {
        scb.access(read.event, read.location, read.strength.sequential, thread);
    }
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for Witnessed<M, R> {
    const FENCES_ARE_EVENTS: bool = true;
    const RACES: bool = true;

    fn new(threads: usize, locations: usize) -> Self {
        Witnessed {
            execution: Coherent::new(threads, locations),
            scb: Scb::new(locations),
            witness: Witness::new(),
            tables: Tables::new(),
            levels: vec![],
            lost: false,
        }
    }

    #[inline]
    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder) {
        let strength = access::<M>(order);
        self.scb.grow(location);
        let scb = &mut self.scb;
        self.execution.store(event, thread, location, strength, |thread| {
            if M::STRONG {
                scb.strong_access(event, location, true, thread);
            } else {
                scb.access(event, location, strength.sequential, thread);
            }
        });
        scb.write(event);
        let mut others = self.execution.forced.writes(location);
        others.remove(event);
        self.witness.store(event, location, others, scb);
    }

    #[inline]
    fn push_unlock(&mut self, event: usize, thread: usize, location: usize, acquire: usize) {
        let (source, effect, strength) = (Some(acquire), Effect::Sync, Strength::OBJECT);
        let read = Read { event, thread, location, source, effect, strength };
        let scb = &mut self.scb;
        self.execution.unlock(&read, |thread| enter::<M, R>(scb, &read, thread));
        scb.write(event);
        // All writes of a lock are one chain, of which this is the last.
        let mut others = self.execution.forced.writes(location);
        others.remove(event);
        self.witness.store(event, location, others, scb);
    }

    #[inline]
    fn push_fence(&mut self, event: usize, thread: usize, order: MemoryOrder) {
        self.add_fence(event, thread, fence::<M>(order));
    }

    #[inline]
    fn push_store_fence(&mut self, event: usize, thread: usize) {
        self.add_fence(event, thread, fence::<M>(MemoryOrder::Release));
    }

    #[inline]
    fn push_mark(&mut self, thread: usize) {
        self.execution.threads.grow(thread);
        self.scb.detach(self.execution.threads.change(thread));
    }

    fn push_access(&mut self, event: usize, thread: usize) {
        self.execution.access(event, thread);
        self.scb.ignore(event);
    }

    fn push_spawn(&mut self, parent: usize, child: usize) {
        self.execution.threads.grow(parent);
        self.scb.detach(self.execution.threads.change(parent));
        self.execution.synchronize(parent, child);
    }

    fn push_join(&mut self, parent: usize, child: usize) {
        self.execution.synchronize(child, parent);
        self.scb.detach(self.execution.threads.change(parent));
    }

    #[inline]
    fn sources(
        &mut self,
        thread: usize,
        location: usize,
        reads: Reads,
        _order: MemoryOrder,
    ) -> Sources<R> {
        self.execution.sources(thread, location, reads)
    }

    #[inline]
    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        let read = Read::new::<M>(event, thread, location, source, effect, order);
        if !self.execution.admits(&read) {
            return false;
        }
        let known = self.execution.known(thread, location);
        self.push_level(thread);
        self.apply(&read);
        let settled = self.settle(&read, known);
        if !settled {
            self.pop();
        }
        settled
    }

    #[inline]
    fn admits(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        let read = Read::new::<M>(event, thread, location, source, effect, order);
        if !self.execution.admits(&read) {
            return false;
        }
        let known = self.execution.known(thread, location);
        if self.witness.observes_last(&read, known, &self.execution.forced) {
            return true;
        }
        let admitted = self.try_read(event, thread, location, source, effect, order);
        if admitted {
            self.pop();
        }
        admitted
    }

    #[inline]
    fn push_level(&mut self, _thread: usize) {
        let (scb, witness) = (self.scb.mark(), self.witness.mark());
        self.levels.push(Level { events: self.execution.len(), scb, witness });
        self.execution.push_level();
    }

    #[inline]
    fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        self.scb.undo_to(level.scb, level.events..self.execution.len());
        self.witness.undo_to(level.witness);
        self.execution.pop();
    }

    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        let (search, tables) = self.prepare();
        let mut already = true;
        for &(location, write) in last {
            match demand_last(&search, &mut tables.rows, location, write) {
                None => return false,
                Some(is_last) => already &= is_last,
            }
        }
        already || search.run(tables)
    }

    fn happened_before(&self, thread: usize) -> R {
        self.execution.happened_before(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.lost
    }
}
