//! A ring of many producers and one consumer (Vyukov).
//!
//! Bug: a producer takes its slot by a load and a store.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use crate::sync::UnsafeCell;

const SIZE: usize = 2;

struct Slot {
    sequence: AtomicUsize,
    value: UnsafeCell<u32>,
}

pub(crate) struct Ring<const BROKEN: bool> {
    slots: [Slot; SIZE],
    head: UnsafeCell<usize>,
    tail: AtomicUsize,
}

unsafe impl<const BROKEN: bool> Send for Ring<BROKEN> {}
unsafe impl<const BROKEN: bool> Sync for Ring<BROKEN> {}

impl<const BROKEN: bool> Ring<BROKEN> {
    pub(crate) fn new() -> Self {
        let slot =
            |index| Slot { sequence: AtomicUsize::new(index), value: UnsafeCell::new(0) };
        Ring { slots: [slot(0), slot(1)], head: UnsafeCell::new(0), tail: AtomicUsize::new(0) }
    }

    fn take(&self, tail: usize) -> Result<(), usize> {
        if BROKEN {
            self.tail.store(tail + 1, Relaxed);
            return Ok(());
        }
        self.tail.compare_exchange(tail, tail + 1, Relaxed, Relaxed).map(|_| ())
    }

    pub(crate) fn push(&self, value: u32) -> bool {
        let mut tail = self.tail.load(Relaxed);
        loop {
            let slot = &self.slots[tail % SIZE];
            let sequence = slot.sequence.load(Acquire);
            if sequence < tail {
                return false;
            }
            if sequence > tail {
                tail = self.tail.load(Relaxed);
                continue;
            }
            match self.take(tail) {
                Ok(()) => {
                    slot.value.with_mut(|at| unsafe { *at = value });
                    slot.sequence.store(tail + 1, Release);
                    return true;
                }
                Err(now) => tail = now,
            }
        }
    }

    /// Only one thread may call this.
    pub(crate) fn pop(&self) -> Option<u32> {
        let head = self.head.with(|head| unsafe { *head });
        let slot = &self.slots[head % SIZE];
        if slot.sequence.load(Acquire) != head + 1 {
            return None;
        }
        let value = slot.value.with(|at| unsafe { *at });
        slot.sequence.store(head + SIZE, Release);
        self.head.with_mut(|at| unsafe { *at = head + 1 });
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn no_value_is_lost<const BROKEN: bool>() {
        model(|| {
            let ring = Arc::new(Ring::<BROKEN>::new());
            let producers = [1, 2].map(|value| {
                let ring = ring.clone();
                thread::spawn(move || assert!(ring.push(value)))
            });
            let popped = ring.pop();
            producers.map(|producer| producer.join().unwrap());
            let rest: u32 = std::iter::from_fn(|| ring.pop()).sum();
            assert_eq!(popped.unwrap_or(0) + rest, 3);
        });
    }

    #[test]
    fn right() {
        no_value_is_lost::<false>();
    }

    #[test]
    fn broken() {
        no_value_is_lost::<true>();
    }
}
