//! The order in which the events of a trace are shown.
//!
//! An interleaving of the threads, in which every read sees the latest store, is easiest to read: if
//! there is one, it is shown, whatever the model is. Otherwise, under TSO and PSO, a run of the machine
//! with the moments when delayed stores reach memory. Otherwise the order of the trace, in which every
//! event comes after those of its thread and the one that it observes; there, a read may miss stores.

use super::past::spawn_of;
use super::words::is_shown;
use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{
    ConsistencyVerdict, MachineRun, MachineStep, Violation, Witness,
};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution, LocationId};
use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::{Observed, Trace};

/// A search for a run is given up after so many states.
const BUDGET: u64 = 200_000;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventSet {
    /// An event happens, and what it stores may reach memory at once.
    Event { at: usize, arrives: bool },
    /// A delayed store reaches memory.
    Arrival { at: usize },
}

/// What an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every read sees the latest store.
    Interleaving,
    /// A run of the machine with store buffers.
    Buffers,
    /// The order of the trace. If `needed`, there is no interleaving.
    Listed { needed: bool },
}

/// The events in an order.
pub(super) struct Order {
    pub(super) kind: Kind,
    pub(super) rows: Vec<EventSet>,
    /// Stores that did not reach memory before the end.
    pub(super) delayed: Vec<usize>,
    /// Locations whose writes take effect in another order than that of the rows.
    pub(super) modifications: Vec<(LocationId, Vec<usize>)>,
}

/// An order in which to show a trace.
pub(super) fn order(program: &dyn Program, model: Model, trace: &Trace) -> Order {
    let Ok((execution, placed)) = trace.to_placed_execution(program) else {
        return listed(trace, false);
    };
    let runs = Runs { trace, execution: &execution, placed: &placed };
    let ask = |model| {
        let options = CheckOptions { budget: BUDGET, shrink: false, ..CheckOptions::default() };
        check(&execution, model, &options)
    };
    let verdict = ask(Model::Sc);
    if let ConsistencyVerdict::Consistent(Witness::Run(run)) = &verdict {
        return runs.order(Kind::Interleaving, run);
    }
    let needed = matches!(verdict, ConsistencyVerdict::Inconsistent(_));
    let modifications = match ask(model) {
        ConsistencyVerdict::Consistent(Witness::Run(run)) => {
            return runs.order(Kind::Buffers, &run);
        }
        ConsistencyVerdict::Consistent(Witness::Coherence(coherence))
        | ConsistencyVerdict::Inconsistent(Violation::Race { coherence, .. }) => {
            runs.modifications(&coherence)
        }
        _ => vec![],
    };
    Order { modifications, ..listed(trace, needed) }
}

fn listed(trace: &Trace, needed: bool) -> Order {
    let shown = (0..trace.events.len()).filter(|&at| is_shown(&trace.events[at]));
    let rows = shown.map(|at| EventSet::Event { at, arrives: false }).collect();
    Order { kind: Kind::Listed { needed }, rows, delayed: vec![], modifications: vec![] }
}

/// A trace and its execution.
struct Runs<'a> {
    trace: &'a Trace,
    execution: &'a Execution,
    /// By event of the trace, that of the execution.
    placed: &'a [Option<EventId>],
}

impl Runs<'_> {
    fn order(&self, kind: Kind, run: &MachineRun) -> Order {
        let mut rows: Vec<EventSet> = self.followers(None).collect();
        for &step in &run.steps {
            match step {
                MachineStep::Run(event) => {
                    if let Some(at) = self.traced(event) {
                        let arrives = !self.execution.is_buffered(event);
                        rows.push(EventSet::Event { at, arrives });
                        rows.extend(self.followers(Some(at)));
                    }
                }
                MachineStep::Flush(event) => self.arrive(&mut rows, event),
            }
        }
        let is_event = |row: &EventSet| matches!(row, EventSet::Event { .. });
        let end = rows.iter().rposition(is_event).map_or(0, |last| last + 1);
        let delayed = rows.split_off(end).into_iter().map(EventSet::event).collect();
        Order { kind, rows, delayed, modifications: vec![] }
    }

    /// A store reaches memory: in a row of its own, unless it has not been delayed.
    fn arrive(&self, rows: &mut Vec<EventSet>, event: EventId) {
        let Some(at) = self.traced(event) else { return };
        match rows.last_mut() {
            Some(EventSet::Event { at: last, arrives }) if *last == at => *arrives = true,
            _ => rows.push(EventSet::Arrival { at }),
        }
    }

    fn traced(&self, event: EventId) -> Option<usize> {
        self.placed.iter().position(|&placed| placed == Some(event))
    }

    /// The events that the checkers do not know, such as choices and accesses of cells: each follows
    /// the last known one of its thread, or the start of the thread.
    fn followers(&self, known: Option<usize>) -> impl Iterator<Item = EventSet> {
        let events = &self.trace.events;
        let is_known = |at: usize| self.placed[at].is_some();
        let before = move |at: usize| {
            let thread = events[at].thread;
            let own = (0..at).rev().find(|&own| events[own].thread == thread && is_known(own));
            own.or_else(|| spawn_of(self.trace, thread))
        };
        (0..events.len())
            .filter(move |&at| !is_known(at) && is_shown(&events[at]) && before(at) == known)
            .map(|at| EventSet::Event { at, arrives: false })
    }

    /// The modification orders that are not those of the trace.
    fn modifications(&self, coherence: &Coherence) -> Vec<(LocationId, Vec<usize>)> {
        let writes = |mo: &Vec<EventId>| -> Vec<usize> {
            let traced = mo.iter().filter_map(|&event| self.traced(event));
            traced.filter(|&at| self.trace.events[at].written.is_some()).collect()
        };
        let others = coherence.mo.iter().map(writes).filter(|writes| !writes.is_sorted());
        let named = others.filter_map(|writes| {
            let first = *writes.first()?;
            Some((self.trace.events[first].op.kind.location()?, writes))
        });
        named.collect()
    }
}

impl EventSet {
    /// The event that the row is about.
    fn event(self) -> usize {
        let (EventSet::Event { at, .. } | EventSet::Arrival { at }) = self;
        at
    }
}

/// The latest store before a read in the order of the trace, if the read observes another one.
pub(super) fn missed(trace: &Trace, read: usize) -> Option<usize> {
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
