//! What matters: the causal past of what went wrong.
//!
//! Every model here allows a part of an execution if it allows the whole and the part contains, with
//! each event, those before it in its thread and the one that it observes. So the rest can be left out,
//! and what is shown is still an execution.

use super::waits;
use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::trace::{Ending, Observed, ThreadEnd, Trace, TraceEvent};

/// The part of the trace that matters, with the ending in its terms.
pub(super) fn part_that_matters(trace: &Trace, ending: &Ending) -> (Trace, Ending) {
    let index = new_indices(&past(trace, &roots(trace, ending)));
    let ending = match *ending {
        Ending::Race(first, second) => {
            let new = |old: usize| index.get(old).copied().flatten();
            new(first).zip(new(second)).map_or(Ending::Blocked, |(a, b)| Ending::Race(a, b))
        }
        ref other => other.clone(),
    };
    (restrict(trace, &index), ending)
}

/// The part of the trace that these events have in their causal past.
pub(crate) fn part(trace: &Trace, roots: &[usize]) -> Trace {
    restrict(trace, &new_indices(&past(trace, roots)))
}

/// By event, its index among those that are kept.
fn new_indices(kept: &[bool]) -> Vec<Option<usize>> {
    let mut index = vec![None; kept.len()];
    for (new, old) in (0..kept.len()).filter(|&at| kept[at]).enumerate() {
        index[old] = Some(new);
    }
    index
}

/// The last events of what is told.
fn roots(trace: &Trace, ending: &Ending) -> Vec<usize> {
    let last = |thread| {
        let last = trace.events.iter().rposition(|event| event.thread == thread);
        last.or_else(|| spawn_of(trace, thread))
    };
    match *ending {
        Ending::Complete | Ending::Blocked => (0..trace.events.len()).collect(),
        Ending::Failed(thread, _) | Ending::Limit(thread) => last(thread).into_iter().collect(),
        Ending::Race(first, second) => vec![first, second],
        Ending::Deadlock(_) | Ending::Livelock(_) => {
            let stuck = waits::stuck(trace);
            let causes = stuck.iter().filter_map(|&thread| waits::cause(trace, thread));
            let lasts = stuck.iter().filter_map(|&thread| last(thread)).chain(causes);
            // What a thread waits for that is no lock, others might have done: so it matters what they read.
            let others = if waits::is_for_anybody(trace) { last_reads(trace) } else { vec![] };
            lasts.chain(others).collect()
        }
    }
}

/// The last event of each thread by which it learnt a value.
fn last_reads(trace: &Trace) -> Vec<usize> {
    let last = |thread| {
        let reads = |event: &TraceEvent| event.thread == thread && event.read.is_some();
        trace.events.iter().rposition(reads)
    };
    trace.ends.keys().filter_map(|&thread| last(thread)).collect()
}

/// By event, whether it is one of these or in the causal past of one.
fn past(trace: &Trace, roots: &[usize]) -> Vec<bool> {
    let mut seen = vec![false; trace.events.len()];
    let mut open = roots.to_vec();
    while let Some(at) = open.pop() {
        if at < seen.len() && !seen[at] {
            seen[at] = true;
            open.extend(causes(trace, at));
        }
    }
    seen
}

/// The events right before an event.
fn causes(trace: &Trace, at: usize) -> Vec<usize> {
    let event = &trace.events[at];
    let earlier = &trace.events[..at];
    let own = earlier.iter().rposition(|before| before.thread == event.thread);
    let spawn = || spawn_of(trace, event.thread);
    let observed = match event.observed {
        Some(Observed::Event(source)) => Some(source),
        _ => None,
    };
    // A thread that did nothing must have been started, too, before it is waited for.
    let joined = match event.op.kind {
        OpKind::Join { thread } => spawn_of(trace, thread),
        _ => None,
    };
    [own.or_else(spawn), observed, joined].into_iter().flatten().collect()
}

/// The event that started a thread.
pub(super) fn spawn_of(trace: &Trace, thread: ThreadId) -> Option<usize> {
    trace.events.iter().position(|event| event.op.kind == OpKind::Spawn { thread })
}

/// The events with a new index, and all threads.
fn restrict(trace: &Trace, index: &[Option<usize>]) -> Trace {
    let renamed = |event: &TraceEvent| {
        let observed = match event.observed {
            Some(Observed::Event(source)) => index[source].map(Observed::Event),
            other => other,
        };
        TraceEvent { observed, ..event.clone() }
    };
    let events = trace.events.iter().zip(index).filter(|(_, new)| new.is_some());
    let events: Vec<TraceEvent> = events.map(|(event, _)| renamed(event)).collect();
    let mut ends = trace.ends.clone();
    for event in &events {
        ends.entry(event.thread).or_insert(ThreadEnd::Open);
        if let OpKind::Spawn { thread } = event.op.kind {
            ends.entry(thread).or_insert(ThreadEnd::Open);
        }
    }
    Trace { events, ends, pending: trace.pending.clone(), ..Trace::default() }
}
