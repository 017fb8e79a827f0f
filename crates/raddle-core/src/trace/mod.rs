//! One execution of a program, as a value.

mod causal_past;
mod ending;
mod named;
mod not_robust;
mod stacks;

use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use ending::Ending;
pub use named::{
    Counterexample, NamedTrace, ObjectChange, ObjectNote, ObjectState, ThreadNote, TraceNames,
};
pub use not_robust::{CycleEdge, CycleRelation, Fence, FenceSearch, FenceSide, NotRobust};
pub use stacks::{CallStacks, Frame, Library, SourcePosition};

use crate::execution::{
    Action, BuildError, EventId, EventPart, Execution, ExecutionBuilder, Flaw, LocationId,
    MemoryOrder, SourceClaim, ThreadId, Value,
};
use crate::program::{End, HistoryId, LocalHistories, Naming, Op, OpKind};

/// What a question observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Observed {
    /// The initial write of the location, or the lock as it was in the beginning.
    Initial,
    /// An event: its index in the trace.
    Event(usize),
    /// A choice.
    Choice(u32),
}

/// One event of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TraceEvent {
    /// Its thread.
    pub thread: ThreadId,
    /// How many ops its thread did before.
    pub position: usize,
    /// What it did.
    pub op: Op,
    /// What it observed, if it is a question. For a join: the last event of the thread, or
    /// [`Observed::Initial`] if that has none.
    pub observed: Option<Observed>,
    /// The value it read, if it is a load, an update or a compare-exchange.
    pub read: Option<Value>,
    /// The value it wrote, if it did.
    pub written: Option<Value>,
}

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum ThreadEnd {
    /// It finished.
    Finished,
    /// An assumption failed.
    Assume,
    /// It waits for a lock, an object or a thread.
    Waiting,
    /// It repeats itself.
    Repeats,
    /// It failed.
    Failed,
    /// It reached the limit of its events.
    Limit,
    /// It was not run to its end.
    Open,
}

/// Why a thread that was not stopped does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Pending {
    /// It has not got an answer to this question.
    Question(Op),
    /// It repeats itself, from its op at this position on.
    Loop(usize),
}

impl Pending {
    /// Why a thread with this history does not go on, if it could.
    #[must_use]
    pub fn of(histories: &LocalHistories, node: HistoryId) -> Option<Self> {
        match *histories.end(node) {
            End::Question(op) => Some(Pending::Question(op)),
            End::Repeats(start) => Some(Pending::Loop(histories.events(start) as usize)),
            End::Finished | End::Assume | End::Failed(_) | End::Limit | End::Unrolled(_) => None,
        }
    }
}

/// One execution of a program: its events, in an order in which every event comes after those of its
/// thread and after the one that it observes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Trace {
    /// The events. Statements of initial values ([`OpKind::Init`]) are among them.
    pub events: Vec<TraceEvent>,
    /// How each thread that was started ended.
    pub ends: BTreeMap<ThreadId, ThreadEnd>,
    /// What threads wait for or where they spin, for reports; as far as it is known.
    pub pending: BTreeMap<ThreadId, Pending>,
    /// For each location the events that wrote it, in the order in which memory had them, if the explorer
    /// tells executions apart by it; without locks.
    pub memory: BTreeMap<LocationId, Vec<usize>>,
}

/// As `collect`, which would first sort the pairs: with code of its own for every type of iterator.
pub fn map_of<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    pairs.for_each(|(key, value)| {
        map.insert(key, value);
    });
    map
}

/// What distinguishes classes: for every thread what its questions observed, as thread and position,
/// and how it ended.
pub type Class = BTreeMap<ThreadId, (Vec<Source>, ThreadEnd)>;

/// What distinguishes Shasha-Snir traces: the reads-from class, and for each location its writes in the
/// order in which memory had them, as threads and positions. An atomic update, a compare-exchange that
/// succeeds and an update of a synchronization object are writes, one that fails is not. For a lock, what
/// the acquires observed tells the order.
pub type ShashaSnir = (Class, BTreeMap<LocationId, Vec<(ThreadId, usize)>>);

/// What a question observed, named independently of the order of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The initial write.
    Initial,
    /// The event of this thread at this position. A weak compare-exchange may fail though it observes
    /// the expected value.
    Event {
        /// The thread.
        thread: ThreadId,
        /// How many ops the thread did before.
        position: usize,
        /// Whether the observer failed spuriously.
        spurious: bool,
    },
    /// A weak compare-exchange observed the initial write and failed spuriously.
    SpuriousInitial,
    /// A choice.
    Choice(u32),
}

impl TraceEvent {
    /// Whether this is a compare-exchange that observed the expected value and failed.
    #[must_use]
    pub fn is_spurious(&self) -> bool {
        matches!(self.op.kind, OpKind::CompareExchange { expected, .. }
            if self.read == Some(expected) && self.written.is_none())
    }
}

impl Trace {
    /// The reads-from class of the trace. Joins are left out: they tell nothing.
    #[must_use]
    pub fn class(&self) -> Class {
        let mut class: Class =
            map_of(self.ends.iter().map(|(&thread, &end)| (thread, (vec![], end))));
        for event in &self.events {
            let Some(observed) = event.observed else { continue };
            if matches!(event.op.kind, OpKind::Join { .. } | OpKind::ReadCell { .. }) {
                continue;
            }
            let spurious = event.is_spurious();
            let source = match observed {
                Observed::Initial if spurious => Source::SpuriousInitial,
                Observed::Initial => Source::Initial,
                Observed::Choice(choice) => Source::Choice(choice),
                Observed::Event(source) => {
                    let TraceEvent { thread, position, .. } = self.events[source];
                    Source::Event { thread, position, spurious }
                }
            };
            class.entry(event.thread).or_insert((vec![], ThreadEnd::Open)).0.push(source);
        }
        class
    }

    /// The trace with only some of its events, and where each event is in it. In place of one that is left out stands
    /// the one of its thread before it, for those who joined the thread.
    #[must_use]
    pub fn only(&self, is_kept: impl Fn(&TraceEvent) -> bool) -> (Trace, Vec<Option<usize>>) {
        let (mut events, mut index): (Vec<TraceEvent>, Vec<Option<usize>>) = (vec![], vec![]);
        let mut last = BTreeMap::new();
        let mut left_out: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        let position = |left_out: &[usize], position: usize| {
            position - left_out.partition_point(|&other| other < position)
        };
        for event in &self.events {
            let left_out = left_out.entry(event.thread).or_default();
            if is_kept(event) {
                last.insert(event.thread, events.len());
                let position = position(left_out, event.position);
                events.push(TraceEvent { position, ..event.clone() });
            } else {
                left_out.push(event.position);
            }
            index.push(last.get(&event.thread).copied());
        }
        for event in &mut events {
            if let Some(Observed::Event(source)) = event.observed {
                event.observed = Some(index[source].map_or(Observed::Initial, Observed::Event));
            }
        }
        let mut pending = self.pending.clone();
        for (thread, pending) in &mut pending {
            if let (Pending::Loop(start), Some(left_out)) = (pending, left_out.get(thread)) {
                *start = position(left_out, *start);
            }
        }
        let mut memory = self.memory.clone();
        for order in memory.values_mut() {
            order.retain(|&write| is_kept(&self.events[write]));
            order.iter_mut().for_each(|write| *write = index[*write].unwrap_or(*write));
        }
        (Trace { events, ends: self.ends.clone(), pending, memory }, index)
    }

    /// The Shasha-Snir trace, if the order of memory is known.
    #[must_use]
    pub fn shasha_snir(&self) -> ShashaSnir {
        let name = |&event: &usize| (self.events[event].thread, self.events[event].position);
        let named = |(&location, order): (&LocationId, &Vec<usize>)| {
            (location, order.iter().map(name).collect())
        };
        (self.class(), map_of(self.memory.iter().map(named)))
    }

    /// The trace as an execution for the checkers. Cells and choices are left out.
    ///
    /// The start and the end of a thread are events, too: C++20 orders sequentially consistent accesses
    /// that have one of them between. They become an acquire fence before all reads of the thread and a
    /// release fence after all its writes, which do nothing else.
    ///
    /// # Errors
    /// If the trace has joint accesses, or is not well-formed, which is an error of the caller.
    pub fn to_execution(&self, names: &(impl Naming + ?Sized)) -> Result<Execution, BuildError> {
        Ok(self.to_placed_execution(names)?.0)
    }

    /// As [`Trace::to_execution`]; also which event of the execution each of the trace is, if it is one.
    ///
    /// # Errors
    /// As [`Trace::to_execution`].
    pub fn to_placed_execution(
        &self,
        names: &(impl Naming + ?Sized),
    ) -> Result<(Execution, Vec<Option<EventId>>), BuildError> {
        let is_joint = |event: &TraceEvent| matches!(event.op.kind, OpKind::Joint(_));
        if let Some(&TraceEvent { thread, position, .. }) =
            self.events.iter().find(|it| is_joint(it))
        {
            let (part, flaw) = (EventPart::Action, Flaw::JointAccess);
            return Err(BuildError { thread, position, part, flaw });
        }
        let mut builder = ExecutionBuilder::new();
        let mut initial: BTreeMap<_, Value> = BTreeMap::new();
        let threads = map_of(self.ends.keys().map(|&thread| {
            let id = builder.thread(&names.thread_name(thread));
            builder.declare(id);
            (thread, id)
        }));
        let marked = self.marked_threads();
        for thread in &marked {
            let fence = MemoryOrder::Acquire;
            builder.push_ordered(threads[thread], Action::Fence, fence, SourceClaim::Unnamed);
        }
        let mut placed: Vec<Option<(ThreadId, usize)>> = vec![];
        for event in &self.events {
            placed.push(None);
            let location = event.op.kind.location().map(|location| {
                let id = builder.location(&names.location_name(location));
                if matches!(event.op.kind, OpKind::Sync { .. }) {
                    builder.synchronize(id);
                }
                if let OpKind::Init { value, .. } = event.op.kind {
                    initial.insert(id, value);
                } else if !matches!(event.op.kind, OpKind::Lock { .. } | OpKind::Unlock { .. }) {
                    initial.entry(id).or_insert_with(|| names.initial_value(location));
                }
                id
            });
            let Some((action, order)) = action(event, location, &threads) else { continue };
            let claim = match event.observed {
                Some(Observed::Initial) if action.has_source() => SourceClaim::Init,
                Some(Observed::Event(source)) if action.has_source() => {
                    let (thread, position) = placed[source].expect("a source is an event");
                    SourceClaim::Event { thread, position }
                }
                _ => SourceClaim::Unnamed,
            };
            let thread = threads[&event.thread];
            let position = builder.push_ordered(thread, action, order, claim);
            *placed.last_mut().expect("just pushed") = Some((thread, position));
        }
        for thread in marked.iter().filter(|&&thread| self.is_joined(thread)) {
            let fence = MemoryOrder::Release;
            builder.push_ordered(threads[thread], Action::Fence, fence, SourceClaim::Unnamed);
        }
        for (location, value) in initial {
            let _ = builder.init(location, value);
        }
        let execution = builder.build()?;
        let event = |(thread, position)| execution.event_at(thread, position);
        let events = placed.into_iter().map(|place| place.and_then(event)).collect();
        Ok((execution, events))
    }

    /// The paths of all threads that were started: `main`, and `main/0` for the first thread that `main` spawned.
    #[must_use]
    pub fn thread_paths(&self) -> BTreeMap<ThreadId, String> {
        let mut paths = BTreeMap::from([(ThreadId::new(0), String::from("main"))]);
        let mut spawned: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for event in &self.events {
            if let OpKind::Spawn { thread } = event.op.kind
                && let Some(parent) = paths.get(&event.thread)
            {
                let count = spawned.entry(event.thread).or_default();
                let path = format!("{parent}/{count}");
                *count += 1;
                paths.insert(thread, path);
            }
        }
        paths
    }

    fn is_joined(&self, thread: ThreadId) -> bool {
        self.events.iter().any(|event| event.op.kind == OpKind::Join { thread })
    }

    /// The threads whose start and end matter: those that were spawned, if something is sequentially
    /// consistent.
    fn marked_threads(&self) -> Vec<ThreadId> {
        let is_seq_cst = |event: &TraceEvent| match event.op.kind {
            OpKind::Store { order, .. }
            | OpKind::Load { order, .. }
            | OpKind::Rmw { order, .. }
            | OpKind::CompareExchange { success: order, .. } => order == MemoryOrder::SeqCst,
            _ => false,
        };
        let spawned = self.events.iter().filter_map(|event| match event.op.kind {
            OpKind::Spawn { thread } if self.ends.contains_key(&thread) => Some(thread),
            _ => None,
        });
        if self.events.iter().any(is_seq_cst) { spawned.collect() } else { vec![] }
    }
}

fn action(
    event: &TraceEvent,
    location: Option<LocationId>,
    threads: &BTreeMap<ThreadId, ThreadId>,
) -> Option<(Action, MemoryOrder)> {
    let at = || location.expect("an access has a location");
    let read = || event.read.expect("a read has a value");
    let (action, order) = match event.op.kind {
        OpKind::Init { .. }
        | OpKind::WriteCell { .. }
        | OpKind::ReadCell { .. }
        | OpKind::Choose { .. }
        | OpKind::Joint(_) => return None,
        OpKind::Store { value, order, .. } => {
            (Action::Write { location: at(), value }, Some(order))
        }
        OpKind::Fence { order } => (Action::Fence, Some(order)),
        OpKind::StoreFence => (Action::StoreFence, None),
        OpKind::Unlock { .. } => (Action::Unlock { lock: at() }, None),
        OpKind::Lock { .. } => (Action::Lock { lock: at() }, None),
        OpKind::Spawn { thread } => (Action::Spawn { thread: threads[&thread] }, None),
        OpKind::Join { thread } => (Action::Join { thread: threads[&thread] }, None),
        OpKind::Load { order, .. } => (Action::Read { location: at(), value: read() }, Some(order)),
        OpKind::Rmw { update, order, .. } => {
            let written = update.apply(read());
            (Action::Rmw { location: at(), read: read(), written }, Some(order))
        }
        OpKind::Sync { update, .. } => {
            let written = update.apply(read());
            (Action::Rmw { location: at(), read: read(), written }, Some(MemoryOrder::AcqRel))
        }
        OpKind::CompareExchange { expected, desired, success, failure, .. } => {
            let succeeded = event.written.is_some();
            let order = if succeeded { success } else { failure };
            let location = at();
            (Action::Cas { location, expected, desired, read: read(), succeeded }, Some(order))
        }
    };
    Some((action, order.unwrap_or(action.default_order())))
}
