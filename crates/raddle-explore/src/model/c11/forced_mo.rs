//! The order that coherence forces on the writes of each location.
//!
//! An update stands directly after the write that it reads. So a write, the update that reads it, the update that reads
//! that one, and so on, stand together in every modification order: a *chain*. Coherence forces an order of whole
//! chains. For every write we keep the set of writes that precede it in every modification order, transitively closed.
//! The chain of the initial write comes first, so its writes precede all others.
//!
//! *Cost.* A store takes a step for each chain that its thread knows; a read of a write that is not the last one known
//! takes a step for each later write of the location.

use raddle_core::execution::LocationId;

use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;

/// The writes of all locations, and what must precede each.
pub(super) struct ForcedMo<R: EventSet> {
    /// By write: the writes of its location that precede it.
    before: R::Map<R>,
    /// By write: the first write of its chain; the initial one for the chain that begins with it.
    top: R::Map<RfSource>,
    /// By write: the update that reads it, if there is one.
    next: R::Map<Option<EventIndex>>,
    /// By location.
    writes: Vec<R>,
    /// By location: the events of the chain of the initial write.
    initial: Vec<R>,
    /// Earlier entries of `before`.
    log: Vec<(EventIndex, R)>,
}

impl<R: EventSet> ForcedMo<R> {
    pub(super) fn new(locations: usize) -> Self {
        ForcedMo {
            before: R::Map::filled(R::default()),
            top: R::Map::filled(RfSource::INITIAL),
            next: R::Map::filled(None),
            writes: vec![R::default(); locations],
            initial: vec![R::default(); locations],
            log: vec![],
        }
    }

    /// Makes room for a location.
    #[inline]
    pub(super) fn grow(&mut self, location: LocationId) {
        if location.index() >= self.writes.len() {
            self.writes.resize(location.index() + 1, R::default());
            self.initial.resize(location.index() + 1, R::default());
        }
    }

    /// The number of locations.
    #[inline]
    fn len(&self) -> usize {
        self.writes.len()
    }

    /// All locations.
    #[inline]
    pub(super) fn locations(&self) -> impl Iterator<Item = LocationId> + use<R> {
        (0..self.len()).map(LocationId::new)
    }

    /// By write: the writes of its location that precede it.
    #[inline]
    pub(super) fn rows(&self) -> &R::Map<R> {
        &self.before
    }

    /// The first write of the chain of a write, unless that is the initial one.
    #[inline]
    pub(super) fn top(&self, write: EventIndex) -> Option<EventIndex> {
        self.top[write].event()
    }

    /// The first writes of all chains of a location but that of the initial write.
    #[inline]
    pub(super) fn tops(&self, location: LocationId) -> impl Iterator<Item = EventIndex> + '_ {
        let writes = self.writes[location.index()].minus(&self.initial[location.index()]);
        writes.iter().filter(|&write| self.top[write] == write.into())
    }

    /// The writes of a chain from this one on.
    #[inline]
    pub(super) fn chain(&self, write: EventIndex) -> impl Iterator<Item = EventIndex> + '_ {
        std::iter::successors(Some(write), |&write| self.next[write])
    }

    /// The events of the chain of the initial write.
    #[inline]
    pub(super) fn initial(&self, location: LocationId) -> R {
        self.initial[location.index()].clone()
    }

    /// Lets more writes precede a write.
    #[inline]
    pub(super) fn extend(&mut self, write: EventIndex, row: &R) {
        if self.before[write] != *row {
            self.raise(write, row);
        }
    }

    /// The writes of a location.
    #[inline]
    pub(super) fn writes(&self, location: LocationId) -> R {
        self.writes[location.index()].clone()
    }

    /// Returns `true` if the location has a write. There may be no room for it.
    pub(super) fn is_written(&self, location: LocationId) -> bool {
        self.writes.get(location.index()).is_some_and(|writes| !writes.is_empty())
    }

    /// Returns `true` if an update has read the initial write.
    #[inline]
    pub(super) fn initial_is_taken(&self, location: LocationId) -> bool {
        !self.initial[location.index()].is_empty()
    }

    /// The writes that precede one of the known writes.
    #[inline]
    pub(super) fn overwritten(&self, known: R) -> R {
        let (mut left, mut all) = (known, R::default());
        while let Some(write) = left.last() {
            let before = &self.before[write];
            all = all.or(before);
            left.remove(write);
            left = left.minus(before);
        }
        all
    }

    /// Returns `true` if a thread that knows these writes of the location may observe the source.
    #[inline]
    pub(super) fn admits(&self, source: RfSource, known: &R) -> bool {
        let Some(source) = source.event() else { return known.is_empty() };
        let mut later = known.minus(&self.before[source]);
        later.remove(source);
        later.iter().all(|write| !self.before[write].has(source))
    }

    /// The chains of some writes, and all that precedes them.
    #[inline]
    fn chains(&self, mut writes: R) -> R {
        let mut all = R::default();
        while let Some(mut write) = writes.last() {
            while let Some(next) = self.next[write] {
                write = next;
            }
            all = all.or(&self.before[write]);
            all.insert(write);
            writes = writes.minus(&all);
        }
        all
    }

    /// Adds a store after all writes that its thread knows.
    #[inline]
    pub(super) fn store(&mut self, event: EventIndex, location: LocationId, known: R) {
        let before = self.initial[location.index()].or(&self.chains(known));
        self.add(event, location, event.into(), before);
    }

    /// Lets the writes that a thread knows precede another one, which it now observes, and hence precede its chain.
    #[inline]
    pub(super) fn observe(&mut self, location: LocationId, source: EventIndex, known: &R) {
        let mut new = known.minus(&self.before[source]);
        new.remove(source);
        if !new.is_empty()
            && let Some(top) = self.top(source)
        {
            self.raise_chain(location, top, &self.chains(new));
        }
    }

    /// Lets some writes precede a chain, and hence all that comes after it.
    fn raise_chain(&mut self, location: LocationId, top: EventIndex, new: &R) {
        for write in self.writes(location).minus(&self.before[top]).iter() {
            if write == top || self.before[write].has(top) {
                self.raise(write, new);
            }
        }
    }

    #[inline]
    fn raise(&mut self, write: EventIndex, new: &R) {
        self.log.push((write, self.before[write].clone()));
        self.before[write] = self.before[write].or(new);
    }

    /// Adds an update directly after its source, which no other update has read.
    #[inline]
    pub(super) fn update(&mut self, event: EventIndex, location: LocationId, source: RfSource) {
        let (mut before, mut top) = (R::default(), RfSource::INITIAL);
        if let Some(source) = source.event() {
            (before, top) = (self.before[source].clone(), self.top[source]);
            before.insert(source);
            self.next[source] = Some(event);
        }
        for write in self.writes(location).minus(&before).iter() {
            if source.event().is_none_or(|source| self.before[write].has(source)) {
                self.raise(write, &R::one(event));
            }
        }
        if top.is_initial() {
            self.initial[location.index()].insert(event);
        }
        self.add(event, location, top, before);
    }

    /// Adds a write under a model without modification order: what precedes it is what happened before it.
    #[inline]
    pub(super) fn add_unordered(
        &mut self,
        event: EventIndex,
        location: LocationId,
        takes_initial: bool,
        before: R,
    ) {
        if takes_initial {
            self.initial[location.index()].insert(event);
        }
        self.add(event, location, event.into(), before);
    }

    #[inline]
    fn add(&mut self, event: EventIndex, location: LocationId, top: RfSource, before: R) {
        self.before[event] = before;
        self.top[event] = top;
        self.next[event] = None;
        self.writes[location.index()].insert(event);
    }

    /// Removes the last write, which read this source if it is an update: that is the last one of its chain again.
    #[inline]
    pub(super) fn remove(&mut self, event: EventIndex, location: LocationId, source: RfSource) {
        self.writes[location.index()].remove(event);
        self.initial[location.index()].remove(event);
        if let Some(source) = source.event() {
            self.next[source] = None;
        }
    }

    /// A mark for [`ForcedMo::undo_to`].
    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes what was forced on existing writes since the mark.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            if let Some((write, row)) = self.log.pop() {
                self.before[write] = row;
            }
        }
    }

    /// Returns `true` if no write is forced to come after this one.
    pub(super) fn can_be_last(&self, location: LocationId, write: RfSource) -> bool {
        let Some(writes) = self.writes.get(location.index()) else { return true };
        match write.event() {
            None => writes.is_empty(),
            Some(write) => writes.iter().all(|other| !self.before[other].has(write)),
        }
    }
}
