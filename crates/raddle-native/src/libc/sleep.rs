//! Sleeping: cancellation points that let time pass for the thread.

use super::clock::{SECOND, advance, nanoseconds, pass};
use super::{Names, cancel};
use crate::program::call::{Call, Step};

const TIMER_ABSTIME: u64 = 1;

/// Sleeping only advances the clock of the thread: which threads run in between is up to the explorer.
fn usleep(call: &mut Call<'_>) -> Step<u64> {
    cancel::point(call)?;
    let microseconds = u64::from(call.argument(0)? as u32);
    advance(call, microseconds * 1000);
    Ok(0)
}

fn sleep(call: &mut Call<'_>) -> Step<u64> {
    cancel::point(call)?;
    let seconds = u64::from(call.argument(0)? as u32);
    advance(call, seconds * SECOND);
    Ok(0)
}

/// `nanosleep(duration, rest)`.
fn nanosleep(call: &mut Call<'_>) -> Step<u64> {
    cancel::point(call)?;
    let duration = call.argument(0)?;
    let duration = nanoseconds(call, duration)?;
    advance(call, duration);
    Ok(0)
}

/// `clock_nanosleep(clock, flags, time, rest)`.
fn clock_nanosleep(call: &mut Call<'_>) -> Step<u64> {
    cancel::point(call)?;
    let (flags, time) = (call.argument(1)?, call.argument(2)?);
    if flags & TIMER_ABSTIME != 0 {
        pass(call, time)?;
    } else {
        let duration = nanoseconds(call, time)?;
        advance(call, duration);
    }
    Ok(0)
}

/// Returns `true` if the thread only sleeps: none of the arguments names a descriptor. Without a timeout that would be forever.
fn only_sleeps(call: &mut Call<'_>, names: [u64; 3], timeout: u64) -> Step<bool> {
    if names != [0; 3] {
        return Ok(false);
    }
    cancel::point(call)?;
    match timeout {
        0 => Err(call.refuse("waits for a signal, which Raddle does not model")),
        _ => Ok(true),
    }
}

/// `poll(descriptors, count, milliseconds)`.
fn poll(call: &mut Call<'_>) -> Step<u64> {
    let (count, milliseconds) = (call.argument(1)?, call.argument(2)? as i32);
    let timeout = u64::from(milliseconds >= 0);
    if !only_sleeps(call, [count, 0, 0], timeout)? {
        return Err(call.run_library_code());
    }
    advance(call, u64::from(milliseconds.unsigned_abs()) * 1_000_000);
    Ok(0)
}

/// `ppoll(descriptors, count, timeout, signals)`.
fn ppoll(call: &mut Call<'_>) -> Step<u64> {
    let (count, timeout) = (call.argument(1)?, call.argument(2)?);
    if !only_sleeps(call, [count, 0, 0], timeout)? {
        return Err(call.run_library_code());
    }
    let duration = nanoseconds(call, timeout)?;
    advance(call, duration);
    Ok(0)
}

/// `select(highest, readable, writable, exceptional, timeout)`, whose timeout has microseconds, and `pselect` with nanoseconds.
fn select(call: &mut Call<'_>, unit: u64) -> Step<u64> {
    let sets = [call.argument(1)?, call.argument(2)?, call.argument(3)?];
    let timeout = call.argument(4)?;
    if !only_sleeps(call, sets, timeout)? {
        return Err(call.run_library_code());
    }
    let (seconds, rest) = (call.load(timeout, 8)?, call.load(timeout + 8, 8)?);
    let duration = seconds.saturating_mul(SECOND).saturating_add(rest.saturating_mul(unit));
    advance(call, duration);
    Ok(0)
}

pub(super) const TABLE: Names = &[
    ("usleep", usleep),
    ("sleep", sleep),
    ("nanosleep", nanosleep),
    ("thrd_sleep", nanosleep),
    ("clock_nanosleep", clock_nanosleep),
    ("poll", poll),
    ("ppoll", ppoll),
    ("select", |call| select(call, 1000)),
    ("pselect", |call| select(call, 1)),
];
