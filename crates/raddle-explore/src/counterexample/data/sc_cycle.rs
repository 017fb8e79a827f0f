//! A shortest cycle of program order, reads-from, modification order and from-reads: why sequential consistency forbids an execution.
//!
//! *Cost.* Quadratic in the number of events; long executions have no cycle here.

use std::collections::{BTreeMap, VecDeque};

use super::{EdgeData, EventData, ExecutionData, SourceData};

/// Cycles are sought in executions of at most this many events.
const MOST_EVENTS: usize = 2_000;

/// A shortest cycle, if there is one.
pub(super) fn shortest(data: &ExecutionData) -> Vec<EdgeData> {
    let count = data.events.len();
    if count > MOST_EVENTS {
        return vec![];
    }
    let mut next: Vec<Vec<EdgeData>> = vec![vec![]; count];
    for edge in edges(data) {
        next[edge.from].push(edge);
    }
    let cycles = (0..count).filter_map(|start| through(start, &next));
    cycles.min_by_key(Vec::len).unwrap_or_default()
}

/// A shortest cycle through an event.
fn through(start: usize, next: &[Vec<EdgeData>]) -> Option<Vec<EdgeData>> {
    let mut reached: Vec<Option<&EdgeData>> = vec![None; next.len()];
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for edge in &next[at] {
            if reached[edge.to].is_some() {
                continue;
            }
            reached[edge.to] = Some(edge);
            if edge.to != start {
                open.push_back(edge.to);
                continue;
            }
            let mut cycle = vec![edge.clone()];
            while cycle[cycle.len() - 1].from != start {
                cycle.push(reached[cycle[cycle.len() - 1].from]?.clone());
            }
            cycle.reverse();
            return Some(cycle);
        }
    }
    None
}

/// The edges that sequential consistency forbids to form a cycle. Program order has an edge for each pair of events of a thread that
/// have no other one between them that takes part.
fn edges(data: &ExecutionData) -> Vec<EdgeData> {
    let mut edges: Vec<EdgeData> = vec![];
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, event) in data.events.iter().enumerate() {
        if let Some(before) = last.insert(event.thread, at) {
            edges.push(EdgeData { from: before, to: at, relation: "po" });
        }
        if let Some(SourceData::Event(source)) = event.source {
            edges.push(EdgeData { from: source, to: at, relation: "rf" });
        }
    }
    let ordered = data.relations.iter().filter(|edge| matches!(edge.relation, "mo" | "asw"));
    edges.extend(ordered.cloned());
    edges.extend(from_reads(data));
    edges
}

/// From each read to the write that follows the one that it observed.
fn from_reads(data: &ExecutionData) -> Vec<EdgeData> {
    let orders = || data.relations.iter().filter(|edge| edge.relation == "mo");
    let after: BTreeMap<usize, usize> = orders().map(|edge| (edge.from, edge.to)).collect();
    let is_first = |at: usize| !orders().any(|edge| edge.to == at);
    let first = |object: &Option<String>| {
        let writes = |at: &usize| {
            let event = &data.events[*at];
            event.written.is_some() && event.object == *object && is_first(*at)
        };
        (0..data.events.len()).find(writes)
    };
    let edge = |(from, event): (usize, &EventData)| {
        let to = match event.source.as_ref()? {
            SourceData::Initial(_) => first(&event.object)?,
            SourceData::Event(source) => *after.get(source)?,
        };
        (to != from && event.read.is_some()).then_some(EdgeData { from, to, relation: "fr" })
    };
    data.events.iter().enumerate().filter_map(edge).collect()
}
