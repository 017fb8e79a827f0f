//! Executions: the events of some threads, and which writes each read may have observed.
//!
//! An execution is the input of a checker. It has threads (with spawn and join), program order, values, locations and locks,
//! and for every read a set of *sources*: the writes it may have observed, called its good-writes in Agarwal et al., CAV
//! 2021. A reads-from map is the case where every set has one element. An execution has no order of events of different
//! threads: checkers decide whether a memory model allows such an order.
//!
//! Ids are dense and thread-major ([`EventId`]), so that program order is the order of ids within
//! a thread and every per-event table is a vector. Source sets are shared between reads, so that a
//! history of n reads of one value costs O(n) and not O(n^2).

mod builder;
mod coherence;
mod event;
mod ids;
mod order;

pub use builder::{BuildError, EventPart, ExecutionBuilder, Flaw, SourceClaim};
pub use coherence::Coherence;
pub use event::{Action, Value};
pub use ids::{EventId, LocationId, SourceSetId, ThreadId};
pub use order::MemoryOrder;

/// A thread of an [`Execution`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The name in the history, for example `P0`.
    pub name: String,
    /// The first event.
    first: EventId,
    /// The number of events.
    len: usize,
    /// The event that spawns it; a thread without one runs from the beginning.
    spawned_by: Option<EventId>,
}

/// A memory location or a lock of an [`Execution`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationInfo {
    /// The name in the history.
    pub name: String,
    /// It is a lock, not a memory location.
    pub is_lock: bool,
    /// It is a synchronization object: its updates acquire and release in every model.
    pub synchronizes: bool,
    /// The history states the initial value; otherwise it is 0.
    pub declared: bool,
}

/// The events of the threads of a program, and the writes that each read may have observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    threads: Vec<ThreadInfo>,
    locations: Vec<LocationInfo>,
    /// Initial writes first, then thread-major.
    actions: Vec<Action>,
    /// By event, its memory order.
    orders: Vec<MemoryOrder>,
    /// For an event that is not an initial write, its thread.
    thread_of: Vec<ThreadId>,
    /// For every event that has a source, the set of its possible sources.
    set_of: Vec<Option<SourceSetId>>,
    /// By event: whether the history names its source; otherwise its sources follow from the value.
    named: Vec<bool>,
    /// Flattened source sets; each is sorted.
    set_items: Vec<EventId>,
    /// `set_items[set_starts[s]..set_starts[s + 1]]` is set `s`.
    set_starts: Vec<usize>,
    /// The order in which the events were recorded, if the history has one.
    recorded: Option<Vec<EventId>>,
}

impl Execution {
    /// The number of threads.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// All thread ids.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::new)
    }

    /// The properties of a thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> &ThreadInfo {
        &self.threads[thread.index()]
    }

    /// The events of a thread in program order.
    pub fn thread_events(
        &self,
        thread: ThreadId,
    ) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        let ThreadInfo { first, len, .. } = self.threads[thread.index()];
        (first.index()..first.index() + len).map(EventId::new)
    }

    /// The number of events of a thread.
    #[must_use]
    pub fn thread_len(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()].len
    }

    /// The event that spawns a thread, if it does not run from the beginning.
    #[must_use]
    pub fn spawned_by(&self, thread: ThreadId) -> Option<EventId> {
        self.threads[thread.index()].spawned_by
    }

    /// The number of locations and locks.
    #[must_use]
    pub fn location_count(&self) -> usize {
        self.locations.len()
    }

    /// All locations and locks.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = LocationId> + use<> {
        (0..self.locations.len()).map(LocationId::new)
    }

    /// The properties of a location or lock.
    #[must_use]
    pub fn location(&self, location: LocationId) -> &LocationInfo {
        &self.locations[location.index()]
    }

    /// The number of events, initial writes included.
    #[must_use]
    pub fn event_count(&self) -> usize {
        self.actions.len()
    }

    /// All events: the initial writes, then thread by thread in program order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventId> + use<> {
        (0..self.actions.len()).map(EventId::new)
    }

    /// The action of an event.
    #[must_use]
    pub fn action(&self, event: EventId) -> &Action {
        &self.actions[event.index()]
    }

    /// The memory order of an event.
    #[must_use]
    pub fn order(&self, event: EventId) -> MemoryOrder {
        self.orders[event.index()]
    }

    /// Returns `true` if the event is a store that waits in its thread's store buffer, under a model that has
    /// store buffers. A SeqCst store does not: it waits for an empty buffer and writes memory at once.
    #[must_use]
    pub fn is_buffered(&self, event: EventId) -> bool {
        matches!(self.action(event), Action::Write { .. })
            && self.order(event) != MemoryOrder::SeqCst
    }

    /// Returns `true` if the event is a store-store fence, or has one before it, under a model that reorders stores: stores
    /// of its thread from this event on reach memory after all earlier stores.
    #[must_use]
    pub fn fences_stores(&self, event: EventId) -> bool {
        let order = self.order(event);
        match self.action(event) {
            Action::StoreFence => true,
            Action::Fence => matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel),
            Action::Write { .. } => order == MemoryOrder::Release,
            _ => false,
        }
    }

    /// Returns `true` if the event waits until its thread's store buffer is empty, under a model that has store
    /// buffers.
    #[must_use]
    pub fn drains(&self, event: EventId) -> bool {
        match self.action(event) {
            Action::Init { .. } | Action::Read { .. } | Action::StoreFence => false,
            Action::Write { .. } | Action::Fence => self.order(event) == MemoryOrder::SeqCst,
            _ => true,
        }
    }

    /// The initial write of a location.
    #[must_use]
    pub fn init_of(&self, location: LocationId) -> EventId {
        EventId::new(location.index())
    }

    /// Returns `true` if an event is an initial write.
    #[must_use]
    pub fn is_init(&self, event: EventId) -> bool {
        event.index() < self.locations.len()
    }

    /// The thread of an event; an initial write has none.
    #[must_use]
    pub fn thread_of(&self, event: EventId) -> Option<ThreadId> {
        let index = event.index().checked_sub(self.locations.len())?;
        Some(self.thread_of[index])
    }

    /// The thread of an event and its position there, from 0; an initial write has none.
    #[must_use]
    pub fn position(&self, event: EventId) -> Option<(ThreadId, usize)> {
        let thread = self.thread_of(event)?;
        Some((thread, event.index() - self.threads[thread.index()].first.index()))
    }

    /// The event of a thread at a position from 0.
    #[must_use]
    pub fn event_at(&self, thread: ThreadId, position: usize) -> Option<EventId> {
        let ThreadInfo { first, len, .. } = self.threads[thread.index()];
        (position < len).then(|| EventId::new(first.index() + position))
    }

    /// The writes (or releases) that an event may have observed, sorted. Empty if it observes nothing, or a value that no
    /// other event wrote. An update that writes what it reads may be in its own set, because sets are shared; it is never
    /// its own source.
    #[must_use]
    pub fn sources(&self, event: EventId) -> &[EventId] {
        match self.set_of[event.index()] {
            Some(set) => self.source_set(set),
            None => &[],
        }
    }

    /// The set of sources of an event, if it observes anything.
    #[must_use]
    pub fn source_set_of(&self, event: EventId) -> Option<SourceSetId> {
        self.set_of[event.index()]
    }

    /// The members of a source set, sorted.
    #[must_use]
    pub fn source_set(&self, set: SourceSetId) -> &[EventId] {
        &self.set_items[self.set_starts[set.index()]..self.set_starts[set.index() + 1]]
    }

    /// The number of distinct source sets.
    #[must_use]
    pub fn source_set_count(&self) -> usize {
        self.set_starts.len() - 1
    }

    /// Returns `true` if the history names the event's source; otherwise its sources follow from its value.
    #[must_use]
    pub fn names_source(&self, event: EventId) -> bool {
        self.named[event.index()]
    }

    /// Returns `true` if every event that observes something has exactly one possible source: the execution
    /// has a reads-from map.
    #[must_use]
    pub fn has_reads_from_map(&self) -> bool {
        self.set_starts.windows(2).all(|bounds| bounds[1] - bounds[0] == 1)
    }

    /// The order in which the events were recorded, if the history has one: a hint for searches, never evidence.
    #[must_use]
    pub fn recorded_order(&self) -> Option<&[EventId]> {
        self.recorded.as_deref()
    }

    /// The name of an event: `P0.2` is the third event of thread `P0`, `init x` the initial write
    /// of `x`.
    #[must_use]
    pub fn name(&self, event: EventId) -> String {
        match self.position(event) {
            Some((thread, position)) => format!("{}.{position}", self.thread(thread).name),
            None => format!("init {}", self.locations[event.index()].name),
        }
    }

    /// Restricts the execution to the first `lens[t]` events of each thread `t`.
    ///
    /// The prefix must be closed: with an event it contains all its possible sources, the event
    /// that started its thread, and if it is a join, all of the thread joined
    /// ([`Execution::is_closed`]). The ids of the result are its own; an event keeps its thread and
    /// its position.
    ///
    /// # Panics
    /// If the prefix is not closed.
    #[must_use]
    pub fn prefix(&self, lens: &[usize]) -> Execution {
        assert!(self.is_closed(lens), "a prefix of an execution must be closed");
        let locations = self.locations.len();
        let mut threads = self.threads.clone();
        let mut kept: Vec<EventId> = (0..locations).map(EventId::new).collect();
        for (thread, &len) in threads.iter_mut().zip(lens) {
            let old_first = thread.first.index();
            thread.first = EventId::new(kept.len());
            thread.len = len;
            kept.extend((old_first..old_first + len).map(EventId::new));
        }
        let mut new_id = vec![None; self.actions.len()];
        for (new, old) in kept.iter().enumerate() {
            new_id[old.index()] = Some(EventId::new(new));
        }
        for thread in &mut threads {
            thread.spawned_by = thread.spawned_by.and_then(|spawn| new_id[spawn.index()]);
        }
        let mut sets = builder::SetTable::default();
        let mut new_set = vec![None; self.source_set_count()];
        let set_of = kept
            .iter()
            .map(|&old| {
                self.set_of[old.index()].map(|set| {
                    *new_set[set.index()].get_or_insert_with(|| {
                        let members = self.source_set(set).iter();
                        sets.intern(members.filter_map(|source| new_id[source.index()]).collect())
                    })
                })
            })
            .collect();
        let (set_items, set_starts) = sets.into_parts();
        Execution {
            threads,
            locations: self.locations.clone(),
            actions: kept.iter().map(|old| self.actions[old.index()]).collect(),
            orders: kept.iter().map(|old| self.orders[old.index()]).collect(),
            thread_of: kept[locations..].iter().filter_map(|&old| self.thread_of(old)).collect(),
            set_of,
            named: kept.iter().map(|old| self.named[old.index()]).collect(),
            set_items,
            set_starts,
            recorded: self
                .recorded
                .as_ref()
                .map(|order| order.iter().filter_map(|old| new_id[old.index()]).collect()),
        }
    }

    /// Returns `true` if the first `lens[t]` events of each thread `t` are closed under program order,
    /// possible sources, spawn and join.
    #[must_use]
    pub fn is_closed(&self, lens: &[usize]) -> bool {
        self.threads().all(|thread| {
            let mut events = self.thread_events(thread).take(lens[thread.index()]);
            events.all(|event| self.has_support(event, lens))
        })
    }

    /// The largest closed prefix with at most `lens[t]` events of each thread `t`.
    #[must_use]
    pub fn closed_prefix(&self, mut lens: Vec<usize>) -> Vec<usize> {
        loop {
            let mut changed = false;
            for thread in self.threads() {
                let events = self.thread_events(thread).take(lens[thread.index()]);
                let kept = events.take_while(|&event| self.has_support(event, &lens)).count();
                changed |= kept != lens[thread.index()];
                lens[thread.index()] = kept;
            }
            if !changed {
                return lens;
            }
        }
    }

    /// Returns `true` if the first `lens[t]` events of each thread `t` contain everything that an event depends
    /// on: its possible sources, the event that started its thread and, if it is a join, all
    /// of the thread joined.
    #[must_use]
    pub fn has_support(&self, event: EventId, lens: &[usize]) -> bool {
        let inside = |event| self.position(event).is_none_or(|(t, at)| at < lens[t.index()]);
        let joined = match *self.action(event) {
            Action::Join { thread } => lens[thread.index()] == self.thread_len(thread),
            _ => true,
        };
        let spawn = self.thread_of(event).and_then(|thread| self.spawned_by(thread));
        joined && spawn.is_none_or(inside) && self.sources(event).iter().all(|&s| inside(s))
    }
}
