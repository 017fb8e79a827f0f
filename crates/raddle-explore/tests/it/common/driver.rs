//! Drives a face and the checker of whole executions side by side, step by step, and compares every
//! answer.

use std::fmt::{Debug, Write};

use raddle_core::execution::{Action, EventId, Execution, LocationId, MemoryOrder};
use raddle_core::random::Random;
use raddle_explore::event_set::EventSet;
use raddle_explore::model::c11::{Checked, Rules};
use raddle_explore::model::{Effect, IncrementalModel, Reads};

/// Where a thread is.
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

/// What the driver knows of the execution.
#[derive(Clone, Debug)]
struct State<R> {
    /// The next event.
    next: usize,
    /// All writes: event, location, and whether it is the acquire of a lock.
    writes: Vec<(usize, usize, bool)>,
    /// By thread: the acquire of the lock that it holds.
    held: Vec<Option<usize>>,
    phases: Vec<Phase>,
    fences: R,
    /// How long the text is.
    told: usize,
    /// Of an execution that is followed: how many events each thread has done, and which event of the
    /// face is which.
    done: Vec<usize>,
    ids: Vec<Option<usize>>,
}

/// A face and its oracle in the same state.
pub(crate) struct Driver<M: Rules, R: EventSet, F: IncrementalModel<R>> {
    face: F,
    oracle: Checked<M, R>,
    state: State<R>,
    /// The states before each level.
    levels: Vec<State<R>>,
    /// What was done.
    text: String,
    /// Whether the sources offered must be exactly those that are admitted.
    exact: bool,
    pub(crate) answers: [usize; 2],
}

/// The only lock comes after all locations.
pub(crate) fn lock(locations: usize) -> usize {
    locations
}

/// The synchronization object comes after the lock.
pub(crate) fn object(locations: usize) -> usize {
    locations + 1
}

impl<M: Rules, R: EventSet, F: IncrementalModel<R>> Driver<M, R, F> {
    /// Nothing has happened. `exact` says whether the sources offered must be those that are admitted.
    pub(crate) fn new(phases: Vec<Phase>, locations: usize, exact: bool) -> Self {
        let threads = phases.len();
        let state = State {
            next: 0,
            writes: vec![],
            held: vec![None; threads],
            phases,
            fences: R::default(),
            told: 0,
            done: vec![0; threads],
            ids: vec![],
        };
        Driver {
            // Tables grow on demand.
            face: F::new(1, locations.min(1)),
            oracle: Checked::new(threads, locations + 2),
            state,
            levels: vec![],
            text: String::new(),
            exact,
            answers: [0; 2],
        }
    }

    fn tell(&mut self, thread: usize, what: impl Debug) {
        let id = self.state.next;
        writeln!(self.text, "P{thread} {id}: {what:?}").expect("a string takes all");
        self.state.told = self.text.len();
    }

    fn event(&mut self) -> usize {
        self.state.next += 1;
        self.state.next - 1
    }

    pub(crate) fn store(&mut self, thread: usize, location: usize, order: MemoryOrder) -> usize {
        self.tell(thread, ("store", location, order));
        let event = self.event();
        self.face.push_store(event, thread, location, order);
        self.oracle.push_store(event, thread, location, order);
        self.state.writes.push((event, location, false));
        event
    }

    pub(crate) fn fence(&mut self, thread: usize, order: Option<MemoryOrder>) {
        self.tell(thread, ("fence", order));
        let event = self.state.next;
        if F::FENCES_ARE_EVENTS {
            self.state.fences.insert(event);
            self.state.next += 1;
        }
        match order {
            Some(order) => {
                self.face.push_fence(event, thread, order);
                self.oracle.push_fence(event, thread, order);
            }
            None => {
                self.face.push_store_fence(event, thread);
                self.oracle.push_store_fence(event, thread);
            }
        }
    }

    pub(crate) fn access(&mut self, thread: usize) {
        self.tell(thread, "access");
        let event = self.event();
        self.face.push_access(event, thread);
        self.oracle.push_access(event, thread);
    }

    pub(crate) fn unlock(&mut self, thread: usize, lock: usize) -> Option<usize> {
        let acquire = self.state.held[thread].take()?;
        self.tell(thread, ("unlock", acquire));
        let event = self.event();
        self.face.push_unlock(event, thread, lock, acquire);
        self.oracle.push_unlock(event, thread, lock, acquire);
        self.state.writes.push((event, lock, false));
        Some(event)
    }

    pub(crate) fn spawn(&mut self, parent: usize, child: usize) {
        self.tell(parent, ("spawn", child));
        self.state.phases[child] = Phase::Running;
        self.face.push_spawn(parent, child);
        self.oracle.push_spawn(parent, child);
    }

    pub(crate) fn join(&mut self, parent: usize, child: usize) {
        self.tell(parent, ("join", child));
        self.state.phases[child] = Phase::Joined;
        self.push_level(parent);
        self.face.push_join(parent, child);
        self.oracle.push_join(parent, child);
    }

    fn push_level(&mut self, thread: usize) {
        self.levels.push(self.state.clone());
        self.face.push_level(thread);
        self.oracle.push_level(thread);
    }

    /// Takes some levels back.
    pub(crate) fn pop(&mut self, levels: usize) {
        for _ in 0..levels {
            let Some(state) = self.levels.pop() else { return };
            self.face.pop();
            self.oracle.pop();
            self.text.truncate(state.told);
            self.state = state;
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(crate) fn holds(&self, thread: usize) -> bool {
        self.state.held[thread].is_some()
    }

    pub(crate) fn phase(&self, thread: usize) -> Phase {
        self.state.phases[thread]
    }

    pub(crate) fn events(&self) -> usize {
        self.state.next
    }

    fn writes_of(&self, location: usize) -> Vec<Option<usize>> {
        let here = self.state.writes.iter().filter(|&&(_, at, _)| at == location);
        [None].into_iter().chain(here.map(|&(event, _, _)| Some(event))).collect()
    }

    /// With which sources a read can be added. IncrementalModel and oracle must agree on each.
    pub(crate) fn ask(
        &mut self,
        thread: usize,
        location: usize,
        effect: Effect,
        order: MemoryOrder,
    ) -> Vec<Option<usize>> {
        let reads = match effect {
            Effect::Load => Reads::Load,
            Effect::Failed => Reads::Compare,
            Effect::Update | Effect::Sync => Reads::Update,
        };
        let offered = self.face.sources(thread, location, reads, order);
        let event = self.state.next;
        let mut allowed = vec![];
        for source in self.writes_of(location) {
            let expected = self.oracle.try_read(event, thread, location, source, effect, order);
            let found = self.face.try_read(event, thread, location, source, effect, order);
            let is_offered = source.map_or(offered.initial, |write| offered.writes.has(write));
            assert!(
                found == expected && (is_offered == found || is_offered && !self.exact),
                "{}: P{thread} {effect:?} {location} {order} from {source:?}: {found}, \
                 offered {is_offered}, expected {expected}\n{}",
                M::MODEL,
                self.text
            );
            self.answers[usize::from(found)] += 1;
            if found {
                self.face.pop();
                self.oracle.pop();
                allowed.push(source);
            }
        }
        allowed
    }

    /// Adds a read with a source that was found to be allowed.
    pub(crate) fn read(
        &mut self,
        thread: usize,
        location: usize,
        source: Option<usize>,
        effect: Effect,
        order: MemoryOrder,
    ) -> usize {
        let before = self.state.clone();
        self.tell(thread, (effect, location, order, source));
        let event = self.event();
        let found = self.face.try_read(event, thread, location, source, effect, order);
        assert!(found, "{}: {source:?} again\n{}", M::MODEL, self.text);
        assert!(self.oracle.try_read(event, thread, location, source, effect, order));
        self.levels.push(before);
        if matches!(effect, Effect::Update | Effect::Sync) {
            self.state.writes.push((event, location, false));
        }
        event
    }

    /// Takes a lock, if it is free and one of the sources is a release.
    pub(crate) fn lock(&mut self, thread: usize, lock: usize) -> Option<usize> {
        let sources = self.ask(thread, lock, Effect::Sync, MemoryOrder::Acquire);
        let is_release = |source: &Option<usize>| {
            !self.state.writes.iter().any(|&(event, _, acquire)| acquire && Some(event) == *source)
        };
        let source = *sources.iter().find(|source| is_release(source))?;
        let event = self.read(thread, lock, source, Effect::Sync, MemoryOrder::Acquire);
        self.state.writes.last_mut().expect("just pushed").2 = true;
        self.state.held[thread] = Some(event);
        Some(event)
    }

    /// Compares what happened before, and which writes can be last.
    pub(crate) fn compare(&mut self, locations: usize, random: &mut Random) {
        let thread = random.below(self.state.phases.len());
        let before = self.face.happened_before(thread).minus(self.state.fences);
        let expected = self.oracle.happened_before(thread);
        assert_eq!(before, expected, "{}: before P{thread}\n{}", M::MODEL, self.text);
        let mut last = vec![];
        for location in 0..locations {
            if random.chance(0.6) {
                let writes = self.writes_of(location);
                last.push((location, writes[random.below(writes.len())]));
            }
        }
        let found = self.face.can_be_last(&last);
        let expected = self.oracle.can_be_last(&last);
        assert_eq!(found, expected, "{}: last {last:?}\n{}", M::MODEL, self.text);
    }

    /// Does the next event of a thread of an execution, if it can be done. Says whether it was.
    pub(crate) fn follow(&mut self, execution: &Execution, thread: usize, what: SeqCst) -> bool {
        self.state.ids.resize(execution.event_count(), None);
        let id = execution.threads().nth(thread).expect("a thread of the execution");
        let Some(event) = execution.event_at(id, self.state.done[thread]) else { return false };
        let action = *execution.action(event);
        let location = action.location().map_or(0, LocationId::index);
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
                self.spawn(thread, child.index());
                Some(None)
            }
            Action::Join { thread: child } => {
                let (child, len) = (child.index(), execution.thread_len(child));
                let ready = self.phase(child) == Phase::Running && self.state.done[child] == len;
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
        self.state.done[thread] += 1;
        true
    }

    /// Adds a read with its source in an execution, if that is there and allowed.
    fn observe(
        &mut self,
        execution: &Execution,
        event: EventId,
        thread: usize,
        location: usize,
        effect: Effect,
        order: MemoryOrder,
    ) -> Option<usize> {
        let allowed = self.ask(thread, location, effect, order);
        let sources = execution.sources(event).iter().map(|&source| {
            if execution.is_init(source) {
                Some(None)
            } else {
                self.state.ids[source.index()].map(Some)
            }
        });
        let source = sources.flatten().find(|source| allowed.contains(source))?;
        Some(self.read(thread, location, source, effect, order))
    }
}

fn effect(action: &Action) -> Effect {
    match action {
        Action::Cas { succeeded: false, .. } => Effect::Failed,
        Action::Cas { .. } | Action::Rmw { .. } => Effect::Update,
        _ => Effect::Load,
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
