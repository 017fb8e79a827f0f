//! An execution in the form that the searches work on.
//!
//! An [`Execution`] has eleven kinds of events; a search needs only what an event reads, what it writes and what it waits
//! for. Locks become updates: an acquire is an update that reads a release (or the initial state), and a release is an
//! update that reads the acquire of its own thread. So mutual exclusion is the atomicity of updates, and searches do not
//! handle locks.
//!
//! The searches use `u32` event indices: every table is a flat vector.

use rustc_hash::FxHashMap;

use raddle_core::execution::{Action, EventId, Execution, MemoryOrder};
use raddle_core::model::orders::{FenceEffect, StoreBuffers, StoreEffect};

/// No event, no set.
pub(super) const NONE: u32 = u32::MAX;

/// What an event does in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpRole {
    /// An initial write; in memory from the start.
    Init,
    /// A load: from the own store buffer, or else from memory.
    Read,
    /// A store that enters a store buffer.
    BufferedWrite,
    /// Writes memory at once; waits for an empty store buffer. A sequentially consistent store; under SC every store.
    DrainedWrite,
    /// Reads memory and writes it at once; waits for an empty store buffer.
    Update,
    /// Reads memory; waits for an empty store buffer. A failed compare-exchange.
    DrainedRead,
    /// Waits for an empty store buffer. A full fence or a spawn.
    Drain,
    /// Waits for nothing. A store-store fence, an acquire or a release fence.
    Idle,
    /// Waits for the end of a thread, and for empty store buffers of both.
    Join {
        /// The thread joined.
        thread: u32,
    },
}

impl OpRole {
    /// Returns `true` if the event waits for an empty store buffer.
    pub(super) fn drains(self) -> bool {
        !matches!(self, OpRole::Init | OpRole::Read | OpRole::BufferedWrite | OpRole::Idle)
    }

    /// Returns `true` if the event writes memory, at once or from a store buffer.
    pub(super) fn writes(self) -> bool {
        matches!(self, OpRole::Init | OpRole::BufferedWrite | OpRole::DrainedWrite | OpRole::Update)
    }
}

/// An event as the searches see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchOp {
    pub(super) kind: OpRole,
    /// The location accessed, or [`NONE`].
    pub(super) location: u32,
    /// The set of sources if the event reads, or [`NONE`].
    pub(super) set: u32,
    /// The last write of the location before this event in its own thread, if it reads, or [`NONE`].
    pub(super) own_latest: u32,
    /// Stores from this event on reach memory after those before it: a store-store fence, a release fence, or a release
    /// store, under a model that reorders stores.
    pub(super) starts_epoch: bool,
}

/// Lists of `u32`, one for each index, in one allocation.
#[derive(Debug, Default)]
pub(super) struct Lists {
    items: Vec<u32>,
    starts: Vec<u32>,
}

impl Lists {
    /// Groups `(index, item)` pairs; items keep their order within an index.
    pub(super) fn group(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(index, _) in pairs {
            starts[index as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for &(index, item) in pairs {
            items[next[index as usize] as usize] = item;
            next[index as usize] += 1;
        }
        Lists { items, starts }
    }

    /// The list of an index.
    #[inline]
    pub(super) fn get(&self, index: u32) -> &[u32] {
        let index = index as usize;
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// The input of a search: threads of [`SearchOp`]s, and for every read the set of its sources.
pub(super) struct Instance {
    /// By event.
    pub(super) ops: Vec<SearchOp>,
    /// By event; meaningless for initial writes.
    pub(super) thread_of: Vec<u32>,
    /// By thread: the events `first..end`.
    pub(super) bounds: Vec<(u32, u32)>,
    /// By thread: the event that starts it, or [`NONE`].
    pub(super) spawned_by: Vec<u32>,
    /// By thread: whether another thread joins it.
    pub(super) joined: Vec<bool>,
    /// The number of locations; their initial writes are the events `0..locations`.
    pub(super) locations: usize,
    /// By set: its members, sorted.
    pub(super) sets: Lists,
    /// By set: the location of its members.
    pub(super) set_location: Vec<u32>,
    /// By set: how many events read from it.
    pub(super) readers: Vec<u32>,
    /// By event: the sets it belongs to.
    pub(super) sets_of: Lists,
}

impl Instance {
    /// The question about an execution. Reads in `narrowed` have only the sources given there.
    pub(super) fn new(
        execution: &Execution,
        buffers: StoreBuffers,
        narrowed: &FxHashMap<u32, Vec<u32>>,
    ) -> Instance {
        let locations = execution.location_count();
        let mut sets = SetBuilder::new(execution);
        let mut ops = Vec::with_capacity(execution.event_count());
        for location in 0..locations as u32 {
            let kind = OpRole::Init;
            ops.push(SearchOp { kind, location, set: NONE, own_latest: NONE, starts_epoch: false });
        }
        let mut thread_of = vec![NONE; locations];
        let mut joined = vec![false; execution.thread_count()];
        // The last write of each location; it counts if it is one of the current thread.
        let mut latest = vec![NONE; locations];
        for thread in execution.threads() {
            let first = ops.len() as u32;
            for event in execution.thread_events(thread) {
                let action = execution.action(event);
                let order = execution.order(event);
                let (kind, starts_epoch) = role(action, order, buffers);
                if let OpRole::Join { thread } = kind {
                    joined[thread as usize] = true;
                }
                let location = action.location().map_or(NONE, |l| l.index() as u32);
                let written = if location == NONE { NONE } else { latest[location as usize] };
                let own_latest = if written < first { NONE } else { written };
                let set = match action {
                    Action::Unlock { .. } => sets.intern(location, vec![own_latest]),
                    _ if action.has_source() => match narrowed.get(&(event.index() as u32)) {
                        Some(sources) => sets.intern(location, sources.clone()),
                        None => sets.original(execution, location, event),
                    },
                    _ => NONE,
                };
                if set != NONE {
                    sets.readers[set as usize] += 1;
                }
                if kind.writes() {
                    latest[location as usize] = event.index() as u32;
                }
                ops.push(SearchOp { kind, location, set, own_latest, starts_epoch });
                thread_of.push(thread.index() as u32);
            }
        }
        let events = ops.len();
        let sets_of = Lists::group(events, &sets.members_to_sets());
        Instance {
            ops,
            thread_of,
            bounds: thread_bounds(execution),
            spawned_by: execution
                .threads()
                .map(|t| execution.spawned_by(t).map_or(NONE, |e| e.index() as u32))
                .collect(),
            joined,
            locations,
            sets: Lists::group(sets.location.len(), &sets.pairs),
            set_location: sets.location,
            readers: sets.readers,
            sets_of,
        }
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.bounds.len()
    }

    /// Returns `true` if a set contains a write.
    #[inline]
    pub(super) fn contains(&self, set: u32, write: u32) -> bool {
        match self.sets.get(set) {
            [only] => *only == write,
            members => members.binary_search(&write).is_ok(),
        }
    }

    /// The source of a read that has only one, or [`NONE`].
    #[inline]
    pub(super) fn only_source(&self, event: u32) -> u32 {
        match self.ops[event as usize].set {
            NONE => NONE,
            set => match self.sets.get(set) {
                [only] => *only,
                _ => NONE,
            },
        }
    }

    /// Returns `true` if every read has one source.
    pub(super) fn has_reads_from_map(&self) -> bool {
        (0..self.sets.len() as u32).all(|set| self.sets.get(set).len() == 1)
    }
}

fn thread_bounds(execution: &Execution) -> Vec<(u32, u32)> {
    let mut first = execution.location_count() as u32;
    let mut bounds = Vec::with_capacity(execution.thread_count());
    for thread in execution.threads() {
        let end = first + execution.thread_len(thread) as u32;
        bounds.push((first, end));
        first = end;
    }
    bounds
}

/// The role of an event, and whether it starts an epoch ([`SearchOp::starts_epoch`]).
fn role(action: &Action, order: MemoryOrder, buffers: StoreBuffers) -> (OpRole, bool) {
    let kind = match *action {
        Action::Init { .. } => OpRole::Init,
        Action::Read { .. } => OpRole::Read,
        Action::Write { .. } => match buffers.store(order) {
            StoreEffect::AtOnce => OpRole::DrainedWrite,
            StoreEffect::Buffered => OpRole::BufferedWrite,
            StoreEffect::BufferedBehindFence => return (OpRole::BufferedWrite, true),
        },
        Action::Rmw { .. }
        | Action::Cas { succeeded: true, .. }
        | Action::Lock { .. }
        | Action::Unlock { .. } => OpRole::Update,
        Action::Cas { succeeded: false, .. } => OpRole::DrainedRead,
        Action::Fence | Action::StoreFence => match buffers.fence(order) {
            FenceEffect::Nothing => OpRole::Idle,
            FenceEffect::StoreStore => return (OpRole::Idle, true),
            FenceEffect::Drain => OpRole::Drain,
        },
        Action::Spawn { .. } => OpRole::Drain,
        Action::Join { thread } => OpRole::Join { thread: thread.index() as u32 },
    };
    (kind, false)
}

/// Numbers the source sets in use.
struct SetBuilder {
    /// From a set of the execution to its number here.
    numbers: Vec<u32>,
    ids: FxHashMap<Vec<u32>, u32>,
    pairs: Vec<(u32, u32)>,
    location: Vec<u32>,
    readers: Vec<u32>,
}

impl SetBuilder {
    fn new(execution: &Execution) -> Self {
        SetBuilder {
            numbers: vec![NONE; execution.source_set_count()],
            ids: FxHashMap::default(),
            pairs: vec![],
            location: vec![],
            readers: vec![],
        }
    }

    fn add(&mut self, location: u32, members: &[u32]) -> u32 {
        let set = self.location.len() as u32;
        self.pairs.extend(members.iter().map(|&member| (set, member)));
        self.location.push(location);
        self.readers.push(0);
        set
    }

    fn intern(&mut self, location: u32, members: Vec<u32>) -> u32 {
        if let Some(&set) = self.ids.get(&members) {
            return set;
        }
        let set = self.add(location, &members);
        self.ids.insert(members, set);
        set
    }

    /// The set that an event has in the execution.
    fn original(&mut self, execution: &Execution, location: u32, event: EventId) -> u32 {
        let id = execution.source_set_of(event).expect("the event reads").index();
        if self.numbers[id] == NONE {
            let members = execution.sources(event).iter().map(|s| s.index() as u32).collect();
            self.numbers[id] = self.intern(location, members);
        }
        self.numbers[id]
    }

    fn members_to_sets(&self) -> Vec<(u32, u32)> {
        self.pairs.iter().map(|&(set, member)| (member, set)).collect()
    }
}
