//! Tests that are run by chance.

use std::process::Command;

use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicUsize};
use raddle::sync::{Arc, Mutex};
use raddle::{Checker, FindingKind, Model, Outcome, Verdict, replay, thread};

/// Store buffering: under TSO and C20 both may read 0.
fn store_buffering() {
    let [x, y] = [0, 0].map(AtomicUsize::new).map(Arc::new);
    let t = thread::spawn({
        let (x, y) = (x.clone(), y.clone());
        move || {
            x.store(1, Release);
            y.load(Acquire)
        }
    });
    y.store(1, Release);
    let r = x.load(Acquire);
    assert!(t.join().unwrap() + r > 0, "both read 0");
}

/// A run that goes wrong is found, and its schedule leads there again.
fn finds(checker: &Checker, f: fn()) -> Outcome {
    let outcome = checker.explore(f);
    assert_eq!(outcome.verdict, Verdict::Bug, "{outcome}");
    let bug = outcome.finding().expect("a bug");
    let schedule = bug.schedule.as_ref().expect("a schedule");
    let again = replay(&schedule.to_string(), f);
    assert_eq!(again.kind(), Some(bug.kind), "{bug}");
    outcome
}

#[test]
fn store_buffering_is_found_where_there_are_store_buffers() {
    for model in [Model::Tso, Model::Pso, Model::C20, Model::Ra] {
        finds(&Checker::new().model(model).random(1_000, 1), store_buffering);
        finds(&Checker::new().model(model).pct(5_000, 1, 3), store_buffering);
    }
    let outcome = Checker::new().model(Model::Sc).random(500, 1).explore(store_buffering);
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Incomplete, 500));
    assert_eq!(
        outcome.bound.map(|bound| bound.to_string()).as_deref(),
        Some("no bug found in 500 runs (random, seed 1); random testing is no proof")
    );
    Checker::new().model(Model::Sc).random(10, 1).check(store_buffering);
}

#[test]
fn a_run_that_is_found_is_small() {
    let outcome = finds(&Checker::new().model(Model::Tso).random(1_000, 2), || {
        let noise = Arc::new(AtomicUsize::new(0));
        let t = thread::spawn({
            let noise = noise.clone();
            move || (0..20).for_each(|_| _ = noise.fetch_add(1, SeqCst))
        });
        store_buffering();
        t.join().unwrap();
    });
    let bug = outcome.into_finding().expect("a bug");
    assert_eq!(bug.kind, FindingKind::Panic);
    // The noise is in one piece: nobody was interrupted who need not be.
    let schedule = bug.schedule.expect("a schedule").to_string();
    let steps: Vec<&str> =
        schedule.split_whitespace().filter(|step| step.starts_with('m')).collect();
    let switches = steps.windows(2).filter(|pair| is_noise(pair[0]) != is_noise(pair[1])).count();
    assert!(switches <= 2, "{schedule}");
}

fn is_noise(step: &str) -> bool {
    step.starts_with("m/0:")
}

#[test]
fn deadlocks_and_livelocks_are_found() {
    let deadlock = || {
        let [a, b] = [0, 0].map(Mutex::new).map(Arc::new);
        let t = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                let _a = a.lock().unwrap();
                let _b = b.lock().unwrap();
            }
        });
        {
            let _b = b.lock().unwrap();
            let _a = a.lock().unwrap();
        }
        t.join().unwrap();
    };
    let outcome = finds(&Checker::new().random(1_000, 1), deadlock);
    assert_eq!(outcome.kind(), Some(FindingKind::Deadlock));
    let livelock = || {
        let flag = Arc::new(AtomicBool::new(false));
        let t = thread::spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(Acquire) {
                    raddle::hint::spin_loop();
                }
            }
        });
        t.join().unwrap();
    };
    for model in Model::ALL {
        let outcome = finds(&Checker::new().model(model).random(3, 1), livelock);
        assert_eq!(outcome.kind(), Some(FindingKind::Livelock), "{model}");
    }
}

#[test]
fn spin_loops_end() {
    let test = || {
        let (flag, data) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let t = thread::spawn({
            let (flag, data) = (flag.clone(), data.clone());
            move || {
                data.store(1, Relaxed);
                flag.store(true, Release);
            }
        });
        while !flag.load(Acquire) {
            thread::yield_now();
        }
        assert_eq!(data.load(Relaxed), 1);
        t.join().unwrap();
    };
    for model in Model::ALL {
        for checker in [Checker::new().random(100, 3), Checker::new().pct(100, 3, 3)] {
            let outcome = checker.model(model).explore(test);
            let expected = if model == Model::Relaxed { Verdict::Bug } else { Verdict::Incomplete };
            assert_eq!(outcome.verdict, expected, "{model}: {outcome}");
        }
    }
}

/// Set in the process of its own in which [`long_runs_take_no_more_memory`] measures.
const MEASURES: &str = "RADDLE_MEASURES_MEMORY";

#[test]
fn long_runs_take_no_more_memory() {
    if std::env::var_os(MEASURES).is_none() {
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "online::long_runs_take_no_more_memory"])
            .env(MEASURES, "1")
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let outcome = Checker::new().random(1, 1).explore(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let t = thread::spawn({
            let x = x.clone();
            move || (0..200_000).for_each(|_| _ = x.fetch_add(1, Relaxed))
        });
        (0..200_000).for_each(|_| _ = x.fetch_add(1, Relaxed));
        t.join().unwrap();
        assert_eq!(x.load(Relaxed), 400_000);
    });
    assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Incomplete, 1), "{outcome}");
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    assert!(peak.unwrap_or(0) < 100_000, "{peak:?} kB");
}
