//! Executions as data for other programs: events with names, in an order to show them, and the relations between them.

mod sc_cycle;

use std::collections::{BTreeMap, BTreeSet};

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{
    ConsistencyVerdict, MachineRun, MachineStep, Violation, Witness,
};
use raddle_core::execution::{EventId, Execution, LocationId, MemoryOrder, ThreadId};
use raddle_core::model::relations::Relations;
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{
    CycleRelation, Ending, Frame, NamedTrace, Observed, Pending, ThreadEnd, Trace, TraceEvent,
};
use serde::Serialize;

use super::event_order::{self, OrderKind, Row};
use super::relevant_part::relevant_part;
use super::style::Style;
use super::waits;
use super::wording::{Wording, is_shown};

/// Synchronizes-with is computed for executions of at most this many events, as that takes cubic time.
const MOST_EVENTS: usize = 400;

/// The maximal number of states that the search for modification orders visits.
const BUDGET: u64 = 200_000;

/// An execution.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExecutionData {
    /// The model that allows it.
    pub model: String,
    /// How it ended: `complete`, `blocked`, `deadlock`, `livelock`, `failed`, `race` or `limit`.
    pub ending: &'static str,
    /// The threads, in the order in which they are named in events.
    pub threads: Vec<ThreadData>,
    /// The objects with values that the events access.
    pub objects: Vec<ObjectData>,
    /// The events. Each comes after the earlier ones of its thread and after the one that it observes.
    pub events: Vec<EventData>,
    /// What `steps` are: `interleaving`, if every read observes the latest write; `store-buffers`, a run of the machine of the model;
    /// or `listed`, an order in which reads may miss writes.
    pub order: &'static str,
    /// The events in the order in which to show them, and under tso and pso the moments at which stores reach memory.
    pub steps: Vec<StepData>,
    /// The modification orders that differ from the order of `steps`.
    pub modification_orders: Vec<ModificationOrderData>,
    /// Relations between events, without program order and reads-from.
    pub relations: Vec<EdgeData>,
    /// A cycle because of which sc forbids the execution, if it does.
    pub cycle: Vec<EdgeData>,
    /// What the threads that do not go on wait for, as sentences.
    pub waits: Vec<String>,
    /// The number of events without influence on the error that are left out.
    pub omitted: usize,
    /// What the program printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
}

/// A thread of an execution.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ThreadData {
    /// Its name.
    pub name: String,
    /// How it ended: `finished`, `assume`, `waiting`, `repeats`, `failed`, `limit` or `open`.
    pub end: &'static str,
}

/// An object in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectData {
    /// Its name.
    pub name: String,
    /// The value before the first write.
    pub initial: String,
}

/// An event of an execution.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EventData {
    /// `main/0.3`: the thread and the number.
    pub id: String,
    /// The index of its thread.
    pub thread: usize,
    /// The number of events of its thread before it.
    pub number: usize,
    /// `load`, `store`, `update`, `compare-exchange`, `fence`, `store-fence`, `lock`, `unlock`, `wait`, `spawn`, `join`,
    /// `choose`, `read-cell` or `write-cell`.
    pub operation: &'static str,
    /// The object that it accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The memory order, under models that distinguish orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<&'static str>,
    /// The value that it read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// The value that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// What it observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceData>,
    /// The place in the source.
    pub place: String,
    /// The event as in the report.
    pub text: String,
    /// `race` if the error is a race of this event; `failure` if its thread fails after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// The call stack, innermost frame first, as far as it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// What an event observed.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum SourceData {
    /// `initial`: the initial value.
    Initial(&'static str),
    /// The index of an event.
    Event(usize),
}

/// A step of an execution.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepData {
    /// An event happens. A store in it reaches memory at once.
    Event(usize),
    /// A store enters a store buffer.
    Buffered(usize),
    /// A store that was buffered reaches memory.
    Memory(usize),
}

/// The order in which memory had the writes of a location.
#[derive(Clone, Debug, Serialize)]
pub struct ModificationOrderData {
    /// The location.
    pub object: String,
    /// Indices of events.
    pub writes: Vec<usize>,
}

/// A pair of events in a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EdgeData {
    /// The index of the first event.
    pub from: usize,
    /// The index of the second event.
    pub to: usize,
    /// `po`, `rf`, `mo` (neighbours), `fr`, `sw` or `asw`.
    pub relation: &'static str,
}

/// An execution as data: all its events, or only those that led to the error.
#[must_use]
pub fn data(names: &NamedTrace, style: &Style, is_whole: bool) -> ExecutionData {
    let (whole, ending) = match &names.not_robust {
        Some(not_robust) => (&not_robust.part, &Ending::Complete),
        None => (&names.trace, &names.ending),
    };
    let (trace, ending) = match is_whole {
        true => (whole.clone(), ending.clone()),
        false => relevant_part(whole, ending),
    };
    let shown = |trace: &Trace| trace.events.iter().filter(|event| is_shown(event)).count();
    let omitted = shown(&names.trace) - shown(&trace).min(shown(&names.trace));
    let builder = Builder::new(names, &trace, &ending, style);
    let mut data = builder.build();
    data.omitted = omitted;
    if data.cycle.is_empty() && data.order != "interleaving" {
        data.cycle = sc_cycle::shortest(&data);
    }
    data.printed.clone_from(&names.printed);
    data
}

struct Builder<'a> {
    names: &'a NamedTrace,
    trace: &'a Trace,
    ending: &'a Ending,
    wording: Wording<'a>,
    style: &'a Style,
    /// By event of the trace: its index in the data.
    index: Vec<Option<usize>>,
    threads: BTreeMap<ThreadId, usize>,
}

impl<'a> Builder<'a> {
    fn new(names: &'a NamedTrace, trace: &'a Trace, ending: &'a Ending, style: &'a Style) -> Self {
        let mut count = 0..;
        let index =
            trace.events.iter().map(|event| is_shown(event).then(|| count.next()).flatten());
        let index = index.collect();
        let threads = trace.ends.keys().copied().zip(0..).collect();
        let order = event_order::event_order(names, names.model, trace);
        let wording = Wording::of(names, trace, order.steps(trace.events.len()), style);
        Builder { names, trace, ending, wording, style, index, threads }
    }

    fn build(&self) -> ExecutionData {
        let order = event_order::event_order(self.names, self.names.model, self.trace);
        let kind = match order.kind {
            OrderKind::Interleaving => "interleaving",
            OrderKind::StoreBuffers => "store-buffers",
            OrderKind::Listed { .. } => "listed",
        };
        let has_buffers = order.kind == OrderKind::StoreBuffers;
        let step = |row: &Row| self.step(*row, has_buffers);
        let modification_orders = order.modification_orders.iter().map(|(location, writes)| {
            let writes = writes.iter().filter_map(|&at| self.index[at]).collect();
            ModificationOrderData { object: self.wording.location(*location), writes }
        });
        ExecutionData {
            model: self.names.model.name().to_owned(),
            ending: ending_name(self.ending),
            threads: self.thread_data(),
            objects: self.objects(),
            events: self.events(),
            order: kind,
            steps: order.rows.iter().filter_map(step).collect(),
            modification_orders: modification_orders.collect(),
            relations: self.relations(),
            cycle: self.cycle(),
            waits: waits::sentences(&self.wording, self.ending),
            ..ExecutionData::default()
        }
    }

    fn step(&self, row: Row, has_buffers: bool) -> Option<StepData> {
        match row {
            Row::Event { at, updates_memory } => {
                let index = self.index[at]?;
                let is_store = matches!(self.trace.events[at].op.kind, OpKind::Store { .. });
                Some(match has_buffers && is_store && !updates_memory {
                    true => StepData::Buffered(index),
                    false => StepData::Event(index),
                })
            }
            Row::MemoryUpdate { at } => Some(StepData::Memory(self.index[at]?)),
        }
    }

    fn thread_data(&self) -> Vec<ThreadData> {
        let thread = |(&thread, &end): (&ThreadId, &ThreadEnd)| ThreadData {
            name: self.names.thread_name(thread),
            end: end_name(end, self.trace.pending.get(&thread)),
        };
        self.trace.ends.iter().map(thread).collect()
    }

    fn objects(&self) -> Vec<ObjectData> {
        let mut known = BTreeSet::new();
        let mut objects = vec![];
        for event in self.trace.events.iter().filter(|event| is_shown(event)) {
            let Some(location) = event.op.kind.location() else { continue };
            let has_value = event.read.or(event.written).is_some();
            if has_value && known.insert(location) {
                let value = self.wording.initial_value(location);
                let initial = self.wording.accessed(&event.op.kind, Some(value));
                objects.push(ObjectData { name: self.wording.location(location), initial });
            }
        }
        objects
    }

    fn events(&self) -> Vec<EventData> {
        let shown = (0..self.trace.events.len()).filter(|&at| self.index[at].is_some());
        shown.map(|at| self.event(at)).collect()
    }

    fn event(&self, at: usize) -> EventData {
        let event = &self.trace.events[at];
        let kind = &event.op.kind;
        let value = |value| self.wording.accessed(kind, Some(value));
        let has_orders = !self.wording.order(MemoryOrder::Relaxed).is_empty();
        let id = self.wording.name(at);
        let number = id.rsplit_once('.').and_then(|(_, number)| number.parse().ok());
        EventData {
            thread: self.threads.get(&event.thread).copied().unwrap_or_default(),
            number: number.unwrap_or_default(),
            id,
            operation: operation(event),
            object: kind.location().map(|location| self.wording.location(location)),
            order: order(event).filter(|_| has_orders).map(MemoryOrder::name),
            read: event.read.map(value),
            written: event.written.map(value),
            source: match event.observed {
                Some(Observed::Initial) => Some(SourceData::Initial("initial")),
                Some(Observed::Event(source)) => self.index[source].map(SourceData::Event),
                Some(Observed::Choice(_)) | None => None,
            },
            place: self.style.relative(&self.names.place(event.op.place)).to_owned(),
            text: self.wording.event(at),
            role: self.role(at),
            stack: self.stack(event),
        }
    }

    /// The call stack of an event, with relative paths.
    fn stack(&self, event: &TraceEvent) -> Vec<Frame> {
        let mut stack = self.names.stacks.of_event(event).to_vec();
        for position in stack.iter_mut().filter_map(|frame| frame.position.as_mut()) {
            position.file = self.style.relative(&position.file).to_owned();
        }
        stack
    }

    fn role(&self, at: usize) -> Option<&'static str> {
        let thread = self.trace.events[at].thread;
        match *self.ending {
            Ending::Race(first, second) => (at == first || at == second).then_some("race"),
            Ending::Failed(failed, _) if failed == thread => {
                let later = &self.trace.events[at + 1..];
                let is_last = later.iter().all(|event| event.thread != thread);
                is_last.then_some("failure")
            }
            _ => None,
        }
    }

    /// The cycle because of which sc forbids the execution.
    fn cycle(&self) -> Vec<EdgeData> {
        let Some(not_robust) = &self.names.not_robust else { return vec![] };
        let edges = not_robust.cycle.iter().filter_map(|edge| {
            let relation = match edge.relation {
                CycleRelation::ProgramOrder => "po",
                CycleRelation::SpawnOrJoin => "asw",
                CycleRelation::ReadsFrom => "rf",
                CycleRelation::Coherence => "mo",
                CycleRelation::FromReads => "fr",
            };
            Some(EdgeData { from: self.index[edge.from]?, to: self.index[edge.to]?, relation })
        });
        edges.collect()
    }

    /// Modification orders, synchronizes-with, and what spawns and joins order.
    fn relations(&self) -> Vec<EdgeData> {
        let mut edges = self.spawns_and_joins();
        let Ok((execution, placed)) = self.trace.to_placed_execution(self.names) else {
            return edges;
        };
        let back: BTreeMap<EventId, usize> = (placed.iter().enumerate())
            .filter_map(|(at, event)| Some(((*event)?, self.index[at]?)))
            .collect();
        let pair = |from: &EventId, to: &EventId, relation| {
            Some(EdgeData { from: *back.get(from)?, to: *back.get(to)?, relation })
        };
        let model = self.names.model;
        let options = CheckOptions { budget: BUDGET, shrink: false, ..CheckOptions::default() };
        let coherence = match check(&execution, model, &options) {
            ConsistencyVerdict::Consistent(Witness::Coherence(coherence))
            | ConsistencyVerdict::Inconsistent(Violation::Race { coherence, .. }) => coherence,
            ConsistencyVerdict::Consistent(Witness::Run(run)) => {
                let pairs = memory_orders(&execution, &run);
                edges.extend(pairs.iter().filter_map(|(from, to)| pair(from, to, "mo")));
                return edges;
            }
            _ => return edges,
        };
        for order in &coherence.mo {
            let neighbours = order.iter().zip(order.iter().skip(1));
            edges.extend(neighbours.filter_map(|(from, to)| pair(from, to, "mo")));
        }
        if execution.event_count() <= MOST_EVENTS {
            let relations = Relations::new(&execution, model, &coherence);
            let of = |(from, to)| pair(&EventId::new(from), &EventId::new(to), "sw");
            edges.extend(relations.sw.pairs().filter_map(of));
        }
        edges
    }

    fn spawns_and_joins(&self) -> Vec<EdgeData> {
        let events = &self.trace.events;
        let shown = |at: &usize| self.index[*at].is_some();
        let first = |thread: ThreadId| {
            (0..events.len()).filter(shown).find(|&at| events[at].thread == thread)
        };
        let last = |thread: ThreadId| {
            (0..events.len()).rev().filter(shown).find(|&at| events[at].thread == thread)
        };
        let edge = |at: usize| {
            let (from, to) = match events[at].op.kind {
                OpKind::Spawn { thread } => (at, first(thread)?),
                OpKind::Join { thread } => (last(thread)?, at),
                _ => return None,
            };
            Some(EdgeData { from: self.index[from]?, to: self.index[to]?, relation: "asw" })
        };
        (0..events.len()).filter_map(edge).collect()
    }
}

/// The neighbours among the writes of each location, in the order in which they reach memory.
fn memory_orders(execution: &Execution, run: &MachineRun) -> Vec<(EventId, EventId)> {
    let mut last: BTreeMap<LocationId, EventId> = BTreeMap::new();
    let mut pairs = vec![];
    for &step in &run.steps {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        let action = execution.action(event);
        let is_in_memory = matches!(step, MachineStep::Flush(_)) || !execution.is_buffered(event);
        if let (Some(location), Some(_), true) =
            (action.location(), action.written_value(), is_in_memory)
            && let Some(before) = last.insert(location, event).filter(|&before| before != event)
        {
            pairs.push((before, event));
        }
    }
    pairs
}

fn ending_name(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Blocked => "blocked",
        Ending::Deadlock(_) => "deadlock",
        Ending::Livelock(_) => "livelock",
        Ending::Failed(..) => "failed",
        Ending::Race(..) => "race",
        Ending::Limit(_) => "limit",
    }
}

fn end_name(end: ThreadEnd, pending: Option<&Pending>) -> &'static str {
    match end {
        ThreadEnd::Finished => "finished",
        ThreadEnd::Assume => "assume",
        ThreadEnd::Waiting => "waiting",
        ThreadEnd::Repeats => "repeats",
        ThreadEnd::Failed => "failed",
        ThreadEnd::Limit => "limit",
        ThreadEnd::Open if matches!(pending, Some(Pending::Loop(_))) => "repeats",
        ThreadEnd::Open => "open",
    }
}

fn operation(event: &TraceEvent) -> &'static str {
    match event.op.kind {
        OpKind::Init { .. } => "init",
        OpKind::Joint(_) => "joint",
        OpKind::Store { .. } => "store",
        OpKind::Fence { .. } => "fence",
        OpKind::StoreFence => "store-fence",
        OpKind::Unlock { .. } => "unlock",
        OpKind::Spawn { .. } => "spawn",
        OpKind::WriteCell { .. } => "write-cell",
        OpKind::Load { .. } => "load",
        OpKind::Rmw { .. } => "update",
        OpKind::CompareExchange { .. } => "compare-exchange",
        OpKind::Lock { .. } => "lock",
        OpKind::Sync { .. } => "wait",
        OpKind::Join { .. } => "join",
        OpKind::Choose { .. } => "choose",
        OpKind::ReadCell { .. } => "read-cell",
    }
}

fn order(event: &TraceEvent) -> Option<MemoryOrder> {
    match event.op.kind {
        OpKind::Store { order, .. }
        | OpKind::Fence { order }
        | OpKind::Load { order, .. }
        | OpKind::Rmw { order, .. } => Some(order),
        OpKind::CompareExchange { success, failure, .. } => {
            Some(if event.written.is_some() { success } else { failure })
        }
        _ => None,
    }
}
