//! Searches for the sources of reads that the history gives by value only.
//!
//! Sources are fixed one read after the other, reads with the fewest choices first. A graph in which some reads have no
//! source yet has fewer relations, and every axiom forbids cycles; so a contradiction remains whatever sources the others
//! get, and the choice is abandoned. With the last choice, the graph is decided as usual. Exponential at worst.

use super::decide::decide_rf;
use super::graph::{C11Graph, NONE, Traits, id};
use super::ordered::{GraphDecision, check_necessary};
use crate::check::effort::Effort;

/// The reads with several possible sources, those with the fewest first.
pub(super) fn open(graph: &C11Graph<'_>) -> Vec<u32> {
    let is_open = |&event: &u32| graph.is(event, Traits::READ) && graph.rf(event) == NONE;
    let mut open: Vec<u32> = (0..graph.events() as u32).filter(is_open).collect();
    open.sort_by_key(|&read| graph.execution.sources(id(read)).len());
    open
}

/// Searches for sources of the open reads with which the model allows the graph. If there are any, the graph has them
/// afterwards.
pub(super) fn search(graph: &mut C11Graph<'_>, open: &[u32], effort: &mut Effort) -> GraphDecision {
    if let Err(violation) = check_necessary(graph) {
        return GraphDecision::Refuted(violation);
    }
    let execution = graph.execution;
    let mut gave_up = false;
    // By read with a source: the next source to try instead.
    let mut next = vec![0];
    while !next.is_empty() {
        let depth = next.len() - 1;
        let (read, choice) = (open[depth], &mut next[depth]);
        let Some(&source) = execution.sources(id(read)).get(*choice) else {
            next.pop();
            graph.set_rf(read, NONE);
            continue;
        };
        *choice += 1;
        if source == id(read) {
            continue;
        }
        if !effort.spend_for(graph.cost()) {
            return GraphDecision::OutOfBudget;
        }
        graph.set_rf(read, source.index() as u32);
        if depth + 1 < open.len() {
            if check_necessary(graph).is_ok() {
                next.push(0);
            }
            continue;
        }
        match decide_rf(graph, effort) {
            allowed @ GraphDecision::Allowed(_) => return allowed,
            GraphDecision::OutOfBudget => gave_up = true,
            GraphDecision::Refuted(_) | GraphDecision::NoOrder => {}
        }
    }
    if gave_up { GraphDecision::OutOfBudget } else { GraphDecision::NoOrder }
}
