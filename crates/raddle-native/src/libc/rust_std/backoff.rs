//! Loops that back off: of `std::sync::mpsc`, which is a copy of crossbeam's channel, and of crossbeam itself.
//!
//! *Problem.* A `Backoff` counts its rounds, so a thread that waits in such a loop never repeats a state.
//!
//! *Idea.* How long a round takes is not observed, so the functions that spin do nothing, and the thread is in the same state in
//! the next round. crossbeam's `snooze` counts up to a limit, after which `is_completed` says that the thread had better block:
//! here any call of `snooze` may be the one that reaches the limit.

use crate::program::call::{Call, Step};

/// The size of crossbeam's `Backoff { step: Cell<u32> }`.
const SIZE: u64 = 4;
/// The number of calls after which crossbeam's `Backoff` is completed.
const COMPLETED: u64 = 11;

/// `crossbeam_utils::Backoff::snooze(&self)`.
pub(super) fn snooze(call: &mut Call<'_>) -> Step<u64> {
    let step = call.argument(0)?;
    if call.load(step, SIZE)? < COMPLETED && call.choose(2)? == 1 {
        call.store(step, SIZE, COMPLETED)?;
    }
    Ok(0)
}
