//! What whoever joins a thread learns.
//!
//! A join is answered with the result of the thread alone, unless threads share memory that no op carries.
//! Each test has an outcome that is lost, or made up, if the joiner is not told which history it joined.

use std::sync::atomic as real;

use crate::common::clean;
use raddle::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use raddle::sync::{Arc, Mutex};
use raddle::{Checker, Model, Verdict, thread};

/// How often native code runs for this, which must be clean.
fn runs(f: impl Fn()) -> (u64, u64) {
    let outcome = Checker::new().model(Model::Sc).explore(f);
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    (outcome.counts.classes, outcome.counts.executions)
}

/// Two threads that store, and one that tells what it loads.
fn stores_and(load: impl FnOnce(usize) + Send + 'static) {
    let x = Arc::new(AtomicUsize::new(0));
    let (a, b) = (x.clone(), x.clone());
    let writer = thread::spawn(move || a.store(1, SeqCst));
    let reader = thread::spawn(move || load(b.load(SeqCst)));
    writer.join().unwrap();
    reader.join().unwrap();
}

#[test]
fn a_result_is_a_plain_value() {
    let (seen, classes) = clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let (a, b) = (x.clone(), x.clone());
        let writer = thread::spawn(move || a.store(7, SeqCst));
        let reader = thread::spawn(move || b.load(SeqCst));
        let maybe = thread::spawn(move || Some(x.load(SeqCst)).filter(|&it| it > 0));
        writer.join().unwrap();
        (reader.join().unwrap(), maybe.join().unwrap())
    });
    assert_eq!(seen, [(0, None), (0, Some(7)), (7, None), (7, Some(7))]);
    assert_eq!(classes, 4);
}

#[test]
fn a_result_is_a_box() {
    let (seen, _) = clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let reader = thread::spawn(move || Box::new(y.load(SeqCst)));
        x.store(1, SeqCst);
        *reader.join().unwrap()
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_result_is_an_address() {
    let (seen, _) = clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let reader = thread::spawn(move || Box::into_raw(Box::new(y.load(SeqCst))) as usize);
        x.store(1, SeqCst);
        // SAFETY: it comes from a box that nobody else has.
        unsafe { *Box::from_raw(reader.join().unwrap() as *mut usize) }
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_result_is_left_in_a_mutex() {
    let (seen, _) = clean(|| {
        let list = Arc::new(Mutex::new(Vec::with_capacity(4)));
        let in_it = list.clone();
        stores_and(move |it| in_it.lock().unwrap().push(it));
        let list = list.lock().unwrap();
        list.clone()
    });
    assert_eq!(seen, [[0], [1]]);
}

#[test]
fn a_result_is_left_in_a_mutex_of_std() {
    let (seen, _) = clean(|| {
        let list = std::sync::Arc::new(std::sync::Mutex::new(vec![]));
        let in_it = list.clone();
        stores_and(move |it| in_it.lock().unwrap().push(it));
        let list = list.lock().unwrap();
        list.clone()
    });
    assert_eq!(seen, [[0], [1]]);
}

#[test]
fn a_result_is_left_in_an_atomic_of_std() {
    let (seen, _) = clean(|| {
        let result = std::sync::Arc::new(real::AtomicUsize::new(5));
        let in_it = result.clone();
        stores_and(move |it| in_it.store(it, real::Ordering::SeqCst));
        result.load(real::Ordering::SeqCst)
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_result_is_sent_through_a_channel_of_std() {
    let (seen, _) = clean(|| {
        let (send, receive) = std::sync::mpsc::channel();
        stores_and(move |it| send.send(it).unwrap());
        receive.recv().unwrap()
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_result_is_left_behind_a_raw_pointer() {
    let (seen, _) = clean(|| {
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut::<usize>()));
        let in_it = slot.clone();
        stores_and(move |it| in_it.store(Box::into_raw(Box::new(it)), Release));
        // SAFETY: the thread has left a box there.
        unsafe { *Box::from_raw(slot.load(Acquire)) }
    });
    assert_eq!(seen, [0, 1]);
}

/// The pointer is given away first, and what it points to is written later.
#[test]
fn a_result_is_left_behind_a_pointer_that_was_given_away() {
    struct Slot(AtomicPtr<usize>, AtomicBool);
    let (seen, _) = clean(|| {
        let slot = Arc::new(Slot(AtomicPtr::new(std::ptr::null_mut()), AtomicBool::new(false)));
        let x = Arc::new(AtomicUsize::new(0));
        let (y, in_it) = (x.clone(), slot.clone());
        let writer = thread::spawn(move || {
            let result = Box::into_raw(Box::new(5));
            in_it.0.store(result, Release);
            // SAFETY: nobody looks before the join.
            unsafe { *result = y.load(SeqCst) };
            in_it.1.store(true, Release);
        });
        x.store(1, SeqCst);
        writer.join().unwrap();
        // SAFETY: the thread has left a box there.
        unsafe { *Box::from_raw(slot.0.load(Acquire)) }
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_scoped_thread_writes_what_it_borrows() {
    let (seen, _) = clean(|| {
        let x = AtomicUsize::new(0);
        let (mut first, mut second) = (5, Box::new(5));
        thread::scope(|s| {
            s.spawn(|| first = x.load(SeqCst));
            s.spawn(|| *second = x.load(SeqCst));
            x.store(1, SeqCst);
        });
        (first, *second)
    });
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn the_thread_of_a_thread_writes() {
    let (seen, _) = clean(|| {
        let list = std::sync::Arc::new(std::sync::Mutex::new(vec![]));
        let in_it = list.clone();
        let outer = thread::spawn(move || {
            let inner = thread::spawn(move || stores_and(move |it| in_it.lock().unwrap().push(it)));
            inner.join().unwrap();
        });
        outer.join().unwrap();
        let list = list.lock().unwrap();
        list.clone()
    });
    assert_eq!(seen, [[0], [1]]);
}

/// A variable that a thread has used is known by the place where it was then.
#[test]
fn a_variable_is_moved_after_the_join() {
    let (seen, _) = clean(|| {
        let (x, y) = (AtomicUsize::new(0), Box::new(AtomicUsize::new(0)));
        let seen = thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            s.spawn(|| y.store(1, SeqCst));
            let reader = s.spawn(|| (x.load(SeqCst) + y.load(SeqCst)) as u8);
            reader.join().unwrap()
        });
        let moved = *y;
        moved.fetch_add(10, SeqCst);
        (seen, x.into_inner(), moved.load(SeqCst))
    });
    assert_eq!(seen, [(0, 1, 11), (1, 1, 11), (2, 1, 11)]);
}

#[test]
fn the_last_owner_takes_what_is_shared() {
    let (seen, _) = clean(|| {
        let list = Arc::new(Mutex::new(vec![]));
        let in_it = list.clone();
        stores_and(move |it| in_it.lock().unwrap().push(it));
        Arc::try_unwrap(list).unwrap().into_inner().unwrap()
    });
    assert_eq!(seen, [[0], [1]]);
}

#[test]
fn the_last_owner_of_an_arc_of_std_takes_what_is_shared() {
    let (seen, _) = clean(|| {
        let x = std::sync::Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let adder = thread::spawn(move || _ = y.fetch_add(1, AcqRel));
        x.fetch_add(2, AcqRel);
        adder.join().unwrap();
        std::sync::Arc::try_unwrap(x).unwrap().into_inner()
    });
    assert_eq!(seen, [3]);
}

/// A block of the test's closure is not the thread's, but a thread may own it.
#[test]
fn a_thread_changes_what_it_was_given() {
    let (seen, _) = clean(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let mut list = vec![0; 4];
        let reader = thread::spawn(move || {
            list[2] = y.load(SeqCst);
            list
        });
        x.store(1, SeqCst);
        reader.join().unwrap()[2]
    });
    assert_eq!(seen, [0, 1]);
}

/// Where nothing is learned, the number of runs does not grow with the number of classes.
#[test]
fn joins_that_tell_nothing_take_no_runs() {
    let increments = |n: usize| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..n)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || x.store(x.load(Relaxed) + 1, Relaxed))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!((1..=n).contains(&x.load(Relaxed)));
    };
    let scoped = |n: usize| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..n {
                s.spawn(|| x.store(x.load(Relaxed) + 1, Relaxed));
            }
        });
        assert!((1..=n).contains(&x.load(Relaxed)));
    };
    for (classes, executions) in [runs(|| increments(4)), runs(|| scoped(4))] {
        assert_eq!(classes, 256);
        assert!(executions < 40, "{executions} runs");
    }
}
