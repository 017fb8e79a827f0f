//! Native tests by values and by reads-from: the same verdict, and never more classes.

use raddle::cell::UnsafeCell;
use raddle::sync::atomic::Ordering::{Relaxed, SeqCst};
use raddle::sync::atomic::{AtomicPtr, AtomicUsize};
use raddle::sync::{Arc, Mutex};
use raddle::{Checker, Equivalence, FindingKind, Model, Outcome, Verdict, hint, thread};

fn explore(equivalence: Equivalence, model: Model, f: impl Fn()) -> Outcome {
    Checker::new().model(model).by(equivalence).explore(f)
}

/// The numbers of classes and of blocked ones under SC, by reads-from and by values.
type Counts = [(u64, u64); 2];

/// Compares under all models.
#[track_caller]
fn compare(f: impl Fn() + Copy, kind: Option<FindingKind>) -> Counts {
    let models = [Model::Tso, Model::Pso, Model::Sc];
    let counts = models.map(|model| {
        let equivalences = [Equivalence::ReadsFrom, Equivalence::ReadsValueFrom];
        let outcomes = equivalences.map(|equivalence| explore(equivalence, model, f));
        for outcome in &outcomes {
            assert_eq!(outcome.kind(), kind, "{model}: {outcome}");
            assert_ne!(outcome.verdict, Verdict::Incomplete, "{model}: {outcome}");
        }
        let counts = outcomes.map(|outcome| (outcome.counts.classes, outcome.counts.blocked));
        let all = counts.map(|(classes, blocked)| classes + blocked);
        assert!(kind.is_some() || all[1] <= all[0], "{model}: {counts:?}");
        counts
    });
    counts[2]
}

fn spawn2(first: impl FnOnce() + Send + 'static, second: impl FnOnce() + Send + 'static) {
    let threads = [thread::spawn(first), thread::spawn(second)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn two_threads_set_a_flag_that_one_waits_for() {
    let counts = compare(
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let set = |flag: &Arc<AtomicUsize>| {
                let flag = flag.clone();
                move || flag.store(1, SeqCst)
            };
            let setters = [thread::spawn(set(&flag)), thread::spawn(set(&flag))];
            while flag.load(SeqCst) == 0 {
                hint::spin_loop();
            }
            setters.into_iter().for_each(|setter| setter.join().unwrap());
        },
        None,
    );
    let [rf, rvf] = counts.map(|(classes, _)| classes);
    assert!(rvf < rf, "{counts:?}");
}

#[test]
fn a_flag_that_may_stay_down_is_a_livelock() {
    compare(
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let (up, down) = (flag.clone(), flag.clone());
            let setters = [
                thread::spawn(move || up.store(1, SeqCst)),
                thread::spawn(move || down.store(0, SeqCst)),
            ];
            while flag.load(SeqCst) == 0 {
                hint::spin_loop();
            }
            setters.into_iter().for_each(|setter| setter.join().unwrap());
        },
        Some(FindingKind::Livelock),
    );
}

/// Only if nobody has written the same value again.
#[test]
fn a_flag_that_goes_up_in_the_end_is_no_livelock() {
    compare(
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let other = flag.clone();
            let setter = thread::spawn(move || {
                other.store(0, SeqCst);
                other.store(1, SeqCst);
            });
            while flag.load(SeqCst) == 0 {
                hint::spin_loop();
            }
            setter.join().unwrap();
        },
        None,
    );
}

#[test]
fn what_a_mutex_protects_is_seen_from_whom_it_was_taken() {
    let counts = compare(
        || {
            let list = Arc::new(Mutex::new(vec![]));
            let other = list.clone();
            spawn2(
                move || list.lock().unwrap().push(1),
                move || {
                    let mut list = other.lock().unwrap();
                    let len = list.len();
                    list.push(len);
                },
            );
        },
        None,
    );
    assert_eq!(counts, [(2, 0); 2]);
}

#[test]
fn threads_that_wait_for_each_other() {
    compare(
        || {
            let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
            let other = locks.clone();
            spawn2(
                move || {
                    let _first = locks[0].lock();
                    let _second = locks[1].lock();
                },
                move || {
                    let _first = other[1].lock();
                    let _second = other[0].lock();
                },
            );
        },
        Some(FindingKind::Deadlock),
    );
}

#[test]
fn pointers_tell_where_they_come_from() {
    compare(
        || {
            let shared = Arc::new(AtomicPtr::new(std::ptr::null_mut::<usize>()));
            let (a, b) = (shared.clone(), shared.clone());
            spawn2(
                move || a.store(Box::into_raw(Box::new(1)), SeqCst),
                move || {
                    let pointer = b.load(SeqCst);
                    if !pointer.is_null() {
                        // SAFETY: who stores it has given it away.
                        assert_eq!(unsafe { *pointer }, 1);
                    }
                },
            );
            // SAFETY: both threads are done, and nobody else has the pointer.
            drop(unsafe { Box::from_raw(shared.load(SeqCst)) });
        },
        None,
    );
}

#[test]
fn cells_are_explored_by_reads_from() {
    let counts = compare(
        || {
            struct Shared(UnsafeCell<usize>);
            // SAFETY: it is accessed where its flag says so.
            unsafe impl Sync for Shared {}
            let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicUsize::new(0)));
            let other = shared.clone();
            spawn2(
                move || {
                    // SAFETY: the flag is not up yet.
                    shared.0.0.with_mut(|cell| unsafe { *cell = 1 });
                    shared.1.store(1, SeqCst);
                    shared.1.store(1, SeqCst);
                },
                move || {
                    if other.1.load(SeqCst) == 1 {
                        // SAFETY: the flag is up.
                        assert_eq!(other.0.0.with(|cell| unsafe { *cell }), 1);
                    }
                },
            );
        },
        None,
    );
    assert_eq!(counts, [(3, 0); 2]);
}

#[test]
fn an_assertion_that_fails() {
    compare(
        || {
            let x = Arc::new(AtomicUsize::new(0));
            let (a, b) = (x.clone(), x.clone());
            spawn2(
                move || {
                    a.fetch_add(1, Relaxed);
                },
                move || {
                    b.store(b.load(Relaxed) + 1, Relaxed);
                },
            );
            assert_eq!(x.load(Relaxed), 2);
        },
        Some(FindingKind::Panic),
    );
}

#[test]
fn other_models_are_refused() {
    let outcome = explore(Equivalence::ReadsValueFrom, Model::C20, || {});
    assert_eq!(outcome.verdict, Verdict::Incomplete);
    assert!(outcome.to_string().contains("expected sc, tso or pso"), "{outcome}");
}
