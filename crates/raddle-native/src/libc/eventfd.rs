//! Counters behind file descriptors (`eventfd`).
//!
//! The state is a synchronization object: [`EMPTY`] minus the count. The thread that creates the descriptor sets it, and only it
//! can tell others the number, so the state is set before they use it. The number contains the thread and the flags, so
//! that threads do not choose the same one, and everybody knows the flags.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Guard, Update, UpdateKind};

use super::errors::{EAGAIN, EBADF, EINVAL};
use super::{FAILED, Names, ObjectKind, Purpose, cancel, output};
use crate::program::call::{Call, Step, set_to, update};

/// The count is 0.
const EMPTY: Value = 1 << 64;
/// The largest count is one less.
const MOST: u64 = u64::MAX;
/// The descriptor was closed.
const CLOSED: Value = 1 << 100;

const EFD_SEMAPHORE: u64 = 1;
const EFD_NONBLOCK: u64 = 0o4000;

/// Descriptors from here on are counters. The lowest bits are flags, then comes a number, then the thread.
const FIRST: u64 = 1 << 20;
const IS_SEMAPHORE: u64 = 1;
const IS_NONBLOCKING: u64 = 2;
const NUMBER: u64 = 4;
const PER_THREAD: u64 = 1 << 10;

/// Returns `true` if a descriptor is a counter.
fn is_counter(descriptor: u64) -> bool {
    descriptor as u32 as u64 == descriptor && (FIRST..1 << 31).contains(&descriptor)
}

fn sync(call: &mut Call<'_>, descriptor: u64, guard: Guard, update: Update) -> Step<Value> {
    let before = call.sync(ObjectKind::Counter, descriptor, guard, update)?;
    if before == CLOSED || before == 0 {
        return Err(call.fail(FindingKind::Misuse, "a file descriptor is used that was closed"));
    }
    Ok(before)
}

/// `eventfd(count, flags)`.
fn eventfd(call: &mut Call<'_>) -> Step<u64> {
    let (count, flags) = (call.argument(0)? as u32, call.argument(1)?);
    let number = call.recall(Purpose::Counters, 0);
    if number * NUMBER >= PER_THREAD {
        return Err(call.refuse("makes too many event descriptors"));
    }
    let semaphore = if flags & EFD_SEMAPHORE == 0 { 0 } else { IS_SEMAPHORE };
    let nonblocking = if flags & EFD_NONBLOCK == 0 { 0 } else { IS_NONBLOCKING };
    let own = FIRST + call.current().index() as u64 * PER_THREAD;
    let descriptor = own + number * NUMBER + semaphore + nonblocking;
    call.sync(ObjectKind::Counter, descriptor, Guard::Always, set_to(EMPTY - Value::from(count)))?;
    call.remember(Purpose::Counters, 0, number + 1);
    Ok(descriptor)
}

/// Waits for a count that is not 0 and takes it, or one. `None` if the descriptor does not block and there is none.
fn take(call: &mut Call<'_>, descriptor: u64) -> Step<Option<u64>> {
    let one = descriptor & IS_SEMAPHORE != 0;
    let taking = if one { update(UpdateKind::Add, 1) } else { set_to(EMPTY) };
    if descriptor & IS_NONBLOCKING == 0 {
        cancel::point(call)?;
        let before = sync(call, descriptor, Guard::Below(EMPTY), taking)?;
        return Ok(Some(if one { 1 } else { (EMPTY - before) as u64 }));
    }
    if one {
        return Err(call.refuse("reads an event descriptor with EFD_SEMAPHORE and EFD_NONBLOCK"));
    }
    let before = sync(call, descriptor, Guard::Always, taking)?;
    Ok((before != EMPTY).then_some((EMPTY - before) as u64))
}

/// Adds to the count. A count that would become too large is refused: the thread would wait.
fn give(call: &mut Call<'_>, descriptor: u64, count: u64) -> Step<u64> {
    if count == MOST {
        return fail(call, EINVAL);
    }
    let before =
        sync(call, descriptor, Guard::Always, update(UpdateKind::Sub, Value::from(count)))?;
    if EMPTY - before + Value::from(count) >= Value::from(MOST) {
        return Err(call.refuse("counts an event descriptor beyond its largest value"));
    }
    Ok(0)
}

fn fail(call: &mut Call<'_>, error: i32) -> Step<u64> {
    call.set_errno(error)?;
    Ok(FAILED)
}

/// Takes a count and stores it. Returns `size`.
fn take_to(call: &mut Call<'_>, descriptor: u64, buffer: u64, size: u64) -> Step<u64> {
    match take(call, descriptor)? {
        Some(count) => {
            call.store(buffer, 8, count)?;
            Ok(size)
        }
        None => fail(call, EAGAIN),
    }
}

/// `eventfd_read(descriptor, count)`.
fn eventfd_read(call: &mut Call<'_>) -> Step<u64> {
    let (descriptor, buffer) = (call.argument(0)?, call.argument(1)?);
    if !is_counter(descriptor) {
        return fail(call, EBADF);
    }
    take_to(call, descriptor, buffer, 0)
}

/// `eventfd_write(descriptor, count)`.
fn eventfd_write(call: &mut Call<'_>) -> Step<u64> {
    let (descriptor, count) = (call.argument(0)?, call.argument(1)?);
    if !is_counter(descriptor) {
        return fail(call, EBADF);
    }
    give(call, descriptor, count)
}

/// `read(descriptor, buffer, size)`.
fn read(call: &mut Call<'_>) -> Step<u64> {
    let (descriptor, buffer, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    match is_counter(descriptor) {
        true if size < 8 => fail(call, EINVAL),
        true => take_to(call, descriptor, buffer, 8),
        false => Err(call.run_library_code()),
    }
}

/// `write(descriptor, buffer, size)`.
fn write(call: &mut Call<'_>) -> Step<u64> {
    let (descriptor, buffer, size) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    if !is_counter(descriptor) {
        return output::write(call);
    }
    if size < 8 {
        return fail(call, EINVAL);
    }
    let count = call.load(buffer, 8)?;
    Ok(if give(call, descriptor, count)? == 0 { 8 } else { FAILED })
}

fn close(call: &mut Call<'_>) -> Step<u64> {
    let descriptor = call.argument(0)?;
    if !is_counter(descriptor) {
        return Err(call.run_library_code());
    }
    sync(call, descriptor, Guard::Always, set_to(CLOSED))?;
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("eventfd", eventfd),
    ("eventfd_read", eventfd_read),
    ("eventfd_write", eventfd_write),
    ("read", read),
    ("__read", read),
    ("write", write),
    ("__write", write),
    ("close", close),
    ("__close", close),
];
