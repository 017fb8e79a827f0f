//! An arena with handles that have generations: a handle of a value that was removed is not valid.
//!
//! Bug: a value is read after the generation was compared, without a pin.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use crate::sync::UnsafeCell;

/// The state of a slot: twice its generation, and readers in the upper half.
const READER: usize = 1 << 32;
const GENERATION: usize = READER - 1;

pub(crate) struct Slot<const BROKEN: bool> {
    state: AtomicUsize,
    value: UnsafeCell<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Handle(usize);

unsafe impl<const BROKEN: bool> Sync for Slot<BROKEN> {}

impl<const BROKEN: bool> Slot<BROKEN> {
    pub(crate) fn new(value: u32) -> (Self, Handle) {
        (Slot { state: AtomicUsize::new(0), value: UnsafeCell::new(value) }, Handle(0))
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<u32> {
        let mut state = self.state.load(Acquire);
        if BROKEN {
            return (state & GENERATION == handle.0)
                .then(|| self.value.with(|value| unsafe { *value }));
        }
        loop {
            if state & GENERATION != handle.0 {
                return None;
            }
            match self.state.compare_exchange(state, state + READER, Acquire, Acquire) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let value = self.value.with(|value| unsafe { *value });
        self.state.fetch_sub(READER, Release);
        Some(value)
    }

    /// Puts another value in the place of the one of the handle, unless it is read or was replaced.
    pub(crate) fn replace(&self, handle: Handle, value: u32) -> Option<Handle> {
        // A slot that is being written has an odd generation.
        self.state.compare_exchange(handle.0, handle.0 + 1, Acquire, Relaxed).ok()?;
        self.value.with_mut(|at| unsafe { *at = value });
        let next = handle.0 + 2;
        self.state.store(next, Release);
        Some(Handle(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn handles_have_their_value<const BROKEN: bool>() {
        model(|| {
            let (slot, handle) = Slot::<BROKEN>::new(1);
            let slot = Arc::new(slot);
            let writer = {
                let slot = slot.clone();
                thread::spawn(move || slot.replace(handle, 2))
            };
            assert!(matches!(slot.get(handle), None | Some(1)));
            if let Some(next) = writer.join().unwrap() {
                assert_eq!(slot.get(next), Some(2));
                assert_eq!(slot.get(handle), None);
            }
        });
    }

    #[test]
    fn right() {
        handles_have_their_value::<false>();
    }

    #[test]
    fn broken() {
        handles_have_their_value::<true>();
    }
}
