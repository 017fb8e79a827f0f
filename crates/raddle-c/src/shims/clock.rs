//! Time.
//!
//! Every thread has a clock of its own, which is the same in every execution: it starts with the year 2025 and
//! stands still, except that a thread that sleeps, or waits until its time is up, finds afterwards that
//! the time has passed. So what a program computes from the time is determined by its own history; and loops
//! that wait until a flag is set *or* some time has passed without sleeping are not modelled: for them the
//! time never passes.

use std::ffi::{c_int, c_uint};

use super::errno;
use crate::ops;

/// What the clock of a thread is ahead of the start, in nanoseconds.
pub(crate) const AHEAD: u32 = 3;
/// The first second of 2025.
const START: u64 = 1_735_689_600;
const SECOND: u64 = 1_000_000_000;

fn now() -> u64 {
    START * SECOND + ops::recall(AHEAD, 0)
}

fn advance(nanoseconds: u64) {
    if nanoseconds > 0 {
        ops::remember(AHEAD, 0, ops::recall(AHEAD, 0).saturating_add(nanoseconds));
    }
}

/// The nanoseconds of a `struct timespec`.
fn nanoseconds(address: usize) -> u64 {
    let seconds = ops::get_number(address, 8);
    seconds.saturating_mul(SECOND).saturating_add(ops::get_number(address + 8, 8))
}

fn put(address: usize, seconds: u64, rest: u64) {
    if address != 0 {
        ops::put_number(address, 8, seconds);
        ops::put_number(address + 8, 8, rest);
    }
}

/// The time of a deadline has come.
pub(super) fn pass(deadline: usize) {
    advance(nanoseconds(deadline).saturating_sub(now()));
}

pub(super) extern "C" fn clock_gettime(_clock: c_int, time: usize) -> c_int {
    let now = now();
    put(time, now / SECOND, now % SECOND);
    0
}

pub(super) extern "C" fn clock_getres(_clock: c_int, time: usize) -> c_int {
    put(time, 0, 1);
    0
}

pub(super) extern "C" fn timespec_get(time: usize, base: c_int) -> c_int {
    clock_gettime(0, time);
    base
}

pub(super) extern "C" fn gettimeofday(time: usize, _zone: usize) -> c_int {
    let now = now();
    put(time, now / SECOND, now % SECOND / 1000);
    0
}

pub(super) extern "C" fn time(result: usize) -> u64 {
    let seconds = now() / SECOND;
    if result != 0 {
        ops::put_number(result, 8, seconds);
    }
    seconds
}

pub(super) extern "C" fn clock() -> u64 {
    ops::recall(AHEAD, 0) / 1000
}

/// Sleeping is nothing but waiting: all others may come first in any case.
pub(super) extern "C" fn usleep(microseconds: c_uint) -> c_int {
    advance(u64::from(microseconds) * 1000);
    0
}

pub(super) extern "C" fn sleep(seconds: c_uint) -> c_uint {
    advance(u64::from(seconds) * SECOND);
    0
}

pub(super) extern "C" fn nanosleep(duration: usize, _rest: usize) -> c_int {
    advance(nanoseconds(duration));
    0
}

pub(super) use nanosleep as thrd_sleep;

pub(super) extern "C" fn clock_nanosleep(
    _clock: c_int,
    flags: c_int,
    time: usize,
    _rest: usize,
) -> c_int {
    if flags & libc::TIMER_ABSTIME != 0 {
        pass(time);
    } else {
        advance(nanoseconds(time));
    }
    0
}

pub(super) extern "C" fn sched_yield() -> c_int {
    0
}

pub(super) use sched_yield as pthread_yield;

pub(super) extern "C" fn thrd_yield() {}

/// Which processor a thread runs on is nothing that it may depend on.
pub(super) extern "C" fn sched_getcpu() -> c_int {
    0
}

/// There are two processors.
pub(super) extern "C" fn get_nprocs() -> c_int {
    2
}

pub(super) extern "C" fn sysconf(name: c_int) -> i64 {
    match name {
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => 2,
        libc::_SC_PAGESIZE => 4096,
        libc::_SC_CLK_TCK => 100,
        _ => errno::fail(libc::EINVAL).into(),
    }
}
