//! The part of an execution that led to its error: a causal past.

use super::waits;
use raddle_core::trace::{Ending, Trace, TraceEvent};

/// The part of the trace that led to the ending, and the ending with indices into that part.
pub(super) fn relevant_part(trace: &Trace, ending: &Ending) -> (Trace, Ending) {
    let (part, index) = trace.causal_past(&last_events(trace, ending));
    let ending = match *ending {
        Ending::Race(first, second) => {
            let new = |old: usize| index.get(old).copied().flatten();
            new(first).zip(new(second)).map_or(Ending::Blocked, |(a, b)| Ending::Race(a, b))
        }
        ref other => other.clone(),
    };
    (part, ending)
}

/// The events whose causal past is the relevant part.
fn last_events(trace: &Trace, ending: &Ending) -> Vec<usize> {
    let last = |thread| {
        let last = trace.events.iter().rposition(|event| event.thread == thread);
        last.or_else(|| trace.spawn_of(thread))
    };
    match *ending {
        Ending::Complete | Ending::Blocked => (0..trace.events.len()).collect(),
        Ending::Failed(thread, _) | Ending::Limit(thread) => last(thread).into_iter().collect(),
        Ending::Race(first, second) => vec![first, second],
        Ending::Deadlock(_) | Ending::Livelock(_) => {
            let stuck = waits::stuck_threads(trace);
            let causes = stuck.iter().filter_map(|&thread| waits::cause(trace, thread));
            let lasts = stuck.iter().filter_map(|&thread| last(thread)).chain(causes);
            // Any thread could have written the value that is waited for, depending on what it read.
            let others = if waits::wait_for_value(trace) { last_reads(trace) } else { vec![] };
            lasts.chain(others).collect()
        }
    }
}

/// The last event of each thread that reads a value.
fn last_reads(trace: &Trace) -> Vec<usize> {
    let last = |thread| {
        let reads = |event: &TraceEvent| event.thread == thread && event.read.is_some();
        trace.events.iter().rposition(reads)
    };
    trace.ends.keys().filter_map(|&thread| last(thread)).collect()
}
