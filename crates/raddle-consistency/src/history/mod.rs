//! History files: executions as text for people and as JSON Lines for programs.
//!
//! A history may come from a person, a recorder or a hostile byte stream. So the reader rejects everything that it does not
//! understand, and every error names the line and column of the offending token and what was expected there. Reading takes
//! two steps: a reader for each form (text, JSON Lines) adds events with their offsets to one `HistoryDraft`; the draft lets
//! the [`ExecutionBuilder`](raddle_core::execution::ExecutionBuilder) check the whole and locates its errors. Reading is one
//! pass over the bytes, linear in any input, without recursion.
//!
//! # Text
//!
//! ```text
//! # a comment to the end of the line
//! init: x=0 y=-3
//! P0: W x 1; F; R y -3 <- init
//! P1: RMW x 1 2 <- P0.0; CAS x 2 5; CAS x 0 7 failed 5 <- P1.1
//! P0: LOCK m <- init; UNLOCK m; F.ss; JOIN P1
//! ```
//!
//! A line is empty or `THREAD: EVENT; EVENT; ...` or `init: LOCATION=VALUE ...` or
//! `locations: LOCATION ...`; several lines of a thread continue it, and a line without events
//! declares it. The events are `R location value`, `W location value`, `RMW location read written`,
//! `CAS location expected desired`, `CAS location expected desired failed observed`, `F`, `F.ss`,
//! `LOCK lock`, `UNLOCK lock`, `SPAWN thread` and `JOIN thread`. `R`, `W`, `RMW`, `CAS` and `F` may
//! have a memory order, as in `R.acq x 1`: `.na` (non-atomic), `.rlx`, `.acq`, `.rel`, `.ar`
//! (acquire-release), `.sc`. Without one, `R` and `W` are non-atomic and the others sequentially
//! consistent; a failed `CAS` has the order with which it read. After `R`, `RMW`, `CAS` and `LOCK`,
//! `<- THREAD.INDEX` (from 0) or `<- init` may name the source.
//!
//! # JSON Lines
//!
//! One object per line, fields in any order, blank lines are skipped. The kinds of lines:
//!
//! ```text
//! {"init":{"x":0,"y":1}}
//! {"thread":"P0","op":"write","location":"x","value":1}
//! {"thread":"P0","op":"read","location":"y","value":0,"from":"P1.2"}
//! {"thread":"P0","op":"rmw","location":"x","read":0,"written":1,"from":"init"}
//! {"thread":"P0","op":"cas","location":"x","expected":0,"desired":5,"read":2,"succeeded":false}
//! {"thread":"P0","op":"read","location":"y","value":0,"order":"acq"}
//! {"thread":"P0","op":"fence"}
//! {"thread":"P0","op":"store-fence"}
//! {"thread":"P0","op":"lock","lock":"m","from":"P1.3"}
//! {"thread":"P0","op":"unlock","lock":"m"}
//! {"thread":"P0","op":"spawn","target":"P1"}
//! {"thread":"P0","op":"join","target":"P1"}
//! ```
//!
//! The order of the lines is taken for the order in which the events were recorded, unless a line
//! says `{"recorded":false}`.
//!
//! # Names, values and order
//!
//! A name is one or more of the ASCII letters and digits and `_ $ . [ ] ( ) + - * / & @ >`, in both
//! forms, so that converting loses nothing. A thread name has no `.` and is not `init` or
//! `locations`. A value is a decimal without leading zeros, or in text `0x` and hexadecimal digits,
//! with an optional `-`, from -2^63 to 2^64 - 1.
//!
//! Threads are ordered by their first line (a spawn, join or source does not count) and locations
//! by their first mention. Where that is not the wanted order, `locations: x y` or
//! `{"locations":["x","y"]}` mentions locations without stating a value, and `P1:` or
//! `{"threads":["P0","P1"]}` declares threads.

mod draft;
mod fields;
#[doc(hidden)]
pub mod fuzz;
mod json;
mod jsonl;
mod text;
mod words;
mod write;

use std::fmt;
use std::str::FromStr;

use raddle_core::execution::Execution;
use words::ParseFault;
pub use words::quote;
pub use write::{write, write_event};

/// A form of history files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Lines such as `P0: W x 1; R y 0`, for people.
    Text,
    /// One JSON object per line, for programs.
    JsonLines,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Text => "text",
            Format::JsonLines => "jsonl",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "text" => Ok(Format::Text),
            "jsonl" => Ok(Format::JsonLines),
            _ => Err(format!("there is no format {}: expected text or jsonl", quote(name))),
        }
    }
}

/// Why and where some bytes are not a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1; one past the end if the line ends too early.
    pub column: usize,
    /// What is wrong there and what was expected.
    pub message: String,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for HistoryError {}

/// Reads a history in either form: if its first character that is not blank is `{`, it is JSON
/// Lines. A UTF-8 byte order mark is skipped.
///
/// ```
/// let history = "
/// init: x=0 y=-3
/// P0: W x 1; F; R y -3 <- init
/// P1: RMW x 1 2 <- P0.0; CAS x 2 5; CAS x 0 7 failed 5 <- P1.1
/// P0: LOCK m <- init; UNLOCK m; F.ss; JOIN P1
/// ";
/// let execution = raddle_consistency::history::parse(history.as_bytes()).unwrap();
/// assert_eq!(execution.thread_count(), 2);
///
/// let error = raddle_consistency::history::parse(b"P0: W x").unwrap_err();
/// assert_eq!(error.to_string(), "1:8: the line ends here: expected the value written");
/// ```
pub fn parse(bytes: &[u8]) -> Result<Execution, HistoryError> {
    let first = without_mark(bytes).iter().find(|byte| !byte.is_ascii_whitespace());
    parse_as(bytes, if first == Some(&b'{') { Format::JsonLines } else { Format::Text })
}

/// Reads a history in the given form.
pub fn parse_as(bytes: &[u8], format: Format) -> Result<Execution, HistoryError> {
    let bytes = without_mark(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    let read = match format {
        Format::Text => text::read(text),
        Format::JsonLines => jsonl::read(text),
    };
    read.map_err(|fault| locate(text, fault))
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn not_utf8(bytes: &[u8], at: usize) -> HistoryError {
    let message = format!("the byte 0x{:02x} is not UTF-8: expected UTF-8 text", bytes[at]);
    let valid = String::from_utf8_lossy(&bytes[..at]);
    locate(&valid, ParseFault { at, message })
}

/// Converts an offset into line and column. Only errors need this, so the readers do not count.
fn locate(text: &str, ParseFault { at, message }: ParseFault) -> HistoryError {
    let before = &text.as_bytes()[..at];
    let line_start =
        before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    let column = before[line_start..].iter().filter(|&&byte| !continues(byte)).count() + 1;
    HistoryError { line, column, message }
}
