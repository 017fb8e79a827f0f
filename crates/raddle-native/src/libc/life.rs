//! Whether a synchronization object of POSIX was initialised or destroyed.
//!
//! *Problem.* It is undefined behaviour to use a destroyed object, or to initialise a live one. But an object with a static
//! initialiser is live without any call, also where another one was destroyed before: a variable of a block that is entered again.
//!
//! *Idea.* Semaphores, barriers and spin locks have no static initialiser, so their state tells everything. For other objects,
//! `pthread_..._init` and `pthread_..._destroy` leave a mark in the first bytes, and static initialisers overwrite it. The mark
//! depends on the address: a copy of an object has none. Uses look at it only if the state of the object says that it was
//! destroyed, so the mark costs nothing otherwise.
//!
//! A slot of a stack may be reused without having been destroyed, so a second initialisation there is no error. Heap blocks
//! are never reused.

use raddle_core::outcome::FindingKind;
use raddle_cpu::memory::layout;

use crate::program::call::{Call, Step, Suspend};

/// Size of a mark.
const SIZE: usize = 4;
const LIVE: u32 = 0x4c69_7645;
const DESTROYED: u32 = 0x4465_6144;

/// The mark of a destroyed object.
fn destroyed_mark(object: u64) -> u32 {
    DESTROYED ^ object as u32
}

fn mark(call: &mut Call<'_>, object: u64) -> Step<u32> {
    let mut bytes = [0; SIZE];
    call.load_bytes(object, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Returns `true` if an address is on a stack.
pub(super) fn is_on_stack(object: u64) -> bool {
    (layout::STACKS..layout::TLS).contains(&object)
}

/// An object is initialised by a call. Fails if a call has initialised it before.
pub(super) fn begin(call: &mut Call<'_>, object: u64, what: &str) -> Step<()> {
    let live = LIVE ^ object as u32;
    if mark(call, object)? == live && !is_on_stack(object) {
        return Err(initialised_again(call, what));
    }
    call.store_bytes(object, &live.to_le_bytes())
}

/// Removes the mark of an object.
pub(super) fn clear(call: &mut Call<'_>, object: u64) -> Step<()> {
    call.store_bytes(object, &[0; SIZE])
}

/// An object is destroyed. Fails if it is destroyed already.
pub(super) fn end(call: &mut Call<'_>, object: u64, what: &str) -> Step<()> {
    if is_destroyed(call, object)? {
        return Err(used_destroyed(call, what));
    }
    call.store_bytes(object, &destroyed_mark(object).to_le_bytes())
}

/// Returns `true` if an object was destroyed, and nobody has written a static initialiser since.
pub(super) fn is_destroyed(call: &mut Call<'_>, object: u64) -> Step<bool> {
    Ok(mark(call, object)? == destroyed_mark(object))
}

/// The object is live and initialised once more.
pub(super) fn initialised_again(call: &mut Call<'_>, what: &str) -> Suspend {
    misuse(call, what, "is initialised that is initialised already")
}

/// A destroyed object is used.
pub(super) fn used_destroyed(call: &mut Call<'_>, what: &str) -> Suspend {
    misuse(call, what, "is used that was destroyed")
}

/// An object is used that needs to be initialised by a call.
pub(super) fn used_uninitialised(call: &mut Call<'_>, what: &str) -> Suspend {
    misuse(call, what, "is used that was never initialised")
}

/// The object, whose name has an article, is used against the rules.
pub(super) fn misuse(call: &mut Call<'_>, what: &str, how: &str) -> Suspend {
    call.fail(FindingKind::Misuse, &format!("{what} {how}"))
}
