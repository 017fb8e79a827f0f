//! An execution as a C11-style model sees it: compact, with effective memory orders and one source for each read.
//!
//! The traits of an event come from the table of [`orders`](raddle_core::model::orders), so that the checkers need not know
//! the model. Locks become updates: an acquire observes a release, a release observes the acquire of its own thread.
//!
//! A sequentially consistent fence under SRA, RA, WRA and RC20 is an update of a hidden location
//! (Lahav and Boker, TOPLAS 2022): its source is the fence before it in the order of these fences,
//! which is not given and is searched for elsewhere.
//!
//! One record of 16 bytes for each event: most accesses need several properties of an event, and with one table for each
//! property they waited twice as long for memory.

use raddle_core::execution::Coherence;
use raddle_core::execution::{Action, EventId, Execution, MemoryOrder};
use raddle_core::model::orders::C11Orders;

/// No event, no location.
pub(super) const NONE: u32 = u32::MAX;

/// A set of properties of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// Observes a source.
    pub(super) const READ: Traits = Traits(1);
    /// Changes its location.
    pub(super) const WRITE: Traits = Traits(1 << 1);
    /// Acquires.
    pub(super) const ACQUIRE: Traits = Traits(1 << 2);
    /// Releases.
    pub(super) const RELEASE: Traits = Traits(1 << 3);
    /// Is atomic.
    pub(super) const ATOMIC: Traits = Traits(1 << 4);
    /// Is a fence.
    pub(super) const FENCE: Traits = Traits(1 << 5);
    /// Is sequentially consistent, in a model that orders such events.
    pub(super) const SEQ_CST: Traits = Traits(1 << 6);
    /// Waits for the end of a thread.
    pub(super) const JOIN: Traits = Traits(1 << 7);

    const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    fn when(self, condition: bool) -> Traits {
        if condition { self } else { Traits(0) }
    }

    /// Returns `true` if the event has all of these traits.
    #[inline]
    pub(super) fn has(self, traits: Traits) -> bool {
        self.0 & traits.0 == traits.0
    }
}

/// The record of an event.
#[derive(Clone, Copy)]
struct C11Event {
    /// The location, or [`NONE`].
    location: u32,
    /// The source, or [`NONE`]. A read without a source does nothing; an update without one is a write. The source of a
    /// sequentially consistent fence is the fence before it, while an order of the fences is being tried.
    rf: u32,
    /// The thread, or [`NONE`] for an initial write.
    thread: u32,
    traits: Traits,
}

/// The events of an execution under a C11-style model.
pub(super) struct C11Graph<'e> {
    pub(super) execution: &'e Execution,
    pub(super) orders: C11Orders,
    events: Vec<C11Event>,
    /// By thread: its events are `first..end`.
    pub(super) bounds: Vec<(u32, u32)>,
    /// By thread: the event that starts it, or [`NONE`].
    pub(super) spawned_by: Vec<u32>,
}

impl<'e> C11Graph<'e> {
    /// The graph of an execution. A read with several possible sources has none yet.
    pub(super) fn new(execution: &'e Execution, orders: C11Orders) -> C11Graph<'e> {
        let mut graph = C11Graph {
            execution,
            orders,
            events: Vec::with_capacity(execution.event_count()),
            bounds: Vec::with_capacity(execution.thread_count()),
            spawned_by: Vec::with_capacity(execution.thread_count()),
        };
        for event in execution.locations().map(|location| execution.init_of(location)) {
            graph.push(event, NONE);
        }
        for thread in execution.threads() {
            let first = graph.events.len() as u32;
            for event in execution.thread_events(thread) {
                graph.push(event, thread.index() as u32);
            }
            graph.bounds.push((first, graph.events.len() as u32));
            let spawn = execution.spawned_by(thread);
            graph.spawned_by.push(spawn.map_or(NONE, |event| event.index() as u32));
        }
        graph.pair_locks();
        graph
    }

    fn push(&mut self, event: EventId, thread: u32) {
        let action = self.execution.action(event);
        let object = action.location().is_some_and(|at| self.execution.location(at).synchronizes);
        self.events.push(C11Event {
            location: action.location().map_or(NONE, |l| l.index() as u32),
            rf: match *self.execution.sources(event) {
                [only] => only.index() as u32,
                // An update that writes what it reads is never its own source.
                [one, other] if one == event => other.index() as u32,
                [one, other] if other == event => one.index() as u32,
                _ => NONE,
            },
            thread,
            traits: traits(self.orders, action, self.execution.order(event), object),
        });
    }

    /// Every release of a lock observes the acquire of its own thread.
    fn pair_locks(&mut self) {
        let execution = self.execution;
        if !execution.locations().any(|location| execution.location(location).is_lock) {
            return;
        }
        let mut acquired = vec![NONE; execution.location_count()];
        for event in execution.events() {
            match *execution.action(event) {
                Action::Lock { lock } => acquired[lock.index()] = event.index() as u32,
                Action::Unlock { lock } => self.events[event.index()].rf = acquired[lock.index()],
                _ => {}
            }
        }
    }

    /// The number of events.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }

    /// The location of an event, or [`NONE`].
    #[inline]
    pub(super) fn location(&self, event: u32) -> u32 {
        self.events[event as usize].location
    }

    /// The source of an event, or [`NONE`] if it has none (yet).
    #[inline]
    pub(super) fn rf(&self, event: u32) -> u32 {
        self.events[event as usize].rf
    }

    /// Sets the source of an event; [`NONE`] removes it.
    pub(super) fn set_rf(&mut self, event: u32, source: u32) {
        self.events[event as usize].rf = source;
    }

    /// The thread of an event, or [`NONE`] for an initial write.
    #[inline]
    pub(super) fn thread_of(&self, event: u32) -> u32 {
        self.events[event as usize].thread
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.bounds.len()
    }

    /// The number of locations, whose initial writes are the first events.
    pub(super) fn locations(&self) -> usize {
        self.execution.location_count()
    }

    /// The cost of checking all events once, in steps of the budget.
    pub(super) fn cost(&self) -> u64 {
        1 + (self.events() * self.threads() / 16) as u64
    }

    /// Returns `true` if an event has all of these traits.
    #[inline]
    pub(super) fn is(&self, event: u32, traits: Traits) -> bool {
        self.events[event as usize].traits.has(traits)
    }

    /// Returns `true` if an event reads and writes.
    #[inline]
    pub(super) fn is_update(&self, event: u32) -> bool {
        self.is(event, Traits::READ.and(Traits::WRITE))
    }

    /// Returns `true` if an event is an initial write.
    #[inline]
    pub(super) fn is_init(&self, event: u32) -> bool {
        (event as usize) < self.locations()
    }

    /// Returns `true` if an event is a sequentially consistent fence, in a model that orders such events.
    #[inline]
    pub(super) fn is_seq_cst_fence(&self, event: u32) -> bool {
        self.is(event, Traits::FENCE.and(Traits::SEQ_CST))
    }

    /// Returns `true` if some event is sequentially consistent, in a model that orders such events.
    pub(super) fn has_seq_cst(&self) -> bool {
        self.has_any(Traits::SEQ_CST)
    }

    /// Returns `true` if some event has all of these traits.
    pub(super) fn has_any(&self, traits: Traits) -> bool {
        self.events.iter().any(|event| event.traits.has(traits))
    }

    /// Returns `true` if sequentially consistent fences are updates of a hidden location.
    pub(super) fn updates_hidden_location(&self) -> bool {
        self.orders.fences_update_hidden_location()
    }

    /// All sequentially consistent fences, in a model that orders such events.
    pub(super) fn seq_cst_fences(&self) -> Vec<u32> {
        (0..self.events() as u32).filter(|&event| self.is_seq_cst_fence(event)).collect()
    }

    /// Sets all sources to those of a witness.
    pub(super) fn adopt(&mut self, coherence: &Coherence) {
        for (event, source) in self.events.iter_mut().zip(&coherence.rf) {
            event.rf = source.map_or(NONE, |source| source.index() as u32);
        }
    }

    /// The position of an event in its thread, from 0.
    #[inline]
    pub(super) fn position(&self, event: u32) -> u32 {
        event - self.bounds[self.thread_of(event) as usize].0
    }

    /// What a join waits for: the last event of the thread joined or, if it has none, what starts
    /// it. [`NONE`] for other events.
    pub(super) fn joined(&self, event: u32) -> u32 {
        if !self.is(event, Traits::JOIN) {
            return NONE;
        }
        let Action::Join { thread } = *self.execution.action(id(event)) else { return NONE };
        match self.bounds[thread.index()] {
            (first, end) if first == end => self.spawned_by[thread.index()],
            (_, end) => end - 1,
        }
    }

    /// The evidence for given modification orders and a given order of fences.
    pub(super) fn coherence(&self, mo: Vec<Vec<EventId>>, fences: Vec<EventId>) -> Coherence {
        let source = |event: &C11Event| match event.rf {
            NONE => None,
            _ if event.location == NONE => None,
            source => Some(id(source)),
        };
        Coherence { rf: self.events.iter().map(source).collect(), mo, fences }
    }
}

/// The id of an event.
pub(super) fn id(event: u32) -> EventId {
    EventId::new(event as usize)
}

/// The traits of an event under a model. An `object` is a location that synchronizes in every model.
fn traits(orders: C11Orders, action: &Action, order: MemoryOrder, object: bool) -> Traits {
    let reads = action.has_source() || matches!(action, Action::Unlock { .. });
    let writes = action.is_source() || action.is_atomic_update();
    let fence = matches!(action, Action::Fence | Action::StoreFence);
    let lock = matches!(action, Action::Lock { .. } | Action::Unlock { .. });
    let access = reads || writes;
    let strength = if fence { orders.fence(order) } else { orders.access(order) };
    let (acquire, release) = match lock || object {
        true => (order.is_acquire(), order.is_release()),
        false => (strength.acquires, strength.releases),
    };
    let all = [
        Traits::READ.when(reads),
        Traits::WRITE.when(writes),
        Traits::ACQUIRE.when(acquire && (reads || fence)),
        Traits::RELEASE.when(release && (writes || fence)),
        Traits::ATOMIC.when(order.is_atomic() && access),
        Traits::FENCE.when(fence),
        Traits::SEQ_CST.when(strength.sequential && (access || fence)),
        Traits::JOIN.when(matches!(action, Action::Join { .. })),
    ];
    all.into_iter().fold(Traits(0), Traits::and)
}
