//! All Shasha-Snir traces under SC, TSO and PSO: every run of the machine.
//!
//! As in [`by_machine()`](super::by_machine()), but a state also has, for every location, the events that
//! wrote it in the order in which they reached memory; two runs are the same trace if in the end that
//! agrees, what every question observed, and how the threads ended. What a trace consists of:
//!
//! - A store is a write when it reaches memory. An atomic update, a compare-exchange that succeeds and an
//!   update of a synchronization object are reads and writes; one that fails is a read.
//! - An acquire observes a release. Each release is observed by one acquire at most, so what acquires
//!   observe tells the order of all of them.
//! - Fences, spawns and joins are told by what threads do; a choice counts as what was observed.
//! - Every maximal run counts: also if threads wait for ever, or stopped because of an assumption or a
//!   failure. In the end all store buffers are empty.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::script::Script;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::{ShashaSnir, ThreadEnd};

use super::TooLarge;
use super::by_machine::State;
use super::run::{Seen, World};

/// For each location what was written to memory, in this order.
type Memory = BTreeMap<LocationId, Vec<(ThreadId, usize)>>;

/// All Shasha-Snir traces of the maximal executions of a program under a model with store buffers.
///
/// # Errors
/// If there are more states than the budget says.
///
/// # Panics
/// If the model has no machine, or the script mentions what it does not have.
pub fn traces(
    script: &Script,
    model: Model,
    budget: usize,
) -> Result<BTreeSet<ShashaSnir>, TooLarge> {
    assert!(model.has_store_buffers(), "{model} has no machine");
    let mut world = World::new(script);
    let mut open = vec![(world.initial_state(model), Memory::new())];
    let mut visited: HashSet<(State, Memory)> = open.iter().cloned().collect();
    let mut traces = BTreeSet::new();
    while let Some((state, memory)) = open.pop() {
        let next = world.successors(&state);
        if next.is_empty() {
            let trace = world.trace(&state.run, ThreadEnd::Waiting);
            traces.insert((trace.class(), memory.clone()));
        }
        for next in next {
            if visited.len() >= budget {
                return Err(TooLarge);
            }
            let memory = world.written(&state, &next, &memory);
            if visited.insert((next.clone(), memory.clone())) {
                open.push((next, memory));
            }
        }
    }
    Ok(traces)
}

impl World {
    /// The order of writes after a step.
    fn written(&self, before: &State, after: &State, memory: &Memory) -> Memory {
        let mut memory = memory.clone();
        for location in (0..self.program.initial_values().len()).map(LocationId::new) {
            let writer = after.machine.writer(location);
            if writer == before.machine.writer(location) {
                continue;
            }
            let Seen::Event(thread, position) = self.named(writer) else {
                unreachable!("nobody writes initial values")
            };
            let op = self.op(&after.run.threads[&thread].events[position]);
            if !matches!(op.kind, OpKind::Unlock { .. }) {
                memory.entry(location).or_default().push((thread, position));
            }
        }
        memory
    }
}
