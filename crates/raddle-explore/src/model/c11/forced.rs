//! The order that is forced on the writes of a location.
//!
//! An update stands directly after the write that it reads, so a write, the update that reads it, the
//! update that reads that one, and so on, stand together in every modification order: a *chain*. What
//! coherence forces is an order of whole chains. For every write we keep the set of those that are
//! before it in every modification order, transitively closed. The chain of the initial write comes
//! first, so its writes are before all others.
//!
//! Cost: a store takes a step for each chain that its thread knows; a read of a write that was not the
//! last one known takes a step for each later write of the location.

use crate::event_map::EventMap;
use crate::event_set::EventSet;

/// No event; as the first of a chain: the initial write.
pub(super) const NONE: u32 = u32::MAX;

/// The writes of all locations.
pub(super) struct Forced<R: EventSet> {
    /// By write: the writes of its location that are before it.
    before: R::Map<R>,
    /// By write: the first write of its chain.
    top: R::Map<u32>,
    /// By write: the update that reads it.
    next: R::Map<u32>,
    /// By location.
    writes: Vec<R>,
    /// By location: the chain of the initial write.
    initial: Vec<R>,
    /// Rows of `before` as they were.
    log: Vec<(u32, R)>,
}

impl<R: EventSet> Forced<R> {
    pub(super) fn new(locations: usize) -> Self {
        Forced {
            before: R::Map::filled(R::default()),
            top: R::Map::filled(NONE),
            next: R::Map::filled(NONE),
            writes: vec![R::default(); locations],
            initial: vec![R::default(); locations],
            log: vec![],
        }
    }

    /// Makes room for a location.
    #[inline]
    pub(super) fn grow(&mut self, location: usize) {
        if location >= self.writes.len() {
            self.writes.resize(location + 1, R::default());
            self.initial.resize(location + 1, R::default());
        }
    }

    /// How many locations there are.
    #[inline]
    pub(super) fn locations(&self) -> usize {
        self.writes.len()
    }

    /// By write, for the first events: the writes of its location that are before it.
    #[inline]
    pub(super) fn rows(&self, events: usize) -> &[R] {
        self.before.first(events)
    }

    /// The first write of a chain, if that is not the initial one.
    #[inline]
    pub(super) fn top(&self, write: usize) -> Option<usize> {
        (self.top[write] != NONE).then_some(self.top[write] as usize)
    }

    /// The first writes of all chains of a location but that of the initial write.
    #[inline]
    pub(super) fn tops(&self, location: usize) -> impl Iterator<Item = usize> + '_ {
        let writes = self.writes[location].minus(self.initial[location]);
        writes.iter().filter(|&write| self.top[write] as usize == write)
    }

    /// The writes of a chain from this one on.
    #[inline]
    pub(super) fn chain(&self, write: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |&write: &usize| (self.next[write] != NONE).then_some(self.next[write] as usize);
        std::iter::successors(Some(write), next)
    }

    /// The chain of the initial write.
    #[inline]
    pub(super) fn initial(&self, location: usize) -> R {
        self.initial[location]
    }

    /// Puts more writes before a write.
    #[inline]
    pub(super) fn extend(&mut self, write: usize, row: R) {
        if self.before[write] != row {
            self.raise(write, row);
        }
    }

    /// The writes of a location.
    #[inline]
    pub(super) fn writes(&self, location: usize) -> R {
        self.writes[location]
    }

    /// Whether an update has read the initial write.
    #[inline]
    pub(super) fn initial_is_taken(&self, location: usize) -> bool {
        !self.initial[location].is_empty()
    }

    /// The writes that are before one of some others.
    #[inline]
    pub(super) fn overwritten(&self, known: R) -> R {
        let (mut left, mut all) = (known, R::default());
        while let Some(write) = left.last() {
            let before = self.before[write];
            all = all.or(before);
            left.remove(write);
            left = left.minus(before);
        }
        all
    }

    /// Whether a thread that knows some writes of the location may observe the source.
    #[inline]
    pub(super) fn admits(&self, source: Option<usize>, known: R) -> bool {
        let Some(source) = source else { return known.is_empty() };
        let mut later = known.minus(self.before[source]);
        later.remove(source);
        later.iter().all(|write| !self.before[write].has(source))
    }

    /// The chains of some writes, and all that is before them.
    #[inline]
    fn chains(&self, mut writes: R) -> R {
        let mut all = R::default();
        while let Some(mut write) = writes.last() {
            while self.next[write] != NONE {
                write = self.next[write] as usize;
            }
            all = all.or(self.before[write]);
            all.insert(write);
            writes = writes.minus(all);
        }
        all
    }

    /// Adds a store after all that its thread knows.
    #[inline]
    pub(super) fn store(&mut self, event: usize, location: usize, known: R) {
        let before = self.initial[location].or(self.chains(known));
        self.add(event, location, event as u32, before);
    }

    /// A thread that knows some writes observes another one: they are before it, and so before its
    /// chain.
    #[inline]
    pub(super) fn observe(&mut self, location: usize, source: usize, known: R) {
        let mut news = known.minus(self.before[source]);
        news.remove(source);
        if !news.is_empty() {
            self.raise_chain(location, self.top[source] as usize, self.chains(news));
        }
    }

    /// Puts some writes before a chain, and so before all that is after it.
    fn raise_chain(&mut self, location: usize, top: usize, news: R) {
        for write in self.writes[location].minus(self.before[top]).iter() {
            if write == top || self.before[write].has(top) {
                self.raise(write, news);
            }
        }
    }

    #[inline]
    fn raise(&mut self, write: usize, news: R) {
        self.log.push((write as u32, self.before[write]));
        self.before[write] = self.before[write].or(news);
    }

    /// Adds an update directly after its source, which no other update has read.
    #[inline]
    pub(super) fn update(&mut self, event: usize, location: usize, source: Option<usize>) {
        let (mut before, mut top) = (R::default(), NONE);
        if let Some(source) = source {
            (before, top) = (self.before[source], self.top[source]);
            before.insert(source);
            self.next[source] = event as u32;
        }
        for write in self.writes[location].minus(before).iter() {
            if source.is_none_or(|source| self.before[write].has(source)) {
                self.raise(write, R::one(event));
            }
        }
        if top == NONE {
            self.initial[location].insert(event);
        }
        self.add(event, location, top, before);
    }

    /// Adds a write where there is no modification order: before it is what happened before it.
    #[inline]
    pub(super) fn add_unordered(
        &mut self,
        event: usize,
        location: usize,
        takes_initial: bool,
        before: R,
    ) {
        if takes_initial {
            self.initial[location].insert(event);
        }
        self.add(event, location, event as u32, before);
    }

    #[inline]
    fn add(&mut self, event: usize, location: usize, top: u32, before: R) {
        self.before[event] = before;
        self.top[event] = top;
        self.next[event] = NONE;
        self.writes[location].insert(event);
    }

    /// Takes the last write back. If it was an update, its source is the last of its chain again.
    #[inline]
    pub(super) fn remove(&mut self, event: usize, location: usize, source: u32) {
        self.writes[location].remove(event);
        self.initial[location].remove(event);
        if source != NONE {
            self.next[source as usize] = NONE;
        }
    }

    /// How much was raised so far.
    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back what was raised since.
    #[inline]
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            if let Some((write, row)) = self.log.pop() {
                self.before[write as usize] = row;
            }
        }
    }

    /// Whether nothing is forced to be after a write (`None`: the initial one).
    pub(super) fn can_be_last(&self, location: usize, write: Option<usize>) -> bool {
        let Some(writes) = self.writes.get(location) else { return true };
        match write {
            None => writes.is_empty(),
            Some(write) => writes.iter().all(|other| !self.before[other].has(write)),
        }
    }
}
