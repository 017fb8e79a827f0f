//! Readable reports: the run or the orders of a witness, the reasons of a violation.
//!
//! Every function is pure and returns text that ends with a line break. Threads are columns if they fit on the [`Page`];
//! otherwise every event has its own line that starts with its name. Long lists are cut in the middle, with the number of
//! omitted lines. [`json`] has the same information for programs.

mod axiom;
mod axiom_cycles;
mod coherence;
mod columns;
mod derivation;
mod edge_cycles;
mod hb;
pub mod json;
mod part;
mod phrases;
mod race;
mod run;
mod sources;
mod synchronization;
mod violation;
mod witness;

pub use sources::observed_sources;
pub use violation::{sentence, violation};
pub use witness::witness;

pub use crate::page::{Page, left_out, wrap};

use crate::history;
use raddle_core::execution::{EventId, Execution};

/// Lists in a sentence that are longer than this are cut in the middle.
const PARTS_IN_A_SENTENCE: usize = 12;

/// Leaves out the middle of a list that is too long for a sentence.
fn shorten(mut parts: Vec<String>, what: &str) -> Vec<String> {
    if parts.len() > PARTS_IN_A_SENTENCE {
        let cut = parts.len() - PARTS_IN_A_SENTENCE + 1;
        let start = PARTS_IN_A_SENTENCE / 2;
        parts.splice(start..start + cut, [left_out(cut, what)]);
    }
    parts
}

/// What an event did, with its source even if the history does not name it.
fn does(execution: &Execution, event: EventId, source: Option<EventId>) -> String {
    let mut text = history::write_event(execution, event);
    if let Some(source) = source.filter(|_| !execution.names_source(event)) {
        text.push_str(" <- ");
        if execution.is_init(source) {
            text.push_str("init");
        } else {
            text.push_str(&execution.name(source));
        }
    }
    text
}
