//! Ways by which one event of an execution can influence another: program order, reads-from, and starts and ends of threads.

use std::collections::{BTreeMap, VecDeque};

use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::trace::{Observed, Trace};

/// A link between two threads: the second event observes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) write: usize,
    pub(super) read: usize,
}

/// The reads-from links of a shortest way from one event to another; `None` if there is no way.
pub(super) fn way(trace: &Trace, from: usize, to: usize) -> Option<Vec<Link>> {
    let next = successors(trace);
    let mut reached: Vec<Option<usize>> = vec![None; trace.events.len()];
    let mut open = VecDeque::from([from]);
    reached[from] = Some(from);
    while let Some(at) = open.pop_front() {
        for &after in &next[at] {
            if reached[after].is_none() {
                reached[after] = Some(at);
                open.push_back(after);
            }
        }
    }
    reached[to].map(|_| links(trace, &reached, from, to))
}

/// By event, those that it directly precedes.
fn successors(trace: &Trace) -> Vec<Vec<usize>> {
    let mut next = vec![vec![]; trace.events.len()];
    let mut last: BTreeMap<ThreadId, usize> = BTreeMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        let before = last.insert(event.thread, at).or_else(|| trace.spawn_of(event.thread));
        let observed = match event.observed {
            Some(Observed::Event(source)) => Some(source),
            _ => None,
        };
        for before in before.into_iter().chain(observed) {
            next[before].push(at);
        }
    }
    next
}

fn links(trace: &Trace, reached: &[Option<usize>], from: usize, to: usize) -> Vec<Link> {
    let mut links = vec![];
    let mut at = to;
    while at != from {
        let Some(before) = reached[at] else { break };
        let is_link = trace.events[at].observed == Some(Observed::Event(before))
            && trace.events[at].thread != trace.events[before].thread
            && !matches!(trace.events[at].op.kind, OpKind::Join { .. });
        if is_link {
            links.push(Link { write: before, read: at });
        }
        at = before;
    }
    links.reverse();
    links
}
