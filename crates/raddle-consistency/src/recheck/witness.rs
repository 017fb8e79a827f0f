//! Rechecking witnesses.
//!
//! The machine decides everything: a step it cannot make, a read that observes something else, a
//! store that is not flushed, or an event that is missing. An event cannot run twice, nor a store
//! be flushed twice. O(n log n) for n steps.

use crate::reference::replay::{MachineReplay, Refusal};
use crate::witness::{MachineRun, MachineStep, Witness};
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::Model;

use super::{RecheckError, Rechecked, recheck_coherence};

/// Checks a witness again: replays a run, or tests the axioms of a C11 model one by one.
///
/// # Errors
/// If the witness does not show that the model allows the execution.
pub fn recheck_witness(
    execution: &Execution,
    model: Model,
    witness: &Witness,
) -> Result<Rechecked, RecheckError> {
    match witness {
        Witness::Run(run) => recheck_run(execution, model, run).map(|()| Rechecked::Proved),
        Witness::Coherence(coherence) => recheck_coherence(execution, model, coherence),
    }
}

/// Replays a run on the reference machine.
///
/// # Errors
/// If it is not a run of the machine that agrees with the execution.
pub fn recheck_run(
    execution: &Execution,
    model: Model,
    run: &MachineRun,
) -> Result<(), RecheckError> {
    if !model.has_store_buffers() {
        return Err(RecheckError::OtherModel);
    }
    let mut replay = MachineReplay::new(execution, model);
    for (index, &step) in run.steps.iter().enumerate() {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        let refused =
            |refusal| RecheckError::Step { index, event: name(execution, event), refusal };
        if event.index() >= execution.event_count() {
            return Err(refused(Refusal::NotNext));
        }
        replay.step(step).map_err(refused)?;
    }
    if !replay.is_done() {
        return Err(RecheckError::Unfinished { steps: run.steps.len() });
    }
    Ok(())
}

/// The name of an event that may not exist.
fn name(execution: &Execution, event: EventId) -> String {
    if event.index() < execution.event_count() {
        execution.name(event)
    } else {
        format!("event {}", event.index())
    }
}
