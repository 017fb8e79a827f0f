//! A face for any model, by asking its checker about the whole execution each time.
//!
//! Slow, simple and exact: the reference for faster faces, and the face of what they leave out. A step
//! is written down, and every question is answered by building an [`Execution`] of all steps.
//!
//! A synchronization object is told as a lock here, since nothing else synchronizes in every model:
//! each [`Effect::Sync`] that is not released later acquires and releases the lock at once.

use std::marker::PhantomData;

use crate::event_set::EventSet;
use crate::model::{Effect, IncrementalModel, Reads, Sources};
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::Coherence;
use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId,
    Value,
};
use raddle_core::model::relations::{Relations, own_acquire};

use super::models::Rules;

/// One step of an execution.
#[derive(Clone, Copy, Debug)]
enum Step {
    Store {
        event: usize,
        location: usize,
        order: MemoryOrder,
    },
    Read {
        event: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    },
    Unlock {
        event: usize,
        lock: usize,
        acquire: usize,
    },
    Fence {
        order: MemoryOrder,
    },
    StoreFence,
    /// Of memory that the model does not know.
    Access {
        event: usize,
    },
    Spawn {
        child: usize,
    },
    Join {
        child: usize,
    },
}

impl Step {
    fn event(&self) -> Option<usize> {
        match *self {
            Step::Store { event, .. }
            | Step::Read { event, .. }
            | Step::Unlock { event, .. }
            | Step::Access { event } => Some(event),
            Step::Fence { .. } | Step::StoreFence | Step::Spawn { .. } | Step::Join { .. } => None,
        }
    }

    /// The event and the location that it writes.
    fn written(&self) -> Option<(usize, usize)> {
        match *self {
            Step::Store { event, location, .. } | Step::Unlock { event, lock: location, .. } => {
                Some((event, location))
            }
            Step::Read { event, location, effect: Effect::Update | Effect::Sync, .. } => {
                Some((event, location))
            }
            _ => None,
        }
    }

    /// The location and the source, if it is an update of it.
    fn taken(&self) -> Option<(usize, Option<usize>)> {
        match *self {
            Step::Read { location, source, effect: Effect::Update | Effect::Sync, .. } => {
                Some((location, source))
            }
            Step::Unlock { lock, acquire, .. } => Some((lock, Some(acquire))),
            _ => None,
        }
    }
}

/// A face that asks [`check`]. `M` says the model, which may also be one with store buffers.
#[derive(Debug)]
pub struct Checked<M, R> {
    threads: usize,
    locations: usize,
    /// All steps, with their threads.
    steps: Vec<(usize, Step)>,
    /// How many steps there were before each level.
    levels: Vec<usize>,
    marker: PhantomData<(M, R)>,
}

/// An execution with the places of the events in it.
struct Built {
    builder: ExecutionBuilder,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
    /// By event: where others observe it.
    places: Vec<Option<(ThreadId, usize)>>,
    /// If accesses that the model does not know are in the execution: a location for them.
    elsewhere: Option<LocationId>,
}

impl Built {
    fn push(&mut self, thread: usize, action: Action, order: MemoryOrder, source: SourceClaim) {
        self.builder.push_ordered(self.threads[thread], action, order, source);
    }

    fn claim(&self, source: Option<usize>) -> SourceClaim {
        match source.and_then(|source| self.places[source]) {
            Some((thread, position)) => SourceClaim::Event { thread, position },
            None => SourceClaim::Init,
        }
    }

    fn finish(self) -> Option<Execution> {
        self.builder.build().ok()
    }
}

/// The value that an event writes, or the initial one.
fn value(source: Option<usize>) -> Value {
    source.map_or(0, |event| event as Value + 1)
}

impl<M: Rules, R: EventSet> Checked<M, R> {
    /// The execution of all steps, still open; with or without accesses that the model does not know.
    fn build(&self, with_accesses: bool) -> Built {
        let mut builder = ExecutionBuilder::new();
        let threads: Vec<ThreadId> =
            (0..self.threads).map(|t| builder.thread(&format!("P{t}"))).collect();
        threads.iter().for_each(|&thread| builder.declare(thread));
        let locations: Vec<LocationId> =
            (0..self.locations).map(|l| builder.location(&format!("x{l}"))).collect();
        for (index, &location) in locations.iter().enumerate() {
            if !self.is_lock(index) {
                // The first statement about a location is never refused.
                let _ = builder.init(location, 0);
            }
        }
        let elsewhere = with_accesses.then(|| builder.location("elsewhere"));
        if let Some(location) = elsewhere {
            let _ = builder.init(location, 0);
        }
        let mut built = Built { builder, threads, locations, places: vec![], elsewhere };
        for &(thread, step) in &self.steps {
            self.add(&mut built, thread, step);
        }
        built
    }

    fn add(&self, built: &mut Built, thread: usize, step: Step) {
        let (action, order, claim) = match step {
            Step::Store { event, location, order } => {
                let location = built.locations[location];
                (Action::Write { location, value: value(Some(event)) }, order, None)
            }
            Step::Read { event, location, source, effect, order } => {
                let action = read(built.locations[location], event, source, effect);
                let order = if effect == Effect::Sync { MemoryOrder::Acquire } else { order };
                (action, order, Some(source))
            }
            Step::Unlock { lock, .. } => {
                let lock = built.locations[lock];
                (Action::Unlock { lock }, MemoryOrder::Release, None)
            }
            Step::Fence { order } => (Action::Fence, order, None),
            Step::StoreFence => (Action::StoreFence, MemoryOrder::Release, None),
            Step::Access { .. } => {
                let Some(location) = built.elsewhere else { return };
                (Action::Read { location, value: 0 }, MemoryOrder::NonAtomic, Some(None))
            }
            Step::Spawn { child } => {
                let thread = built.threads[child];
                (Action::Spawn { thread }, MemoryOrder::Release, None)
            }
            Step::Join { child } => {
                let thread = built.threads[child];
                (Action::Join { thread }, MemoryOrder::Acquire, None)
            }
        };
        let claim = claim.map_or(SourceClaim::Unnamed, |source| built.claim(source));
        let id = built.threads[thread];
        let mut position = built.builder.push_ordered(id, action, order, claim);
        if let Action::Lock { lock } = action
            && !self.is_released(step)
        {
            position = built.builder.push(id, Action::Unlock { lock }, SourceClaim::Unnamed);
        }
        if let Some(event) = step.event() {
            built.places.resize(event, None);
            built.places.push(Some((id, position)));
        }
    }

    /// Whether the location is one of locks and synchronization objects.
    fn is_lock(&self, location: usize) -> bool {
        let syncs = |step: &Step| matches!(*step, Step::Read { location: at, effect: Effect::Sync, .. } if at == location);
        self.steps.iter().any(|(_, step)| syncs(step))
    }

    /// Whether an acquire is followed by its release.
    fn is_released(&self, acquired: Step) -> bool {
        let releases = |step: &Step| matches!(*step, Step::Unlock { acquire, .. } if Some(acquire) == acquired.event());
        self.steps.iter().any(|(_, step)| releases(step))
    }

    fn is_taken(&self, location: usize, source: Option<usize>) -> bool {
        self.steps.iter().any(|(_, step)| step.taken() == Some((location, source)))
    }

    /// The writes of a location.
    fn writes(&self, location: usize) -> impl Iterator<Item = usize> + '_ {
        let written = self.steps.iter().filter_map(|(_, step)| step.written());
        written.filter(move |&(_, at)| at == location).map(|(event, _)| event)
    }

    fn push(&mut self, thread: usize, step: Step) {
        self.threads = self.threads.max(thread + 1);
        if let Step::Spawn { child } | Step::Join { child } = step {
            self.threads = self.threads.max(child + 1);
        }
        if let Step::Store { location, .. } | Step::Read { location, .. } = step {
            self.locations = self.locations.max(location + 1);
        }
        self.steps.push((thread, step));
    }

    /// Whether no write of the location happens after one.
    fn is_overwritten_by_none(&self, location: usize, write: Option<usize>) -> bool {
        let mut built = self.build(false);
        let places = std::mem::take(&mut built.places);
        let Some(execution) = built.finish() else { return false };
        let id =
            |event: usize| places[event].and_then(|(thread, at)| execution.event_at(thread, at));
        let Some(own) = write.and_then(id) else { return self.writes(location).next().is_none() };
        let mut others = self.writes(location).filter_map(id);
        !others.any(|other| past::<M>(&execution, other)(own))
    }

    /// Adds threads that observe one write and then another one of the same location: so the second
    /// is the last of the two. Who only looks on changes nothing else.
    fn observe_last(&self, built: &mut Built, location: usize, last: usize) {
        for other in self.writes(location).filter(|&write| write != last) {
            let name = format!("{location} {other}");
            built.threads.push(built.builder.thread(&name));
            for write in [other, last] {
                let action = read(built.locations[location], 0, Some(write), Effect::Load);
                let claim = built.claim(Some(write));
                built.push(built.threads.len() - 1, action, MemoryOrder::Relaxed, claim);
            }
        }
    }
}

/// Whether the model allows an execution; a race is none of a face's business.
fn allows<M: Rules>(execution: &Execution) -> bool {
    let options = CheckOptions { budget: u64::MAX, shrink: false, ..CheckOptions::default() };
    let verdict = check(execution, M::MODEL, &options);
    matches!(
        verdict,
        ConsistencyVerdict::Consistent(_)
            | ConsistencyVerdict::Inconsistent(Violation::Race { .. })
    )
}

/// Everything that happens before an event, where the order of fences does not count.
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

fn read(location: LocationId, event: usize, source: Option<usize>, effect: Effect) -> Action {
    let (read, written) = (value(source), value(Some(event)));
    match effect {
        Effect::Load => Action::Read { location, value: read },
        Effect::Failed => {
            Action::Cas { location, expected: -1, desired: written, read, succeeded: false }
        }
        Effect::Update => Action::Rmw { location, read, written },
        Effect::Sync => Action::Lock { lock: location },
    }
}

impl<M: Rules, R: EventSet> IncrementalModel<R> for Checked<M, R> {
    const FENCES_ARE_EVENTS: bool = false;
    const RACES: bool = !M::MODEL.has_store_buffers();

    fn new(threads: usize, locations: usize) -> Self {
        Checked { threads, locations, steps: vec![], levels: vec![], marker: PhantomData }
    }

    fn push_store(&mut self, event: usize, thread: usize, location: usize, order: MemoryOrder) {
        self.push(thread, Step::Store { event, location, order });
    }

    fn push_unlock(&mut self, event: usize, thread: usize, lock: usize, acquire: usize) {
        self.push(thread, Step::Unlock { event, lock, acquire });
    }

    fn push_fence(&mut self, _event: usize, thread: usize, order: MemoryOrder) {
        if order.is_acquire() || order.is_release() {
            self.push(thread, Step::Fence { order });
        }
    }

    fn push_store_fence(&mut self, _event: usize, thread: usize) {
        self.push(thread, Step::StoreFence);
    }

    fn push_access(&mut self, event: usize, thread: usize) {
        self.push(thread, Step::Access { event });
    }

    fn push_spawn(&mut self, parent: usize, child: usize) {
        self.push(parent, Step::Spawn { child });
    }

    fn push_join(&mut self, parent: usize, child: usize) {
        self.push(parent, Step::Join { child });
    }

    fn sources(
        &mut self,
        _thread: usize,
        location: usize,
        reads: Reads,
        _order: MemoryOrder,
    ) -> Sources<R> {
        let free = |source| reads != Reads::Update || !self.is_taken(location, source);
        let mut writes = R::default();
        self.writes(location).filter(|&write| free(Some(write))).for_each(|w| writes.insert(w));
        Sources { writes, initial: free(None) }
    }

    fn try_read(
        &mut self,
        event: usize,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> bool {
        let writes = matches!(effect, Effect::Update | Effect::Sync);
        if writes && self.is_taken(location, source) {
            return false;
        }
        self.push_level(thread);
        self.push(thread, Step::Read { event, location, source, effect, order });
        let allowed = self.build(false).finish().is_some_and(|execution| allows::<M>(&execution));
        if !allowed {
            self.pop();
        }
        allowed
    }

    fn push_level(&mut self, _thread: usize) {
        self.levels.push(self.steps.len());
    }

    fn pop(&mut self) {
        let left = self.levels.pop().unwrap_or(0);
        self.steps.truncate(left);
    }

    fn can_be_last(&mut self, last: &[(usize, Option<usize>)]) -> bool {
        if !M::MODEL.has_modification_order() {
            return last
                .iter()
                .all(|&(location, write)| self.is_overwritten_by_none(location, write));
        }
        let mut built = self.build(false);
        for &(location, write) in last {
            match write {
                _ if self.is_lock(location) && self.is_taken(location, write) => return false,
                _ if self.is_lock(location) => {}
                None if self.writes(location).next().is_some() => return false,
                None => {}
                Some(write) => self.observe_last(&mut built, location, write),
            }
        }
        built.finish().is_some_and(|execution| allows::<M>(&execution))
    }

    fn happened_before(&self, thread: usize) -> R {
        let mut row = R::default();
        let mut built = self.build(true);
        let Some(&id) = built.threads.get(thread) else { return row };
        // A release fence at the end synchronizes with nobody.
        built.push(thread, Action::StoreFence, MemoryOrder::Release, SourceClaim::Unnamed);
        let places = std::mem::take(&mut built.places);
        let Some(execution) = built.finish() else { return row };
        let Some(end) = execution.thread_events(id).next_back() else { return row };
        let is_before = past::<M>(&execution, end);
        for (event, place) in places.into_iter().enumerate() {
            let place = place.and_then(|(thread, at)| execution.event_at(thread, at));
            if place.is_some_and(&is_before) {
                row.insert(event);
            }
        }
        row
    }
}
