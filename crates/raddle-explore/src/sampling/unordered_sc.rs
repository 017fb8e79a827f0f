//! Runs that do not order sequentially consistent events up front.
//!
//! *Problem.* The machine orders sequentially consistent events as it executes them (`views`). Some executions of the
//! model order them against `po ∪ rf`; no run would produce these.
//!
//! *Idea.* In some runs, selected by their seeds, such events only acquire and release. The resulting execution need
//! not be allowed by the model, so the consistency checker decides. If it rejects the execution, the run is repeated
//! with the order.
//!
//! *Cost.* One run in [`PERIOD`], and only if the last ordinary run was short, because the checker searches. These runs
//! are recorded; so there are none after [`MAX_HISTORIES`] histories, or after [`MAX_CUT_RUNS`] of them were cut. They
//! do not report livelocks: which write is the newest is undefined without the order.

use super::decider::decorrelated;
use super::machine::MemoryMachine;
use super::run::RunStop;
use super::{PATIENCE, RecordedRun, Sampler};
use raddle_consistency::check::CheckOptions;
use raddle_core::execution::MemoryOrder;
use raddle_core::program::OpKind;
use raddle_core::trace::{Ending, Trace};

/// One run in this many leaves sequentially consistent events unordered.
const PERIOD: u64 = 8;
/// Maximal number of events of such a run, and of the ordinary run before it.
const MAX_EVENTS: u32 = 1_000;
/// Maximal number of recorded histories, about 10 MB.
const MAX_HISTORIES: usize = 1 << 18;
/// Maximal number of such runs that were cut.
const MAX_CUT_RUNS: u32 = 8;
/// Maximal number of states the checker searches.
const CHECKER_STATES: u64 = 20_000;

/// Decides which runs leave sequentially consistent events unordered.
#[derive(Default)]
pub(super) struct UnorderedScPolicy {
    /// Whether the last ordinary run was short.
    is_short: bool,
    /// Number of runs with unordered events that were cut.
    cut_runs: u32,
}

impl UnorderedScPolicy {
    /// Notes the length of an ordinary run.
    pub(super) fn record_ordinary_run(&mut self, events: u32) {
        self.is_short = events <= MAX_EVENTS;
    }

    fn selects(&self, seed: u64, histories: usize) -> bool {
        self.is_short
            && self.cut_runs < MAX_CUT_RUNS
            && histories < MAX_HISTORIES
            && decorrelated(!seed).bits().is_multiple_of(PERIOD)
    }
}

impl<M: MemoryMachine> Sampler<'_, M> {
    /// Records the run with this seed without ordering sequentially consistent events. Returns `None` if the policy
    /// does not select the run, or if the model does not allow the resulting execution.
    pub(super) fn record_unordered(&mut self, seed: u64) -> Option<RecordedRun> {
        if !self.unordered_sc.selects(seed, self.histories.len())
            || !self.machine.set_sc_unordered(true)
        {
            return None;
        }
        let mut run = self.record(seed, PATIENCE[0], MAX_EVENTS);
        self.machine.set_sc_unordered(false);
        run.is_sc_unordered = true;
        let has_ended = match &run.stop {
            RunStop::Ending(Ending::Limit(_) | Ending::Livelock(_)) => false,
            stop => matches!(stop, RunStop::Ending(_)),
        };
        self.unordered_sc.cut_runs += u32::from(!has_ended);
        let counts =
            self.program.needs_restart() || has_ended && self.is_allowed(&run.sample.trace);
        counts.then_some(run)
    }

    /// Returns `true` if the checker proves that the model allows the execution.
    pub(super) fn is_allowed(&self, trace: &Trace) -> bool {
        if !trace.events.iter().any(|event| is_sc(&event.op.kind)) {
            return true;
        }
        let Ok(execution) = trace.to_execution(&*self.program) else { return false };
        let options = CheckOptions { budget: CHECKER_STATES, ..CheckOptions::default() };
        raddle_consistency::allows(&execution, self.model, &options) == Some(true)
    }
}

/// Returns `true` if the op is sequentially consistent, so that the machine would have ordered it.
fn is_sc(kind: &OpKind) -> bool {
    match *kind {
        OpKind::Load { order, .. }
        | OpKind::Store { order, .. }
        | OpKind::Rmw { order, .. }
        | OpKind::Fence { order } => order == MemoryOrder::SeqCst,
        OpKind::CompareExchange { success, failure, .. } => {
            [success, failure].contains(&MemoryOrder::SeqCst)
        }
        _ => false,
    }
}
