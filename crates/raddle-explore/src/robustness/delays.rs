//! A run of an execution on the machine with store buffers: which events overtake a store of their own
//! thread, and in which order memory is updated.

use std::collections::BTreeSet;

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::witness::{ConsistencyVerdict, MachineStep, Witness};
use raddle_core::execution::{EventId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::Naming;
use raddle_core::trace::Trace;

/// A run, by index of the event in the trace.
pub(super) struct Delays {
    /// The events in the order of the run.
    pub(super) order: Vec<usize>,
    /// Whether a store of the event's thread was in the buffer when the event was performed.
    pub(super) overtakes: Vec<bool>,
    /// The step of the run at which the event updated memory, or was performed if it does not.
    pub(super) arrival: Vec<usize>,
}

impl Delays {
    /// Some run of the execution under a model with store buffers. `None` if there is none, or none was found.
    pub(super) fn of(trace: &Trace, names: &(impl Naming + ?Sized), model: Model) -> Option<Self> {
        let (execution, placed) = trace.to_placed_execution(names).ok()?;
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
            Delays { order: vec![], overtakes: vec![false; events], arrival: vec![0; events] };
        for (time, step) in run.steps.iter().enumerate() {
            let (MachineStep::Run(event) | MachineStep::Flush(event)) = *step;
            let thread = execution.thread_of(event).map(ThreadId::index);
            let (Some(thread), Some(at)) = (thread, index(event)) else { continue };
            match step {
                MachineStep::Run(_) => {
                    delays.order.push(at);
                    delays.overtakes[at] = buffered[thread] > 0;
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
