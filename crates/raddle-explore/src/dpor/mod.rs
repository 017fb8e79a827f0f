//! Exploring by traces: executions that differ only in the order of steps that do not depend on each
//! other count as one.
//!
//! A *Shasha-Snir trace* of an execution is what its threads did, which write every read observed, and for
//! every location the order in which writes reached memory. Under SC these are Mazurkiewicz's traces. There
//! are more of them than reads-from classes, as these do not tell the order of writes that nobody reads; what
//! they are good for is programs whose memory order matters, comparison with other tools, and robustness: a
//! program has as many traces under TSO as under SC if and only if it behaves the same.
//!
//! [`source_dpor`] visits all traces, some of them begun in vain; [`optimal_dpor`] each exactly once. Both step the
//! machine of `state.rs`, and go back by undoing steps, so nothing runs twice.
//!
//! *Happens-before* must be a partial order in which exactly the executions of one trace are the same.
//! Under TSO and PSO that of Shasha and Snir has cycles. A *chronological trace* has an event for every store
//! that reaches memory ("update"), and these edges: program order of threads and of the processes that empty
//! store buffers; a store before its update; updates of a location in their order; an update before the
//! loads of *other* threads that observe it; a load before the first update that overwrites what it
//! observed; and all updates of a thread before what waits for its empty buffer. A load that observes its
//! own thread's store is not ordered with the update of that store, whether it found it in the buffer or in
//! memory: nobody can tell.
//!
//! *Paper.* Abdulla, Aronis, Atig, Jonsson, Leonardsson, Sagonas, *Stateless Model Checking for TSO and PSO*,
//! TACAS 2015. Where we differ: updates of stores on two sides of a store-store fence are ordered under PSO;
//! what enters a buffer is part of the step before; whether a load meets memory is decided again
//! wherever steps are compared, since a load that finds its store in the buffer depends on later updates of
//! others only if that store reaches memory first.
//!
//! *Limits.* As many events as a row has bits. The C11 models have no machine to step.

mod cells;
mod footprint;
mod leaf;
mod memory;
mod next;
mod not_dep;
pub mod optimal_dpor;
mod races;
pub mod source_dpor;
mod state;
mod step;
mod tally;
mod wakeup;

use super::driver::{self, Restart, SetWidth};
use super::event_set::{EventSet, WideSet};
use super::{Extent, Limits, Summary, Unsupported, Visitor};
use raddle_core::model::Model;
use raddle_core::program::Program;
use state::State;
use tally::Tally;

/// A way to explore.
trait Algorithm {
    /// Explores everything, or stops early.
    fn run<R: EventSet>(state: State<'_, R>, tally: &mut Tally<'_>) -> Result<(), Restart>;
}

/// An exploration of any number of events.
struct Exploration<'a> {
    program: &'a mut dyn Program,
    model: Model,
    tally: Tally<'a>,
}

impl<'a> Exploration<'a> {
    fn new(
        program: &'a mut dyn Program,
        model: Model,
        limits: &'a Limits,
        visitor: &'a mut dyn Visitor,
    ) -> Self {
        Exploration { program, model, tally: Tally::new(limits, visitor) }
    }

    fn run<A: Algorithm>(mut self) -> Summary {
        if !self.model.has_store_buffers() {
            let extent = Extent::Unsupported(Unsupported::Model);
            return Summary { extent, classes: 0, blocked: 0, histories: 0 };
        }
        driver::drive(|setup| match setup.width {
            SetWidth::Narrow => self.run_with::<A, u64>(),
            SetWidth::Wide => self.run_with::<A, WideSet>(),
        });
        let tally = &self.tally;
        let (extent, histories) = (tally.extent(), tally.histories.len() as u64);
        Summary { extent, classes: tally.classes, blocked: tally.blocked, histories }
    }

    fn run_with<A: Algorithm, R: EventSet>(&mut self) -> Result<(), Restart> {
        self.tally.begin_attempt();
        let histories = std::mem::take(&mut self.tally.histories);
        let state = State::<R>::new(self.program, histories, self.model);
        A::run(state, &mut self.tally)
    }
}
