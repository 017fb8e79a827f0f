//! All Shasha-Snir traces under SC, TSO and PSO: every run of the reference machine.
//!
//! Like [`by_machine()`](super::by_machine()), but a state also contains, for every location, the events that wrote it
//! in the order in which they reached memory. Two runs have the same trace if these orders, the sources of all
//! questions and the ends of the threads agree. What a trace consists of:
//!
//! - A store is a write when it reaches memory. An atomic read-modify-write, a successful compare-exchange and an
//!   update of a synchronization object are reads and writes; a failing compare-exchange is a read.
//! - An acquire observes a release. At most one acquire observes each release, so the sources of acquires determine the
//!   order of all of them.
//! - Fences, spawns and joins are determined by the ops of the threads; the source of a choice is its result.
//! - Every maximal run counts, even if threads wait forever or have stopped by an assumption or a failure. At the end
//!   all store buffers are empty.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::script::Script;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::{ShashaSnir, ThreadEnd};

use super::TooLarge;
use super::by_machine::MachineState;
use super::run::{OracleProgram, OracleSource};

/// Writes of each location in the order in which they reached memory.
type MemoryOrders = BTreeMap<LocationId, Vec<(ThreadId, usize)>>;

/// Returns all Shasha-Snir traces of the maximal executions of a program under SC, TSO or PSO.
///
/// # Errors
/// If there are more states than `budget`.
///
/// # Panics
/// If the model has no machine, or the script uses variables or threads that it does not define.
pub fn traces(
    script: &Script,
    model: Model,
    budget: usize,
) -> Result<BTreeSet<ShashaSnir>, TooLarge> {
    assert!(model.has_store_buffers(), "{model} has no machine");
    let mut world = OracleProgram::new(script);
    let mut open = vec![(world.initial_state(model), MemoryOrders::new())];
    let mut visited: HashSet<(MachineState, MemoryOrders)> = open.iter().cloned().collect();
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

impl OracleProgram {
    /// Returns the orders of writes after a step.
    fn written(
        &self,
        before: &MachineState,
        after: &MachineState,
        memory: &MemoryOrders,
    ) -> MemoryOrders {
        let mut memory = memory.clone();
        for location in (0..self.program.initial_values().len()).map(LocationId::new) {
            let writer = after.machine.writer(location);
            if writer == before.machine.writer(location) {
                continue;
            }
            let OracleSource::Event(thread, position) = self.source_of(writer) else {
                unreachable!("no event writes the initial values")
            };
            let op = self.op(&after.run.threads[&thread].events[position]);
            if !matches!(op.kind, OpKind::Unlock { .. }) {
                memory.entry(location).or_default().push((thread, position));
            }
        }
        memory
    }
}
