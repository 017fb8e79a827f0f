//! Threads that wait until another one wakes them: the base of condition variables and futexes.
//!
//! The state is a synchronization object with one bit for each thread that waits. A thread that wakes one of them chooses which; no
//! other thread may come between the look and the choice. By default threads do not wake up spuriously, so a lost wake-up is found as
//! a deadlock. If they may, then once at each call until they are woken: a second time in a row would repeat the state.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{Guard, Update, UpdateKind};

use super::{ObjectKind, Purpose, cancel, life};
use crate::program::call::{Call, Step, set_to, update};

/// A thread is choosing which one to wake.
const CHOOSING: Value = 1 << 119;
/// The object was destroyed: a condition variable, as futexes are not objects.
const DESTROYED: Value = 1 << 118;
/// Threads have the bits below that one.
const THREADS: usize = 118;
/// The name of an object that can be destroyed.
const WHAT: &str = "a condition variable";

/// What a state says: the threads that wait, and whether one of them is being woken.
pub(crate) fn waiting_threads(state: Value) -> Option<(Vec<ThreadId>, bool)> {
    if state < 0 || state & DESTROYED != 0 {
        return None;
    }
    let waits = |thread: &usize| state >> *thread & 1 == 1;
    let waiting = (0..THREADS).filter(waits).map(ThreadId::new).collect();
    Some((waiting, state & CHOOSING != 0))
}

/// The threads that wait for the object at an address.
#[derive(Clone, Copy)]
pub(super) struct Waiters {
    pub(super) address: u64,
    pub(super) kind: ObjectKind,
}

impl Waiters {
    fn sync(self, call: &mut Call<'_>, guard: Guard, update: Update) -> Step<Value> {
        call.sync(self.kind, self.address, guard, update)
    }

    /// The object is initialised by a call.
    pub(super) fn init(self, call: &mut Call<'_>) -> Step<()> {
        let waiting = self.sync(call, Guard::NoBits(CHOOSING), set_to(0))?;
        if threads(waiting) != 0 && !life::is_on_stack(self.address) {
            return Err(life::misuse(call, WHAT, "is initialised while threads wait for it"));
        }
        Ok(())
    }

    /// The object is destroyed. Threads that were woken need it no more.
    pub(super) fn destroy(self, call: &mut Call<'_>) -> Step<()> {
        life::end(call, self.address, WHAT)?;
        let waiting = self.sync(call, Guard::NoBits(CHOOSING), set_to(DESTROYED))?;
        if threads(waiting) != 0 {
            return Err(life::misuse(call, WHAT, "is destroyed while threads wait for it"));
        }
        Ok(())
    }

    /// Fails if a state is that of a destroyed object.
    fn check(self, call: &mut Call<'_>, state: Value) -> Step<()> {
        if state & DESTROYED == 0 {
            return Ok(());
        }
        if life::is_destroyed(call, self.address)? {
            return Err(life::used_destroyed(call, WHAT));
        }
        self.sync(call, Guard::Always, update(UpdateKind::And, !DESTROYED))?;
        Ok(())
    }

    /// The current thread waits from now on. Returns its bit.
    pub(super) fn enlist(self, call: &mut Call<'_>) -> Step<Value> {
        let thread = call.current().index();
        if thread >= THREADS {
            return Err(call.refuse("has too many threads for a condition variable"));
        }
        let own = 1 << thread;
        let state = self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::Or, own))?;
        self.check(call, state)?;
        Ok(own)
    }

    /// As [`Waiters::wait`], unless the thread is asked to end. Returns `false` if it is, and was not woken.
    pub(super) fn wait_unless_cancelled(self, call: &mut Call<'_>, own: Value) -> Step<bool> {
        if cancel::is_requested(call)? {
            return Ok(!self.leave(call, own)?);
        }
        self.wait(call, own)?;
        Ok(true)
    }

    /// Waits until another thread has woken the thread with this bit.
    pub(super) fn wait(self, call: &mut Call<'_>, own: Value) -> Step<()> {
        let place = call.program.return_address() ^ self.address;
        if call.program.settings.environment.spurious
            && call.recall(Purpose::SpuriousWakeup, place) == 0
            && call.choose(2)? == 1
        {
            self.leave(call, own)?;
            call.remember(Purpose::SpuriousWakeup, place, 1);
            return Ok(());
        }
        self.sync(call, Guard::NoBits(own | CHOOSING), update(UpdateKind::Or, 0))?;
        call.remember(Purpose::SpuriousWakeup, place, 0);
        Ok(())
    }

    /// The thread with this bit does not wait any more. Returns `true` if it was not woken.
    pub(super) fn leave(self, call: &mut Call<'_>, own: Value) -> Step<bool> {
        let state = self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::And, !own))?;
        Ok(state & own != 0)
    }

    /// Wakes any one thread that waits. Returns the number of threads that were woken.
    pub(super) fn wake_one(self, call: &mut Call<'_>) -> Step<u32> {
        let state = self.sync(call, Guard::NoBits(CHOOSING), update(UpdateKind::Or, CHOOSING))?;
        self.check(call, state)?;
        let waiting = threads(state);
        let woken = match waiting.count_ones() {
            0 => 0,
            1 => waiting,
            many => nth_bit(waiting, call.choose(many)?),
        };
        self.sync(call, Guard::Always, update(UpdateKind::And, !(CHOOSING | woken)))?;
        Ok(woken.count_ones())
    }

    /// Wakes all threads that wait. Returns their number.
    pub(super) fn wake_all(self, call: &mut Call<'_>) -> Step<u32> {
        let all = update(UpdateKind::And, !threads(-1));
        let state = self.sync(call, Guard::NoBits(CHOOSING), all)?;
        self.check(call, state)?;
        Ok(threads(state).count_ones())
    }
}

/// The bits of threads in a state.
fn threads(state: Value) -> Value {
    state & ((1 << THREADS) - 1)
}

fn nth_bit(mut bits: Value, n: u32) -> Value {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits & -bits
}
