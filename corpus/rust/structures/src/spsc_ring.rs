//! A ring of one producer and one consumer.
//!
//! Bug: the producer does not release what it has written.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use crate::sync::UnsafeCell;

const SIZE: usize = 2;

pub(crate) struct Ring<const BROKEN: bool> {
    slots: [UnsafeCell<u32>; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl<const BROKEN: bool> Sync for Ring<BROKEN> {}

impl<const BROKEN: bool> Ring<BROKEN> {
    pub(crate) fn new() -> Self {
        let slots = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Ring { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }

    pub(crate) fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == SIZE {
            return false;
        }
        self.slots[tail % SIZE].with_mut(|slot| unsafe { *slot = value });
        self.tail.store(tail + 1, if BROKEN { Relaxed } else { Release });
        true
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = self.slots[head % SIZE].with(|slot| unsafe { *slot });
        self.head.store(head + 1, Release);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn values_arrive_in_order<const BROKEN: bool>() {
        model(|| {
            let ring = Arc::new(Ring::<BROKEN>::new());
            let producer = {
                let ring = ring.clone();
                thread::spawn(move || (1..=3).filter(|value| ring.push(*value)).count())
            };
            let mut popped: Vec<u32> = (0..2).filter_map(|_| ring.pop()).collect();
            let pushed = producer.join().unwrap();
            popped.extend(std::iter::from_fn(|| ring.pop()));
            assert_eq!(popped.len(), pushed);
            assert!(popped.is_sorted());
        });
    }

    #[test]
    fn right() {
        values_arrive_in_order::<false>();
    }

    #[test]
    fn broken() {
        values_arrive_in_order::<true>();
    }
}
