//! What an execution means: whether it is an error, and how important.

use std::collections::BTreeSet;

use raddle_core::execution::ThreadId;
use raddle_core::outcome::FindingKind;
use raddle_core::program::OpKind;
use raddle_core::trace::{Ending, ThreadEnd, Trace};
use raddle_explore::Leaf;
use serde::{Deserialize, Serialize};

use super::plain_races;
use crate::environment::Environment;
use crate::libc;
use crate::program::GONE;

/// What an execution means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Good,
    /// An error.
    Bug,
    /// Threads repeat loops forever: an error that is reported if there is no other one.
    Livelock,
    /// Threads wait forever after the main thread has ended: an error only if that did not end the program.
    AfterMain,
    /// No error that matters, but the execution was not explored to its end.
    Unfinished,
}

/// What was seen besides errors.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) livelock: bool,
    pub(super) after_main: bool,
    pub(super) unfinished: bool,
}

impl Seen {
    pub(super) fn note(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Livelock => self.livelock = true,
            Meaning::AfterMain => self.after_main = true,
            Meaning::Unfinished => self.unfinished = true,
            Meaning::Good | Meaning::Bug => {}
        }
    }
}

/// The bound of an exploration with executions that are [`Meaning::Unfinished`].
pub(super) const UNFINISHED: &str =
    "executions with an error that is not looked for were not explored beyond it";

/// How an execution ended: with a race, if it has one that is looked for and no error of its own but a livelock.
pub(super) fn ending(leaf: &dyn Leaf, environment: &Environment) -> Ending {
    let ending = leaf.ending();
    let has_error = ending.is_bug() && !matches!(ending, Ending::Livelock(_));
    let race = || plain_races::race(&leaf.trace());
    match environment.races && !has_error {
        true => race().map_or(ending.clone(), |(first, second)| Ending::Race(first, second)),
        false => ending.clone(),
    }
}

/// The meaning of an execution that ended like this ([`ending`]).
pub(super) fn meaning(leaf: &dyn Leaf, ending: &Ending, environment: &Environment) -> Meaning {
    if !ending.is_bug() {
        return Meaning::Good;
    }
    let waits = matches!(ending, Ending::Deadlock(_) | Ending::Livelock(_));
    let trace = leaf.trace();
    let is_ignored = environment.ignored.contains(kind(ending, &trace));
    match ending {
        _ if waits && (libc::has_exited(&trace) || libc::misses_request(&trace)) => Meaning::Good,
        _ if is_ignored && waits => Meaning::Good,
        _ if is_ignored => Meaning::Unfinished,
        _ if waits && main_has_ended(&trace) => Meaning::AfterMain,
        Ending::Livelock(_) => Meaning::Livelock,
        _ => Meaning::Bug,
    }
}

/// The kind of error that an execution with an error shows.
pub(super) fn kind(ending: &Ending, trace: &Trace) -> FindingKind {
    match *ending {
        Ending::Race(first, second) if frees(trace, first) || frees(trace, second) => {
            FindingKind::UseAfterFree
        }
        Ending::Race(first, _) if is_of_cell(trace, first) => FindingKind::Unsupported,
        _ => ending.finding_kind().unwrap_or(FindingKind::Misuse),
    }
}

/// Returns `true` if an event of a trace accesses memory that is accessed in pieces of different sizes.
fn is_of_cell(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::ReadCell { .. } | OpKind::WriteCell { .. }))
}

/// Returns `true` if an event of a trace frees memory.
fn frees(trace: &Trace, event: usize) -> bool {
    let op = trace.events.get(event).map(|event| event.op.kind);
    matches!(op, Some(OpKind::Store { value: GONE, .. }))
}

fn main_has_ended(trace: &Trace) -> bool {
    trace.ends.get(&ThreadId::new(0)) == Some(&ThreadEnd::Finished)
}

/// A thread that nobody has joined, directly or indirectly, when the main thread has ended.
pub(super) fn unjoined(trace: &Trace) -> Option<ThreadId> {
    if !main_has_ended(trace) {
        return None;
    }
    let joins = || {
        trace.events.iter().filter_map(|event| match event.op.kind {
            OpKind::Join { thread } => Some((event.thread, thread)),
            _ => None,
        })
    };
    let mut joined = BTreeSet::from([ThreadId::new(0)]);
    while let Some((_, next)) =
        joins().find(|(by, thread)| joined.contains(by) && !joined.contains(thread))
    {
        joined.insert(next);
    }
    trace.events.iter().find_map(|event| match event.op.kind {
        OpKind::Spawn { thread } if !joined.contains(&thread) => Some(thread),
        _ => None,
    })
}
