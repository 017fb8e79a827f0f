//! A sequence lock with one writer.
//!
//! Bug: a reader does not look at the sequence number again.

use crate::sync::atomic::{fence, AtomicU32, Ordering::*};

pub(crate) struct SeqLock<const BROKEN: bool> {
    sequence: AtomicU32,
    data: [AtomicU32; 2],
}

impl<const BROKEN: bool> SeqLock<BROKEN> {
    pub(crate) fn new() -> Self {
        SeqLock { sequence: AtomicU32::new(0), data: [AtomicU32::new(0), AtomicU32::new(0)] }
    }

    /// Only one thread may call this.
    pub(crate) fn write(&self, value: [u32; 2]) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        fence(Release);
        self.data[0].store(value[0], Relaxed);
        self.data[1].store(value[1], Relaxed);
        self.sequence.store(sequence + 2, Release);
    }

    /// `None` if there is a writer.
    pub(crate) fn read(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        if before % 2 != 0 {
            return None;
        }
        let value = [self.data[0].load(Relaxed), self.data[1].load(Relaxed)];
        fence(Acquire);
        (BROKEN || self.sequence.load(Relaxed) == before).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn readers_see_pairs<const BROKEN: bool>() {
        model(|| {
            let lock = Arc::new(SeqLock::<BROKEN>::new());
            let writer = {
                let lock = lock.clone();
                thread::spawn(move || (1..=2).for_each(|value| lock.write([value, value])))
            };
            if let Some([first, second]) = lock.read() {
                assert_eq!(first, second);
            }
            writer.join().unwrap();
        });
    }

    #[test]
    fn right() {
        readers_see_pairs::<false>();
    }

    #[test]
    fn broken() {
        readers_see_pairs::<true>();
    }
}
