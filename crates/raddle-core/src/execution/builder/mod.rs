//! Builds an [`Execution`] from the events of a history, and rejects malformed ones.
//!
//! The builder takes events in program order for each thread and checks the whole at the end. An error names the event it
//! belongs to, so that a parser can add line and column. Well-formed but impossible executions (for example with a value
//! that no event wrote) are not errors: the checkers decide them.

mod check;
mod flaw;

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::{
    Action, EventId, Execution, LocationId, LocationInfo, MemoryOrder, SourceSetId, ThreadId,
    ThreadInfo, Value,
};

pub use flaw::{BuildError, EventPart, Flaw};

/// An event before it has an id: its thread and its index there.
type Position = (ThreadId, usize);

/// The source of a read as the history gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceClaim {
    /// The history names no source: the value decides, and there may be several sources.
    Unnamed,
    /// The initial write of the location, or the initial state of the lock.
    Init,
    /// An event, by thread and position from 0.
    Event {
        /// The thread of the source.
        thread: ThreadId,
        /// Its position in the thread, from 0.
        position: usize,
    },
}

/// Interns sorted source sets.
#[derive(Default)]
pub(super) struct SetTable {
    ids: FxHashMap<Vec<EventId>, SourceSetId>,
    items: Vec<EventId>,
    starts: Vec<usize>,
}

impl SetTable {
    pub(super) fn intern(&mut self, members: Vec<EventId>) -> SourceSetId {
        debug_assert!(members.is_sorted());
        if let Some(&id) = self.ids.get(&members) {
            return id;
        }
        let id = SourceSetId::new(self.starts.len());
        self.starts.push(self.items.len());
        self.items.extend_from_slice(&members);
        self.ids.insert(members, id);
        id
    }

    pub(super) fn into_parts(mut self) -> (Vec<EventId>, Vec<usize>) {
        self.starts.push(self.items.len());
        (self.items, self.starts)
    }
}

struct DraftEvent {
    action: Action,
    order: MemoryOrder,
    claim: SourceClaim,
}

struct DraftThread {
    name: String,
    declared: bool,
    events: Vec<DraftEvent>,
}

struct DraftLocation {
    name: String,
    synchronizes: bool,
    init: Option<Value>,
}

/// Collects the events of an execution.
#[derive(Default)]
pub struct ExecutionBuilder {
    threads: Vec<DraftThread>,
    thread_ids: HashMap<String, ThreadId>,
    locations: Vec<DraftLocation>,
    location_ids: HashMap<String, LocationId>,
    pushed: Vec<Position>,
    keep_order: bool,
}

impl ExecutionBuilder {
    /// A builder without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores the order in which events are pushed as the recorded order.
    pub fn keep_order(&mut self) {
        self.keep_order = true;
    }

    /// The thread with this name. This does not declare it.
    pub fn thread(&mut self, name: &str) -> ThreadId {
        if let Some(&id) = self.thread_ids.get(name) {
            return id;
        }
        let id = ThreadId::new(self.threads.len());
        self.threads.push(DraftThread { name: name.to_owned(), declared: false, events: vec![] });
        self.thread_ids.insert(name.to_owned(), id);
        id
    }

    /// Declares a thread, which may stay without events.
    pub fn declare(&mut self, thread: ThreadId) {
        self.threads[thread.index()].declared = true;
    }

    /// The location or lock with this name.
    pub fn location(&mut self, name: &str) -> LocationId {
        if let Some(&id) = self.location_ids.get(name) {
            return id;
        }
        let id = LocationId::new(self.locations.len());
        self.locations.push(DraftLocation {
            name: name.to_owned(),
            synchronizes: false,
            init: None,
        });
        self.location_ids.insert(name.to_owned(), id);
        id
    }

    /// Marks a location as a synchronization object: its updates acquire and release in every model.
    pub fn synchronize(&mut self, location: LocationId) {
        self.locations[location.index()].synchronizes = true;
    }

    /// States the initial value of a location.
    ///
    /// # Errors
    /// If the location has one already, which is returned.
    pub fn init(&mut self, location: LocationId, value: Value) -> Result<(), Value> {
        match self.locations[location.index()].init.replace(value) {
            None => Ok(()),
            Some(first) => Err(first),
        }
    }

    /// Adds the next event of a thread, in its default memory order, and returns its position there.
    pub fn push(&mut self, thread: ThreadId, action: Action, claim: SourceClaim) -> usize {
        self.push_ordered(thread, action, action.default_order(), claim)
    }

    /// Adds the next event of a thread and returns its position there.
    pub fn push_ordered(
        &mut self,
        thread: ThreadId,
        action: Action,
        order: MemoryOrder,
        claim: SourceClaim,
    ) -> usize {
        let draft = &mut self.threads[thread.index()];
        draft.declared = true;
        draft.events.push(DraftEvent { action, order, claim });
        let position = draft.events.len() - 1;
        if self.keep_order {
            self.pushed.push((thread, position));
        }
        position
    }

    /// Checks the events and builds the execution. Threads are in the order in which they were first mentioned.
    pub fn build(self) -> Result<Execution, BuildError> {
        let is_lock = self.check()?;
        Ok(self.assemble(&is_lock))
    }

    fn name(&self, (thread, position): Position) -> String {
        format!("{}.{position}", self.threads[thread.index()].name)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.locations[location.index()].name.clone()
    }

    /// All events with their places.
    fn drafts(&self) -> impl Iterator<Item = (Position, &DraftEvent)> {
        self.threads.iter().enumerate().flat_map(|(t, thread)| {
            let place = move |position| (ThreadId::new(t), position);
            thread.events.iter().enumerate().map(move |(at, draft)| (place(at), draft))
        })
    }

    fn assemble(self, is_lock: &[bool]) -> Execution {
        let mut next = self.locations.len();
        let mut threads = Vec::with_capacity(self.threads.len());
        for draft in &self.threads {
            let (first, len) = (EventId::new(next), draft.events.len());
            threads.push(ThreadInfo { name: draft.name.clone(), first, len, spawned_by: None });
            next += len;
        }
        let id = |threads: &[ThreadInfo], (thread, position): Position| {
            EventId::new(threads[thread.index()].first.index() + position)
        };
        for (place, draft) in self.drafts() {
            if let Action::Spawn { thread } = draft.action {
                threads[thread.index()].spawned_by = Some(id(&threads, place));
            }
        }
        let init_actions = self.locations.iter().enumerate().map(|(l, location)| Action::Init {
            location: LocationId::new(l),
            value: location.init.unwrap_or(0),
        });
        let actions: Vec<Action> =
            init_actions.chain(self.drafts().map(|(_, draft)| draft.action)).collect();
        let orders = std::iter::repeat_n(MemoryOrder::NonAtomic, self.locations.len())
            .chain(self.drafts().map(|(_, draft)| draft.order))
            .collect();
        let mut sets = SetTable::default();
        let mut by_value = SourcesByValue::new(&actions, is_lock);
        let mut set_of = vec![None; self.locations.len()];
        let mut named = vec![false; self.locations.len()];
        for (place, draft) in self.drafts() {
            let own = id(&threads, place);
            named.push(draft.claim != SourceClaim::Unnamed);
            let location = draft.action.location().filter(|_| draft.action.has_source());
            set_of.push(location.map(|location| match draft.claim {
                SourceClaim::Init => sets.intern(vec![EventId::new(location.index())]),
                SourceClaim::Event { thread, position } => {
                    sets.intern(vec![id(&threads, (thread, position))])
                }
                SourceClaim::Unnamed => {
                    by_value.set(&mut sets, (location, draft.action.read_value()), own)
                }
            }));
        }
        let (set_items, set_starts) = sets.into_parts();
        let recorded =
            self.keep_order.then(|| self.pushed.iter().map(|&place| id(&threads, place)).collect());
        let thread_of = self.drafts().map(|((thread, _), _)| thread).collect();
        let locations = self
            .locations
            .into_iter()
            .zip(is_lock)
            .map(|(draft, &is_lock)| LocationInfo {
                name: draft.name,
                is_lock,
                synchronizes: draft.synchronizes,
                declared: draft.init.is_some(),
            })
            .collect();
        Execution {
            threads,
            locations,
            actions,
            orders,
            thread_of,
            set_of,
            named,
            set_items,
            set_starts,
            recorded,
        }
    }
}

/// The sources of each location and value (of a lock: all its releases and its initial state), and their interned set once
/// it is needed.
struct SourcesByValue {
    sources: FxHashMap<LocationAndValue, (Vec<EventId>, Option<SourceSetId>)>,
}

/// Locks have no values.
type LocationAndValue = (LocationId, Option<Value>);

impl SourcesByValue {
    fn new(actions: &[Action], is_lock: &[bool]) -> SourcesByValue {
        let mut sources: FxHashMap<_, (Vec<EventId>, _)> = FxHashMap::default();
        for (index, action) in actions.iter().enumerate() {
            let Some(location) = action.location() else { continue };
            if action.is_source() {
                let value = action.written_value().filter(|_| !is_lock[location.index()]);
                sources.entry((location, value)).or_default().0.push(EventId::new(index));
            }
        }
        SourcesByValue { sources }
    }

    /// The set of sources of the event `own`. Empty for an update that is the only writer of the value it reads; otherwise
    /// the update stays in the shared set.
    fn set(&mut self, sets: &mut SetTable, key: LocationAndValue, own: EventId) -> SourceSetId {
        match self.sources.get_mut(&key) {
            Some((sources, set)) if sources[..] != [own] => {
                *set.get_or_insert_with(|| sets.intern(sources.clone()))
            }
            _ => sets.intern(vec![]),
        }
    }
}
