//! Time.
//!
//! Every thread has a clock of its own, which is the same in every execution: it starts with the year 2025 and stands still, except
//! that a thread that sleeps, or waits until a deadline, finds afterwards that the time has passed. So what a program computes from
//! the time depends on the history of the thread only. Loops that poll the clock without sleeping are not modelled: for them time
//! never passes.

use super::{Names, Purpose, nothing};
use crate::program::call::{Call, Step};

/// The first second of 2025.
const START: u64 = 1_735_689_600;
pub(super) const SECOND: u64 = 1_000_000_000;

/// Nanoseconds since the start of the clock.
fn elapsed(call: &Call<'_>) -> u64 {
    call.recall(Purpose::Clock, 0)
}

fn now(call: &Call<'_>) -> u64 {
    (START * SECOND).saturating_add(elapsed(call))
}

/// What the program computes from now on may depend on the time.
fn note_reading(call: &mut Call<'_>) {
    let readings = call.recall(Purpose::ClockReadings, 0);
    call.remember(Purpose::ClockReadings, 0, readings + 1);
}

/// The time for the program.
fn read(call: &mut Call<'_>) -> u64 {
    note_reading(call);
    now(call)
}

pub(super) fn advance(call: &mut Call<'_>, nanoseconds: u64) {
    if nanoseconds > 0 {
        let elapsed = elapsed(call).saturating_add(nanoseconds);
        call.remember(Purpose::Clock, 0, elapsed);
    }
}

/// The nanoseconds of a `struct timespec`.
pub(super) fn nanoseconds(call: &mut Call<'_>, address: u64) -> Step<u64> {
    let (seconds, rest) = (call.load(address, 8)?, call.load(address + 8, 8)?);
    Ok(seconds.saturating_mul(SECOND).saturating_add(rest))
}

fn put(call: &mut Call<'_>, address: u64, seconds: u64, rest: u64) -> Step<()> {
    if address == 0 {
        return Ok(());
    }
    call.store(address, 8, seconds)?;
    call.store(address + 8, 8, rest)
}

/// Lets the time of a deadline come.
pub(super) fn pass(call: &mut Call<'_>, deadline: u64) -> Step<()> {
    let deadline = nanoseconds(call, deadline)?;
    let now = now(call);
    advance(call, deadline.saturating_sub(now));
    Ok(())
}

/// Stores the time, in seconds and nanoseconds.
fn get(call: &mut Call<'_>, address: u64) -> Step<()> {
    let now = read(call);
    put(call, address, now / SECOND, now % SECOND)
}

/// `clock_gettime(clock, time)`.
fn clock_gettime(call: &mut Call<'_>) -> Step<u64> {
    let time = call.argument(1)?;
    get(call, time)?;
    Ok(0)
}

fn clock_getres(call: &mut Call<'_>) -> Step<u64> {
    let time = call.argument(1)?;
    put(call, time, 0, 1)?;
    Ok(0)
}

/// `timespec_get(time, base)`.
fn timespec_get(call: &mut Call<'_>) -> Step<u64> {
    let (time, base) = (call.argument(0)?, call.argument(1)?);
    get(call, time)?;
    Ok(base)
}

/// `gettimeofday(time, zone)`.
fn gettimeofday(call: &mut Call<'_>) -> Step<u64> {
    let (time, now) = (call.argument(0)?, read(call));
    put(call, time, now / SECOND, now % SECOND / 1000)?;
    Ok(0)
}

fn time(call: &mut Call<'_>) -> Step<u64> {
    let (result, seconds) = (call.argument(0)?, read(call) / SECOND);
    if result != 0 {
        call.store(result, 8, seconds)?;
    }
    Ok(seconds)
}

/// Microseconds since the start.
fn clock(call: &mut Call<'_>) -> Step<u64> {
    note_reading(call);
    Ok(elapsed(call) / 1000)
}

/// The machine has this many processors.
const PROCESSORS: u64 = 2;

fn processors(_: &mut Call<'_>) -> Step<u64> {
    Ok(PROCESSORS)
}

fn sysconf(call: &mut Call<'_>) -> Step<u64> {
    /// `_SC_NPROCESSORS_CONF` and `_SC_NPROCESSORS_ONLN`.
    const NUMBERS: [u64; 2] = [83, 84];
    let name = call.argument(0)? & 0xffff_ffff;
    if NUMBERS.contains(&name) {
        return Ok(PROCESSORS);
    }
    Err(call.run_library_code())
}

pub(super) const TABLE: Names = &[
    ("clock_gettime", clock_gettime),
    ("clock_getres", clock_getres),
    ("timespec_get", timespec_get),
    ("gettimeofday", gettimeofday),
    ("time", time),
    ("clock", clock),
    ("sched_yield", nothing),
    ("pthread_yield", nothing),
    ("thrd_yield", nothing),
    ("sched_getcpu", nothing),
    ("get_nprocs", processors),
    ("get_nprocs_conf", processors),
    ("sysconf", sysconf),
];
