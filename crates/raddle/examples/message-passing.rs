//! Message passing with a bug: the flag is set without release ordering, so a thread that sees it may miss the data.
//! `cargo run -p raddle --example message-passing` reports the execution. The tests of the documents call `main`.

use raddle::sync::Arc;
use raddle::sync::atomic::Ordering::{Acquire, Relaxed};
use raddle::sync::atomic::{AtomicBool, AtomicUsize};
use raddle::thread;

pub(crate) fn main() {
    raddle::check(|| {
        let data = Arc::new(AtomicUsize::new(0));
        let ready = Arc::new(AtomicBool::new(false));
        let writer = thread::spawn({
            let (data, ready) = (data.clone(), ready.clone());
            move || {
                data.store(42, Relaxed);
                ready.store(true, Relaxed);
            }
        });
        while !ready.load(Acquire) {}
        assert_eq!(data.load(Relaxed), 42);
        writer.join().unwrap();
    });
}
