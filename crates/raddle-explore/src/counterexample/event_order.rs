//! The order in which the table shows the events of a trace.
//!
//! An interleaving of the threads, in which every read observes the latest store, is easiest to read: if
//! there is one, it is shown, whatever the model is. Otherwise, under TSO and PSO, the order is a run of the
//! store-buffer machine, with the moments when delayed stores reach memory. Otherwise it is the order of the
//! trace, in which every event comes after the earlier events of its thread and the event that it observes;
//! there, a read may miss stores above it.

use std::collections::BTreeMap;

use super::joint::{self, Interleaving};
use super::wording::is_shown;
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{
    ConsistencyVerdict, MachineRun, MachineStep, Violation, Witness,
};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution, LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::{Naming, OpKind};
use raddle_core::trace::{Observed, Trace};

/// The maximal number of states that a search for a run visits.
const BUDGET: u64 = 200_000;

/// The order of a longer trace is not changed if it is an interleaving.
const LONG: usize = 500;

/// A row of the table. `at` is the index of an event in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A thread performs an event. `updates_memory`: a store reaches memory at once.
    Event { at: usize, updates_memory: bool },
    /// A delayed store reaches memory.
    MemoryUpdate { at: usize },
}

/// The meaning of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderKind {
    /// Every read observes the latest store.
    Interleaving,
    /// A run of the machine with store buffers.
    StoreBuffers,
    /// The order of the trace. `is_weak`: SC forbids the execution, so there is no interleaving.
    Listed { is_weak: bool },
}

/// The events of a trace in the order of the table.
pub(super) struct EventOrder {
    pub(super) kind: OrderKind,
    pub(super) rows: Vec<Row>,
    /// Stores that do not reach memory before the last event.
    pub(super) delayed: Vec<usize>,
    /// Locations whose modification order is not the order of the rows.
    pub(super) modification_orders: Vec<(LocationId, Vec<usize>)>,
}

/// The order in which to show a trace.
pub(super) fn event_order(names: &dyn Naming, model: Model, trace: &Trace) -> EventOrder {
    let Ok((execution, placed)) = trace.to_placed_execution(names) else {
        return joint_order(trace);
    };
    let numbered = NumberedTrace::new(trace, &execution, &placed);
    if trace.events.len() > LONG && is_interleaving(trace) {
        return EventOrder { kind: OrderKind::Interleaving, ..listed(trace, false) };
    }
    let check_under = |model| {
        let options = CheckOptions { budget: BUDGET, shrink: false, ..CheckOptions::default() };
        check(&execution, model, &options)
    };
    let verdict = check_under(Model::Sc);
    if let ConsistencyVerdict::Consistent(Witness::Run(run)) = &verdict {
        return numbered.order_of(OrderKind::Interleaving, run);
    }
    let is_weak = matches!(verdict, ConsistencyVerdict::Inconsistent(_));
    let modification_orders = match check_under(model) {
        ConsistencyVerdict::Consistent(Witness::Run(run)) => {
            return numbered.order_of(OrderKind::StoreBuffers, &run);
        }
        ConsistencyVerdict::Consistent(Witness::Coherence(coherence))
        | ConsistencyVerdict::Inconsistent(Violation::Race { coherence, .. }) => {
            numbered.modification_orders(&coherence)
        }
        _ => vec![],
    };
    EventOrder { modification_orders, ..listed(trace, is_weak) }
}

/// The order of a trace with joint accesses: an interleaving, if there is one.
fn joint_order(trace: &Trace) -> EventOrder {
    match joint::interleaving(trace, BUDGET) {
        Interleaving::Found(order) => {
            let shown = order.into_iter().filter(|&at| is_shown(&trace.events[at]));
            let rows = shown.map(|at| Row::Event { at, updates_memory: false }).collect();
            let (kind, delayed) = (OrderKind::Interleaving, vec![]);
            EventOrder { kind, rows, delayed, modification_orders: vec![] }
        }
        Interleaving::Impossible => listed(trace, true),
        Interleaving::Unknown => listed(trace, false),
    }
}

fn listed(trace: &Trace, is_weak: bool) -> EventOrder {
    let shown = (0..trace.events.len()).filter(|&at| is_shown(&trace.events[at]));
    let rows = shown.map(|at| Row::Event { at, updates_memory: false }).collect();
    let kind = OrderKind::Listed { is_weak };
    EventOrder { kind, rows, delayed: vec![], modification_orders: vec![] }
}

/// Returns `true` if every read observes the latest write before it in the order of the trace.
fn is_interleaving(trace: &Trace) -> bool {
    let mut latest: BTreeMap<LocationId, usize> = BTreeMap::new();
    (0..trace.events.len()).all(|at| {
        let event = &trace.events[at];
        let Some(location) = event.op.kind.location() else { return true };
        let observes_latest = match event.observed {
            Some(Observed::Initial) => !latest.contains_key(&location),
            Some(Observed::Event(source)) => latest.get(&location) == Some(&source),
            Some(Observed::Choice(_)) | None => true,
        };
        let is_lock = matches!(event.op.kind, OpKind::Lock { .. } | OpKind::Unlock { .. });
        if is_lock || event.written.is_some() && is_shown(event) {
            latest.insert(location, at);
        }
        observes_latest
    })
}

/// A trace and its execution.
struct NumberedTrace<'a> {
    trace: &'a Trace,
    execution: &'a Execution,
    /// By event of the execution, the index in the trace.
    indices: Vec<Option<usize>>,
    /// The events that the execution does not contain, by the event that they follow.
    followers: BTreeMap<Option<usize>, Vec<usize>>,
}

impl<'a> NumberedTrace<'a> {
    fn new(trace: &'a Trace, execution: &'a Execution, placed: &[Option<EventId>]) -> Self {
        let mut indices = vec![None; execution.event_count()];
        let mut followers: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        // The last contained event of each thread.
        let mut last: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for (at, event) in trace.events.iter().enumerate() {
            match placed[at] {
                Some(id) => {
                    indices[id.index()] = Some(at);
                    last.insert(event.thread, at);
                }
                None if is_shown(event) => {
                    let before = last.get(&event.thread).copied();
                    let before = before.or_else(|| trace.spawn_of(event.thread));
                    followers.entry(before).or_default().push(at);
                }
                None => {}
            }
        }
        NumberedTrace { trace, execution, indices, followers }
    }

    fn order_of(&self, kind: OrderKind, run: &MachineRun) -> EventOrder {
        let mut rows: Vec<Row> = self.followers(None).collect();
        for &step in &run.steps {
            match step {
                MachineStep::Run(event) => {
                    if let Some(at) = self.index_of(event) {
                        let updates_memory = !self.execution.is_buffered(event);
                        rows.push(Row::Event { at, updates_memory });
                        rows.extend(self.followers(Some(at)));
                    }
                }
                MachineStep::Flush(event) => self.push_update(&mut rows, event),
            }
        }
        let is_event = |row: &Row| matches!(row, Row::Event { .. });
        let end = rows.iter().rposition(is_event).map_or(0, |last| last + 1);
        let delayed = rows.split_off(end).into_iter().map(Row::event).collect();
        EventOrder { kind, rows, delayed, modification_orders: vec![] }
    }

    /// A store reaches memory: in a row of its own, unless it was not delayed.
    fn push_update(&self, rows: &mut Vec<Row>, event: EventId) {
        let Some(at) = self.index_of(event) else { return };
        match rows.last_mut() {
            Some(Row::Event { at: last, updates_memory }) if *last == at => *updates_memory = true,
            _ => rows.push(Row::MemoryUpdate { at }),
        }
    }

    fn index_of(&self, event: EventId) -> Option<usize> {
        self.indices.get(event.index()).copied().flatten()
    }

    /// The events that executions do not contain, such as choices and accesses of cells. Each follows the last
    /// contained event of its thread, or the spawn of the thread.
    fn followers(&self, contained: Option<usize>) -> impl Iterator<Item = Row> {
        let followers = self.followers.get(&contained).into_iter().flatten();
        followers.map(|&at| Row::Event { at, updates_memory: false })
    }

    /// The modification orders that differ from the order of the trace.
    fn modification_orders(&self, coherence: &Coherence) -> Vec<(LocationId, Vec<usize>)> {
        let writes = |mo: &Vec<EventId>| -> Vec<usize> {
            let indices = mo.iter().filter_map(|&event| self.index_of(event));
            indices.filter(|&at| self.trace.events[at].written.is_some()).collect()
        };
        let others = coherence.mo.iter().map(writes).filter(|writes| !writes.is_sorted());
        let with_location = others.filter_map(|writes| {
            let first = *writes.first()?;
            Some((self.trace.events[first].op.kind.location()?, writes))
        });
        with_location.collect()
    }
}

impl EventOrder {
    /// By event of the trace, the number of its row, from 1; 0 if it has none.
    pub(super) fn steps(&self, events: usize) -> Vec<usize> {
        let mut steps = vec![0; events];
        let in_rows = self.rows.iter().filter_map(|row| match row {
            Row::Event { at, .. } => Some(*at),
            Row::MemoryUpdate { .. } => None,
        });
        for (step, at) in (1..).zip(in_rows) {
            steps[at] = step;
        }
        steps
    }
}

impl Row {
    pub(super) fn event(self) -> usize {
        let (Row::Event { at, .. } | Row::MemoryUpdate { at }) = self;
        at
    }
}

/// The latest store before a read in the order of the trace, if the read observes another one.
pub(super) fn missed_store(trace: &Trace, read: usize) -> Option<usize> {
    let event = &trace.events[read];
    let location = event.op.kind.location().filter(|_| event.read.is_some())?;
    let writes = |at: &usize| {
        let earlier = &trace.events[*at];
        earlier.written.is_some()
            && is_shown(earlier)
            && earlier.op.kind.location() == Some(location)
    };
    let latest = (0..read).rev().find(writes)?;
    (event.observed != Some(Observed::Event(latest))).then_some(latest)
}
