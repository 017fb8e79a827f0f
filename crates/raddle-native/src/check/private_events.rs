//! Removes events on private memory, and bookkeeping, from an execution that is reported.
//!
//! Whether a thread's accesses to its own stack and blocks are events depends on whether another thread uses them in some execution
//! that was explored before: on how far the exploration got, and on which worker explored what. In the execution that is reported they
//! matter only if another thread uses them there.
//!
//! Rust's standard library passes closures and results between threads in blocks of its own. Blocks and variables of the library that
//! only its code accesses atomically are left out; if there is a race, what its code uses alone at some point.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::outcome::FindingKind;
use raddle_core::trace::{Counterexample, Ending, Pending, Trace, TraceEvent};

use crate::program::{GONE, NativeProgram};

/// An execution without the events on memory that is private in it, and the indices of the others.
pub(super) fn remove(
    program: &NativeProgram,
    ending: &Ending,
    trace: &Trace,
) -> (Counterexample, Vec<usize>) {
    let mut users: BTreeMap<LocationId, Option<ThreadId>> = BTreeMap::new();
    for event in &trace.events {
        let Some(location) = event.op.kind.location() else { continue };
        let user = users.entry(location).or_insert(Some(event.thread));
        user.take_if(|user| *user != event.thread || is_in_loop(trace, event));
    }
    let is_private =
        |location| users[&location].is_some() && program.is_location_of_thread(location);
    let of_std = locations_of_std(program, ending, trace);
    let bookkeeping = bookkeeping(program, ending, trace);
    let is_left_out = |location| {
        is_private(location) || of_std.contains(&location) || bookkeeping.contains(&location)
    };
    let is_kept = |event: &TraceEvent| !event.op.kind.location().is_some_and(is_left_out);
    let (part, index) = trace.only(is_kept);
    let kept = (0..trace.events.len()).filter(|&at| is_kept(&trace.events[at])).collect();
    let ending = match *ending {
        Ending::Race(first, second) => {
            let at = |event: usize| index[event].unwrap_or_default();
            Ending::Race(at(first), at(second))
        }
        ref other => other.clone(),
    };
    (Counterexample::new(ending, part), kept)
}

/// The locations that code of the user does not access atomically. If there is a race, those that code of the library alone accesses
/// at some point, such as what it passes to a new thread.
fn locations_of_std(
    program: &NativeProgram,
    ending: &Ending,
    trace: &Trace,
) -> BTreeSet<LocationId> {
    if program.table.rust.is_none() {
        return BTreeSet::new();
    }
    let raced = raced(ending, trace);
    let is_waited_for = |location: LocationId| {
        let is_it = |pending: &Pending| match pending {
            Pending::Question(op) => op.kind.location() == Some(location),
            Pending::Loop(_) => false,
        };
        program.awaited.contains(&location) || trace.pending.values().any(is_it)
    };
    let is_kept = |event: &TraceEvent, location: LocationId| {
        is_waited_for(location) || is_in_loop(trace, event) || raced.contains(&location)
    };
    let located = trace.events.iter().filter_map(|event| Some((event, event.op.kind.location()?)));
    if !raced.is_empty() {
        let kept: BTreeSet<LocationId> = located
            .clone()
            .filter_map(|(event, location)| is_kept(event, location).then_some(location))
            .collect();
        let of_std = located.filter(|(event, location)| {
            !kept.contains(location) && !program.places.is_users(event.op.place)
        });
        return of_std.map(|(_, location)| location).collect();
    }
    let is_users = |event: &TraceEvent, location: LocationId| {
        is_kept(event, location)
            || program.is_atomic_memory(location) && program.places.is_users(event.op.place)
            || !program.is_location_of_thread(location) && !program.is_variable_of_std(location)
    };
    let mut locations: BTreeMap<LocationId, bool> = BTreeMap::new();
    for (event, location) in located {
        *locations.entry(location).or_default() |= is_users(event, location);
    }
    let of_std = locations.into_iter().filter(|(_, is_users)| !is_users);
    of_std.map(|(location, _)| location).collect()
}

/// The locations that only say that a block exists, unless somebody frees it, and those with the function of a `std::thread`. Not those
/// that a race is about.
fn bookkeeping(program: &NativeProgram, ending: &Ending, trace: &Trace) -> BTreeSet<LocationId> {
    let mut freed = BTreeSet::new();
    let mut starts = BTreeSet::new();
    for event in &trace.events {
        let Some(location) = event.op.kind.location() else { continue };
        if event.written == Some(GONE) {
            freed.insert(location);
        }
        if event.written.is_some_and(|value| program.is_thread_vtable(value as u64)) {
            starts.extend(program.block_of(location));
        }
    }
    let raced = raced(ending, trace);
    let is_double_free = ending.finding_kind() == Some(FindingKind::DoubleFree);
    let locations = trace.events.iter().filter_map(|event| event.op.kind.location());
    let is_bookkeeping = |&location: &LocationId| {
        let is_start = program.block_of(location).is_some_and(|start| starts.contains(&start));
        let is_existence = program.is_existence(location) && !freed.contains(&location);
        let is_existence = is_existence && !is_double_free;
        (is_start || is_existence) && !raced.contains(&location)
    };
    locations.filter(is_bookkeeping).collect()
}

/// The locations that a race is about.
fn raced(ending: &Ending, trace: &Trace) -> Vec<LocationId> {
    let Ending::Race(first, second) = *ending else { return vec![] };
    let location = |event: usize| trace.events.get(event)?.op.kind.location();
    [first, second].into_iter().filter_map(location).collect()
}

/// Returns `true` if a thread repeats an event forever: then it is what the report shows.
fn is_in_loop(trace: &Trace, event: &TraceEvent) -> bool {
    matches!(trace.pending.get(&event.thread), Some(&Pending::Loop(start)) if event.position >= start)
}
