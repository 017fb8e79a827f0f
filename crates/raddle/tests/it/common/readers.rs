//! A test with as many classes as one likes.

use raddle::sync::Arc;
use raddle::sync::atomic::AtomicUsize;
use raddle::sync::atomic::Ordering::SeqCst;
use raddle::thread;

/// A writer and readers of one variable; returns what they read.
pub(crate) fn readers(count: usize) -> Vec<usize> {
    let x = Arc::new(AtomicUsize::new(0));
    let reader = |_| {
        let x = x.clone();
        thread::spawn(move || x.load(SeqCst))
    };
    let readers: Vec<_> = (0..count).map(reader).collect();
    x.store(1, SeqCst);
    readers.into_iter().map(|reader| reader.join().unwrap()).collect()
}
