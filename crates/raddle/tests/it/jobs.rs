//! Tests that several workers explore: the same counts, the same verdict, the same report.

use crate::common::readers::readers;
use raddle::sync::atomic::AtomicUsize;
use raddle::sync::atomic::Ordering::{Relaxed, SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Checker, Counts, Model, Outcome, Verdict, report_finding, thread};

/// The text of everything that must not depend on the number of workers.
fn words(outcome: &Outcome) -> String {
    let Outcome { verdict, counts: Counts { classes, blocked, .. }, bound, .. } = outcome;
    let finding = outcome.finding().map(report_finding).unwrap_or_default();
    format!("{verdict:?}, {classes}+{blocked}, {bound:?}\n{finding}")
}

/// Explores a test by one, two and three workers, and says what all of them say.
fn explore(model: Model, test: impl Fn()) -> Outcome {
    let of = |jobs: usize| Checker::new().model(model).jobs(jobs).explore(&test);
    let one = of(1);
    for jobs in [2, 3] {
        assert_eq!(words(&of(jobs)), words(&one));
    }
    one
}

#[test]
fn what_is_clean_is_clean_for_all() {
    let outcome = explore(Model::Sc, || drop(readers(14)));
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1 << 14));
    let alone = Checker::new().model(Model::Sc).explore(|| drop(readers(14)));
    assert_eq!((alone.verdict, alone.counts.classes), (Verdict::Clean, 1 << 14));
}

/// Mutexes and tracked pointers: who acquires must know from whom.
#[test]
fn memory_that_no_op_carries_is_followed_by_all() {
    let outcome = explore(Model::C20, || {
        let log = Arc::new(Mutex::new(vec![]));
        let other = Arc::new(AtomicUsize::new(0));
        let write = |id: usize| {
            let (log, other) = (log.clone(), other.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    log.lock().unwrap().push(id);
                    other.fetch_add(1, Relaxed);
                }
            })
        };
        let threads: Vec<_> = (0..3).map(write).collect();
        // Nothing is before or after this load, so it may observe any of seven values.
        let reader = thread::spawn({
            let other = other.clone();
            move || other.load(Relaxed)
        });
        reader.join().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(log.lock().unwrap().len(), 6);
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 7 * 3_606));
}

#[test]
fn the_same_failure_is_reported() {
    // Neither in the first part nor in the last.
    for wrong in [0b00_1111_0000_1111, 0b11_0101_0101_0101, 0b10_0000_0000_0001] {
        let outcome = explore(Model::Sc, move || {
            let read = readers(14);
            let number = read.iter().fold(0, |number, bit| number * 2 + bit);
            assert_ne!(number, wrong);
        });
        assert_eq!(outcome.verdict, Verdict::Bug, "{outcome}");
    }
}

/// That joins carry histories is learned late, and perhaps by a copy.
#[test]
fn what_a_worker_learns_is_handed_over() {
    let outcome = explore(Model::Sc, || {
        let seen = Arc::new(std::sync::Mutex::new(0));
        let log = seen.clone();
        let watcher = thread::spawn({
            let x = Arc::new(AtomicUsize::new(0));
            move || {
                let read = readers(12).iter().sum::<usize>();
                if read == 12 && x.load(SeqCst) == 0 {
                    *log.lock().unwrap() = read;
                }
            }
        });
        watcher.join().unwrap();
        let seen = *seen.lock().unwrap();
        assert!(seen == 0 || seen == 12);
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1 << 12));
}

#[test]
#[should_panic(expected = "optimal-dpor supports neither several workers nor checkpoints")]
fn other_explorers_are_not_divided() {
    let optimal = raddle::Explorer::OptimalDpor;
    Checker::new().model(Model::Sc).explorer(optimal).jobs(2).check(|| drop(readers(2)));
}
