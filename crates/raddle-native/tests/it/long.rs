//! Programs with many accesses of which few need a decision: exact numbers of classes.

use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, CutLimit, Outcome, Verdict};
use raddle_native::{Object, Request, build, check_built};

use crate::corpus::built;

const MODELS: [Model; 4] = [Model::Sc, Model::Tso, Model::Pso, Model::C20];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Builds a program below `tests`.
fn program(name: &str, flags: &[&str]) -> Object {
    let mut source = Request::new(&[&directory().join(name)]).source;
    source.flags = flags.iter().copied().map(String::from).collect();
    build(&source).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Counts all classes.
fn explore(object: &Object, model: Model) -> Outcome {
    let request = Request { model, exact: true, ..Request::new(&[]) };
    check_built(object, &request).expect("it can be loaded")
}

/// Checks that the program is clean and has so many classes, none of them blocked.
#[track_caller]
fn assert_classes(object: &Object, model: Model, classes: u64) {
    let outcome = explore(object, model);
    let found = (outcome.verdict, outcome.counts.classes, outcome.counts.blocked);
    assert_eq!(found, (Verdict::Clean, classes, 0), "{model}");
}

fn indexer(threads: u32) -> impl std::ops::Deref<Target = Object> {
    built("tables/indexer.c", &[format!("-DN={threads}")], "gcc")
}

/// The table of Bui et al., OOPSLA 2021.
#[test]
fn indexer_with_15_threads_has_the_published_classes() {
    for model in MODELS {
        assert_classes(&indexer(15), model, 4_096);
    }
}

/// Each thread from the twelfth on multiplies the classes by eight. Half a minute, so only if `RADDLE_LONG` is set.
#[test]
fn indexer_with_16_threads_has_the_classes_of_the_formula() {
    if std::env::var_os("RADDLE_LONG").is_some() {
        for model in MODELS {
            assert_classes(&indexer(16), model, 32_768);
        }
    }
}

#[test]
fn mutexes_that_do_not_contend_are_quiet() {
    // 3! orders in which the threads take the last of 600 mutexes; 2 orders of each of the two locks in common.
    for (name, classes) in [("long/mutexes.c", 6), ("long/locks.c", 4)] {
        let object = program(name, &[]);
        for model in MODELS {
            assert_classes(&object, model, classes);
        }
    }
}

#[test]
fn an_array_that_is_read_after_its_initialisation_is_quiet() {
    // Each increment of the counter sees the initial value or the other one; not both see the other one.
    let object = program("long/array.c", &[]);
    for model in MODELS {
        assert_classes(&object, model, 3);
    }
}

#[test]
fn executions_of_a_hundred_thousand_accesses_have_the_classes_of_short_ones() {
    let object = program("long/rare.c", &["-DROUNDS=1", "-DWORK=25000"]);
    for (model, classes) in [(Model::Sc, 3), (Model::Tso, 4), (Model::Pso, 4), (Model::C20, 4)] {
        assert_classes(&object, model, classes);
    }
}

/// One class for each number of rounds before the flag is set, and the answer names the thread that polls.
#[test]
fn a_poll_under_a_lock_ends_with_the_name_of_its_thread() {
    for (flags, classes) in [(&[][..], 330), (&["-DNEVER"], 0)] {
        let object = program("rounds/poll_with_lock.c", flags);
        for model in MODELS {
            let outcome = explore(&object, model);
            let Some(Bound::LongExecution(cut)) = &outcome.bound else { panic!("{outcome}") };
            let is_bound = match cut.limit {
                CutLimit::Events { events, rounds } => events == 1_000 && rounds >= 200,
                // No execution ends, so the loop does not seem to end.
                CutLimit::Endless { rounds } => classes == 0 && rounds == 4,
                _ => false,
            };
            assert!(cut.thread == "main" && is_bound, "{flags:?}, {model}: {cut:?}");
            assert!(cut.place.contains("poll_with_lock.c:1"), "{flags:?}, {model}: {}", cut.place);
            assert_eq!(outcome.counts.classes, classes, "{flags:?}, {model}");
        }
    }
}
