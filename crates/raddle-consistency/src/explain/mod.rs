//! Reports that a person can read: the run or the orders behind a witness, the reasons behind a
//! violation.
//!
//! Every function here is pure and returns text that ends with a line break, so that any front end
//! can print it. Threads stand side by side, one column each, as long as the columns fit on the
//! [`Page`]; otherwise every event gets a line of its own that starts with its name. What is too
//! long is cut in the middle, with the number of lines left out. The same answers for programs are
//! in [`json`].

mod axiom;
mod clash;
mod coherence;
mod columns;
mod derivation;
mod hb;
pub mod json;
mod part;
mod race;
mod reason;
mod run;
mod shape;
mod sources;
mod synchronization;
mod violation;
mod witness;

pub use sources::observed_sources;
pub use violation::{sentence, violation};
pub use witness::witness;

use crate::history;
use raddle_core::execution::{EventId, Execution};

/// How much room a report may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The longest line, in characters, that columns may make.
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
    /// Of `total` lines, how many to show at the beginning and how many at the end.
    #[must_use]
    pub fn shown(self, total: usize) -> (usize, usize) {
        if total <= self.lines {
            return (total, 0);
        }
        let tail = self.lines / 3;
        (self.lines - tail, tail)
    }

    /// Shows a list of `total` lines: `line(i)` makes line `i`, and one line stands for those left
    /// out.
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

/// Breaks a line at spaces so that it fits on the page if it can; what follows the first line is
/// indented by `indent`. Ends with a line break.
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

/// A longer list is cut in the middle when it is told in one sentence.
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

/// What an event did, with its source even if the history leaves it open.
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
