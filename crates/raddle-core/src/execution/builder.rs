//! Building an [`Execution`] from what a history says, refusing what makes no sense.
//!
//! The builder takes events as they come, in program order for each thread, and checks the whole at
//! the end: a flaw is reported with the event it belongs to, so that a parser can add line and
//! column. What is well-formed but impossible (a value that nobody wrote, say) is not a flaw: it is
//! for the checkers to answer.

use std::collections::HashMap;
use std::fmt;

use rustc_hash::FxHashMap;

use super::{
    Action, EventId, Execution, Location, LocationId, SourceSetId, Thread, ThreadId, Value,
};

/// An event before it has an id: its thread and its position there.
type Place = (ThreadId, usize);

/// What a history says about the source of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceClaim {
    /// Nothing: the value decides, and there may be several sources.
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

/// Which part of an event a [`BuildError`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The event itself.
    Action,
    /// The source it names.
    Source,
}

/// Why some events are not an execution, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// The thread of the offending event.
    pub thread: ThreadId,
    /// Its position in the thread, from 0.
    pub position: usize,
    /// The offending part of it.
    pub part: Part,
    /// What is wrong.
    pub flaw: Flaw,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flaw.fmt(f)
    }
}

impl std::error::Error for BuildError {}

/// What is wrong with an event. Events are given by their names, such as `P0.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the blanks of the messages below")]
pub enum Flaw {
    /// Spawns or joins a thread that the history does not have.
    UnknownThread { name: String },
    /// Names a source that does not exist.
    UnknownSource { source: String, thread: String, events: usize },
    /// Names a source that writes nothing (or, for an acquire, releases nothing).
    NotASource { source: String, expected: &'static str },
    /// Names a source at another location.
    OtherLocation { source: String, its: String, own: String },
    /// Names a source with another value.
    OtherValue { source: String, its: Value, own: Value },
    /// An update that names itself as its source.
    OwnSource { source: String },
    /// Reads a location that nobody writes and that has no stated initial value.
    NeverWritten { location: String },
    /// Two atomic updates (or two acquires) name the same source.
    SharedSource { source: String, other: String },
    /// A name is used both for a lock and for a memory location.
    LockAndMemory { name: String },
    /// Acquires a lock that its thread holds already.
    HeldAlready { lock: String, since: String },
    /// Releases a lock that its thread does not hold.
    NotHeld { lock: String },
    /// Spawns a thread that another event spawns.
    SpawnedTwice { thread: String, other: String },
    /// Spawns and joins wait for each other in a circle.
    SpawnJoinCycle { chain: Vec<String> },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::UnknownThread { name } => {
                write!(
                    f,
                    "there is no thread '{name}': expected the name of a thread with a line of its own"
                )
            }
            Flaw::UnknownSource { source, thread, events: 0 } => {
                write!(f, "there is no event {source}: thread '{thread}' has no events")
            }
            Flaw::UnknownSource { source, thread, events } => write!(
                f,
                "there is no event {source}: expected one of {thread}.0 to {thread}.{}, or init",
                events - 1
            ),
            Flaw::NotASource { source, expected } => {
                write!(f, "{source} cannot be read from: expected {expected}")
            }
            Flaw::OtherLocation { source, its, own } => {
                write!(f, "{source} writes '{its}': expected a write of '{own}'")
            }
            Flaw::OtherValue { source, its, own } => {
                write!(f, "{source} writes {its}: expected a write of {own}, the value read here")
            }
            Flaw::OwnSource { source } => {
                write!(f, "{source} names itself as its source: expected an earlier write")
            }
            Flaw::NeverWritten { location } => write!(
                f,
                "nobody writes '{location}': expected a write of it in some thread, or its initial value in an init line"
            ),
            Flaw::SharedSource { source, other } => write!(
                f,
                "{other} reads from {source} too: expected at most one atomic update of each write"
            ),
            Flaw::LockAndMemory { name } => {
                write!(
                    f,
                    "'{name}' is used both as a lock and as a memory location: expected one of them"
                )
            }
            Flaw::HeldAlready { lock, since } => write!(
                f,
                "the thread holds '{lock}' since {since}: expected a release first (recursive locks are not modelled)"
            ),
            Flaw::NotHeld { lock } => {
                write!(
                    f,
                    "the thread does not hold '{lock}': expected an acquire before this release"
                )
            }
            Flaw::SpawnedTwice { thread, other } => {
                write!(f, "{other} spawns thread '{thread}' too: expected one spawn of a thread")
            }
            Flaw::SpawnJoinCycle { chain } => write!(
                f,
                "spawn and join wait for each other in a circle ({}): expected an order in which the threads can run",
                chain.join(" -> ")
            ),
        }
    }
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
    claim: SourceClaim,
}

struct DraftThread {
    name: String,
    declared: bool,
    events: Vec<DraftEvent>,
}

struct DraftLocation {
    name: String,
    init: Option<Value>,
}

/// Collects the events of an execution.
#[derive(Default)]
pub struct Builder {
    threads: Vec<DraftThread>,
    thread_ids: HashMap<String, ThreadId>,
    locations: Vec<DraftLocation>,
    location_ids: HashMap<String, LocationId>,
    pushed: Vec<Place>,
    keep_order: bool,
}

impl Builder {
    /// A builder without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the order in which events are pushed for the order in which they were recorded.
    pub fn keep_order(&mut self) {
        self.keep_order = true;
    }

    /// The thread with this name. Mentioning a thread does not declare it.
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
        self.locations.push(DraftLocation { name: name.to_owned(), init: None });
        self.location_ids.insert(name.to_owned(), id);
        id
    }

    /// States the initial value of a location. The second statement about a location is refused
    /// with the value of the first.
    pub fn init(&mut self, location: LocationId, value: Value) -> Result<(), Value> {
        match self.locations[location.index()].init.replace(value) {
            None => Ok(()),
            Some(first) => Err(first),
        }
    }

    /// Adds the next event of a thread and returns its position there.
    pub fn push(&mut self, thread: ThreadId, action: Action, claim: SourceClaim) -> usize {
        let draft = &mut self.threads[thread.index()];
        draft.declared = true;
        draft.events.push(DraftEvent { action, claim });
        let position = draft.events.len() - 1;
        if self.keep_order {
            self.pushed.push((thread, position));
        }
        position
    }

    /// Checks the events and makes an execution of them. The threads keep the order in which they
    /// were first mentioned.
    pub fn build(self) -> Result<Execution, BuildError> {
        self.check_threads()?;
        let is_lock = self.check_locations()?;
        self.check_locks()?;
        self.check_claims()?;
        Ok(self.assemble(&is_lock))
    }

    fn name(&self, (thread, position): Place) -> String {
        format!("{}.{position}", self.threads[thread.index()].name)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.locations[location.index()].name.clone()
    }

    /// All events with their places.
    fn drafts(&self) -> impl Iterator<Item = (Place, &DraftEvent)> {
        self.threads.iter().enumerate().flat_map(|(t, thread)| {
            let place = move |position| (ThreadId::new(t), position);
            thread.events.iter().enumerate().map(move |(at, draft)| (place(at), draft))
        })
    }

    /// Every spawned or joined thread exists, is spawned once, and can run.
    fn check_threads(&self) -> Result<(), BuildError> {
        let mut spawned_by = vec![None; self.threads.len()];
        for (place, draft) in self.drafts() {
            let (Action::Spawn { thread } | Action::Join { thread }) = draft.action else {
                continue;
            };
            let target = &self.threads[thread.index()];
            if !target.declared {
                return Err(flaw(place, Flaw::UnknownThread { name: target.name.clone() }));
            }
            if matches!(draft.action, Action::Spawn { .. })
                && let Some(other) = spawned_by[thread.index()].replace(place)
            {
                let other = self.name(other);
                return Err(flaw(place, Flaw::SpawnedTwice { thread: target.name.clone(), other }));
            }
        }
        self.check_spawn_join_order(&spawned_by)
    }

    /// Runs the threads, looking only at spawns and joins; if that gets stuck, follows who waits
    /// for whom until the circle closes.
    fn check_spawn_join_order(&self, spawned_by: &[Option<Place>]) -> Result<(), BuildError> {
        let mut done = vec![0; self.threads.len()];
        let started =
            |done: &[usize], t: usize| spawned_by[t].is_none_or(|(s, at)| at < done[s.index()]);
        let finished =
            |done: &[usize], t: usize| started(done, t) && done[t] == self.threads[t].events.len();
        let mut moved = true;
        while moved {
            moved = false;
            for (t, thread) in self.threads.iter().enumerate() {
                while started(&done, t) && done[t] < thread.events.len() {
                    if let Action::Join { thread } = thread.events[done[t]].action
                        && !finished(&done, thread.index())
                    {
                        break;
                    }
                    done[t] += 1;
                    moved = true;
                }
            }
        }
        let Some(mut t) = (0..self.threads.len()).find(|&t| !finished(&done, t)) else {
            return Ok(());
        };
        let mut chain: Vec<Place> = vec![];
        loop {
            let (place, next) = match spawned_by[t] {
                Some(spawn) if !started(&done, t) => (spawn, spawn.0),
                _ => ((ThreadId::new(t), done[t]), self.joined_at(t, done[t])),
            };
            if let Some(start) = chain.iter().position(|&seen| seen == place) {
                let names =
                    chain[start..].iter().chain([&place]).map(|&at| self.name(at)).collect();
                return Err(flaw(place, Flaw::SpawnJoinCycle { chain: names }));
            }
            chain.push(place);
            t = next.index();
        }
    }

    /// The thread that a stuck thread waits for.
    fn joined_at(&self, thread: usize, position: usize) -> ThreadId {
        match self.threads[thread].events[position].action {
            Action::Join { thread } => thread,
            ref other => unreachable!("only a join can be stuck, not {other:?}"),
        }
    }

    /// Every name is a lock or a location, and every location read has a first value.
    fn check_locations(&self) -> Result<Vec<bool>, BuildError> {
        let mut is_lock = vec![None; self.locations.len()];
        for (is_lock, location) in is_lock.iter_mut().zip(&self.locations) {
            *is_lock = location.init.map(|_| false);
        }
        let mut written: Vec<bool> = self.locations.iter().map(|l| l.init.is_some()).collect();
        for (place, draft) in self.drafts() {
            let Some(location) = draft.action.location() else { continue };
            let lock = matches!(draft.action, Action::Lock { .. } | Action::Unlock { .. });
            if *is_lock[location.index()].get_or_insert(lock) != lock {
                return Err(flaw(
                    place,
                    Flaw::LockAndMemory { name: self.location_name(location) },
                ));
            }
            written[location.index()] |= draft.action.written_value().is_some();
        }
        for (place, draft) in self.drafts() {
            let (Some(location), Some(_)) = (draft.action.location(), draft.action.read_value())
            else {
                continue;
            };
            if !written[location.index()] {
                let location = self.location_name(location);
                return Err(flaw(place, Flaw::NeverWritten { location }));
            }
        }
        Ok(is_lock.into_iter().map(|lock| lock == Some(true)).collect())
    }

    /// A thread acquires what it does not hold and releases what it holds.
    fn check_locks(&self) -> Result<(), BuildError> {
        let mut held: HashMap<(ThreadId, LocationId), usize> = HashMap::new();
        for ((thread, position), draft) in self.drafts() {
            let place = (thread, position);
            if let Action::Lock { lock } = draft.action
                && let Some(since) = held.insert((thread, lock), position)
            {
                let since = self.name((thread, since));
                return Err(flaw(
                    place,
                    Flaw::HeldAlready { lock: self.location_name(lock), since },
                ));
            }
            if let Action::Unlock { lock } = draft.action
                && held.remove(&(thread, lock)).is_none()
            {
                return Err(flaw(place, Flaw::NotHeld { lock: self.location_name(lock) }));
            }
        }
        Ok(())
    }

    /// Every named source exists, fits, and feeds at most one atomic update.
    fn check_claims(&self) -> Result<(), BuildError> {
        let mut taken: HashMap<(Option<Place>, LocationId), Place> = HashMap::new();
        for (place, draft) in self.drafts() {
            let Some(location) = draft.action.location() else { continue };
            let source = match draft.claim {
                SourceClaim::Unnamed => continue,
                SourceClaim::Init => None,
                SourceClaim::Event { thread, position } => Some((thread, position)),
            };
            self.check_claim(place, &draft.action, source).map_err(|flaw| BuildError {
                thread: place.0,
                position: place.1,
                part: Part::Source,
                flaw,
            })?;
            if draft.action.is_atomic_update()
                && let Some(other) = taken.insert((source, location), place)
            {
                let source = self.source_name(source, location);
                let flaw = Flaw::SharedSource { source, other: self.name(other) };
                let (thread, position) = place;
                return Err(BuildError { thread, position, part: Part::Source, flaw });
            }
        }
        Ok(())
    }

    fn source_name(&self, source: Option<Place>, location: LocationId) -> String {
        match source {
            Some(place) => self.name(place),
            None => format!("init {}", self.location_name(location)),
        }
    }

    fn check_claim(
        &self,
        reader: Place,
        action: &Action,
        source: Option<Place>,
    ) -> Result<(), Flaw> {
        let location = action.location().expect("an event with a source has a location");
        let name = self.source_name(source, location);
        let value = match source {
            None => Some(self.locations[location.index()].init.unwrap_or(0)),
            Some(place) => self.check_source_event(reader, action, place, &name)?,
        };
        match (action.read_value(), value) {
            (Some(own), Some(its)) if own != its => {
                Err(Flaw::OtherValue { source: name, its, own })
            }
            _ => Ok(()),
        }
    }

    /// The value that a source event writes, or what is wrong with it.
    fn check_source_event(
        &self,
        reader: Place,
        action: &Action,
        place: Place,
        name: &str,
    ) -> Result<Option<Value>, Flaw> {
        let thread = &self.threads[place.0.index()];
        let source = name.to_owned();
        let Some(draft) = thread.events.get(place.1) else {
            let events = thread.events.len();
            return Err(Flaw::UnknownSource { source, thread: thread.name.clone(), events });
        };
        if place == reader {
            return Err(Flaw::OwnSource { source });
        }
        let expected = match action {
            Action::Lock { .. } => "a release of the lock, or init",
            _ => "a write, or init",
        };
        let own = action.location().expect("an event with a source has a location");
        match draft.action.location() {
            Some(its) if draft.action.is_source() => {
                if its != own {
                    let (its, own) = (self.location_name(its), self.location_name(own));
                    return Err(Flaw::OtherLocation { source, its, own });
                }
                Ok(draft.action.written_value())
            }
            _ => Err(Flaw::NotASource { source, expected }),
        }
    }

    fn assemble(self, is_lock: &[bool]) -> Execution {
        let mut next = self.locations.len();
        let mut threads = Vec::with_capacity(self.threads.len());
        for draft in &self.threads {
            let (first, len) = (EventId::new(next), draft.events.len());
            threads.push(Thread { name: draft.name.clone(), first, len, spawned_by: None });
            next += len;
        }
        let id = |threads: &[Thread], (thread, position): Place| {
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
        let by_value = sources_by_value(&actions, is_lock);
        let mut sets = SetTable::default();
        let mut set_of = vec![None; self.locations.len()];
        let mut named = vec![false; self.locations.len()];
        for (place, draft) in self.drafts() {
            let own = id(&threads, place);
            named.push(draft.claim != SourceClaim::Unnamed);
            set_of.push(draft.action.location().filter(|_| draft.action.has_source()).map(
                |location| {
                    sets.intern(match draft.claim {
                        SourceClaim::Init => vec![EventId::new(location.index())],
                        SourceClaim::Event { thread, position } => {
                            vec![id(&threads, (thread, position))]
                        }
                        SourceClaim::Unnamed => {
                            let key = (location, draft.action.read_value());
                            let all = by_value.get(&key).map_or(&[][..], Vec::as_slice);
                            all.iter().copied().filter(|&source| source != own).collect()
                        }
                    })
                },
            ));
        }
        let (set_items, set_starts) = sets.into_parts();
        let recorded =
            self.keep_order.then(|| self.pushed.iter().map(|&place| id(&threads, place)).collect());
        let thread_of = self.drafts().map(|((thread, _), _)| thread).collect();
        let locations = self
            .locations
            .into_iter()
            .zip(is_lock)
            .map(|(draft, &is_lock)| Location {
                name: draft.name,
                is_lock,
                declared: draft.init.is_some(),
            })
            .collect();
        Execution {
            threads,
            locations,
            actions,
            thread_of,
            set_of,
            named,
            set_items,
            set_starts,
            recorded,
        }
    }
}

/// The sources of each location and value; of a lock, all its releases and its initial state.
fn sources_by_value(
    actions: &[Action],
    is_lock: &[bool],
) -> FxHashMap<(LocationId, Option<Value>), Vec<EventId>> {
    let mut sources: FxHashMap<_, Vec<EventId>> = FxHashMap::default();
    for (index, action) in actions.iter().enumerate() {
        let Some(location) = action.location() else { continue };
        if action.is_source() {
            let value = action.written_value().filter(|_| !is_lock[location.index()]);
            sources.entry((location, value)).or_default().push(EventId::new(index));
        }
    }
    sources
}

fn flaw((thread, position): Place, flaw: Flaw) -> BuildError {
    BuildError { thread, position, part: Part::Action, flaw }
}
