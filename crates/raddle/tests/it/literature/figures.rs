//! Figures of the papers, and small programs with known counts.

use std::collections::BTreeSet;
use std::sync::Mutex;

use raddle::sync::atomic::{AtomicI32, Ordering::Relaxed};
use raddle::{Checker, Model, thread};

use super::harness::{Int, both, confirmed, counts, threads, trace_counts};

fn three_writers() {
    let (x, y) = (Int::new(0), Int::new(0));
    threads(3, |i| {
        x.set(1);
        y.set(1);
        match i {
            0 => {}
            1 => _ = x.get(),
            _ => _ = y.get(),
        }
    });
}

#[test]
fn figure_1_of_reads_value_from() {
    assert_eq!(counts(three_writers), [9; 3]);
    assert_eq!(trace_counts(three_writers)[0], 98);
}

/// Store buffering: figure 7 of the paper on TSO and PSO, figure 1 of the one on chronological traces.
#[test]
fn store_buffering() {
    let program = || {
        let (x, y) = (Int::new(0), Int::new(0));
        let access = |mine: &Int, other: &Int| {
            mine.set(1);
            other.get();
        };
        both(|| access(&x, &y), || access(&y, &x));
    };
    assert_eq!(counts(program), [3, 4, 4]);
    assert_eq!(trace_counts(program), [3, 4, 4]);
}

/// Figure 5 of the paper on chronological traces: `x = 1; r = x || x = 2`. Traces tell also which write
/// comes last, as a read at the end does.
#[test]
fn buffer_forwarding() {
    let race = |x: &Int| {
        both(
            || {
                x.set(1);
                x.get();
            },
            || x.set(2),
        );
    };
    let read_last = || {
        let x = Int::new(0);
        race(&x);
        x.get();
    };
    assert_eq!(counts(read_last), [3; 3]);
    assert_eq!(trace_counts(|| race(&Int::new(0))), [3; 3]);
}

/// `n` threads count `times` by compare-exchange; who fails tries again with what it has seen.
fn cas_counter(n: usize, times: usize) {
    let x = AtomicI32::new(0);
    threads(n, |_| {
        for _ in 0..times {
            let mut old = x.load(Relaxed);
            while let Err(now) = x.compare_exchange(old, old + 1, Relaxed, Relaxed) {
                old = now;
            }
        }
    });
}

#[test]
fn counters_by_compare_exchange() {
    confirmed(|n| cas_counter(n, 1), 2, [4; 3]);
    confirmed(|n| cas_counter(n, 1), 3, [48; 3]);
    assert_eq!(counts(|| cas_counter(4, 1)), [1536; 3]);
    confirmed(|n| cas_counter(n, 2), 2, [40; 3]);
}

/// WRA does not order writes that do not happen one before the other, so there a thread may still read the
/// update after the store; all others order the store after the update that did not see it.
#[test]
fn an_update_takes_the_last_value() {
    for model in Model::ALL {
        let seen = Mutex::new(BTreeSet::new());
        Checker::new().model(model).check(|| {
            let x = AtomicI32::new(0);
            let old = thread::scope(|s| {
                s.spawn(|| x.store(10, Relaxed));
                s.spawn(|| x.fetch_add(1, Relaxed)).join().unwrap()
            });
            seen.lock().unwrap().insert((old, x.load(Relaxed)));
        });
        let mut expected = BTreeSet::from([(0, 10), (10, 11)]);
        if model == Model::Wra {
            expected.insert((0, 1));
        }
        assert_eq!(seen.into_inner().unwrap(), expected, "{model}");
    }
}
