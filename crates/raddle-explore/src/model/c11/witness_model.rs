//! Models with a witness: RC11, C20 and SRA, and RA and RC20 with sequentially consistent fences.
//!
//! Coherence is followed as in [`CoherenceModel`](super::CoherenceModel), so the sources offered are those that it
//! admits. But here modification orders of different locations also depend on each other: `psc`, or under SRA `hb ∪
//! mo`, must have no cycle. So a witness is kept: modification orders with which there is none. A read is admitted,
//! cheapest first, if
//!
//! 1. it observes the last write of the witness, or no event leaves it, or what it adds closes no cycle
//!    (`mo_witness.rs`);
//! 2. the modification order of its location can be changed a little, so that this holds;
//! 3. a search finds other modification orders (`mo_search.rs`). What the search finds to be forced remains forced as
//!    long as the read is there.
//!
//! Stores and fences are always admitted: they come last in every order.
//!
//! Under RA and RC20 a sequentially consistent fence is an update of a hidden location; an order of these exists if and
//! only if `psc_F` has no cycle, and without sequentially consistent accesses `psc` is `psc_F`. Under SRA the order of
//! such fences is part of happens-before and would have to be searched for as well; this model cannot represent that.
//!
//! *Paper.* Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency in C/C++11*, PLDI 2017, for `psc`;
//! Tunç et al., PLDI 2023, for SRA. Keeping and repairing a witness is ours.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};

use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, QuietStep, RfSources,
};

use super::coherence::{CoherentExecution, CoherentRead, CoherentStore};
use super::mo_search::{MoSearch, MoSearchTables};
use super::mo_witness::MoWitness;
use super::models::{Rules, Strength, access, fence};
use super::scb::{Scb, ScbMark};
use super::thread_table::ThreadViewState;
use super::thread_view::{ScView, ThreadView};

/// State to restore when a level is undone.
#[derive(Clone, Copy, Debug)]
struct WitnessLevel<R> {
    events: usize,
    scb: ScbMark<R>,
    witness: usize,
}

/// The model `M`: RC11, C20, SRA, RC20 or RA.
pub struct WitnessModel<M, R: EventSet> {
    execution: CoherentExecution<M, R, ScView<R>>,
    scb: Scb<R>,
    witness: MoWitness<R>,
    tables: MoSearchTables<R>,
    levels: Vec<WitnessLevel<R>>,
    /// Whether there was a sequentially consistent fence under SRA. Not undone.
    saw_strong_fence: bool,
}

impl<M: Rules, R: EventSet> WitnessModel<M, R> {
    /// Adds a read that coherence admits to all but the witness.
    #[inline]
    fn apply(&mut self, read: &CoherentRead) {
        let CoherentRead { event, location, source, .. } = *read;
        self.scb.grow(location);
        let scb = &mut self.scb;
        self.execution.read(read, |thread| add_read::<M, R>(scb, read, thread));
        if read.writes() {
            scb.write(event);
        } else {
            scb.read(event, location, source);
        }
    }

    /// Makes the witness one of the execution with a new read, if there is one. Its thread knew these writes before.
    #[inline]
    fn find_witness(&mut self, read: &CoherentRead, known: &R) -> bool {
        self.witness.keep(read, known, &self.execution.forced, &self.scb)
            || self.search(read, known)
    }

    #[cold]
    fn search(&mut self, read: &CoherentRead, known: &R) -> bool {
        let source = read.source.event();
        let before = source.map(|source| self.witness.mo()[source].or(&R::one(source)));
        let moves = !known.minus(&before.unwrap_or_default()).is_empty();
        let (search, tables) = self.prepare_search();
        let found = moves && search.relinearise(read.location, tables) || search.run(tables);
        if found {
            self.adopt();
        }
        found
    }

    /// Begins a search that must respect only what coherence forces.
    fn prepare_search(&mut self) -> (MoSearch<'_, R>, &mut MoSearchTables<R>) {
        let (forced, events) = (&self.execution.forced, self.execution.len());
        self.tables.rows.copy_first(events, forced.rows());
        let search = MoSearch { forced, scb: &self.scb, old: self.witness.mo(), events };
        (search, &mut self.tables)
    }

    /// Adopts the result of a search.
    fn adopt(&mut self) {
        let forced = &mut self.execution.forced;
        for location in forced.locations() {
            for write in forced.writes(location).iter() {
                forced.extend(write, &self.tables.rows[write].clone());
                self.witness.set_mo(write, self.tables.mo[write].clone());
            }
        }
        for event in self.scb.events().iter() {
            self.witness.set_psc(event, self.tables.psc[event].clone());
        }
    }

    #[inline]
    fn add_fence(&mut self, event: EventIndex, thread: ThreadId, mut strength: Strength) {
        if M::STRONG {
            self.saw_strong_fence |= strength.sequential;
            strength.sequential = false;
        }
        let scb = &mut self.scb;
        self.execution.fence(Some(event), thread, strength, |thread| {
            scb.fence(event, strength.sequential, thread);
        });
        if strength.sequential {
            let thread = self.execution.threads.get(thread);
            let seen = thread.map_or(R::default(), |thread| thread.now.seen());
            self.witness.fence(event, &seen, &self.execution.forced, scb);
        }
    }

    /// Adds a write, which the rest of the model knows already, to the witness.
    #[inline]
    fn append_to_witness(&mut self, event: EventIndex, location: LocationId) {
        self.scb.write(event);
        let mut others = self.execution.forced.writes(location);
        others.remove(event);
        self.witness.store(event, location, &others, &self.scb);
    }
}

/// Lets a write be the last one of its location in `rows`. Returns whether it is in the old modification order; `None`
/// if it cannot be the last one.
fn force_last<R: EventSet>(
    search: &MoSearch<'_, R>,
    rows: &mut R::Map<R>,
    location: LocationId,
    write: RfSource,
) -> Option<bool> {
    let forced = search.forced;
    if !forced.is_written(location) {
        return write.is_initial().then_some(true);
    }
    let last = write.event().filter(|&write| forced.can_be_last(location, write.into()))?;
    if let Some(top) = forced.top(last) {
        for other in forced.tops(location).filter(|&other| other != top) {
            search.order(location, other, top, rows);
        }
    }
    Some(search.old[last].count() + 1 == forced.writes(location).count())
}

/// Adds a read to the order of sequentially consistent events.
#[inline]
fn add_read<M: Rules, R: EventSet>(
    scb: &mut Scb<R>,
    read: &CoherentRead,
    thread: &mut ThreadViewState<R, ScView<R>>,
) {
    if M::STRONG {
        scb.strong_access(read.event, read.location, read.writes(), thread);
    } else {
        scb.access(read.event, read.location, read.strength.sequential, thread);
    }
}

impl<M: Rules, R: EventSet> NewModel for WitnessModel<M, R> {
    fn new(threads: usize, locations: usize) -> Self {
        WitnessModel {
            execution: CoherentExecution::new(threads, locations),
            scb: Scb::new(locations),
            witness: MoWitness::new(),
            tables: MoSearchTables::new(),
            levels: vec![],
            saw_strong_fence: false,
        }
    }
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for WitnessModel<M, R> {
    #[inline]
    fn fences_are_events(&self) -> bool {
        true
    }

    #[inline]
    fn races_are_errors(&self) -> bool {
        true
    }

    #[inline]
    fn push_store(&mut self, store: NewStore) {
        let NewStore { event, thread, location, order } = store;
        let strength = access::<M>(order);
        self.scb.grow(location);
        let scb = &mut self.scb;
        self.execution.store(CoherentStore { event, thread, location, strength }, |thread| {
            if M::STRONG {
                scb.strong_access(event, location, true, thread);
            } else {
                scb.access(event, location, strength.sequential, thread);
            }
        });
        self.append_to_witness(event, location);
    }

    /// All writes of a lock are one chain, of which an unlock is the last.
    #[inline]
    fn push_unlock(&mut self, unlock: NewUnlock) {
        let read = CoherentRead::unlock(unlock);
        let scb = &mut self.scb;
        self.execution.unlock(&read, |thread| add_read::<M, R>(scb, &read, thread));
        self.append_to_witness(read.event, read.location);
    }

    #[inline]
    fn push_fence(&mut self, event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        self.add_fence(event, thread, fence::<M>(order));
    }

    #[inline]
    fn push_store_fence(&mut self, event: EventIndex, thread: ThreadId) {
        self.add_fence(event, thread, fence::<M>(MemoryOrder::Release));
    }

    #[inline]
    fn push_thread_boundary(&mut self, thread: ThreadId) {
        self.execution.threads.grow(thread);
        self.scb.boundary(&mut self.execution.threads, thread);
    }

    /// As the begin or the end of a thread: the order of sequentially consistent accesses respects the step.
    #[inline]
    fn push_quiet_access(&mut self, thread: ThreadId, _step: QuietStep) {
        self.push_thread_boundary(thread);
    }

    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        self.execution.cell_access(event, thread);
        self.scb.ignore(event);
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.push_thread_boundary(parent);
        self.execution.synchronize(parent, child);
    }

    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.execution.synchronize(child, parent);
        self.scb.boundary(&mut self.execution.threads, parent);
    }

    #[inline]
    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        self.execution.sources(read.thread, read.location, read.kind)
    }

    #[inline]
    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool {
        let read = CoherentRead::new::<M>(read, source);
        if !self.execution.admits(&read) {
            return false;
        }
        let known = self.execution.known(read.thread, read.location);
        self.push_level(read.thread);
        self.apply(&read);
        let found = self.find_witness(&read, &known);
        if !found {
            self.pop();
        }
        found
    }

    #[inline]
    fn admits(&mut self, new_read: NewRead, source: RfSource) -> bool {
        let read = CoherentRead::new::<M>(new_read, source);
        if !self.execution.admits(&read) {
            return false;
        }
        let known = self.execution.known(read.thread, read.location);
        if self.witness.observes_last(&read, &known, &self.execution.forced) {
            return true;
        }
        let admitted = self.try_read(new_read, source);
        if admitted {
            self.pop();
        }
        admitted
    }

    #[inline]
    fn push_level(&mut self, _thread: ThreadId) {
        let (scb, witness) = (self.scb.mark(), self.witness.mark());
        self.levels.push(WitnessLevel { events: self.execution.len(), scb, witness });
        self.execution.push_level();
    }

    #[inline]
    fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        self.scb.undo_to(level.scb, level.events..self.execution.len());
        self.witness.undo_to(level.witness);
        self.execution.pop();
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        let (search, tables) = self.prepare_search();
        let mut already = true;
        for &(location, write) in last {
            match force_last(&search, &mut tables.rows, location, write) {
                None => return false,
                Some(is_last) => already &= is_last,
            }
        }
        already || search.run(tables)
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        self.execution.happened_before(thread)
    }

    fn events_of(&self, thread: ThreadId) -> R {
        self.execution.events_of(thread)
    }

    fn needs_stronger_model(&self) -> bool {
        self.saw_strong_fence
    }
}
