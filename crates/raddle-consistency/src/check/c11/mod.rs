//! Consistency under the C11-style models.
//!
//! *Problem.* Do modification orders exist that satisfy the axioms of the model (`model::axioms`)? The answer is such
//! orders, or an axiom and a cycle that breaks it. The steps, after Tunç et al., PLDI 2023:
//!
//! 1. `graph`: the events as the model sees them;
//! 2. `schedule` and `clocks`: `po-rf`, and happens-before as clocks; `chains`: which updates follow
//!    which writes, and `weak-atomicity`; `by_location`: the accesses of each location side by side;
//! 3. one file for each checker: `wra`, `sra`, `sra_update_free`, `rc20` (and RA), `relaxed`; `decide` and `ordered` choose
//!    among them;
//! 4. `seq_cst`, for RC11 and C20 and for sequentially consistent fences: a search over the orders
//!    that are left open, with `psc` saturated first;
//! 5. `race`: in an execution that the axioms allow, non-atomic accesses that race.
//!
//! Two more things may be open: the sources of reads that the history gives by value only (`sources`), and the order of
//! sequentially consistent fences under SRA and WRA (`fences`). Before any such search, `shortcut` looks for a run under SC:
//! all models allow what SC allows, and most recorded executions are of this kind.

mod basis;
mod bits;
mod by_location;
mod chains;
mod clocks;
mod decide;
mod explain;
mod fence_order;
mod fences;
mod forced;
mod graph;
mod observe;
mod ordered;
mod psc;
mod psc_cycle;
mod race;
mod rc20;
mod relaxed;
mod schedule;
mod seq_cst;
mod shortcut;
mod sort;
mod sources;
mod sra;
mod sra_state;
mod sra_update_free;
mod sra_waits;
mod wra;

use super::effort::Effort;
use super::{CheckOptions, Decision};
use crate::witness::{Violation, Witness};
use raddle_core::execution::Coherence;
use raddle_core::execution::Execution;
use raddle_core::model::orders::C11Orders;

use decide::decide_rf;
use graph::C11Graph;
use ordered::GraphDecision;

/// The largest number of clock entries (4 bytes each); larger executions are not decided.
const MOST_CLOCK_ENTRIES: usize = 1 << 31;

/// Decides whether a C11 model allows an execution whose reads all have sources.
pub(super) fn decide(
    execution: &Execution,
    orders: C11Orders,
    options: &CheckOptions,
    effort: &mut Effort,
) -> Decision {
    if execution.event_count().saturating_mul(execution.thread_count()) > MOST_CLOCK_ENTRIES {
        return Decision::OutOfBudget;
    }
    let mut graph = C11Graph::new(execution, orders);
    let open = sources::open(&graph);
    let hard =
        !open.is_empty() || (orders.is_strong() && has_updates(&graph)) || graph.has_seq_cst();
    if hard && let Some(coherence) = shortcut::find(&graph, options, effort) {
        return with_races(&mut graph, coherence);
    }
    let decision = if open.is_empty() {
        decide_rf(&mut graph, effort)
    } else {
        sources::search(&mut graph, &open, effort)
    };
    match decision {
        GraphDecision::Allowed(coherence) => with_races(&mut graph, coherence),
        GraphDecision::Refuted(violation) => Decision::Refuted(violation),
        GraphDecision::NoOrder => Decision::NoRun,
        GraphDecision::OutOfBudget => Decision::OutOfBudget,
    }
}

/// Returns `true` if some event is an update.
fn has_updates(graph: &C11Graph<'_>) -> bool {
    (0..graph.events() as u32).any(|event| graph.is_update(event))
}

/// The decision about an execution that the axioms allow: it may still have a race.
fn with_races(graph: &mut C11Graph<'_>, coherence: Coherence) -> Decision {
    match decide::race(graph, &coherence) {
        None => Decision::Allowed(Witness::Coherence(coherence)),
        Some((first, second)) => Decision::Refuted(Violation::Race { first, second, coherence }),
    }
}
