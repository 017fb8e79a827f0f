//! Loops of attempts to take an object: attempts that fail are rounds without effect.

use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Verdict};
use raddle_native::{Object, Request, build, check_built};

/// How the object is taken, and the number of classes with one thread that polls and with two.
///
/// A semaphore, and a lock for readers, is tried by two updates, so that another thread can see a first attempt that fails.
const KINDS: &[(&str, u64, u64)] = &[
    ("SEMAPHORE", 3, 90),
    ("TIMED_SEMAPHORE", 3, 90),
    ("READER", 2, 66),
    ("TIMED_READER", 2, 66),
    ("WRITER", 1, 2),
    ("MUTEX", 1, 2),
    ("SPIN", 1, 2),
];

fn built(flags: &[&str]) -> (Object, Request) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/polls.c");
    let mut request = Request::new(&[&program]);
    request.source.flags = flags.iter().copied().map(String::from).collect();
    (build(&request.source).expect("it compiles"), request)
}

#[test]
fn attempts_that_fail_have_no_classes() {
    for &(kind, one, two) in KINDS {
        for (more, classes) in [(None, one), (Some("-DTWO"), two)] {
            let kind = format!("-DKIND={kind}");
            let flags: Vec<&str> = [Some(&*kind), more].into_iter().flatten().collect();
            let (object, mut request) = built(&flags);
            for model in [Model::Sc, Model::Tso, Model::Rc11, Model::C20] {
                request.model = model;
                let outcome = check_built(&object, &request).expect("it can be loaded");
                // The two threads are symmetric.
                let all = outcome.symmetry.map_or(outcome.counts.classes, |it| it.classes);
                let counts = (outcome.verdict, all, outcome.counts.blocked);
                assert_eq!(counts, (Verdict::Clean, classes, 0), "{flags:?}, {model}");
            }
        }
    }
}

#[test]
fn a_futex_call_that_finds_another_value_changes_nothing() {
    let (object, mut request) = built(&["-DKIND=FUTEX"]);
    for model in [Model::Sc, Model::Tso, Model::Rc11, Model::C20] {
        request.model = model;
        let outcome = check_built(&object, &request).expect("it can be loaded");
        // The first round sets `errno`, so a thread that has failed once is in another state.
        let counts = (outcome.verdict, outcome.counts.classes, outcome.counts.blocked);
        assert_eq!(counts, (Verdict::Clean, 2, 1), "{model}");
    }
}

#[test]
fn attempts_that_always_fail_are_a_livelock() {
    for kind in KINDS.iter().map(|&(kind, ..)| kind).chain(["FUTEX"]) {
        let kind = format!("-DKIND={kind}");
        for (more, message) in [
            (None, "livelock: poll spins forever"),
            (Some("-DTWO"), "livelock: poll#1, poll#2 spin forever"),
        ] {
            let flags: Vec<&str> =
                [Some(&*kind), Some("-DNEVER"), more].into_iter().flatten().collect();
            let (object, mut request) = built(&flags);
            for model in [Model::Sc, Model::Tso, Model::C20] {
                request.model = model;
                let outcome = check_built(&object, &request).expect("it can be loaded");
                let finding = outcome.finding().expect("a livelock");
                assert_eq!(finding.kind, FindingKind::Livelock, "{flags:?}, {model}");
                assert_eq!(finding.message, message, "{flags:?}, {model}");
            }
        }
    }
}
