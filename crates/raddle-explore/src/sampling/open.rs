//! Runs in which the order of sequentially consistent events is left open.
//!
//! *Problem.* The machines order such events as they run (`views`). In some executions of the model they are ordered against
//! `po ∪ rf`, and no run would produce these.
//!
//! *Idea.* In some runs, chosen by their seeds, these events are like others that acquire and release. What comes of
//! that need not be an execution of the model, so the checker of the model is asked. If it does not agree, the run is made
//! again as usual.
//!
//! *Cost.* One run of [`FEW`], and only if the last usual run was short: the checker searches. Such a run is remembered, so there
//! are none any more when [`MEMORY`] histories are, or [`CUT`] of them did not end. Whether a loop goes round for ever is not
//! told by such a run, as nobody knows which write is the newest.

use super::decide::scattered;
use super::machine::Machine;
use super::run::Stop;
use super::{Ending, Kept, PATIENCE, Sampler};
use raddle_consistency::check::CheckOptions;
use raddle_core::execution::MemoryOrder;
use raddle_core::program::OpKind;
use raddle_core::trace::Trace;

/// One run of so many leaves the order open.
const FEW: u64 = 8;
/// Runs with more events never do.
const SHORT: u32 = 1_000;
/// With more histories than that no run is remembered only because it leaves the order open: some ten megabytes.
const MEMORY: usize = 1 << 18;
/// After so many runs that left the order open and were cut no other one does.
const CUT: u32 = 8;
/// How many states the checker may search.
const STATES: u64 = 20_000;

/// What is known of the runs so far.
#[derive(Default)]
pub(super) struct Opens {
    /// Whether the last usual run was short.
    is_short: bool,
    /// How many runs that left the order open did not end.
    cut: u32,
}

impl Opens {
    /// A usual run had so many events.
    pub(super) fn note_usual(&mut self, events: u32) {
        self.is_short = events <= SHORT;
    }
}

/// Whether the run with this seed leaves the order open, if runs are short.
fn is_chosen(seed: u64) -> bool {
    scattered(!seed).bits().is_multiple_of(FEW)
}

impl<M: Machine> Sampler<'_, M> {
    /// The run with this seed, if it is one that leaves the order open, and the model allows what came of it.
    pub(super) fn keep_open(&mut self, seed: u64) -> Option<Kept> {
        let Opens { is_short, cut } = self.opens;
        let may_be = is_short && cut < CUT && self.histories.len() < MEMORY;
        if !may_be || !is_chosen(seed) || !self.machine.set_open(true) {
            return None;
        }
        let mut kept = self.keep(seed, PATIENCE[0], SHORT);
        self.machine.set_open(false);
        kept.is_open = true;
        let has_ended = match &kept.stop {
            Stop::Ending(Ending::Limit(_) | Ending::Livelock(_)) => false,
            stop => matches!(stop, Stop::Ending(_)),
        };
        self.opens.cut += u32::from(!has_ended);
        let counts = self.program.must_restart() || has_ended && self.is_allowed(&kept.wrong.trace);
        counts.then_some(kept)
    }

    /// Whether the model allows what came of a run that left the order open.
    pub(super) fn is_allowed(&self, trace: &Trace) -> bool {
        if !trace.events.iter().any(|event| is_ordered(&event.op.kind)) {
            return true;
        }
        let Ok(execution) = trace.to_execution(&*self.program) else { return false };
        let options = CheckOptions { budget: STATES, ..CheckOptions::default() };
        raddle_consistency::allows(&execution, self.model, &options) == Some(true)
    }
}

/// Whether machines order an op with others.
fn is_ordered(kind: &OpKind) -> bool {
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
