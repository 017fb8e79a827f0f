//! Errors in the events of an execution, and their messages.

use std::fmt;

use super::{MemoryOrder, ThreadId, Value};

/// Which part of an event a [`BuildError`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPart {
    /// The event itself.
    Action,
    /// The source it names.
    Source,
    /// Its memory order.
    Order,
}

/// Why some events are not an execution, and which event is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// The thread of the offending event.
    pub thread: ThreadId,
    /// Its position in the thread, from 0.
    pub position: usize,
    /// The offending part of it.
    pub part: EventPart,
    /// The error.
    pub flaw: Flaw,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flaw.fmt(f)
    }
}

impl std::error::Error for BuildError {}

/// An error of an event. Other events are given by their names, such as `P0.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the placeholders of the messages below")]
pub enum Flaw {
    /// Spawns or joins a thread that the history does not have.
    UnknownThread { name: String },
    /// A successful compare-exchange that observed another value than it expected.
    ImpossibleSuccess { expected: Value, read: Value },
    /// Has a memory order that such an event cannot have.
    ImpossibleOrder { what: &'static str, order: MemoryOrder, possible: &'static [MemoryOrder] },
    /// Names a source although it observes nothing.
    ObservesNothing,
    /// Names a source that does not exist.
    UnknownSource { source: String, thread: String, events: usize },
    /// Names a source that writes nothing (or, for an acquire, releases nothing).
    NotASource { source: String, expected: &'static str },
    /// Names a source at another location.
    OtherLocation { source: String, its: String, own: String },
    /// Names a source with another value.
    OtherValue { source: String, its: Value, own: Value },
    /// An update that names itself as its source.
    OwnSource { source: String },
    /// Reads a location that no event writes and that has no stated initial value.
    NeverWritten { location: String },
    /// Two atomic updates name the same source.
    SharedWrite { source: String, other: String },
    /// Two acquires name the same source.
    SharedRelease { source: String, other: String },
    /// A name is used both for a lock and for a memory location.
    LockAndMemory { name: String },
    /// Acquires a lock that its thread holds already.
    HeldAlready { lock: String, since: String },
    /// Releases a lock that its thread does not hold.
    NotHeld { lock: String },
    /// Spawns a thread that another event spawns.
    SpawnedTwice { thread: String, other: String },
    /// Is a part of an access of several locations at one moment.
    JointAccess,
    /// Spawns and joins wait for each other in a cycle.
    SpawnJoinCycle { chain: Vec<String> },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::UnknownThread { name } => {
                write!(
                    f,
                    "there is no thread '{name}': expected the name of a thread with a line of its own"
                )
            }
            Flaw::ImpossibleSuccess { expected, read } => write!(
                f,
                "a compare-exchange that expects {expected} and observes {read} fails: expected it to observe {expected}, or to have failed"
            ),
            Flaw::ImpossibleOrder { what, order, possible } => {
                write!(f, "{what} cannot have the memory order '{order}': expected ")?;
                f.write_str(&alternatives(possible))
            }
            Flaw::JointAccess => f.write_str(
                "an access of several locations at one moment is no event of an execution: expected accesses of one location",
            ),
            Flaw::ObservesNothing => {
                f.write_str("only reads and acquires have a source: expected none here")
            }
            Flaw::UnknownSource { source, thread, events: 0 } => {
                write!(
                    f,
                    "there is no event {source}: thread '{thread}' has no events; expected an event of another thread, or init"
                )
            }
            Flaw::UnknownSource { source, thread, events } => write!(
                f,
                "there is no event {source}: expected one of {thread}.0 to {thread}.{}, or init",
                events - 1
            ),
            Flaw::NotASource { source, expected } => {
                write!(f, "{source} cannot be read from: expected {expected}")
            }
            Flaw::OtherLocation { source, its, own } => {
                write!(f, "{source} writes '{its}': expected a write of '{own}'")
            }
            Flaw::OtherValue { source, its, own } => {
                write!(f, "{source} writes {its}: expected a write of {own}, the value read here")
            }
            Flaw::OwnSource { source } => {
                write!(f, "{source} names itself as its source: expected an earlier write")
            }
            Flaw::NeverWritten { location } => write!(
                f,
                "no event writes '{location}': expected a write of it in some thread, or its initial value in an init line"
            ),
            Flaw::SharedWrite { source, other } => write!(
                f,
                "{other} reads from {source} too: expected at most one atomic update of each write"
            ),
            Flaw::SharedRelease { source, other } => write!(
                f,
                "{other} takes the lock from {source} too: expected at most one acquire of each release"
            ),
            Flaw::LockAndMemory { name } => {
                write!(
                    f,
                    "'{name}' is used both as a lock and as a memory location: expected one of them"
                )
            }
            Flaw::HeldAlready { lock, since } => write!(
                f,
                "the thread holds '{lock}' since {since}: expected a release first (recursive locks are not modelled)"
            ),
            Flaw::NotHeld { lock } => {
                write!(
                    f,
                    "the thread does not hold '{lock}': expected an acquire before this release"
                )
            }
            Flaw::SpawnedTwice { thread, other } => {
                write!(f, "{other} spawns thread '{thread}' too: expected one spawn of a thread")
            }
            Flaw::SpawnJoinCycle { chain } => write!(
                f,
                "spawn and join wait for each other in a cycle ({}): expected an order in which the threads can run",
                shortened(chain).join(" -> ")
            ),
        }
    }
}

/// `na, rlx, acq or sc`, weakest first.
pub(crate) fn alternatives(orders: &[MemoryOrder]) -> String {
    let mut orders = orders.to_vec();
    orders.sort_unstable();
    let names: Vec<&str> = orders.iter().map(|order| order.name()).collect();
    match names.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        _ => names.concat(),
    }
}

/// A chain of events, cut in the middle if it is long.
fn shortened(chain: &[String]) -> Vec<&str> {
    let all = chain.iter().map(String::as_str);
    match chain.len() {
        0..=8 => all.collect(),
        len => all.clone().take(4).chain(["..."]).chain(all.skip(len - 4)).collect(),
    }
}
