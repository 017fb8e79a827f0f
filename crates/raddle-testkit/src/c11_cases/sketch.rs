//! Executions to be: events that know what they observe, but not yet its value or its place.

use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};

use raddle_core::random::Random;

/// What an event is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Update,
    Cas,
    FailedCas,
    Fence,
    StoreFence,
    Lock,
    Unlock,
    /// Starts this thread.
    Spawn(usize),
    /// Waits for this thread.
    Join(usize),
}

impl Kind {
    pub(super) fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::Update | Kind::Cas | Kind::FailedCas)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::Update | Kind::Cas)
    }
}

/// An event to be.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) id: usize,
    pub(super) kind: Kind,
    /// The index of its location; locks are the location after all others.
    pub(super) location: usize,
    /// The id of the event that it observes; the initial write if there is none.
    pub(super) source: Option<usize>,
    /// Whether it is mostly relaxed, whatever prevails.
    pub(super) relaxed: bool,
}

/// Which memory orders prevail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    Mixed,
    /// With sequentially consistent fences.
    Relaxed,
    ReleaseAcquire,
    SeqCst,
}

impl Palette {
    pub(super) fn draw(random: &mut Random) -> Self {
        let all = [Palette::Mixed, Palette::Relaxed, Palette::ReleaseAcquire, Palette::SeqCst];
        all[random.below(all.len())]
    }

    /// An order that such an event can have. Non-atomic accesses are rare.
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

/// Threads of events to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) threads: Vec<Vec<Draft>>,
    next: usize,
}

impl Sketch {
    pub(super) fn new(threads: usize) -> Self {
        Sketch { threads: vec![vec![]; threads], next: 0 }
    }

    /// A new event, which is not yet anywhere.
    pub(super) fn draft(&mut self, kind: Kind, location: usize, source: Option<usize>) -> Draft {
        self.next += 1;
        Draft { id: self.next - 1, kind, location, source, relaxed: false }
    }

    /// Appends an event to a thread and returns its id.
    pub(super) fn push(
        &mut self,
        thread: usize,
        kind: Kind,
        location: usize,
        source: Option<usize>,
    ) -> usize {
        let draft = self.draft(kind, location, source);
        self.threads[thread].push(draft);
        self.next - 1
    }

    /// Appends a thread.
    pub(super) fn new_thread(&mut self) -> usize {
        self.threads.push(vec![]);
        self.threads.len() - 1
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.next
    }

    pub(super) fn drafts(&self) -> impl Iterator<Item = &Draft> {
        self.threads.iter().flatten()
    }

    pub(super) fn find_mut(&mut self, id: usize) -> Option<&mut Draft> {
        self.threads.iter_mut().flatten().find(|draft| draft.id == id)
    }

    /// Makes an execution of it, with random orders. In three of four cases values are distinct;
    /// otherwise there are two, and the sources of reads are not named. `None` if it makes no sense.
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

    /// Names the source of a read, unless the value is to say it.
    fn claim(&self, draft: &Draft, distinct: bool) -> SourceClaim {
        let is_lock = draft.kind == Kind::Lock;
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

    /// Whether another event updates what this one updates. That must not be said by name.
    fn shares_source(&self, draft: &Draft) -> bool {
        let updates = |d: &Draft| matches!(d.kind, Kind::Update | Kind::Cas | Kind::Lock);
        let same = |other: &&Draft| {
            other.id != draft.id
                && updates(other)
                && (other.location, other.source) == (draft.location, draft.source)
        };
        updates(draft) && self.drafts().any(|other| same(&other))
    }
}

fn action(draft: &Draft, location: LocationId, read: Value, written: Value) -> Action {
    match draft.kind {
        Kind::Read => Action::Read { location, value: read },
        Kind::Write => Action::Write { location, value: written },
        Kind::Update => Action::Rmw { location, read, written },
        Kind::Cas => {
            Action::Cas { location, expected: read, desired: written, read, succeeded: true }
        }
        Kind::FailedCas => {
            Action::Cas { location, expected: -1, desired: written, read, succeeded: false }
        }
        Kind::Fence => Action::Fence,
        Kind::StoreFence => Action::StoreFence,
        Kind::Lock => Action::Lock { lock: location },
        Kind::Unlock => Action::Unlock { lock: location },
        Kind::Spawn(thread) => Action::Spawn { thread: ThreadId::new(thread) },
        Kind::Join(thread) => Action::Join { thread: ThreadId::new(thread) },
    }
}
