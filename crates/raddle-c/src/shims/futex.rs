//! The system calls that a program may make itself: futexes, which `std::atomic::wait` is made of.
//!
//! A thread that waits says so first and looks at the value then. Who changes the value and wakes comes
//! either before, and then the new value is seen, or finds the thread among those that wait.

use raddle_core::execution::MemoryOrder;

use super::errno;
use super::waiters::Waiters;
use crate::ops::{self, Kind};

const FUTEX_WAIT: u64 = 0;
const FUTEX_WAKE: u64 = 1;
const FUTEX_WAIT_BITSET: u64 = 9;
const FUTEX_WAKE_BITSET: u64 = 10;
/// Whether a futex is private, and which clock it has.
const FLAGS: u64 = 128 | 256;

/// `syscall`, of which it is not known how many arguments it gets.
pub(super) extern "C" fn syscall(
    number: i64,
    address: usize,
    operation: u64,
    value: u64,
    timeout: usize,
) -> i64 {
    match number {
        libc::SYS_futex => futex(address, operation & !FLAGS, value, timeout),
        libc::SYS_gettid => ops::current().index() as i64 + 1000,
        _ => ops::refuse("calls syscall with a number that Raddle does not model"),
    }
}

fn futex(address: usize, operation: u64, value: u64, timeout: usize) -> i64 {
    let waiters = Waiters { address, kind: Kind::Futex };
    match operation {
        FUTEX_WAIT | FUTEX_WAIT_BITSET => wait(waiters, value as u32, timeout != 0),
        FUTEX_WAKE | FUTEX_WAKE_BITSET => wake(waiters, value as u32).into(),
        _ => ops::refuse("makes a futex call that Raddle does not model"),
    }
}

fn wait(waiters: Waiters, expected: u32, is_timed: bool) -> i64 {
    let own = waiters.enlist();
    let value = ops::load(waiters.address, 4, MemoryOrder::SeqCst);
    if value != expected.into() {
        waiters.leave(own);
        return errno::fail(libc::EAGAIN).into();
    }
    if is_timed {
        let is_late = waiters.leave(own);
        return if is_late { errno::fail(libc::ETIMEDOUT).into() } else { 0 };
    }
    waiters.wait(own);
    0
}

fn wake(waiters: Waiters, most: u32) -> u32 {
    match most {
        0 => 0,
        1 => waiters.wake_one(),
        many if many > 1 << 20 => waiters.wake_all(),
        many => (0..many).map(|_| waiters.wake_one()).sum(),
    }
}
