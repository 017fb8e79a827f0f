//! A deque of one owner, from which others steal (Chase and Lev), with a buffer that does not grow.
//!
//! Bug: the last value is taken without a compare-exchange.

use crate::sync::atomic::{fence, AtomicIsize, AtomicU32, Ordering::*};

pub(crate) struct Deque<const BROKEN: bool> {
    top: AtomicIsize,
    bottom: AtomicIsize,
    buffer: [AtomicU32; 4],
}

impl<const BROKEN: bool> Deque<BROKEN> {
    pub(crate) fn new() -> Self {
        Deque {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            buffer: [0; 4].map(AtomicU32::new),
        }
    }

    fn slot(&self, index: isize) -> &AtomicU32 {
        &self.buffer[index as usize % self.buffer.len()]
    }

    /// Only the owner may call this.
    pub(crate) fn push(&self, value: u32) {
        let bottom = self.bottom.load(Relaxed);
        self.slot(bottom).store(value, Relaxed);
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
    }

    /// Only the owner may call this.
    pub(crate) fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let value = self.slot(bottom).load(Relaxed);
        if top < bottom {
            return Some(value);
        }
        let is_taken =
            BROKEN || self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        is_taken.then_some(value)
    }

    pub(crate) fn steal(&self) -> Option<u32> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        if top >= self.bottom.load(Acquire) {
            return None;
        }
        let value = self.slot(top).load(Relaxed);
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn values_are_taken_once<const BROKEN: bool>() {
        model(|| {
            let deque = Arc::new(Deque::<BROKEN>::new());
            deque.push(1);
            let thief = {
                let deque = deque.clone();
                thread::spawn(move || deque.steal())
            };
            deque.push(2);
            let popped = [deque.pop(), deque.pop()];
            let stolen = thief.join().unwrap();
            let mut all: Vec<u32> = popped.into_iter().chain([stolen]).flatten().collect();
            all.sort_unstable();
            assert!(all.is_sorted_by(|a, b| a < b));
        });
    }

    #[test]
    fn right() {
        values_are_taken_once::<false>();
    }

    #[test]
    fn broken() {
        values_are_taken_once::<true>();
    }
}
