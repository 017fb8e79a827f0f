//! Searches for an order of sequentially consistent fences, where they are updates of a hidden location.
//!
//! Under RA and RC20 the order follows from `psc` (`seq_cst`). Under SRA and WRA we try orders: first the one that RA would
//! have, then the one in which the events were recorded or can be run; then all orders, fence by fence, abandoning an order
//! as soon as a prefix contradicts the axioms. Exponential in the number of fences at worst.
//!
//! The axiom `po-rf` ignores the sources of fences; it only demands that nothing happens before what it observes. Here that
//! is equivalent: an atomic read synchronizes, and the total order of the fences turns a cycle with several non-atomic reads
//! into one with a single such read.

use super::basis::Basis;
use super::graph::{C11Graph, NONE};
use super::ordered::{GraphDecision, check_necessary, decide_ordered};
use super::psc::Psc;
use super::schedule::run_through;
use super::seq_cst::{self, PscOutcome, respecting};
use super::{psc_cycle, rc20};
use crate::check::effort::Effort;

/// The part of the budget, in steps, for guessing an order.
const GUESSING: u64 = 1_000_000;

/// Decides a graph under SRA or WRA with some order of its fences.
pub(super) fn search(graph: &mut C11Graph<'_>, effort: &mut Effort) -> GraphDecision {
    graph.seq_cst_fences().iter().for_each(|&fence| graph.set_rf(fence, NONE));
    // A contradiction without an order of the fences remains one with it.
    if let Err(violation) = check_necessary(graph) {
        return GraphDecision::Refuted(violation);
    }
    let mut guesses = vec![];
    match by_psc(graph, effort) {
        Ok(order) => guesses.extend(order),
        // SRA forbids everything that RA forbids.
        Err(decision) if graph.orders.is_strong() => return decision,
        Err(_) => {}
    }
    guesses.push(as_run(graph));
    for guess in &guesses {
        chain(graph, guess);
        if let allowed @ GraphDecision::Allowed(_) = decide_ordered(graph, effort) {
            return allowed;
        }
        guess.iter().for_each(|&fence| graph.set_rf(fence, NONE));
    }
    let left = by_thread(graph, &graph.seq_cst_fences());
    FenceSearch { left, placed: vec![], gave_up: false }.run(graph, effort)
}

/// The order that `psc` suggests under RA, if it is found within [`GUESSING`].
///
/// # Errors
/// If there is none.
fn by_psc(graph: &C11Graph<'_>, effort: &mut Effort) -> Result<Option<Vec<u32>>, GraphDecision> {
    let basis = Basis::new(graph).map_err(GraphDecision::Refuted)?;
    rc20::check(graph, &basis).map_err(GraphDecision::Refuted)?;
    effort.with_limit(GUESSING, |effort| {
        let Some(psc) = Psc::new(graph, &basis, effort) else { return Ok(None) };
        match seq_cst::search(&psc, effort) {
            PscOutcome::Found(_, reach) => {
                Ok(Some(respecting(&reach).into_iter().map(|event| psc.events[event]).collect()))
            }
            PscOutcome::Cycle => {
                Err(GraphDecision::Refuted(psc_cycle::explain(graph, &basis, &psc)))
            }
            PscOutcome::None => Err(GraphDecision::NoOrder),
            PscOutcome::OutOfBudget => Ok(None),
        }
    })
}

/// The order in which the fences were recorded, or else can be run.
fn as_run(graph: &C11Graph<'_>) -> Vec<u32> {
    let mut order = vec![];
    let mut note = |event: u32| {
        if graph.is_seq_cst_fence(event) {
            order.push(event);
        }
    };
    match graph.execution.recorded_order() {
        Some(recorded) => recorded.iter().for_each(|event| note(event.index() as u32)),
        // `check_necessary` has succeeded, so this visits all events.
        None => drop(run_through(graph, note)),
    }
    order
}

/// By thread: its fences, last first.
fn by_thread(graph: &C11Graph<'_>, fences: &[u32]) -> Vec<Vec<u32>> {
    let mut threads = vec![vec![]; graph.threads()];
    for &fence in fences {
        threads[graph.thread_of(fence) as usize].push(fence);
    }
    threads.iter_mut().for_each(|fences| fences.sort_unstable_by(|one, other| other.cmp(one)));
    threads
}

/// Makes each fence observe the one before it.
fn chain(graph: &mut C11Graph<'_>, order: &[u32]) {
    for pair in order.windows(2) {
        graph.set_rf(pair[1], pair[0]);
    }
}

/// A search over prefixes of orders.
struct FenceSearch {
    /// By thread: the fences not yet placed, last first.
    left: Vec<Vec<u32>>,
    placed: Vec<u32>,
    /// Some order was abandoned for lack of budget.
    gave_up: bool,
}

impl FenceSearch {
    fn run(mut self, graph: &mut C11Graph<'_>, effort: &mut Effort) -> GraphDecision {
        // By placed fence: the next thread to try instead.
        let mut next = vec![0];
        while let Some(thread) = next.last_mut() {
            let Some(found) = (*thread..self.left.len()).find(|&t| !self.left[t].is_empty()) else {
                next.pop();
                self.unplace(graph);
                continue;
            };
            *thread = found + 1;
            if !effort.spend_for(graph.cost()) {
                return GraphDecision::OutOfBudget;
            }
            self.place(graph, found);
            if check_necessary(graph).is_err() {
                self.unplace(graph);
            } else if self.left.iter().any(|fences| !fences.is_empty()) {
                next.push(0);
            } else {
                match decide_ordered(graph, effort) {
                    allowed @ GraphDecision::Allowed(_) => return allowed,
                    GraphDecision::OutOfBudget => self.gave_up = true,
                    GraphDecision::Refuted(_) | GraphDecision::NoOrder => {}
                }
                self.unplace(graph);
            }
        }
        if self.gave_up { GraphDecision::OutOfBudget } else { GraphDecision::NoOrder }
    }

    fn place(&mut self, graph: &mut C11Graph<'_>, thread: usize) {
        if let Some(fence) = self.left[thread].pop() {
            graph.set_rf(fence, self.placed.last().copied().unwrap_or(NONE));
            self.placed.push(fence);
        }
    }

    fn unplace(&mut self, graph: &mut C11Graph<'_>) {
        if let Some(fence) = self.placed.pop() {
            graph.set_rf(fence, NONE);
            self.left[graph.thread_of(fence) as usize].push(fence);
        }
    }
}
