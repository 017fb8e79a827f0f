//! Tests compared with what SC allows.

use raddle::sync::atomic::Ordering::{Relaxed, SeqCst};
use raddle::sync::atomic::{AtomicUsize, fence};
use raddle::sync::{Arc, Mutex};
use raddle::{Bound, Checker, FindingKind, Model, Outcome, Verdict, thread};

/// Two threads that each say that they are there and look for the other.
fn store_buffering(with_fences: bool) {
    let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let enter = |own: usize| {
        let flags = flags.clone();
        thread::spawn(move || {
            flags[own].store(1, Relaxed);
            if with_fences {
                fence(SeqCst);
            }
            flags[1 - own].load(Relaxed)
        })
    };
    let threads = [enter(0), enter(1)];
    let _ = threads.map(|thread| thread.join().unwrap());
}

fn explore(model: Model, with_fences: bool) -> Outcome {
    Checker::new().model(model).robust(true).explore(|| store_buffering(with_fences))
}

#[test]
fn a_fence_behind_the_store_makes_store_buffering_robust() {
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(explore(model, true).verdict, Verdict::Clean);
        let bug = explore(model, false).into_finding().expect("not robust");
        assert_eq!(bug.kind, FindingKind::NotRobust);
        let message = format!("not robust: {model} allows an execution that sc does not");
        assert_eq!(bug.message, message);
        // Both threads have the same code.
        let advice = "With one full fence the program is robust: after the store at";
        let report = raddle::report_finding(&bug);
        assert!(report.contains(advice), "{report}");
    }
}

#[test]
fn an_execution_that_sc_does_not_allow_can_be_run_again() {
    let found = explore(Model::Tso, false).into_finding().expect("not robust");
    let schedule = found.schedule.expect("a schedule").to_string();
    assert!(schedule.starts_with("weak model=tso"), "{schedule}");
    let again = raddle::replay(&schedule, || store_buffering(false));
    let bug = again.into_finding().expect("as before");
    assert_eq!(bug.kind, FindingKind::NotRobust);
    let report = raddle::report_finding(&bug);
    assert!(report.contains("because its events form a cycle:"), "{report}");
    let mended = raddle::replay("weak model=tso", || ());
    let why = String::from("sc allows the scheduled execution");
    assert_eq!(mended.bound, Some(Bound::Other(why)));
}

#[test]
fn a_stack_below_a_mutex_is_robust() {
    for model in [Model::Tso, Model::Pso] {
        let outcome = Checker::new().model(model).robust(true).explore(|| {
            let stack = Arc::new((Mutex::new(()), AtomicUsize::new(0), AtomicUsize::new(0)));
            let push = |value: usize| {
                let stack = stack.clone();
                thread::spawn(move || {
                    let _guard = stack.0.lock().unwrap();
                    let top = stack.1.load(Relaxed);
                    stack.2.store(value, Relaxed);
                    stack.1.store(top + 1, Relaxed);
                })
            };
            let _ = [push(1), push(2)].map(|thread| thread.join().unwrap());
            assert_eq!(stack.1.load(Relaxed), 2);
        });
        assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
        assert_eq!(outcome.counts.classes, 2);
    }
}

#[test]
#[should_panic(
    expected = "robustness compares a store-buffer model with sc and does not support c20: use tso or pso"
)]
fn robustness_is_a_question_about_models_with_store_buffers() {
    let _ = Checker::new().robust(true).explore(|| ());
}
