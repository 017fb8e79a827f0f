//! What the tests share.

#![allow(dead_code, reason = "no test uses everything")]

pub(crate) mod naive;
pub(crate) mod readers;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

use raddle::{Checker, Model, Verdict};
use raddle_explore::driver;
use raddle_runtime::{Native, Settings};

/// Explores under SC, which must be clean. Returns what the closure returns in some execution, and how
/// many classes there are. All interleavings must return the same, and under C20 nothing may be missing.
#[track_caller]
pub(crate) fn clean<T: Ord + Debug>(f: impl Fn() -> T) -> (Vec<T>, u64) {
    let (seen, classes) = outcomes(Model::Sc, &f);
    assert_eq!(naive_outcomes(&f, Settings::default()), seen, "all interleavings, and ours");
    let (weaker, _) = outcomes(Model::C20, &f);
    assert!(weaker.is_superset(&seen), "{weaker:?} under C20, {seen:?} under SC");
    (seen.into_iter().collect(), classes)
}

/// What the closure returns in some execution, and how many classes there are. All must be well.
#[track_caller]
pub(crate) fn outcomes<T: Ord>(model: Model, f: impl Fn() -> T) -> (BTreeSet<T>, u64) {
    let seen = Mutex::new(BTreeSet::new());
    let outcome = Checker::new().model(model).explore(|| {
        let result = f();
        seen.lock().unwrap().insert(result);
    });
    assert_eq!(outcome.verdict, Verdict::Clean, "{outcome}");
    (seen.into_inner().unwrap(), outcome.counts.classes)
}

#[track_caller]
fn naive_outcomes<T: Ord>(f: &impl Fn() -> T, settings: Settings) -> BTreeSet<T> {
    let seen = Mutex::new(BTreeSet::new());
    let body = || {
        let result = f();
        seen.lock().unwrap().insert(result);
    };
    let mut program = Native::new(body, settings);
    let naive = driver::until_stable(&mut program, |program| {
        seen.lock().unwrap().clear();
        let mut naive = naive::Naive::default();
        naive.explore(program);
        naive
    });
    assert_eq!((naive.deadlocks, naive.failures.as_slice()), (0, [].as_slice()));
    drop(program);
    seen.into_inner().unwrap()
}
