//! An execution as it is told.
//!
//! Whether a thread's accesses of its own stack and of its own blocks are events depends on whether another thread uses
//! them in some execution that was explored before: on how far the exploration has got, and who explored what. In the
//! execution that is told they matter only if another thread uses them there.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::trace::{Ending, Pending, Trace, TraceEvent};

use crate::layout::{Location, What};
use crate::native::Native;

/// An execution without what is private in it.
pub(crate) fn told(program: &Native, ending: &Ending, trace: &Trace) -> (Ending, Trace) {
    let mut users: BTreeMap<LocationId, Option<ThreadId>> = BTreeMap::new();
    for event in &trace.events {
        let Some(location) = event.op.kind.location() else { continue };
        let user = users.entry(location).or_insert(Some(event.thread));
        user.take_if(|user| *user != event.thread || is_in_loop(trace, event));
    }
    let is_private =
        |location| users[&location].is_some() && is_memory_of_thread(program, location);
    let (told, index) = trace.only(|event| !event.op.kind.location().is_some_and(is_private));
    let ending = match *ending {
        Ending::Race(first, second) => {
            let at = |event: usize| index[event].unwrap_or_default();
            Ending::Race(at(first), at(second))
        }
        ref other => other.clone(),
    };
    (ending, told)
}

/// Whether a thread repeats an event forever: then that is what is told.
fn is_in_loop(trace: &Trace, event: &TraceEvent) -> bool {
    matches!(trace.pending.get(&event.thread), Some(&Pending::Loop(start)) if event.position >= start)
}

/// Whether a location is on the stack or the heap of some thread.
fn is_memory_of_thread(program: &Native, location: LocationId) -> bool {
    let Location { what, address, .. } = program.layout.all[location.index()];
    let is_memory = matches!(what, What::Memory(_) | What::Piece | What::Block);
    is_memory && program.slots.find(address).is_some()
}
