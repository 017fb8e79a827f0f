//! Any model, by asking its checker about the whole execution each time.
//!
//! Slow, simple and exact: the reference for the other incremental models, and the fallback for what they cannot
//! represent. Each step is recorded, and every question is answered by building an [`Execution`] of all steps.
//!
//! A synchronization object becomes a lock here, since nothing else synchronizes in every model: each
//! [`ReadEffect::Sync`] that is not unlocked later acquires and releases the lock at once.

use std::marker::PhantomData;

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::{
    Action, Coherence, EventId, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim,
    ThreadId, Value,
};
use raddle_core::model::relations::{Relations, own_acquire};

use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, ReadEffect, ReadKind,
    RfSources,
};

use super::models::Rules;

/// One step of an execution.
#[derive(Clone, Copy, Debug)]
enum RecordedStep {
    Store(NewStore),
    Read(NewRead, RfSource),
    Unlock(NewUnlock),
    Fence(MemoryOrder),
    StoreFence,
    /// An access of memory that no op carries.
    CellAccess(EventIndex),
    Spawn(ThreadId),
    Join(ThreadId),
}

impl RecordedStep {
    fn event(&self) -> Option<EventIndex> {
        match *self {
            RecordedStep::Store(NewStore { event, .. })
            | RecordedStep::Read(NewRead { event, .. }, _)
            | RecordedStep::Unlock(NewUnlock { event, .. })
            | RecordedStep::CellAccess(event) => Some(event),
            RecordedStep::Fence(_)
            | RecordedStep::StoreFence
            | RecordedStep::Spawn(_)
            | RecordedStep::Join(_) => None,
        }
    }

    /// The location that it accesses.
    fn location(&self) -> Option<LocationId> {
        match *self {
            RecordedStep::Store(NewStore { location, .. })
            | RecordedStep::Read(NewRead { location, .. }, _)
            | RecordedStep::Unlock(NewUnlock { lock: location, .. }) => Some(location),
            _ => None,
        }
    }

    /// The event, if it writes the location.
    fn write_of(&self, location: LocationId) -> Option<EventIndex> {
        let writes = match self {
            RecordedStep::Store(_) | RecordedStep::Unlock(_) => true,
            RecordedStep::Read(read, _) => read.effect.writes(),
            _ => false,
        };
        self.event().filter(|_| writes && self.location() == Some(location))
    }

    /// The write that an update reads.
    fn taken(&self) -> Option<RfSource> {
        match *self {
            RecordedStep::Read(read, source) if read.effect.writes() => Some(source),
            RecordedStep::Unlock(NewUnlock { acquire, .. }) => Some(acquire.into()),
            _ => None,
        }
    }

    /// The thread that it spawns or joins.
    fn child(&self) -> Option<ThreadId> {
        match *self {
            RecordedStep::Spawn(child) | RecordedStep::Join(child) => Some(child),
            _ => None,
        }
    }
}

/// The model `M`, which may also be one with store buffers, decided by [`check`].
#[derive(Debug)]
pub struct CheckerModel<M, R> {
    threads: usize,
    locations: usize,
    /// All steps, with their threads.
    steps: Vec<(ThreadId, RecordedStep)>,
    /// The number of steps before each level.
    levels: Vec<usize>,
    marker: PhantomData<(M, R)>,
}

/// An execution that is being built.
struct PartialExecution {
    builder: ExecutionBuilder,
    /// By thread of the model.
    threads: Vec<ThreadId>,
    /// By location of the model.
    locations: Vec<LocationId>,
    /// By event of the model: its thread and its position there.
    places: Vec<Option<(ThreadId, usize)>>,
    /// A location for accesses of cells, if these are part of the execution.
    cells: Option<LocationId>,
}

impl PartialExecution {
    fn claim(&self, source: RfSource) -> SourceClaim {
        match source.event().and_then(|source| self.places[source.index()]) {
            Some((thread, position)) => SourceClaim::Event { thread, position },
            None => SourceClaim::Init,
        }
    }

    fn finish(self) -> Option<Execution> {
        self.builder.build().ok()
    }
}

/// The value of a write: different for every write, 0 for the initial ones.
fn value(write: RfSource) -> Value {
    write.event().map_or(0, |event| event.index() as Value + 1)
}

impl<M: Rules, R: EventSet> CheckerModel<M, R> {
    /// The execution of all steps, with or without accesses of cells.
    fn build(&self, with_cells: bool) -> PartialExecution {
        let mut builder = ExecutionBuilder::new();
        let threads: Vec<ThreadId> =
            (0..self.threads).map(|t| builder.thread(&format!("P{t}"))).collect();
        threads.iter().for_each(|&thread| builder.declare(thread));
        let locations: Vec<LocationId> =
            (0..self.locations).map(|l| builder.location(&format!("x{l}"))).collect();
        for (index, &location) in locations.iter().enumerate() {
            if !self.is_lock(LocationId::new(index)) {
                // The first statement about a location is never refused.
                let _ = builder.init(location, 0);
            }
        }
        let cells = with_cells.then(|| builder.location("cells"));
        if let Some(location) = cells {
            let _ = builder.init(location, 0);
        }
        let mut built = PartialExecution { builder, threads, locations, places: vec![], cells };
        for &(thread, step) in &self.steps {
            self.add(&mut built, thread, step);
        }
        built
    }

    fn add(&self, built: &mut PartialExecution, thread: ThreadId, step: RecordedStep) {
        let (action, order, source) = match step {
            RecordedStep::Store(NewStore { event, location, order, .. }) => {
                let location = built.locations[location.index()];
                (Action::Write { location, value: value(event.into()) }, order, None)
            }
            RecordedStep::Read(NewRead { event, location, effect, order, .. }, source) => {
                let location = built.locations[location.index()];
                let action = read_action(location, event, source, effect);
                let order = if effect == ReadEffect::Sync { MemoryOrder::Acquire } else { order };
                (action, order, Some(source))
            }
            RecordedStep::Unlock(NewUnlock { lock, .. }) => {
                let lock = built.locations[lock.index()];
                (Action::Unlock { lock }, MemoryOrder::Release, None)
            }
            RecordedStep::Fence(order) => (Action::Fence, order, None),
            RecordedStep::StoreFence => (Action::StoreFence, MemoryOrder::Release, None),
            RecordedStep::CellAccess(_) => {
                let Some(location) = built.cells else { return };
                let action = Action::Read { location, value: 0 };
                (action, MemoryOrder::NonAtomic, Some(RfSource::INITIAL))
            }
            RecordedStep::Spawn(child) => {
                let thread = built.threads[child.index()];
                (Action::Spawn { thread }, MemoryOrder::Release, None)
            }
            RecordedStep::Join(child) => {
                let thread = built.threads[child.index()];
                (Action::Join { thread }, MemoryOrder::Acquire, None)
            }
        };
        let claim = source.map_or(SourceClaim::Unnamed, |source| built.claim(source));
        let id = built.threads[thread.index()];
        let mut position = built.builder.push_ordered(id, action, order, claim);
        if let Action::Lock { lock } = action
            && !self.is_unlocked(step)
        {
            position = built.builder.push(id, Action::Unlock { lock }, SourceClaim::Unnamed);
        }
        if let Some(event) = step.event() {
            built.places.resize(event.index(), None);
            built.places.push(Some((id, position)));
        }
    }

    /// Returns `true` if the location is that of a lock or another synchronization object.
    fn is_lock(&self, location: LocationId) -> bool {
        let syncs = |step: &RecordedStep| matches!(step, RecordedStep::Read(read, _) if read.effect == ReadEffect::Sync);
        self.steps.iter().any(|(_, step)| step.location() == Some(location) && syncs(step))
    }

    /// Returns `true` if an acquire is followed by its unlock.
    fn is_unlocked(&self, acquired: RecordedStep) -> bool {
        let unlocks = |step: &RecordedStep| matches!(step, RecordedStep::Unlock(unlock) if Some(unlock.acquire) == acquired.event());
        self.steps.iter().any(|(_, step)| unlocks(step))
    }

    /// Returns `true` if an update has read the write of the location.
    fn is_taken(&self, location: LocationId, write: RfSource) -> bool {
        let takes =
            |step: &RecordedStep| step.location() == Some(location) && step.taken() == Some(write);
        self.steps.iter().any(|(_, step)| takes(step))
    }

    fn writes(&self, location: LocationId) -> impl Iterator<Item = EventIndex> + '_ {
        self.steps.iter().filter_map(move |(_, step)| step.write_of(location))
    }

    fn push(&mut self, thread: ThreadId, step: RecordedStep) {
        let threads = step.child().map_or(0, |child| child.index() + 1);
        self.threads = self.threads.max(thread.index() + 1).max(threads);
        let locations = step.location().map_or(0, |location| location.index() + 1);
        self.locations = self.locations.max(locations);
        self.steps.push((thread, step));
    }

    /// Returns `true` if no write of the location happens after this one.
    fn is_overwritten_by_none(&self, location: LocationId, write: RfSource) -> bool {
        let mut built = self.build(false);
        let places = std::mem::take(&mut built.places);
        let Some(execution) = built.finish() else { return false };
        let id = |event: EventIndex| {
            places[event.index()].and_then(|(thread, at)| execution.event_at(thread, at))
        };
        let Some(own) = write.event().and_then(id) else {
            return self.writes(location).next().is_none();
        };
        let mut others = self.writes(location).filter_map(id);
        !others.any(|other| past::<M>(&execution, other)(own))
    }

    /// Adds threads that observe another write of the location and then `last`, which is hence the later one. Such
    /// threads change nothing else.
    fn observe_last(&self, built: &mut PartialExecution, location: LocationId, last: EventIndex) {
        for other in self.writes(location).filter(|&write| write != last) {
            let thread = built.builder.thread(&format!("{} {}", location.index(), other.index()));
            for write in [other, last] {
                let at = built.locations[location.index()];
                let action = read_action(at, last, write.into(), ReadEffect::Load);
                let claim = built.claim(write.into());
                built.builder.push_ordered(thread, action, MemoryOrder::Relaxed, claim);
            }
        }
    }
}

/// Returns `true` if the model allows the execution. Races are not the business of an incremental model.
fn allows<M: Rules>(execution: &Execution) -> bool {
    let options = CheckOptions { budget: u64::MAX, shrink: false, ..CheckOptions::default() };
    let verdict = check(execution, M::MODEL, &options);
    matches!(
        verdict,
        ConsistencyVerdict::Consistent(_)
            | ConsistencyVerdict::Inconsistent(Violation::Race { .. })
    )
}

/// The predicate that holds for all events that happen before this one. The order of fences does not count.
fn past<M: Rules>(execution: &Execution, event: EventId) -> impl Fn(EventId) -> bool {
    let source = |e: EventId| match execution.sources(e) {
        [source] => Some(*source),
        _ => own_acquire(execution, e),
    };
    let rf = execution.events().map(source).collect();
    let given = Coherence { rf, mo: vec![], fences: vec![] };
    let hb = Relations::new(execution, M::MODEL, &given).hb;
    move |other| hb.contains(other.index(), event.index())
}

fn read_action(
    location: LocationId,
    event: EventIndex,
    source: RfSource,
    effect: ReadEffect,
) -> Action {
    let (read, written) = (value(source), value(event.into()));
    match effect {
        ReadEffect::Load => Action::Read { location, value: read },
        ReadEffect::FailedCompareExchange => {
            Action::Cas { location, expected: -1, desired: written, read, succeeded: false }
        }
        ReadEffect::Update => Action::Rmw { location, read, written },
        ReadEffect::Sync => Action::Lock { lock: location },
    }
}

impl<M: Rules, R: EventSet> NewModel for CheckerModel<M, R> {
    fn new(threads: usize, locations: usize) -> Self {
        CheckerModel { threads, locations, steps: vec![], levels: vec![], marker: PhantomData }
    }
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for CheckerModel<M, R> {
    #[inline]
    fn fences_are_events(&self) -> bool {
        false
    }

    #[inline]
    fn races_are_errors(&self) -> bool {
        !M::MODEL.has_store_buffers()
    }

    fn push_store(&mut self, store: NewStore) {
        self.push(store.thread, RecordedStep::Store(store));
    }

    fn push_unlock(&mut self, unlock: NewUnlock) {
        self.push(unlock.thread, RecordedStep::Unlock(unlock));
    }

    fn push_fence(&mut self, _event: EventIndex, thread: ThreadId, order: MemoryOrder) {
        if order.is_acquire() || order.is_release() {
            self.push(thread, RecordedStep::Fence(order));
        }
    }

    fn push_store_fence(&mut self, _event: EventIndex, thread: ThreadId) {
        self.push(thread, RecordedStep::StoreFence);
    }

    fn push_cell_access(&mut self, event: EventIndex, thread: ThreadId) {
        self.push(thread, RecordedStep::CellAccess(event));
    }

    fn push_spawn(&mut self, parent: ThreadId, child: ThreadId) {
        self.push(parent, RecordedStep::Spawn(child));
    }

    fn push_join(&mut self, parent: ThreadId, child: ThreadId) {
        self.push(parent, RecordedStep::Join(child));
    }

    fn sources(&mut self, read: PendingRead) -> RfSources<R> {
        let PendingRead { location, kind, .. } = read;
        let free = |source: RfSource| kind != ReadKind::Update || !self.is_taken(location, source);
        let mut writes = R::default();
        self.writes(location)
            .filter(|&write| free(write.into()))
            .for_each(|write| writes.insert(write));
        RfSources { writes, initial: free(RfSource::INITIAL) }
    }

    fn try_read(&mut self, read: NewRead, source: RfSource) -> bool {
        if read.effect.writes() && self.is_taken(read.location, source) {
            return false;
        }
        self.push_level(read.thread);
        self.push(read.thread, RecordedStep::Read(read, source));
        let allowed = self.build(false).finish().is_some_and(|execution| allows::<M>(&execution));
        if !allowed {
            self.pop();
        }
        allowed
    }

    fn push_level(&mut self, _thread: ThreadId) {
        self.levels.push(self.steps.len());
    }

    fn pop(&mut self) {
        let left = self.levels.pop().unwrap_or(0);
        self.steps.truncate(left);
    }

    fn can_be_last(&mut self, last: &[(LocationId, RfSource)]) -> bool {
        if !M::MODEL.has_modification_order() {
            return last
                .iter()
                .all(|&(location, write)| self.is_overwritten_by_none(location, write));
        }
        let mut built = self.build(false);
        for &(location, write) in last {
            match write.event() {
                _ if self.is_lock(location) && self.is_taken(location, write) => return false,
                _ if self.is_lock(location) => {}
                None if self.writes(location).next().is_some() => return false,
                None => {}
                Some(write) => self.observe_last(&mut built, location, write),
            }
        }
        built.finish().is_some_and(|execution| allows::<M>(&execution))
    }

    fn events_of(&self, thread: ThreadId) -> R {
        let own = self.steps.iter().filter(|&&(of, _)| of == thread);
        let mut events = R::default();
        own.filter_map(|(_, step)| step.event()).for_each(|event| events.insert(event));
        events
    }

    fn happened_before(&self, thread: ThreadId) -> R {
        let mut before = R::default();
        let mut built = self.build(true);
        let Some(&id) = built.threads.get(thread.index()) else { return before };
        // A release fence at the end synchronizes with no other event.
        let (fence, order) = (Action::StoreFence, MemoryOrder::Release);
        built.builder.push_ordered(id, fence, order, SourceClaim::Unnamed);
        let places = std::mem::take(&mut built.places);
        let Some(execution) = built.finish() else { return before };
        let Some(end) = execution.thread_events(id).next_back() else { return before };
        let is_before = past::<M>(&execution, end);
        for (event, place) in places.into_iter().enumerate() {
            let place = place.and_then(|(thread, at)| execution.event_at(thread, at));
            if place.is_some_and(&is_before) {
                before.insert(EventIndex::new(event));
            }
        }
        before
    }
}
