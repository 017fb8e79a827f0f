//! Runs of events that matter to nobody else: one row for each.
//!
//! A thread prepares its data, counts, and reads what it wrote itself. Such accesses lead to the error, but a reader wants to
//! know that they happen, not what they are. An access matters if another thread observes it, or it observes another
//! thread, if the error is about it, or if it is one of the last of a thread that fails. What is written before the first thread
//! starts counts as an initial value: it matters only if the error is about a read of it.

use raddle_core::execution::ThreadId;
use raddle_core::program::OpKind;
use raddle_core::trace::{Ending, Observed, Pending, Trace, TraceEvent};

use super::event_order::{EventOrder, OrderKind, Row};

/// Rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// One row.
    Row(Row),
    /// One row for several accesses of a thread.
    Run {
        /// The event of the first one.
        first: usize,
        /// The event of the last one.
        last: usize,
        /// Their number.
        count: usize,
        /// Whether no other thread has started before.
        is_start: bool,
    },
}

/// Shorter runs are not worth it.
const SHORTEST: usize = 4;

/// So many of the last events of a thread that fails are shown.
const LAST: usize = 3;

/// The rows of a table, with runs in place of accesses that do not matter.
pub(super) fn fold(trace: &Trace, ending: &Ending, order: &EventOrder) -> Vec<Shown> {
    let rows = &order.rows;
    if order.kind == OrderKind::StoreBuffers {
        return rows.iter().map(|&row| Shown::Row(row)).collect();
    }
    let matters = matters(trace, ending);
    let is_spawn = |row: &Row| matches!(trace.events[row.event()].op.kind, OpKind::Spawn { .. });
    let spawn = rows.iter().position(is_spawn).unwrap_or(rows.len());
    let mut shown = vec![];
    let mut at = 0;
    while at < rows.len() {
        let thread = trace.events[rows[at].event()].thread;
        let is_in_run = |row: &&Row| {
            let event = row.event();
            !matters[event] && trace.events[event].thread == thread
        };
        let count = rows[at..].iter().take_while(is_in_run).count();
        if count >= SHORTEST {
            let (first, last) = (rows[at].event(), rows[at + count - 1].event());
            shown.push(Shown::Run { first, last, count, is_start: at + count <= spawn });
            at += count;
        } else {
            let until = at + count.max(1);
            shown.extend(rows[at..until].iter().map(|&row| Shown::Row(row)));
            at = until;
        }
    }
    shown
}

/// By event, whether it matters.
fn matters(trace: &Trace, ending: &Ending) -> Vec<bool> {
    let mut matters: Vec<bool> =
        trace.events.iter().map(|event| !is_plain(&event.op.kind)).collect();
    let is_spawn = |event: &TraceEvent| matches!(event.op.kind, OpKind::Spawn { .. });
    let spawn = trace.events.iter().position(is_spawn).unwrap_or(0);
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(Observed::Event(source)) = event.observed
            && trace.events[source].thread != event.thread
            && source > spawn
        {
            matters[at] = true;
            matters[source] = true;
        }
        if let Some(&Pending::Loop(start)) = trace.pending.get(&event.thread) {
            matters[at] |= event.position >= start;
        }
    }
    match *ending {
        Ending::Race(first, second) => {
            for at in [first, second] {
                matters[at] = true;
            }
        }
        Ending::Failed(thread, _) | Ending::Limit(thread) => {
            keep_last(trace, thread, &mut matters);
        }
        Ending::Deadlock(ref threads) | Ending::Livelock(ref threads) => {
            threads.iter().for_each(|&thread| keep_last(trace, thread, &mut matters));
        }
        Ending::Complete | Ending::Blocked => {
            trace.ends.keys().for_each(|&thread| keep_last(trace, thread, &mut matters));
        }
    }
    keep_sources(trace, &mut matters);
    matters
}

/// What a read that matters observes matters.
fn keep_sources(trace: &Trace, matters: &mut [bool]) {
    let sources: Vec<usize> = (0..trace.events.len())
        .filter(|&at| matters[at])
        .filter_map(|at| match trace.events[at].observed {
            Some(Observed::Event(source)) => Some(source),
            _ => None,
        })
        .collect();
    sources.into_iter().for_each(|source| matters[source] = true);
}

/// Returns `true` for accesses of memory.
fn is_plain(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Store { .. }
            | OpKind::Load { .. }
            | OpKind::Rmw { .. }
            | OpKind::CompareExchange { .. }
            | OpKind::ReadCell { .. }
            | OpKind::WriteCell { .. }
    )
}

fn keep_last(trace: &Trace, thread: ThreadId, matters: &mut [bool]) {
    let own = (0..trace.events.len()).rev().filter(|&at| trace.events[at].thread == thread);
    own.take(LAST).for_each(|at| matters[at] = true);
}
