//! A channel for one value. The receiver parks.
//!
//! Bug: the receiver parks once, though it may have been unparked before.

use crate::sync::atomic::{AtomicBool, Ordering::*};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, UnsafeCell};

struct Shared {
    is_ready: AtomicBool,
    value: UnsafeCell<Option<u32>>,
}

unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

pub(crate) struct Sender {
    shared: Arc<Shared>,
    receiver: Thread,
}

pub(crate) struct Receiver<const BROKEN: bool>(Arc<Shared>);

/// The current thread receives.
pub(crate) fn channel<const BROKEN: bool>() -> (Sender, Receiver<BROKEN>) {
    let (is_ready, value) = (AtomicBool::new(false), UnsafeCell::new(None));
    let shared = Arc::new(Shared { is_ready, value });
    (Sender { shared: shared.clone(), receiver: thread::current() }, Receiver(shared))
}

impl Sender {
    pub(crate) fn send(self, value: u32) {
        self.shared.value.with_mut(|at| unsafe { *at = Some(value) });
        self.shared.is_ready.store(true, Release);
        self.receiver.unpark();
    }
}

impl<const BROKEN: bool> Receiver<BROKEN> {
    pub(crate) fn receive(self) -> u32 {
        if BROKEN {
            if !self.0.is_ready.load(Acquire) {
                thread::park();
            }
        } else {
            while !self.0.is_ready.load(Acquire) {
                thread::park();
            }
        }
        self.0.value.with_mut(|value| unsafe { (*value).take() }).expect("it was sent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::model;

    fn value_arrives<const BROKEN: bool>() {
        model(|| {
            let (sender, receiver) = channel::<BROKEN>();
            let (other, woken) = channel::<BROKEN>();
            let thread = thread::spawn(move || {
                other.send(1);
                sender.send(2);
            });
            // The token of the first channel may be left.
            assert_eq!(woken.receive(), 1);
            assert_eq!(receiver.receive(), 2);
            thread.join().unwrap();
        });
    }

    #[test]
    fn right() {
        value_arrives::<false>();
    }

    #[test]
    fn broken() {
        value_arrives::<true>();
    }
}
