//! The parts of the order of sequentially consistent events; under SRA, of the order of all writes.
//!
//! RC11 orders sequentially consistent events by `psc`, the union of
//!
//! - `psc_base = ([E_sc] ∪ [F_sc]; hb?); scb; ([E_sc] ∪ hb?; [F_sc])`, where `scb = po ∪ (po|≠loc; hb; po|≠loc) ∪ hbloc
//!   ∪ mo ∪ fr`, and
//! - `psc_F = [F_sc]; (hb ∪ hb; eco; hb); [F_sc]`,
//!
//! and demands that it has no cycle (Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency in
//! C/C++11*, PLDI 2017). Two facts make that cheap to follow. First, an event is added after everything that happens
//! before it; so the part of `psc` that comes from `po` and `hb` is a set that is known when the event is added and
//! never changes (`given`). Second, whatever `mo`, `fr` and `rf` contribute goes through the writes of one location: if
//! `e` precedes `f` in modification order, the events that *leave* `e` (sequentially consistent accesses among `e` and
//! its readers, fences before these) precede those that *enter* `f` (`f` itself, fences after it, and for fences also
//! those after the readers of `f`). So an order of the writes determines everything that is missing.
//!
//! Of the edges that do not depend on the order of writes, only those between accesses are kept. An edge of that kind
//! from a fence to some event can be left out of a cycle: the fence happens before the event, so if the cycle continues
//! through a write, the fence leaves that write as well. For the same reason a cycle does not need such an edge to a
//! fence: it could have entered the fence before.
//!
//! SRA demands that `hb ∪ mo` has no cycle. That is the same with other events: each write takes part, what happened
//! before it is given, and it leaves and enters only itself. (Reads take no part: happens-before is transitive.) In the
//! following, read "sequentially consistent access" as "write" for SRA.

use raddle_core::execution::{LocationId, ThreadId};

use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::thread_table::{ThreadTable, ThreadViewState};
use super::thread_view::{ScView, ThreadView};

/// What is needed to remove an event.
#[derive(Clone, Copy, Debug)]
struct AccessRecord {
    /// The location, if it is an access.
    location: Option<LocationId>,
    /// The write that it reads, if it only reads; otherwise [`RfSource::NONE`].
    source: RfSource,
}

impl AccessRecord {
    const NO_ACCESS: AccessRecord = AccessRecord { location: None, source: RfSource::NONE };
}

/// Which set was changed.
#[derive(Clone, Copy, Debug)]
enum LeavingSlot {
    Write(EventIndex),
    Initial(LocationId),
}

/// The sequentially consistent events, and which of them leave and enter each write.
pub(super) struct Scb<R: EventSet> {
    pub(super) accesses: R,
    pub(super) fences: R,
    /// By sequentially consistent access: what precedes it, whatever the modification orders. Empty for fences.
    pub(super) given: R::Map<R>,
    /// By write: the events that leave it.
    pub(super) leaving: R::Map<R>,
    /// By location: the events that leave the initial write.
    leaving_initial: Vec<R>,
    /// By write: the events that only read it.
    readers: R::Map<R>,
    /// By event: what happened before it.
    happened: R::Map<R>,
    /// By event: [`ScView::around`].
    around: R::Map<R>,
    /// By event: the sequentially consistent fences after it.
    fences_after: R::Map<R>,
    /// By location: its accesses.
    located: Vec<R>,
    records: R::Map<AccessRecord>,
    /// Earlier entries of `leaving` and `leaving_initial`.
    log: Vec<(LeavingSlot, R)>,
}

/// State to restore by [`Scb::undo_to`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ScbMark<R> {
    accesses: R,
    fences: R,
    log: usize,
}

impl<R: EventSet> Scb<R> {
    pub(super) fn new(locations: usize) -> Self {
        let sets = || R::Map::filled(R::default());
        Scb {
            accesses: R::default(),
            fences: R::default(),
            given: sets(),
            leaving: sets(),
            leaving_initial: vec![R::default(); locations],
            readers: sets(),
            happened: sets(),
            around: sets(),
            fences_after: sets(),
            located: vec![R::default(); locations],
            records: R::Map::filled(AccessRecord::NO_ACCESS),
            log: vec![],
        }
    }

    /// Makes room for a location.
    #[inline]
    pub(super) fn grow(&mut self, location: LocationId) {
        if location.index() >= self.located.len() {
            self.located.resize(location.index() + 1, R::default());
            self.leaving_initial.resize(location.index() + 1, R::default());
        }
    }

    /// All sequentially consistent events.
    #[inline]
    pub(super) fn events(&self) -> R {
        self.accesses.or(&self.fences)
    }

    /// The events that leave one event, itself included if it is sequentially consistent.
    #[inline]
    pub(super) fn leaves(&self, event: EventIndex) -> R {
        let mut leaving = self.happened[event].and(&self.fences);
        if self.accesses.has(event) {
            leaving.insert(event);
        }
        leaving
    }

    /// The events that leave some writes of a location, or the initial one.
    #[inline]
    pub(super) fn leaving_any(&self, location: LocationId, writes: &R) -> R {
        let initial = &self.leaving_initial[location.index()];
        writes.iter().fold(initial.clone(), |all, write| all.or(&self.leaving[write]))
    }

    /// The events that enter a write.
    #[inline]
    pub(super) fn enters(&self, write: EventIndex) -> R {
        let mut entering = self.fences_after[write].clone();
        if self.accesses.has(write) {
            entering.insert(write);
        }
        entering.clone()
    }

    /// The fences that enter a write through its readers.
    #[inline]
    pub(super) fn enters_by_readers(&self, write: EventIndex) -> R {
        let mut entering = R::default();
        if !self.fences.is_empty() {
            for reader in self.readers[write].iter() {
                entering = entering.or(&self.fences_after[reader]);
            }
        }
        entering
    }

    /// The events that happened before an event.
    #[inline]
    pub(super) fn happened(&self, event: EventIndex) -> R {
        self.happened[event].clone()
    }

    /// Adds an access to its thread, which knows all that happens before it.
    #[inline]
    pub(super) fn access(
        &mut self,
        event: EventIndex,
        location: LocationId,
        is_sequential: bool,
        thread: &mut ThreadViewState<R, ScView<R>>,
    ) {
        let own = thread.own.and(&self.accesses);
        let located = &self.located[location.index()];
        if is_sequential {
            let here = thread.now.happened().and(located).and(&self.accesses);
            self.given[event] = self.around(location, thread).or(&own).or(&here);
            self.accesses.insert(event);
        }
        thread.now.around = thread.now.around.or(&own.minus(located));
        self.add_access(event, location, thread);
    }

    /// As [`Scb::access`], under SRA.
    #[inline]
    pub(super) fn strong_access(
        &mut self,
        event: EventIndex,
        location: LocationId,
        writes: bool,
        thread: &mut ThreadViewState<R, ScView<R>>,
    ) {
        if writes {
            self.given[event] = thread.now.happened().and(&self.accesses);
            self.accesses.insert(event);
        }
        self.add_access(event, location, thread);
    }

    #[inline]
    fn add_access(
        &mut self,
        event: EventIndex,
        location: LocationId,
        thread: &ThreadViewState<R, ScView<R>>,
    ) {
        self.located[location.index()].insert(event);
        self.records[event] = AccessRecord { location: Some(location), source: RfSource::NONE };
        self.add_event(event, thread);
    }

    /// What precedes an access by `po|≠loc; hb; po|≠loc`.
    #[inline]
    fn around(&self, location: LocationId, thread: &ThreadViewState<R, ScView<R>>) -> R {
        let elsewhere = thread.own.minus(&self.located[location.index()]).last();
        elsewhere.map_or(thread.trail.clone(), |event| thread.trail.or(&self.around[event]))
    }

    /// Adds a fence to its thread.
    #[inline]
    pub(super) fn fence(
        &mut self,
        event: EventIndex,
        is_sequential: bool,
        thread: &mut ThreadViewState<R, ScView<R>>,
    ) {
        let own = thread.own.and(&self.accesses);
        thread.now.around = thread.now.around.or(&own);
        if is_sequential {
            self.given[event] = R::default();
            self.fences.insert(event);
            let happened = thread.now.happened();
            happened.iter().for_each(|earlier| self.fences_after[earlier].insert(event));
        }
        self.records[event] = AccessRecord::NO_ACCESS;
        self.add_event(event, thread);
    }

    #[inline]
    fn add_event(&mut self, event: EventIndex, thread: &ThreadViewState<R, ScView<R>>) {
        self.happened[event] = thread.now.happened();
        self.around[event] = thread.now.around.clone();
        self.fences_after[event] = R::default();
    }

    /// Adds an event that is not part of any order here.
    pub(super) fn ignore(&mut self, event: EventIndex) {
        self.records[event] = AccessRecord::NO_ACCESS;
    }

    /// Adds a step of a thread that is not an event and has no location: it begins or ends, spawns or joins.
    #[inline]
    pub(super) fn boundary(&self, threads: &mut ThreadTable<R, ScView<R>>, thread: ThreadId) {
        let thread = threads.change(thread);
        let own = thread.own.and(&self.accesses);
        thread.now.around = thread.now.around.or(&own);
        thread.trail = thread.now.around.clone();
    }

    /// Records that an access, which was added to its thread, writes.
    #[inline]
    pub(super) fn write(&mut self, event: EventIndex) {
        self.leaving[event] = self.leaves(event);
        self.readers[event] = R::default();
    }

    /// Records that an access, which was added to its thread, only reads.
    #[inline]
    pub(super) fn read(&mut self, event: EventIndex, location: LocationId, source: RfSource) {
        if let Some(source) = source.event() {
            self.readers[source].insert(event);
            self.records[event].source = source.into();
        }
        let leaves = self.leaves(event);
        if leaves.is_empty() {
            return;
        }
        let (slot, leaving) = match source.event() {
            Some(source) => (LeavingSlot::Write(source), &mut self.leaving[source]),
            None => (LeavingSlot::Initial(location), &mut self.leaving_initial[location.index()]),
        };
        self.log.push((slot, leaving.clone()));
        *leaving = leaving.or(&leaves);
    }

    #[inline]
    pub(super) fn mark(&self) -> ScbMark<R> {
        ScbMark {
            accesses: self.accesses.clone(),
            fences: self.fences.clone(),
            log: self.log.len(),
        }
    }

    /// Undoes everything since the mark, when the events of the range were added.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: ScbMark<R>, events: std::ops::Range<usize>) {
        for event in events.rev().map(EventIndex::new) {
            let AccessRecord { location, source } = self.records[event];
            if let Some(location) = location {
                self.located[location.index()].remove(event);
            } else if self.fences.has(event) {
                let happened = &self.happened[event];
                happened.iter().for_each(|earlier| self.fences_after[earlier].remove(event));
            }
            if let Some(source) = source.event() {
                self.readers[source].remove(event);
            }
        }
        while self.log.len() > mark.log {
            match self.log.pop() {
                Some((LeavingSlot::Write(write), old)) => self.leaving[write] = old,
                Some((LeavingSlot::Initial(location), old)) => {
                    self.leaving_initial[location.index()] = old;
                }
                None => break,
            }
        }
        (self.accesses, self.fences) = (mark.accesses, mark.fences);
    }
}
