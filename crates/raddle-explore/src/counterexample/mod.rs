//! Counterexamples as text.
//!
//! A report says in one sentence what went wrong ([`sentence`]), shows where in the source (`header`), why (`why`) and by
//! which calls (`call_stacks`), and then shows the execution ([`execution`]): threads side by side, one numbered row for each
//! event, in an order in which the events can happen. A read names the store that it observes: `(step 3)` is the event
//! in row 3. Events without influence on the error are omitted (`relevant_part`), and runs of events that nobody else
//! observes are one row (`fold`). The order (`event_order`) is an interleaving if there is one. Under TSO and PSO a column
//! shows when delayed stores reach memory. Threads that wait or spin are described one by one (`waits`). An execution that
//! SC forbids is explained by a cycle of events, with the fences that forbid it (`cycle`).
//!
//! All functions take a [`NamedTrace`], which is data: the program is not needed any more.
//!
//! *Cost.* At most three bounded searches for a run, and quadratic time in the number of events.

mod call_stacks;
mod cycle;
#[cfg(feature = "serde")]
pub mod data;
mod event_order;
mod execution;
mod fold;
mod header;
mod joint;
mod paths;
mod relevant_part;
mod sentence;
mod style;
mod table;
mod waits;
mod why;
mod wording;

pub use execution::execution;
pub use sentence::{place, related, sentence};
pub use style::Style;

use raddle_core::execution::ThreadId;
use raddle_core::outcome::{Finding, FindingKind, Place};
use raddle_core::program::{Naming, Op};
use raddle_core::trace::{NamedTrace, Trace, TraceEvent};

use wording::Wording;

/// The finding that an execution shows, with its message, place, related places, and reasons.
#[must_use]
pub fn finding(kind: FindingKind, trace: NamedTrace, style: &Style) -> Finding {
    let message = sentence(kind, &trace, style);
    let place = place(&trace).map(|at| Place::new(style.relative(&trace.place(at))));
    let related = related(kind, &trace, style);
    let why = why::reasons(&trace, style);
    Finding { place, related, why, trace: Some(trace), ..Finding::new(kind, message) }
}

/// A finding as text: its message and places, call stacks, the execution, and what the program printed. Ends with an empty
/// line.
#[must_use]
pub fn report(finding: &Finding, style: &Style) -> String {
    let mut text = header::header(finding, style);
    if let Some(trace) = &finding.trace {
        text += &call_stacks::text(finding, trace, style);
        text += "\n";
        text += &execution(trace, style);
        text.truncate(text.trim_end().len());
        if !trace.printed.is_empty() {
            text += &format!("\n\nThe program printed:\n{}", trace.printed.trim_end());
        }
        text += "\n";
    }
    text + "\n"
}

/// The text of an op, without what it observes.
#[must_use]
pub fn op(names: &dyn Naming, op: &Op) -> String {
    let (thread, position) = (ThreadId::new(0), 0);
    let event = TraceEvent { thread, position, op: *op, observed: None, read: None, written: None };
    let trace = Trace { events: vec![event], ..Trace::default() };
    Wording::of_ops(names, &trace, &Style::default()).event(0)
}
