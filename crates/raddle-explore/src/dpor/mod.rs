//! Exploration by traces: executions that differ only in the order of independent steps count as one.
//!
//! The *Shasha-Snir trace* of an execution consists of the ops of its threads, the write that every read observes, and
//! for every location the order in which writes reached memory. Under SC these are Mazurkiewicz traces. There are more
//! traces than reads-from classes, which do not distinguish orders of writes that are not read. Traces are useful for
//! programs whose memory order matters, for comparison with other tools, and for robustness: a program is robust if and
//! only if it has as many traces under TSO as under SC.
//!
//! [`source_dpor`] visits all traces, but begins some executions in vain; [`optimal_dpor`] explores each trace exactly
//! once. Both step the machine of `state` and backtrack by undoing steps, so nothing is executed twice.
//!
//! *Happens-before* must be a partial order such that two executions have the same order exactly if they have the same
//! trace. Under TSO and PSO the relation of Shasha and Snir has cycles. A *chronological trace* has an event for every
//! store that reaches memory (the paper's *update*, here a *flush*), and these edges: program order of threads and of
//! the processes that flush store buffers; a store before its flush; flushes of a location in their order; a flush
//! before the loads of *other* threads that observe it; a load before the first flush that overwrites what it observed;
//! and all flushes of a thread before an op that waits for its empty buffer. A load that observes a store of its own
//! thread is not ordered with the flush of that store, whether it found it in the buffer or in memory: the two cases
//! are indistinguishable.
//!
//! *Paper.* Abdulla, Aronis, Atig, Jonsson, Leonardsson, Sagonas, *Stateless Model Checking for TSO and PSO*, TACAS
//! 2015. *Difference:* flushes of stores on two sides of a store-store fence are ordered under PSO; a store enters the
//! buffer in the step before it; whether a load accesses memory is decided again wherever steps are compared, since a
//! load that finds its store in the buffer depends on later flushes of other threads only if that store reaches memory
//! first.
//!
//! *Limits.* The number of events is bounded by the size of an event set. The C11-style models have no machine to step.

mod cell_races;
mod enabled;
mod footprint;
mod leaf;
mod memory;
mod not_dep;
pub mod optimal_dpor;
mod races;
pub mod source_dpor;
mod state;
mod step;
mod tally;
mod wakeup;

use crate::driver::{self, Restart, SetWidth};
use crate::event_set::EventSet;
use crate::long_set::LongSet;
use crate::{Limits, Summary, Visitor};
use raddle_core::model::Model;
use raddle_core::program::Program;
use state::DporState;
use tally::DporTally;

/// Exploration algorithm.
trait DporAlgorithm {
    /// Explores all traces, or stops early as the tally says.
    fn run<R: EventSet>(state: DporState<'_, R>, tally: &mut DporTally<'_>) -> Result<(), Restart>;
}

/// Exploration of executions of any number of events.
struct DporExploration<'a> {
    program: &'a mut dyn Program,
    model: Model,
    tally: DporTally<'a>,
}

impl<'a> DporExploration<'a> {
    fn new(
        program: &'a mut dyn Program,
        model: Model,
        limits: &'a Limits,
        visitor: &'a mut dyn Visitor,
    ) -> Self {
        DporExploration { program, model, tally: DporTally::new(limits, visitor) }
    }

    fn run<A: DporAlgorithm>(mut self) -> Summary {
        if !self.model.has_store_buffers() {
            return Summary::unsupported_model();
        }
        driver::drive(|setup| match setup.width {
            SetWidth::OneWord if !cfg!(unoptimized) => self.run_with::<A, u64>(),
            _ => self.run_with::<A, LongSet>(),
        });
        let tally = &self.tally;
        let (extent, histories) = (tally.extent(), tally.histories.len() as u64);
        Summary {
            extent,
            classes: tally.classes,
            blocked: tally.blocked,
            histories,
            cut: None,
            symmetry: None,
        }
    }

    fn run_with<A: DporAlgorithm, R: EventSet>(&mut self) -> Result<(), Restart> {
        self.tally.begin_attempt();
        let histories = std::mem::take(&mut self.tally.histories);
        let state = DporState::<R>::new(self.program, histories, self.model, self.tally.bound());
        A::run(state, &mut self.tally)
    }
}
