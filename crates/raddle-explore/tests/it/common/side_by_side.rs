//! Runs an incremental model and the checker of whole executions side by side, step by step, and compares every answer.

use std::fmt::{Debug, Write};

use raddle_core::execution::{Action, EventId, Execution, LocationId, MemoryOrder, ThreadId};
use raddle_core::random::Random;
use raddle_explore::event_index::{EventIndex, RfSource};
use raddle_explore::event_set::EventSet;
use raddle_explore::model::c11::{CheckerModel, Rules};
use raddle_explore::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, ReadEffect, ReadKind,
};

/// Life of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Waiting,
    Running,
    Joined,
}

/// What is sequentially consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeqCst {
    Nothing,
    AccessesOnly,
    Everything,
}

/// What is known of the execution.
#[derive(Clone, Debug)]
struct SideBySideState<R> {
    /// The next event.
    next: EventIndex,
    /// All writes: event, location, and whether it is the acquire of a lock.
    writes: Vec<(EventIndex, LocationId, bool)>,
    /// By thread: the acquire of the lock that it holds.
    held: Vec<Option<EventIndex>>,
    phases: Vec<Phase>,
    fences: R,
    /// Length of the text.
    text_len: usize,
    /// Of an execution that is followed: how many events each thread has performed.
    done: Vec<usize>,
    /// Of an execution that is followed: the event of the model for each event that has one.
    ids: Vec<Option<EventIndex>>,
}

/// A model `F` and its oracle in the same state.
pub(crate) struct SideBySide<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel> {
    model: F,
    oracle: CheckerModel<M, R>,
    state: SideBySideState<R>,
    /// The states before each level.
    levels: Vec<SideBySideState<R>>,
    /// What was done.
    text: String,
    /// Whether the sources offered must be exactly those that are admitted.
    exact: bool,
    /// How many sources were rejected and admitted.
    pub(crate) answers: [usize; 2],
}

/// The only lock comes after all locations.
pub(crate) fn lock(locations: usize) -> LocationId {
    LocationId::new(locations)
}

/// The synchronization object comes after the lock.
pub(crate) fn object(locations: usize) -> LocationId {
    LocationId::new(locations + 1)
}

impl<M: Rules, R: EventSet, F: IncrementalModel<R> + NewModel> SideBySide<M, R, F> {
    /// An execution without events. `exact`: the sources offered must be exactly those that are admitted.
    pub(crate) fn new(phases: Vec<Phase>, locations: usize, exact: bool) -> Self {
        let threads = phases.len();
        let state = SideBySideState {
            next: EventIndex::new(0),
            writes: vec![],
            held: vec![None; threads],
            phases,
            fences: R::default(),
            text_len: 0,
            done: vec![0; threads],
            ids: vec![],
        };
        SideBySide {
            // Tables grow on demand.
            model: F::new(1, locations.min(1)),
            oracle: CheckerModel::new(threads, locations + 2),
            state,
            levels: vec![],
            text: String::new(),
            exact,
            answers: [0; 2],
        }
    }

    fn log(&mut self, thread: ThreadId, what: impl Debug) {
        let event = self.state.next;
        writeln!(self.text, "{thread:?} {event:?}: {what:?}").expect("a string takes all");
        self.state.text_len = self.text.len();
    }

    fn new_event(&mut self) -> EventIndex {
        let event = self.state.next;
        self.state.next = event.next();
        event
    }

    pub(crate) fn store(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        order: MemoryOrder,
    ) -> EventIndex {
        self.log(thread, ("store", location, order));
        let event = self.new_event();
        let store = NewStore { event, thread, location, order };
        self.model.push_store(store);
        self.oracle.push_store(store);
        self.state.writes.push((event, location, false));
        event
    }

    /// Without an order: a store-store fence.
    pub(crate) fn fence(&mut self, thread: ThreadId, order: Option<MemoryOrder>) {
        self.log(thread, ("fence", order));
        let event = self.state.next;
        if self.model.fences_are_events() {
            self.state.fences.insert(event);
            self.new_event();
        }
        match order {
            Some(order) => {
                self.model.push_fence(event, thread, order);
                self.oracle.push_fence(event, thread, order);
            }
            None => {
                self.model.push_store_fence(event, thread);
                self.oracle.push_store_fence(event, thread);
            }
        }
    }

    pub(crate) fn cell_access(&mut self, thread: ThreadId) {
        self.log(thread, "cell access");
        let event = self.new_event();
        self.model.push_cell_access(event, thread);
        self.oracle.push_cell_access(event, thread);
    }

    pub(crate) fn unlock(&mut self, thread: ThreadId, lock: LocationId) -> Option<EventIndex> {
        let acquire = self.state.held[thread.index()].take()?;
        self.log(thread, ("unlock", acquire));
        let event = self.new_event();
        let unlock = NewUnlock { event, thread, lock, acquire };
        self.model.push_unlock(unlock);
        self.oracle.push_unlock(unlock);
        self.state.writes.push((event, lock, false));
        Some(event)
    }

    pub(crate) fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.log(parent, ("spawn", child));
        self.state.phases[child.index()] = Phase::Running;
        self.model.push_spawn(parent, child);
        self.oracle.push_spawn(parent, child);
    }

    pub(crate) fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.log(parent, ("join", child));
        self.state.phases[child.index()] = Phase::Joined;
        self.push_level(parent);
        self.model.push_join(parent, child);
        self.oracle.push_join(parent, child);
    }

    fn push_level(&mut self, thread: ThreadId) {
        self.levels.push(self.state.clone());
        self.model.push_level(thread);
        self.oracle.push_level(thread);
    }

    /// Undoes the last levels.
    pub(crate) fn pop(&mut self, levels: usize) {
        for _ in 0..levels {
            let Some(state) = self.levels.pop() else { return };
            self.model.pop();
            self.oracle.pop();
            self.text.truncate(state.text_len);
            self.state = state;
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(crate) fn holds(&self, thread: ThreadId) -> bool {
        self.state.held[thread.index()].is_some()
    }

    pub(crate) fn phase(&self, thread: ThreadId) -> Phase {
        self.state.phases[thread.index()]
    }

    pub(crate) fn events(&self) -> usize {
        self.state.next.index()
    }

    fn writes_of(&self, location: LocationId) -> Vec<RfSource> {
        let here = self.state.writes.iter().filter(|&&(_, at, _)| at == location);
        let events = here.map(|&(event, _, _)| event.into());
        [RfSource::INITIAL].into_iter().chain(events).collect()
    }

    fn new_read(
        &self,
        thread: ThreadId,
        location: LocationId,
        effect: ReadEffect,
        order: MemoryOrder,
    ) -> NewRead {
        NewRead { event: self.state.next, thread, location, effect, order }
    }

    /// The sources with which a read can be added. Model and oracle must agree on each.
    pub(crate) fn admitted(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        effect: ReadEffect,
        order: MemoryOrder,
    ) -> Vec<RfSource> {
        let kind = match effect {
            ReadEffect::Load => ReadKind::Load,
            ReadEffect::FailedCompareExchange => ReadKind::CompareExchange,
            ReadEffect::Update | ReadEffect::Sync => ReadKind::Update,
        };
        let offered = self.model.sources(PendingRead { thread, location, kind, order });
        let read = self.new_read(thread, location, effect, order);
        let mut admitted = vec![];
        for source in self.writes_of(location) {
            let expected = self.oracle.try_read(read, source);
            let found = self.model.try_read(read, source);
            let is_offered = offered.has(source);
            assert!(
                found == expected && (is_offered == found || is_offered && !self.exact),
                "{}: {read:?} from {source:?}: {found}, offered {is_offered}, expected {expected}\n{}",
                M::MODEL,
                self.text
            );
            self.answers[usize::from(found)] += 1;
            if found {
                self.model.pop();
                self.oracle.pop();
                admitted.push(source);
            }
        }
        admitted
    }

    /// Adds a read with a source that is admitted.
    pub(crate) fn read(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        source: RfSource,
        effect: ReadEffect,
        order: MemoryOrder,
    ) -> EventIndex {
        let before = self.state.clone();
        let read = self.new_read(thread, location, effect, order);
        self.log(thread, (effect, location, order, source));
        let event = self.new_event();
        let found = self.model.try_read(read, source);
        assert!(found, "{}: {source:?} again\n{}", M::MODEL, self.text);
        assert!(self.oracle.try_read(read, source));
        self.levels.push(before);
        if effect.writes() {
            self.state.writes.push((event, location, false));
        }
        event
    }

    /// Takes a lock, if it is free and one of the sources is a release.
    pub(crate) fn lock(&mut self, thread: ThreadId, lock: LocationId) -> Option<EventIndex> {
        let sources = self.admitted(thread, lock, ReadEffect::Sync, MemoryOrder::Acquire);
        let is_release = |source: RfSource| {
            let acquires = |&(event, _, acquire): &(EventIndex, LocationId, bool)| {
                acquire && Some(event) == source.event()
            };
            !self.state.writes.iter().any(acquires)
        };
        let source = sources.into_iter().find(|&source| is_release(source))?;
        let event = self.read(thread, lock, source, ReadEffect::Sync, MemoryOrder::Acquire);
        self.state.writes.last_mut().expect("just pushed").2 = true;
        self.state.held[thread.index()] = Some(event);
        Some(event)
    }

    /// Compares what happened before, and which writes can be last.
    pub(crate) fn compare(&mut self, locations: usize, random: &mut Random) {
        let thread = ThreadId::new(random.below(self.state.phases.len()));
        let before = self.model.happened_before(thread).minus(&self.state.fences);
        let expected = self.oracle.happened_before(thread);
        assert_eq!(before, expected, "{}: before {thread:?}\n{}", M::MODEL, self.text);
        let mut last = vec![];
        for location in (0..locations).map(LocationId::new) {
            if random.chance(0.6) {
                let writes = self.writes_of(location);
                last.push((location, writes[random.below(writes.len())]));
            }
        }
        let found = self.model.can_be_last(&last);
        let expected = self.oracle.can_be_last(&last);
        assert_eq!(found, expected, "{}: last {last:?}\n{}", M::MODEL, self.text);
    }

    /// Performs the next event of a thread of an execution, if possible. Returns whether it was.
    pub(crate) fn follow(&mut self, execution: &Execution, thread: ThreadId, what: SeqCst) -> bool {
        self.state.ids.resize(execution.event_count(), None);
        let done = self.state.done[thread.index()];
        let Some(event) = execution.event_at(thread, done) else { return false };
        let action = *execution.action(event);
        let location = action.location().unwrap_or(LocationId::new(0));
        let order = permitted(&action, execution.order(event), what);
        let done = match action {
            Action::Write { .. } => Some(Some(self.store(thread, location, order))),
            Action::Fence => {
                self.fence(thread, Some(order));
                Some(None)
            }
            Action::StoreFence => {
                self.fence(thread, None);
                Some(None)
            }
            Action::Unlock { .. } => self.unlock(thread, location).map(Some),
            Action::Lock { .. } => self.lock(thread, location).map(Some),
            Action::Spawn { thread: child } => {
                self.spawn(thread, child);
                Some(None)
            }
            Action::Join { thread: child } => {
                let is_done = self.state.done[child.index()] == execution.thread_len(child);
                let ready = self.phase(child) == Phase::Running && is_done;
                ready.then(|| {
                    self.join(thread, child);
                    None
                })
            }
            _ => {
                let effect = effect(&action);
                self.observe(execution, event, thread, location, effect, order).map(Some)
            }
        };
        let Some(own) = done else { return false };
        self.state.ids[event.index()] = own;
        self.state.done[thread.index()] += 1;
        true
    }

    /// Adds a read with its source in an execution, if that is there and allowed.
    fn observe(
        &mut self,
        execution: &Execution,
        event: EventId,
        thread: ThreadId,
        location: LocationId,
        effect: ReadEffect,
        order: MemoryOrder,
    ) -> Option<EventIndex> {
        let allowed = self.admitted(thread, location, effect, order);
        let sources = execution.sources(event).iter().map(|&source| {
            if execution.is_init(source) {
                Some(RfSource::INITIAL)
            } else {
                self.state.ids[source.index()].map(RfSource::from)
            }
        });
        let source = sources.flatten().find(|source| allowed.contains(source))?;
        Some(self.read(thread, location, source, effect, order))
    }
}

fn effect(action: &Action) -> ReadEffect {
    match action {
        Action::Cas { succeeded: false, .. } => ReadEffect::FailedCompareExchange,
        Action::Cas { .. } | Action::Rmw { .. } => ReadEffect::Update,
        _ => ReadEffect::Load,
    }
}

/// The order of an event, or the strongest one that is not sequentially consistent.
fn permitted(action: &Action, order: MemoryOrder, what: SeqCst) -> MemoryOrder {
    let is_fence = *action == Action::Fence;
    match what {
        SeqCst::Everything => order,
        SeqCst::AccessesOnly if !is_fence => order,
        _ if order != MemoryOrder::SeqCst => order,
        _ => {
            let weaker = action.possible_orders().iter().filter(|&&o| o != MemoryOrder::SeqCst);
            weaker.copied().max().unwrap_or(order)
        }
    }
}

/// A random order that such an event can have.
pub(crate) fn random_order(
    action: &Action,
    favourite: MemoryOrder,
    what: SeqCst,
    random: &mut Random,
) -> MemoryOrder {
    let possible = action.possible_orders();
    let order = match random.below(20) {
        0 => possible[random.below(possible.len())],
        1..13 if possible.contains(&favourite) => favourite,
        _ => {
            let atomic: Vec<_> = possible.iter().filter(|order| order.is_atomic()).collect();
            *atomic[random.below(atomic.len())]
        }
    };
    permitted(action, order, what)
}
