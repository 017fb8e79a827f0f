//! Objects that are shared by counting their owners.
//!
//! Contents are kept until the run ends, so that when they are dropped does not depend on which threads
//! are run. Owners are counted only if the program asks for their number.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, OpKind, Update, is_pointer};

use crate::entry::{Entry, reply};
use crate::names::Kind;
use crate::ops::is_running;
use crate::state::{self, Caller};
use crate::{ask, heap};

/// Keeps something until the run has ended, then calls this.
pub fn keep(release: Box<dyn FnOnce()>) {
    if is_running() {
        let _quiet = heap::quiet();
        state::current().state.borrow_mut().kept.push(release);
    }
}

/// If leaks are sought: watches an object, made here, that should have no owners when the run has ended.
pub fn watch(owners: impl FnOnce() -> Box<dyn Fn() -> usize>, caller: Caller) {
    if is_running() && state::current().state.borrow().settings.leaks_are_sought {
        let _quiet = heap::quiet();
        let owners = owners();
        state::current().state.borrow_mut().watched.push((owners, caller));
    }
}

/// The number of owners of a shared object, less one; or nothing if owners are not counted.
///
/// Returns what the object had before, and whether it was made outside of the run (then somebody there
/// owns it as well).
pub fn count_owners(
    object: *const u8,
    guard: Guard,
    update: Update,
    caller: Option<Caller>,
) -> Option<(Value, bool)> {
    if !is_running() || !state::current().state.borrow().settings.owners_are_counted {
        return None;
    }
    let outside = prepare_count(object, guard, update, caller);
    ask::ask();
    Some((reply().value, outside))
}

/// Says whether the object was made outside of the run.
#[inline(never)]
fn prepare_count(object: *const u8, guard: Guard, update: Update, caller: Option<Caller>) -> bool {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let (location, outside) = {
        let state = &mut *entry.context.state.borrow_mut();
        let address = state.encode(&entry.context.heap, object as u64);
        (state.locate_untagged(address, Kind::Count), !is_pointer(address))
    };
    entry.prepare(OpKind::Sync { location, guard, update }, place);
    outside
}

/// The program asks how many owners something has. If they are not counted the exploration has to
/// start again.
pub fn need_owners(caller: Caller) {
    let Some(entry) = Entry::new() else { return };
    if !entry.settings().owners_are_counted {
        let place = entry.place(caller);
        entry.context.state.borrow_mut().wanted.owners_are_counted = true;
        entry.fail(FindingKind::Misuse, "the owners of shared objects must be counted", place);
    }
}

/// The contents of a shared object are gone: who keeps it must not drop them.
pub fn take_contents(object: *const u8) {
    if is_running() {
        let _quiet = heap::quiet();
        state::current().state.borrow_mut().taken.push(object as usize);
    }
}

/// Whether the contents of a shared object are gone.
#[must_use]
pub fn are_contents_taken(object: *const u8) -> bool {
    state::current().state.borrow().taken.contains(&(object as usize))
}
