//! A spin lock.
//!
//! Bug: an unlock is not a release.

use crate::sync::atomic::{AtomicBool, Ordering::*};
use crate::sync::{hint, UnsafeCell};

pub(crate) struct SpinLock<const BROKEN: bool> {
    is_locked: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl<const BROKEN: bool> Sync for SpinLock<BROKEN> {}

impl<const BROKEN: bool> SpinLock<BROKEN> {
    pub(crate) fn new() -> Self {
        SpinLock { is_locked: AtomicBool::new(false), value: UnsafeCell::new(0) }
    }

    pub(crate) fn with(&self, f: impl FnOnce(&mut u32)) {
        while self.is_locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
        self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.is_locked.store(false, if BROKEN { Relaxed } else { Release });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn three_count<const BROKEN: bool>() {
        model(|| {
            let lock = Arc::new(SpinLock::<BROKEN>::new());
            let threads = [1, 2].map(|_| {
                let lock = lock.clone();
                thread::spawn(move || lock.with(|value| *value += 1))
            });
            lock.with(|value| *value += 1);
            threads.map(|thread| thread.join().unwrap());
            lock.with(|value| assert_eq!(*value, 3));
        });
    }

    #[test]
    fn right() {
        three_count::<false>();
    }

    #[test]
    fn broken() {
        three_count::<true>();
    }
}
