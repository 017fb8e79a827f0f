//! Decides small executions by exploring all runs of the machine.
//!
//! A depth-first search over the states of the machine, pruned only at states that it has visited. Exponential in the
//! number of threads and in the number of stores that can wait in buffers: practical for a dozen events, and the oracle
//! for everything faster.

use std::collections::HashSet;

use crate::witness::{MachineRun, MachineStep};
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use super::machine::ReferenceMachine;
use super::replay::MachineReplay;

/// The result of exploring all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BruteForceOutcome {
    /// A run that agrees with the execution.
    Allowed(MachineRun),
    /// No run agrees with the execution.
    Forbidden,
    /// The budget of states is exhausted.
    TooLarge,
}

/// A state on the current path, and the steps from it not yet tried.
struct BruteForceFrame<'a> {
    replay: MachineReplay<'a>,
    untried: Vec<MachineStep>,
}

impl<'a> BruteForceFrame<'a> {
    fn new(replay: MachineReplay<'a>) -> Self {
        let untried = replay.candidates();
        BruteForceFrame { replay, untried }
    }
}

/// Returns `true` if the model allows the execution.
#[must_use]
pub fn allows(execution: &Execution, model: Model) -> bool {
    witness(execution, model).is_some()
}

/// Returns a run of the machine that agrees with the execution, if there is one.
#[must_use]
pub fn witness(execution: &Execution, model: Model) -> Option<MachineRun> {
    match search(execution, model, usize::MAX) {
        BruteForceOutcome::Allowed(run) => Some(run),
        BruteForceOutcome::Forbidden | BruteForceOutcome::TooLarge => None,
    }
}

/// Explores the runs of the machine that agree with the execution, up to a number of states.
#[must_use]
pub fn search(execution: &Execution, model: Model, budget: usize) -> BruteForceOutcome {
    let start = MachineReplay::new(execution, model);
    let mut seen: HashSet<ReferenceMachine> = HashSet::from([start.machine().clone()]);
    let mut steps = vec![];
    let mut path = vec![BruteForceFrame::new(start)];
    while let Some(top) = path.last_mut() {
        if top.replay.is_done() {
            return BruteForceOutcome::Allowed(MachineRun { steps });
        }
        let Some(step) = top.untried.pop() else {
            path.pop();
            steps.pop();
            continue;
        };
        let mut next = top.replay.clone();
        if next.step(step).is_err() || !seen.insert(next.machine().clone()) {
            continue;
        }
        if seen.len() > budget {
            return BruteForceOutcome::TooLarge;
        }
        steps.push(step);
        path.push(BruteForceFrame::new(next));
    }
    BruteForceOutcome::Forbidden
}
