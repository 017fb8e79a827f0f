//! Removes events on private memory from an execution that is reported.
//!
//! Whether a thread's accesses to its own stack and blocks are events depends on whether another thread uses them in some execution
//! that was explored before: on how far the exploration got, and on which worker explored what. In the execution that is reported they
//! matter only if another thread uses them there.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::trace::{Ending, Pending, Trace, TraceEvent};

use crate::program::NativeProgram;

/// An execution without the events on memory that is private in it.
pub(super) fn remove(program: &NativeProgram, ending: &Ending, trace: &Trace) -> (Ending, Trace) {
    let mut users: BTreeMap<LocationId, Option<ThreadId>> = BTreeMap::new();
    for event in &trace.events {
        let Some(location) = event.op.kind.location() else { continue };
        let user = users.entry(location).or_insert(Some(event.thread));
        user.take_if(|user| *user != event.thread || is_in_loop(trace, event));
    }
    let is_private =
        |location| users[&location].is_some() && program.is_location_of_thread(location);
    let (kept, index) = trace.only(|event| !event.op.kind.location().is_some_and(is_private));
    let ending = match *ending {
        Ending::Race(first, second) => {
            let at = |event: usize| index[event].unwrap_or_default();
            Ending::Race(at(first), at(second))
        }
        ref other => other.clone(),
    };
    (ending, kept)
}

/// Returns `true` if a thread repeats an event forever: then it is what the report shows.
fn is_in_loop(trace: &Trace, event: &TraceEvent) -> bool {
    matches!(trace.pending.get(&event.thread), Some(&Pending::Loop(start)) if event.position >= start)
}
