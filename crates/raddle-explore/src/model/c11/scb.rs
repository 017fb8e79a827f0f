//! What the order of sequentially consistent events consists of; under SRA, the order of all writes.
//!
//! RC11 orders these events by `psc`, the union of
//!
//! - `psc_base = ([E_sc] ∪ [F_sc]; hb?); scb; ([E_sc] ∪ hb?; [F_sc])`, where
//!   `scb = po ∪ (po|≠loc; hb; po|≠loc) ∪ hbloc ∪ mo ∪ fr`, and
//! - `psc_F = [F_sc]; (hb ∪ hb; eco; hb); [F_sc]`,
//!
//! and asks that it has no cycle (Lahav, Vafeiadis, Kang, Hur, Dreyer, *Repairing Sequential Consistency
//! in C/C++11*, PLDI 2017). Two things make that cheap to follow. An event is added after everything
//! that happens before it; so the part of `psc` that comes from `po` and `hb` is a row that is known when
//! the event is added and never changes (`given`). And whatever `mo`, `fr` and `rf` contribute goes
//! through writes of one location: if `e` is before `f` in modification order, the events that *leave* `e`
//! (sequentially consistent accesses among `e` and its readers, fences before these) come before those
//! that *enter* `f` (`f` itself, fences after it, and for fences also those after the readers of `f`).
//! So an order of writes says all that is missing.
//!
//! Of the edges that do not depend on the order of writes, only those between accesses are kept. An edge
//! of that kind from a fence to some event can be left out of a cycle: the fence happens before the event,
//! so when the cycle goes on through a write, it leaves that write with the fence as well. For the same
//! reason a cycle does not need such an edge to a fence: it could have entered the fence before.
//!
//! SRA asks that `hb ∪ mo` has no cycle. That is the same with other events: each write takes part, what
//! happened before it is given, and it leaves and enters only itself. (Reads take no part: happens-before
//! is transitive.) In the following, read «sequentially consistent access» as «write» for SRA.

use crate::event_map::EventMap;
use crate::event_set::EventSet;

use super::forced::NONE;
use super::threads::Thread;
use super::view::{View, Wide};

/// What an event was, to take it back.
#[derive(Clone, Copy, Debug)]
struct Place {
    location: u32,
    /// The write that it reads, if it only reads.
    source: u32,
}

/// The sequentially consistent events, and how they can be reached.
pub(super) struct Scb<R: EventSet> {
    pub(super) accesses: R,
    pub(super) fences: R,
    /// By sequentially consistent event: what comes before it, whatever the modification orders. For
    /// fences this is left out.
    pub(super) given: R::Map<R>,
    /// By write: the events that leave it.
    pub(super) leaving: R::Map<R>,
    /// By location: the events that leave the initial write.
    pub(super) leaving_initial: Vec<R>,
    /// By write: those who only read it.
    pub(super) readers: R::Map<R>,
    /// By event: what happened before it.
    happened: R::Map<R>,
    /// By event: [`Wide::around`].
    around: R::Map<R>,
    /// By event: the sequentially consistent fences after it.
    fences_after: R::Map<R>,
    /// By location: its accesses.
    located: Vec<R>,
    places: R::Map<Place>,
    /// Rows of `leaving` (and, after these, of `leaving_initial`) as they were.
    log: Vec<(u32, R)>,
}

/// How to return to an earlier state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark<R> {
    accesses: R,
    fences: R,
    log: usize,
}

impl<R: EventSet> Scb<R> {
    pub(super) fn new(locations: usize) -> Self {
        let rows = || R::Map::filled(R::default());
        Scb {
            accesses: R::default(),
            fences: R::default(),
            given: rows(),
            leaving: rows(),
            leaving_initial: vec![R::default(); locations],
            readers: rows(),
            happened: rows(),
            around: rows(),
            fences_after: rows(),
            located: vec![R::default(); locations],
            places: R::Map::filled(Place { location: NONE, source: NONE }),
            log: vec![],
        }
    }

    /// Makes room for a location.
    #[inline]
    pub(super) fn grow(&mut self, location: usize) {
        if location >= self.located.len() {
            self.located.resize(location + 1, R::default());
            self.leaving_initial.resize(location + 1, R::default());
        }
    }

    /// All sequentially consistent events.
    #[inline]
    pub(super) fn events(&self) -> R {
        self.accesses.or(self.fences)
    }

    /// The events that leave one event.
    #[inline]
    pub(super) fn leaves(&self, event: usize) -> R {
        let mut row = self.happened[event].and(self.fences);
        if self.accesses.has(event) {
            row.insert(event);
        }
        row
    }

    /// The events that enter a write.
    #[inline]
    pub(super) fn enters(&self, write: usize) -> R {
        let mut row = self.fences_after[write];
        if self.accesses.has(write) {
            row.insert(write);
        }
        row
    }

    /// The fences that enter a write through its readers.
    #[inline]
    pub(super) fn enters_by_readers(&self, write: usize) -> R {
        let mut row = R::default();
        if !self.fences.is_empty() {
            for reader in self.readers[write].iter() {
                row = row.or(self.fences_after[reader]);
            }
        }
        row
    }

    /// What happened before an event.
    #[inline]
    pub(super) fn happened(&self, event: usize) -> R {
        self.happened[event]
    }

    /// An access enters its thread, which has learned all that happens before it.
    #[inline]
    pub(super) fn access(
        &mut self,
        event: usize,
        location: usize,
        sequential: bool,
        thread: &mut Thread<R, Wide<R>>,
    ) {
        let own = thread.own.and(self.accesses);
        if sequential {
            let here = thread.now.happened().and(self.located[location]).and(self.accesses);
            self.given[event] = self.around(location, thread).or(own).or(here);
            self.accesses.insert(event);
        }
        thread.now.around = thread.now.around.or(own.minus(self.located[location]));
        self.located[location].insert(event);
        self.places[event] = Place { location: location as u32, source: NONE };
        self.enter(event, thread);
    }

    /// The same under SRA.
    #[inline]
    pub(super) fn strong_access(
        &mut self,
        event: usize,
        location: usize,
        writes: bool,
        thread: &mut Thread<R, Wide<R>>,
    ) {
        if writes {
            self.given[event] = thread.now.happened().and(self.accesses);
            self.accesses.insert(event);
        }
        self.located[location].insert(event);
        self.places[event] = Place { location: location as u32, source: NONE };
        self.enter(event, thread);
    }

    /// What comes before an access by `po|≠loc; hb; po|≠loc`.
    #[inline]
    fn around(&self, location: usize, thread: &Thread<R, Wide<R>>) -> R {
        let elsewhere = thread.own.minus(self.located[location]).last();
        elsewhere.map_or(thread.trail, |event| thread.trail.or(self.around[event]))
    }

    /// A fence enters its thread.
    #[inline]
    pub(super) fn fence(
        &mut self,
        event: usize,
        sequential: bool,
        thread: &mut Thread<R, Wide<R>>,
    ) {
        let own = thread.own.and(self.accesses);
        thread.now.around = thread.now.around.or(own);
        if sequential {
            self.given[event] = R::default();
            self.fences.insert(event);
            let happened = thread.now.happened();
            happened.iter().for_each(|earlier| self.fences_after[earlier].insert(event));
        }
        self.places[event] = Place { location: NONE, source: NONE };
        self.enter(event, thread);
    }

    #[inline]
    fn enter(&mut self, event: usize, thread: &Thread<R, Wide<R>>) {
        self.happened[event] = thread.now.happened();
        self.around[event] = thread.now.around;
        self.fences_after[event] = R::default();
    }

    /// An event that has no part in this.
    pub(super) fn ignore(&mut self, event: usize) {
        self.places[event] = Place { location: NONE, source: NONE };
    }

    /// A thread starts or ends, starts another one or has waited for it: a step of it that is no event
    /// here, and that has no location.
    #[inline]
    pub(super) fn detach(&self, thread: &mut Thread<R, Wide<R>>) {
        let own = thread.own.and(self.accesses);
        thread.now.around = thread.now.around.or(own);
        thread.trail = thread.now.around;
    }

    /// An access that has entered writes.
    #[inline]
    pub(super) fn write(&mut self, event: usize) {
        self.leaving[event] = self.leaves(event);
        self.readers[event] = R::default();
    }

    /// An access that has entered only reads.
    #[inline]
    pub(super) fn read(&mut self, event: usize, location: usize, source: Option<usize>) {
        if let Some(source) = source {
            self.readers[source].insert(event);
            self.places[event].source = source as u32;
        }
        let leaves = self.leaves(event);
        if leaves.is_empty() {
            return;
        }
        let (slot, row) = match source {
            Some(source) => (source, &mut self.leaving[source]),
            None => (R::BITS + location, &mut self.leaving_initial[location]),
        };
        self.log.push((slot as u32, *row));
        *row = row.or(leaves);
    }

    #[inline]
    pub(super) fn mark(&self) -> Mark<R> {
        Mark { accesses: self.accesses, fences: self.fences, log: self.log.len() }
    }

    /// Takes the events of a range back.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: Mark<R>, events: std::ops::Range<usize>) {
        for event in events.rev() {
            let Place { location, source } = self.places[event];
            if location != NONE {
                self.located[location as usize].remove(event);
            } else if self.fences.has(event) {
                let happened = self.happened[event];
                happened.iter().for_each(|earlier| self.fences_after[earlier].remove(event));
            }
            if source != NONE {
                self.readers[source as usize].remove(event);
            }
        }
        while self.log.len() > mark.log {
            let Some((slot, row)) = self.log.pop() else { break };
            match (slot as usize).checked_sub(R::BITS) {
                Some(location) => self.leaving_initial[location] = row,
                None => self.leaving[slot as usize] = row,
            }
        }
        (self.accesses, self.fences) = (mark.accesses, mark.fences);
    }
}
