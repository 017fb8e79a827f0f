//! Weak memory: what each model allows.

use std::collections::BTreeSet;

use crate::common::outcomes;
use raddle::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicUsize, fence};
use raddle::{Checker, Finding, FindingKind, Model, cell, thread};

fn store_buffering(order: Ordering) -> (usize, usize) {
    let (load, store) = match order {
        SeqCst => (SeqCst, SeqCst),
        Relaxed => (Relaxed, Relaxed),
        _ => (Acquire, Release),
    };
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|s| {
        let other = s.spawn(|| {
            x.store(1, store);
            y.load(load)
        });
        y.store(1, store);
        let mine = x.load(load);
        (mine, other.join().unwrap())
    })
}

#[test]
fn stores_are_buffered() {
    let strong = BTreeSet::from([(0, 1), (1, 0), (1, 1)]);
    let mut weak = strong.clone();
    weak.insert((0, 0));
    for model in Model::ALL {
        let sees = |order| outcomes(model, || store_buffering(order));
        let keeps_sc =
            matches!(model, Model::Sc | Model::Tso | Model::Pso | Model::C20 | Model::Rc11);
        let expected = if keeps_sc { (strong.clone(), 3) } else { (weak.clone(), 4) };
        assert_eq!(sees(SeqCst), expected, "{model} SeqCst");
        let expected = if model == Model::Sc { (strong.clone(), 3) } else { (weak.clone(), 4) };
        assert_eq!(sees(Relaxed), expected, "{model} Relaxed");
        assert_eq!(sees(Acquire), expected, "{model} Acquire");
    }
}

#[test]
fn messages_need_release_and_acquire() {
    let pass = |store, load| {
        let (data, flag) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                data.store(1, Relaxed);
                flag.store(true, store);
            });
            (flag.load(load), data.load(Relaxed))
        })
    };
    let strong = BTreeSet::from([(false, 0), (false, 1), (true, 1)]);
    let mut weak = strong.clone();
    weak.insert((true, 0));
    assert_eq!(outcomes(Model::C20, || pass(Release, Acquire)), (strong.clone(), 3));
    assert_eq!(outcomes(Model::C20, || pass(Relaxed, Acquire)), (weak.clone(), 4));
    assert_eq!(outcomes(Model::C20, || pass(Release, Relaxed)), (weak.clone(), 4));
    assert_eq!(outcomes(Model::Tso, || pass(Relaxed, Relaxed)), (strong.clone(), 3));
    assert_eq!(outcomes(Model::Pso, || pass(Relaxed, Relaxed)), (weak, 4));
    assert_eq!(outcomes(Model::Pso, || pass(Release, Relaxed)), (strong, 3));
}

#[test]
fn fences_order() {
    let (seen, classes) = outcomes(Model::C20, || {
        let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            let other = s.spawn(|| {
                x.store(1, Relaxed);
                fence(SeqCst);
                y.load(Relaxed)
            });
            y.store(1, Relaxed);
            fence(SeqCst);
            let mine = x.load(Relaxed);
            (mine, other.join().unwrap())
        })
    });
    assert_eq!((seen, classes), (BTreeSet::from([(0, 1), (1, 0), (1, 1)]), 3));
}

fn published(order: Ordering) -> Option<Finding> {
    struct Shared(cell::UnsafeCell<usize>);
    // SAFETY: the flag says who may access it.
    unsafe impl Sync for Shared {}
    let outcome = Checker::new().explore(|| {
        let (shared, flag) = (Shared(cell::UnsafeCell::new(0)), AtomicBool::new(false));
        let (shared, flag) = (&shared, &flag);
        thread::scope(|s| {
            s.spawn(move || {
                // SAFETY: the flag is not set.
                shared.0.with_mut(|data| unsafe { *data = 42 });
                flag.store(true, order);
            });
            if flag.load(Acquire) {
                // SAFETY: the flag is set.
                assert_eq!(shared.0.with(|data| unsafe { *data }), 42);
            }
        });
    });
    outcome.into_finding()
}

#[test]
fn a_cell_that_is_published_without_release_races() {
    assert!(published(Release).is_none());
    assert_eq!(published(Relaxed).unwrap().kind, FindingKind::Race);
}

#[test]
fn check_is_for_the_model_of_rust() {
    let relaxed = std::panic::catch_unwind(|| {
        raddle::check(|| assert_ne!(store_buffering(Relaxed), (0, 0)));
    });
    let message = *relaxed.unwrap_err().downcast::<String>().unwrap();
    assert!(message.starts_with("raddle: error[panic]: thread main: assertion"), "{message}");
    raddle::check(|| assert_ne!(store_buffering(SeqCst), (0, 0)));
}
