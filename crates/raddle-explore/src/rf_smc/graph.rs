//! The execution that is being explored.
//!
//! Its events stand in a causal order: each after the event before it in its thread, after the one
//! that it observes, after the start of its thread and, a join, after the thread that it waits for. The
//! order in which they were *explored* is another one, their ranks: where a read was changed to observe
//! a later event, the read keeps its rank.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{HistoryId, OpKind, Origin, Program};
use raddle_core::trace::{Observed, ThreadEnd, Trace, TraceEvent, map_of};

use super::past_set::PastSet;

/// What an event is, with all that led to it: two events of different executions have the same name
/// exactly if they and their causal pasts are the same. (A hash of 128 bits.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(u64, u64);

/// What a question observes, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Observation {
    Initial,
    Event(Name),
    Choice(u32),
}

impl Name {
    fn of(parts: impl Hash) -> Name {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, &parts).hash(&mut hasher);
            hasher.finish()
        };
        Name(half(0), half(1))
    }
}

/// How an event came into the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// It was there before.
    Kept,
    /// The schedule changed what it observes.
    Changed,
    /// The extension added it.
    Added,
}

/// An event of the execution.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) event: TraceEvent,
    /// The event before it in its thread; for the first, the one that starts the thread.
    pub(super) before: Option<usize>,
    /// For a join, the last event of the thread joined, or the one that started it.
    pub(super) joined: Option<usize>,
    /// Where it is in the histories.
    pub(super) origin: Origin,
    pub(super) name: Name,
    /// When it was explored.
    pub(super) rank: usize,
    pub(super) age: Age,
    /// Where other answers to this question are collected; none if it is an effect, or its answer is
    /// settled.
    pub(super) slot: Option<usize>,
}

impl Event {
    /// The events right before this one in the causal order.
    pub(super) fn causes(&self) -> impl Iterator<Item = usize> {
        let source = match self.event.observed {
            Some(Observed::Event(source)) => Some(source),
            _ => None,
        };
        [self.before, self.joined, source].into_iter().flatten()
    }

    /// Whether it takes what it observes, so that nobody else can: an update or an acquire.
    fn takes(&self) -> bool {
        let read = self.event.observed.is_some();
        read && (self.event.written.is_some() || matches!(self.event.op.kind, OpKind::Lock { .. }))
    }
}

#[derive(Clone, Debug)]
struct Thread {
    /// Its first history.
    root: HistoryId,
    /// The event that started it.
    spawn: Option<usize>,
    /// Its last event.
    last: Option<usize>,
}

/// Some events, closed under causes, and the threads that were started.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    threads: BTreeMap<ThreadId, Thread>,
    /// Above all ranks.
    next_rank: usize,
}

impl Graph {
    /// Nothing has happened; only the main thread runs.
    pub(super) fn new(main: ThreadId, root: HistoryId) -> Graph {
        let main = (main, Thread { root, spawn: None, last: None });
        Graph { events: vec![], threads: BTreeMap::from([main]), next_rank: 0 }
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.keys().copied()
    }

    pub(super) fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads.contains_key(&thread)
    }

    /// How far a thread has come: its last event.
    pub(super) fn cursor(&self, thread: ThreadId) -> Origin {
        let Thread { root, last, .. } = self.threads[&thread];
        last.map_or(Origin { node: root, index: 0 }, |last| self.events[last].origin)
    }

    /// The event before the next one of a thread: its last one, or the one that started it.
    pub(super) fn before_next(&self, thread: ThreadId) -> Option<usize> {
        let Thread { last, spawn, .. } = self.threads[&thread];
        last.or(spawn)
    }

    /// The last event of a thread.
    pub(super) fn last(&self, thread: ThreadId) -> Option<usize> {
        self.threads[&thread].last
    }

    /// How many events a thread has.
    pub(super) fn position(&self, thread: ThreadId) -> usize {
        self.threads[&thread].last.map_or(0, |last| self.events[last].event.position + 1)
    }

    /// Adds the next event of its thread.
    pub(super) fn push(&mut self, event: TraceEvent, origin: Origin, age: Age) -> usize {
        let id = self.events.len();
        let before = self.before_next(event.thread);
        let joined = match event.op.kind {
            OpKind::Join { thread } => self.before_next(thread),
            _ => None,
        };
        let observation = event.observed.map(|observed| self.observation(observed));
        let name = self.name(&event, before, joined, observation);
        let rank = self.next_rank;
        self.next_rank += 1;
        self.follow(event.thread, id);
        self.events.push(Event { event, before, joined, origin, name, rank, age, slot: None });
        id
    }

    /// Starts a thread.
    pub(super) fn start(&mut self, thread: ThreadId, root: HistoryId, spawn: usize) {
        self.threads.insert(thread, Thread { root, spawn: Some(spawn), last: None });
    }

    fn follow(&mut self, thread: ThreadId, last: usize) {
        self.threads.get_mut(&thread).expect("an event's thread was started").last = Some(last);
    }

    /// What is observed, by name.
    pub(super) fn observation(&self, observed: Observed) -> Observation {
        match observed {
            Observed::Initial => Observation::Initial,
            Observed::Event(source) => Observation::Event(self.events[source].name),
            Observed::Choice(choice) => Observation::Choice(choice),
        }
    }

    /// The name of an event that comes after these.
    pub(super) fn name(
        &self,
        event: &TraceEvent,
        before: Option<usize>,
        joined: Option<usize>,
        observation: Option<Observation>,
    ) -> Name {
        let name = |event: Option<usize>| event.map(|event| self.events[event].name);
        let place = (event.thread, event.position);
        Name::of((place, name(before), name(joined), observation, event.is_spurious()))
    }

    /// The histories of the execution, in an order in which they can be reached.
    pub(super) fn nodes(&self) -> Vec<HistoryId> {
        let mut nodes: Vec<HistoryId> =
            self.threads.values().filter(|t| t.spawn.is_none()).map(|t| t.root).collect();
        for Event { event, origin, .. } in &self.events {
            match event.op.kind {
                OpKind::Spawn { thread } => {
                    nodes.extend(self.threads.get(&thread).map(|thread| thread.root));
                }
                kind if kind.is_question() => nodes.push(origin.node),
                _ => {}
            }
        }
        nodes
    }

    /// The events of a set, which is closed under causes, with the threads that they start. By old
    /// event, the new one.
    pub(super) fn restrict(&self, keep: &PastSet) -> (Graph, Vec<Option<usize>>) {
        let mut map = vec![None; self.events.len()];
        for (new, old) in keep.iter().enumerate() {
            map[old] = Some(new);
        }
        let renamed = |old: Option<usize>| old.and_then(|old| map[old]);
        let started = |thread: &Thread| thread.spawn.is_none_or(|spawn| map[spawn].is_some());
        let threads = self
            .threads
            .iter()
            .filter(|(_, thread)| started(thread))
            .map(|(&id, t)| (id, Thread { root: t.root, spawn: renamed(t.spawn), last: None }));
        let mut graph =
            Graph { events: vec![], threads: map_of(threads), next_rank: self.next_rank };
        for (new, old) in keep.iter().enumerate() {
            let mut event = self.events[old].clone();
            event.before = renamed(event.before);
            event.joined = renamed(event.joined);
            event.event.observed = event.event.observed.map(|observed| rename(observed, &map));
            event.age = Age::Kept;
            graph.follow(event.event.thread, new);
            graph.events.push(event);
        }
        (graph, map)
    }

    /// The events, as a trace that is not finished.
    pub(super) fn trace(&self) -> Trace {
        Trace {
            events: self.events.iter().map(|event| event.event.clone()).collect(),
            ends: map_of(self.threads().map(|thread| (thread, ThreadEnd::Open))),
            ..Trace::default()
        }
    }

    /// The events that a question about the location may observe.
    pub(super) fn sources(&self, location: LocationId) -> impl DoubleEndedIterator<Item = usize> {
        let is_source = move |event: &TraceEvent| {
            event.op.kind.location() == Some(location)
                && (event.written.is_some() || matches!(event.op.kind, OpKind::Unlock { .. }))
        };
        (0..self.events.len()).filter(move |&event| is_source(&self.events[event].event))
    }

    /// Whether some event of the location takes what was observed.
    pub(super) fn is_taken(&self, location: LocationId, source: Observed) -> bool {
        self.events.iter().any(|event| {
            event.event.observed == Some(source)
                && event.event.op.kind.location() == Some(location)
                && event.takes()
        })
    }

    /// The value that a source left in the location; a release of a lock leaves none.
    pub(super) fn value(
        &self,
        program: &dyn Program,
        location: LocationId,
        source: Observed,
    ) -> Option<Value> {
        match source {
            Observed::Event(source) => self.events[source].event.written,
            Observed::Initial => Some(self.initial_value(program, location)),
            Observed::Choice(_) => None,
        }
    }

    fn initial_value(&self, program: &dyn Program, location: LocationId) -> Value {
        let stated = self.events.iter().find_map(|event| match event.event.op.kind {
            OpKind::Init { location: its, value } if its == location => Some(value),
            _ => None,
        });
        stated.unwrap_or_else(|| program.initial_value(location))
    }
}

/// The same source after events were renamed.
pub(super) fn rename(observed: Observed, map: &[Option<usize>]) -> Observed {
    match observed {
        Observed::Event(source) => Observed::Event(map[source].expect("a source is kept")),
        other => other,
    }
}
