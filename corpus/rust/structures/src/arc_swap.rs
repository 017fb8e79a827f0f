//! A shared pointer that can be replaced while others read it. Who replaces it waits for readers, as with RCU.
//!
//! Bug: it does not wait.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use crate::sync::{thread, UnsafeCell};

/// Knows whether it was dropped.
pub(crate) struct Tracked {
    number: u32,
    is_alive: UnsafeCell<bool>,
}

impl Tracked {
    fn alloc(number: u32) -> *mut Tracked {
        Box::into_raw(Box::new(Tracked { number, is_alive: UnsafeCell::new(true) }))
    }

    fn read(&self) -> u32 {
        assert!(self.is_alive.with(|is_alive| unsafe { *is_alive }));
        self.number
    }
}

pub(crate) struct Swap<const BROKEN: bool> {
    current: AtomicPtr<Tracked>,
    readers: AtomicUsize,
    /// Freed at the end, so that loom can see that they are used too late.
    old: UnsafeCell<Vec<*mut Tracked>>,
}

unsafe impl<const BROKEN: bool> Send for Swap<BROKEN> {}
unsafe impl<const BROKEN: bool> Sync for Swap<BROKEN> {}

impl<const BROKEN: bool> Swap<BROKEN> {
    pub(crate) fn new(number: u32) -> Self {
        Swap {
            current: AtomicPtr::new(Tracked::alloc(number)),
            readers: AtomicUsize::new(0),
            old: UnsafeCell::new(vec![]),
        }
    }

    pub(crate) fn read(&self) -> u32 {
        self.readers.fetch_add(1, SeqCst);
        let number = unsafe { &*self.current.load(SeqCst) }.read();
        self.readers.fetch_sub(1, Release);
        number
    }

    /// Only one thread may call this.
    pub(crate) fn replace(&self, number: u32) {
        let old = self.current.swap(Tracked::alloc(number), SeqCst);
        while !BROKEN && self.readers.load(SeqCst) != 0 {
            thread::yield_now();
        }
        unsafe { &*old }.is_alive.with_mut(|is_alive| unsafe { *is_alive = false });
        self.old.with_mut(|list| unsafe { (*list).push(old) });
    }
}

impl<const BROKEN: bool> Drop for Swap<BROKEN> {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.current.load(Acquire)) });
        self.old.with_mut(|list| {
            for old in unsafe { (*list).drain(..) } {
                drop(unsafe { Box::from_raw(old) });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, Arc};

    fn readers_see_live_values<const BROKEN: bool>() {
        model(|| {
            let swap = Arc::new(Swap::<BROKEN>::new(1));
            let threads = [1, 2].map(|_| {
                let swap = swap.clone();
                thread::spawn(move || assert!([1, 2].contains(&swap.read())))
            });
            swap.replace(2);
            threads.map(|thread| thread.join().unwrap());
            assert_eq!(swap.read(), 2);
        });
    }

    #[test]
    fn right() {
        readers_see_live_values::<false>();
    }

    #[test]
    fn broken() {
        readers_see_live_values::<true>();
    }
}
