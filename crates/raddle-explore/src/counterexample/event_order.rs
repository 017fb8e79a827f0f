//! The order in which the table shows the events of a trace.
//!
//! An interleaving of the threads, in which every read observes the latest store, is easiest to read: if
//! there is one, it is shown, whatever the model is. Otherwise, under TSO and PSO, the order is a run of the
//! store-buffer machine, with the moments when delayed stores reach memory. Otherwise it is the order of the
//! trace, in which every event comes after the earlier events of its thread and the event that it observes;
//! there, a read may miss stores above it.

use super::joint::{self, Interleaving};
use super::wording::is_shown;
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{
    ConsistencyVerdict, MachineRun, MachineStep, Violation, Witness,
};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution, LocationId};
use raddle_core::model::Model;
use raddle_core::program::Naming;
use raddle_core::trace::{Observed, Trace};

/// The maximal number of states that a search for a run visits.
const BUDGET: u64 = 200_000;

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
    let numbered = NumberedTrace { trace, execution: &execution, placed: &placed };
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

/// A trace and its execution.
struct NumberedTrace<'a> {
    trace: &'a Trace,
    execution: &'a Execution,
    /// By event of the trace, the id in the execution.
    placed: &'a [Option<EventId>],
}

impl NumberedTrace<'_> {
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
        self.placed.iter().position(|&placed| placed == Some(event))
    }

    /// The events that executions do not contain, such as choices and accesses of cells. Each follows the last
    /// contained event of its thread, or the spawn of the thread.
    fn followers(&self, contained: Option<usize>) -> impl Iterator<Item = Row> {
        let events = &self.trace.events;
        let is_contained = |at: usize| self.placed[at].is_some();
        let before = move |at: usize| {
            let thread = events[at].thread;
            let own = (0..at).rev().find(|&own| events[own].thread == thread && is_contained(own));
            own.or_else(|| self.trace.spawn_of(thread))
        };
        (0..events.len())
            .filter(move |&at| {
                !is_contained(at) && is_shown(&events[at]) && before(at) == contained
            })
            .map(|at| Row::Event { at, updates_memory: false })
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

impl Row {
    fn event(self) -> usize {
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
