//! Executions being generated: events refer to their sources by id; values and memory orders are chosen at the end.

use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};

use raddle_core::random::Random;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SketchKind {
    Read,
    Write,
    Update,
    Cas,
    FailedCas,
    Fence,
    StoreFence,
    Lock,
    Unlock,
    /// Starts the thread with this index.
    Spawn(usize),
    /// Joins the thread with this index.
    Join(usize),
}

impl SketchKind {
    pub(super) fn reads(self) -> bool {
        matches!(
            self,
            SketchKind::Read | SketchKind::Update | SketchKind::Cas | SketchKind::FailedCas
        )
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, SketchKind::Write | SketchKind::Update | SketchKind::Cas)
    }
}

/// Event being generated.
#[derive(Clone, Debug)]
pub(super) struct SketchEvent {
    pub(super) id: usize,
    pub(super) kind: SketchKind,
    /// Index of its location. The lock is the location after all others.
    pub(super) location: usize,
    /// Id of the event that it observes; `None` for the initial write.
    pub(super) source: Option<usize>,
    /// Whether it is usually relaxed, whatever the palette is.
    pub(super) relaxed: bool,
}

/// Prevailing memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    Mixed,
    /// Relaxed accesses with sequentially consistent fences.
    Relaxed,
    ReleaseAcquire,
    SeqCst,
}

impl Palette {
    pub(super) fn draw(random: &mut Random) -> Self {
        let all = [Palette::Mixed, Palette::Relaxed, Palette::ReleaseAcquire, Palette::SeqCst];
        all[random.below(all.len())]
    }

    /// Draws an order that the action may have. Non-atomic accesses are rare.
    fn order(self, random: &mut Random, action: &Action) -> MemoryOrder {
        let possible = action.possible_orders();
        if random.chance(0.03) {
            return possible[random.below(possible.len())];
        }
        let fits = |order: &MemoryOrder| match self {
            Palette::Mixed => order.is_atomic(),
            Palette::Relaxed if *action == Action::Fence => *order == MemoryOrder::SeqCst,
            Palette::Relaxed => *order == MemoryOrder::Relaxed,
            Palette::ReleaseAcquire => order.is_acquire() || order.is_release(),
            Palette::SeqCst => *order == MemoryOrder::SeqCst,
        };
        let faithful = self == Palette::Mixed || random.chance(0.8);
        let chosen = possible.iter().filter(|order| faithful && fits(order)).collect::<Vec<_>>();
        let atomic = possible.iter().filter(|order| order.is_atomic()).collect::<Vec<_>>();
        let from = if chosen.is_empty() { atomic } else { chosen };
        *from[random.below(from.len())]
    }
}

/// Execution being generated.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) threads: Vec<Vec<SketchEvent>>,
    next: usize,
}

impl Sketch {
    pub(super) fn new(threads: usize) -> Self {
        Sketch { threads: vec![vec![]; threads], next: 0 }
    }

    /// Creates an event, which is not yet in a thread.
    pub(super) fn draft(
        &mut self,
        kind: SketchKind,
        location: usize,
        source: Option<usize>,
    ) -> SketchEvent {
        self.next += 1;
        SketchEvent { id: self.next - 1, kind, location, source, relaxed: false }
    }

    /// Appends an event to a thread. Returns its id.
    pub(super) fn push(
        &mut self,
        thread: usize,
        kind: SketchKind,
        location: usize,
        source: Option<usize>,
    ) -> usize {
        let draft = self.draft(kind, location, source);
        self.threads[thread].push(draft);
        self.next - 1
    }

    /// Appends a thread. Returns its index.
    pub(super) fn new_thread(&mut self) -> usize {
        self.threads.push(vec![]);
        self.threads.len() - 1
    }

    /// Returns the number of events.
    pub(super) fn len(&self) -> usize {
        self.next
    }

    pub(super) fn drafts(&self) -> impl Iterator<Item = &SketchEvent> {
        self.threads.iter().flatten()
    }

    pub(super) fn find_mut(&mut self, id: usize) -> Option<&mut SketchEvent> {
        self.threads.iter_mut().flatten().find(|draft| draft.id == id)
    }

    /// Builds the execution with random orders. In three of four cases values are distinct; otherwise there are two
    /// values, and reads do not name their sources. Returns `None` if the execution is malformed.
    pub(super) fn finish(
        &self,
        locations: usize,
        palette: Palette,
        random: &mut Random,
    ) -> Option<Execution> {
        let distinct = random.chance(0.75);
        let values: Vec<Value> = (0..self.next)
            .map(|id| if distinct { id as Value + 1 } else { random.below(2) as Value + 1 })
            .collect();
        let mut builder = ExecutionBuilder::new();
        let names: Vec<LocationId> =
            (0..locations).map(|l| builder.location(["x", "y", "z", "w"][l])).collect();
        for &location in &names {
            builder.init(location, 0).ok()?;
        }
        let lock = builder.location("m");
        for t in 0..self.threads.len() {
            let thread = builder.thread(&format!("P{t}"));
            builder.declare(thread);
        }
        for (t, draft) in
            self.threads.iter().enumerate().flat_map(|(t, d)| d.iter().map(move |d| (t, d)))
        {
            let location = names.get(draft.location).copied().unwrap_or(lock);
            let read = draft.source.map_or(0, |id| values[id]);
            let action = action(draft, location, read, values[draft.id]);
            let relaxed = draft.relaxed && random.chance(0.8);
            let palette = if relaxed { Palette::Relaxed } else { palette };
            let order = palette.order(random, &action);
            let claim = self.claim(draft, distinct);
            builder.push_ordered(ThreadId::new(t), action, order, claim);
        }
        builder.build().ok()
    }

    /// Returns the claim of a read: its source, unless only the value determines it.
    fn claim(&self, draft: &SketchEvent, distinct: bool) -> SourceClaim {
        let is_lock = draft.kind == SketchKind::Lock;
        if !(draft.kind.reads() || is_lock) || !distinct || self.shares_source(draft) {
            return SourceClaim::Unnamed;
        }
        let Some(source) = draft.source else { return SourceClaim::Init };
        let place = self.threads.iter().enumerate().find_map(|(t, thread)| {
            let position = thread.iter().position(|other| other.id == source)?;
            Some((ThreadId::new(t), position))
        });
        place.map_or(SourceClaim::Unnamed, |(thread, position)| SourceClaim::Event {
            thread,
            position,
        })
    }

    /// Returns `true` if another read-modify-write observes the same write. Then the sources must not be named.
    fn shares_source(&self, draft: &SketchEvent) -> bool {
        let updates = |d: &SketchEvent| {
            matches!(d.kind, SketchKind::Update | SketchKind::Cas | SketchKind::Lock)
        };
        let same = |other: &&SketchEvent| {
            other.id != draft.id
                && updates(other)
                && (other.location, other.source) == (draft.location, draft.source)
        };
        updates(draft) && self.drafts().any(|other| same(&other))
    }
}

fn action(draft: &SketchEvent, location: LocationId, read: Value, written: Value) -> Action {
    match draft.kind {
        SketchKind::Read => Action::Read { location, value: read },
        SketchKind::Write => Action::Write { location, value: written },
        SketchKind::Update => Action::Rmw { location, read, written },
        SketchKind::Cas => {
            Action::Cas { location, expected: read, desired: written, read, succeeded: true }
        }
        SketchKind::FailedCas => {
            Action::Cas { location, expected: -1, desired: written, read, succeeded: false }
        }
        SketchKind::Fence => Action::Fence,
        SketchKind::StoreFence => Action::StoreFence,
        SketchKind::Lock => Action::Lock { lock: location },
        SketchKind::Unlock => Action::Unlock { lock: location },
        SketchKind::Spawn(thread) => Action::Spawn { thread: ThreadId::new(thread) },
        SketchKind::Join(thread) => Action::Join { thread: ThreadId::new(thread) },
    }
}
