//! Rechecking witnesses.
//!
//! The machine decides everything: a step it cannot make, a read that observes something else, a
//! store that is not flushed, or an event that is missing. An event cannot run twice, nor a store
//! be flushed twice. O(n log n) for n steps.

use crate::execution::{EventId, Execution};
use crate::model::Model;
use crate::reference::replay::{Refusal, Replay};
use crate::witness::{Step, Witness};

use super::RecheckError;

/// Replays a witness on the reference machine.
///
/// # Errors
/// If it is not a run of the machine that agrees with the execution.
pub fn recheck_witness(
    execution: &Execution,
    model: Model,
    witness: &Witness,
) -> Result<(), RecheckError> {
    let mut replay = Replay::new(execution, model);
    for (index, &step) in witness.steps.iter().enumerate() {
        let (Step::Run(event) | Step::Flush(event)) = step;
        let refused =
            |refusal| RecheckError::Step { index, event: name(execution, event), refusal };
        if event.index() >= execution.event_count() {
            return Err(refused(Refusal::NotNext));
        }
        replay.step(step).map_err(refused)?;
    }
    if !replay.is_done() {
        return Err(RecheckError::Unfinished { steps: witness.steps.len() });
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
