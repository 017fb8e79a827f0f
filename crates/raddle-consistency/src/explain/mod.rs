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

use crate::history;
use raddle_core::execution::{EventId, Execution};

/// The size limits of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The longest line, in characters.
    pub width: usize,
    /// The most lines of one list or table; the middle of a longer one is left out.
    pub lines: usize,
}

impl Default for Page {
    fn default() -> Self {
        Page { width: 100, lines: 60 }
    }
}

impl Page {
    /// How many of `total` lines to show at the beginning and at the end.
    #[must_use]
    pub fn shown(self, total: usize) -> (usize, usize) {
        if total <= self.lines {
            return (total, 0);
        }
        let tail = self.lines / 3;
        (self.lines - tail, tail)
    }

    /// Shows a list of `total` lines. `line(i)` returns line `i`; one line stands for the omitted ones.
    fn list(self, total: usize, what: &str, mut line: impl FnMut(usize) -> String) -> String {
        let (head, tail) = self.shown(total);
        let mut out: String = (0..head).map(&mut line).collect();
        if head + tail < total {
            out.push_str(&format!("  {}\n", left_out(total - head - tail, what)));
        }
        out.extend((total - tail..total).map(line));
        out
    }
}

/// Breaks a line at spaces so that it fits on the page. Lines after the first are indented by `indent`. Ends with a line
/// break.
#[must_use]
pub fn wrap(text: &str, indent: usize, page: Page) -> String {
    let mut out = String::new();
    let mut at = 0;
    for word in text.split_inclusive(' ') {
        let len = word.trim_end().chars().count();
        if at > indent && at + len > page.width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        }
        out.push_str(word);
        at += word.chars().count();
    }
    out.push('\n');
    out
}

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

/// The line that stands for `count` omitted entries of a list.
#[must_use]
pub fn left_out(count: usize, what: &str) -> String {
    format!("... {count} more {what} ...")
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
