//! Threads that are run again without the others leave nothing behind, and lose nothing.

use std::sync as real;

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Checker, Model, Outcome, Verdict, thread};

/// A thread with many histories, which ends with what `last` does to what it saw; made by `make`.
fn reader<T: FnOnce(usize) + Send + 'static>(make: impl Fn() -> T) -> Outcome {
    let outcome = Checker::new().model(Model::Sc).explore(|| {
        let cells = Arc::new([const { AtomicUsize::new(0) }; 4]);
        for n in 0..4 {
            let cells = cells.clone();
            thread::spawn(move || cells[n].store(1, SeqCst));
        }
        let last = make();
        let reader = thread::spawn(move || {
            let seen = cells.iter().fold(0, |seen, cell| 2 * seen + cell.load(SeqCst));
            last(seen);
        });
        reader.join().unwrap();
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 16), "{outcome}");
    outcome
}

#[test]
fn what_is_outside_is_owned_as_often_as_before() {
    let outside = real::Arc::new(7);
    let outcome = reader(|| {
        let mine = real::Arc::clone(&outside);
        move |seen| assert!(seen < 16 && *mine == 7)
    });
    assert_eq!(real::Arc::strong_count(&outside), 1, "{outcome}");
}

#[test]
fn what_is_shared_in_the_run_is_dropped_once() {
    static DROPPED: real::atomic::AtomicUsize = real::atomic::AtomicUsize::new(0);
    static MADE: real::atomic::AtomicUsize = real::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    reader(|| {
        MADE.fetch_add(1, SeqCst);
        let shared = Arc::new(Counted);
        move |_| drop(shared.clone())
    });
    assert_eq!(DROPPED.load(SeqCst), MADE.load(SeqCst));
}

/// What a thread owned is then owned by what the test's closure captures.
#[test]
fn what_is_moved_out_of_the_run_is_moved_once() {
    let names = real::Arc::new(real::Mutex::new(Vec::new()));
    reader(|| {
        let (name, names) = (String::from("a name that is on the heap"), real::Arc::clone(&names));
        move |_| names.lock().unwrap().push(name)
    });
    let names = real::Arc::try_unwrap(names).unwrap().into_inner().unwrap();
    assert!(names.iter().all(|name| name == "a name that is on the heap"));
    let mut buffers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    buffers.sort_unstable();
    buffers.dedup();
    assert_eq!(buffers.len(), names.len(), "each has its own");
}

#[test]
fn a_clone_that_stays_somewhere_is_counted() {
    let kept = real::Mutex::new(Vec::new());
    let outcome = Checker::new().model(Model::Sc).explore(|| {
        let (x, shared) = (AtomicUsize::new(0), Arc::new(5));
        thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            s.spawn(|| {
                let seen = x.load(SeqCst) + x.load(SeqCst);
                if seen < 2 {
                    kept.lock().unwrap().push(shared.clone());
                }
            });
        });
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    assert!(kept.into_inner().unwrap().iter().all(|it| **it == 5));
}

/// Memory of the thread's own is given back, and named again as before.
#[test]
fn blocks_of_the_thread_are_its_own() {
    reader(|| {
        |seen| {
            let boxed = Box::new(AtomicUsize::new(seen));
            assert_eq!(boxed.fetch_add(1, SeqCst), seen);
            let mut list = vec![seen; 3];
            list.extend([1; 10]);
        }
    });
}

#[test]
fn histories_of_one_thread_take_no_runs_of_others() {
    let started = real::atomic::AtomicUsize::new(0);
    let outcome = reader(|| {
        started.fetch_add(1, SeqCst);
        |_| ()
    });
    assert!(started.load(SeqCst) < 8, "main ran {started:?} times, {outcome}");
}
