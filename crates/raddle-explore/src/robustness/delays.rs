//! A run of an execution on a machine with store buffers: who goes ahead of a store of its own, and in
//! which order memory changes.

use std::collections::BTreeSet;

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, MachineStep, Witness};
use raddle_core::execution::{EventId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::Trace;

/// What a run tells about the events of a trace, by their index.
pub(super) struct Delays {
    /// The events in the order in which their threads perform them.
    pub(super) order: Vec<usize>,
    /// Whether the event was performed while a store of its thread was in the buffer.
    pub(super) goes_ahead: Vec<bool>,
    /// When the event changed memory, if it does: a number that grows.
    pub(super) arrival: Vec<usize>,
}

impl Delays {
    /// Of some run of the execution under a model with store buffers. None if there is no run, or none
    /// was found.
    pub(super) fn of(trace: &Trace, program: &dyn Program, model: Model) -> Option<Self> {
        let (execution, placed) = trace.to_placed_execution(program).ok()?;
        let ConsistencyVerdict::Consistent(Witness::Run(run)) =
            check(&execution, model, &CheckOptions::default())
        else {
            return None;
        };
        let mut index = vec![None; execution.event_count()];
        for (at, event) in placed.iter().enumerate() {
            if let Some(event) = event {
                index[event.index()] = Some(at);
            }
        }
        let index = |event: EventId| index[event.index()];
        let delayed: BTreeSet<EventId> = run.steps.iter().filter_map(flushed).collect();
        let mut buffered = vec![0; execution.thread_count()];
        let events = trace.events.len();
        let mut delays =
            Delays { order: vec![], goes_ahead: vec![false; events], arrival: vec![0; events] };
        for (time, step) in run.steps.iter().enumerate() {
            let (MachineStep::Run(event) | MachineStep::Flush(event)) = *step;
            let thread = execution.thread_of(event).map(ThreadId::index);
            let (Some(thread), Some(at)) = (thread, index(event)) else { continue };
            match step {
                MachineStep::Run(_) => {
                    delays.order.push(at);
                    delays.goes_ahead[at] = buffered[thread] > 0;
                    delays.arrival[at] = time;
                    buffered[thread] += usize::from(delayed.contains(&event));
                }
                MachineStep::Flush(_) => {
                    delays.arrival[at] = time;
                    buffered[thread] -= 1;
                }
            }
        }
        Some(delays)
    }
}

fn flushed(step: &MachineStep) -> Option<EventId> {
    match *step {
        MachineStep::Flush(event) => Some(event),
        MachineStep::Run(_) => None,
    }
}
