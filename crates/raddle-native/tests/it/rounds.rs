//! Programs with loops and counters: how many classes there are without reads and orders that have no effect.

use std::collections::BTreeSet;
use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Verdict};
use raddle_core::program::OpKind;
use raddle_native::{Request, build, check_built};

/// Program; classes, and executions that are blocked because a thread waits in the middle of a round; and both with renamed
/// threads.
type Row = (&'static str, (u64, u64), (u64, u64));

const PROGRAMS: &[Row] = &[
    // One class for each order in which the threads enter: 5!.
    ("ticket_lock.c", (1, 0), (120, 0)),
    // 6! / 2! / 2! / 2!.
    ("exchange_lock.c", (15, 0), (90, 0)),
    ("test_lock.c", (1, 15), (120, 1185)),
    // One class for each order in which the threads arrive: 6!.
    ("sense_barrier.c", (1, 0), (720, 0)),
    // Nodes are linked before they are published.
    ("stack.cpp", (34, 6), (34, 6)),
    ("queue.c", (83, 56), (326, 210)),
    ("bounded_queue.c", (12, 15), (44, 54)),
    ("cached_index.c", (5, 0), (5, 0)),
    ("poll_with_lock.c", (1, 0), (1, 0)),
    ("waits.c", (1, 0), (1, 0)),
    ("counters.c", (1, 0), (1, 0)),
    ("barrier.c", (1, 0), (1, 0)),
];

#[test]
fn waiting_has_no_classes() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds");
    for &(program, classes, renamed) in PROGRAMS {
        let mut request = Request::new(&[&directory.join(program)]);
        let object = build(&request.source).expect("it compiles");
        for model in [Model::Sc, Model::Tso, Model::Rc11, Model::C20] {
            request.model = model;
            let outcome = check_built(&object, &request).expect("it can be loaded");
            let counts = (outcome.counts.classes, outcome.counts.blocked);
            let all = outcome.symmetry.as_ref().map_or(counts, |it| (it.classes, it.blocked));
            let found = (outcome.verdict, counts, all);
            assert_eq!(found, (Verdict::Clean, classes, renamed), "{program}, {model}");
        }
    }
}

#[test]
fn polling_forever_is_a_livelock() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/poll_with_lock.c");
    for (flags, message) in [
        (&["-DNEVER"][..], "livelock: main spins forever"),
        (&["-DNEVER", "-DBOTH"], "livelock: main, worker spin forever"),
    ] {
        let mut request = Request::new(&[&program]);
        request.source.flags = flags.iter().copied().map(String::from).collect();
        let object = build(&request.source).expect("it compiles");
        for model in [Model::Sc, Model::Tso, Model::C20] {
            request.model = model;
            let outcome = check_built(&object, &request).expect("it can be loaded");
            let finding = outcome.finding().expect("a livelock");
            assert_eq!(finding.kind, FindingKind::Livelock, "{flags:?}, {model}");
            assert_eq!(finding.message, message, "{model}");
        }
    }
}

#[test]
fn a_wrong_count_is_shown_with_the_values_of_one_order() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/counters.c");
    let mut request = Request::new(&[&program]);
    request.source.flags = vec!["-DWRONG".into()];
    let object = build(&request.source).expect("it compiles");
    for model in [Model::Sc, Model::Pso, Model::C20] {
        request.model = model;
        let outcome = check_built(&object, &request).expect("it can be loaded");
        let finding = outcome.into_finding().expect("a failure");
        assert_eq!(finding.kind, FindingKind::Assertion, "{model}");
        let events = finding.trace.expect("an execution").trace.events;
        let counts = events.iter().filter_map(|event| match event.op.kind {
            OpKind::Rmw { update, .. } if update.operand == 2 && event.position == 0 => {
                Some((event.read?, event.written?))
            }
            _ => None,
        });
        let expected = [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)];
        assert_eq!(counts.collect::<BTreeSet<_>>(), BTreeSet::from(expected), "{model}");
    }
}

/// Checks `barrier.c` with these flags, as it is and with all classes.
fn barrier(flags: &[&str], model: Model) -> [Outcome; 2] {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/barrier.c");
    let mut request = Request { model, ..Request::new(&[&program]) };
    request.source.flags = flags.iter().copied().map(String::from).collect();
    let object = build(&request.source).expect("it compiles");
    [false, true].map(|exact| {
        let request = Request { exact, ..request.clone() };
        check_built(&object, &request).expect("it can be loaded")
    })
}

#[test]
fn a_barrier_has_the_verdicts_of_one_that_counts() {
    let (none, assertion) = (None, Some(FindingKind::Assertion));
    let cases = [
        (&["-DTHREADS=2"][..], none),
        (&["-DTHREADS=3", "-DNO_WAIT"], assertion),
        (&["-DTHREADS=2", "-DLEAVE"], Some(FindingKind::Deadlock)),
        (&["-DTHREADS=2", "-DONE_MORE"], assertion),
        (&["-DTHREADS=2", "-DRESULT"], none),
    ];
    for (flags, kind) in cases {
        for model in [Model::Sc, Model::Pso, Model::Ra, Model::C20] {
            let [default, exact] = barrier(flags, model).map(|outcome| outcome.kind());
            assert_eq!(default, exact, "{flags:?}, {model}");
            // Other models report a race instead.
            assert!(model != Model::Sc || default == kind, "{flags:?}: {default:?}");
        }
    }
}

#[test]
fn a_barrier_counts_if_somebody_uses_its_result_or_another_thread_comes() {
    // Two orders of arrival in each of the four rounds. In the first three, the first thread may also leave after the other
    // one has arrived in the next round.
    let [default, exact] = barrier(&["-DTHREADS=2", "-DRESULT"], Model::Sc);
    assert_eq!([default, exact].map(|outcome| outcome.counts.classes), [54, 54]);
}

#[test]
fn a_deadlock_at_a_barrier_names_the_thread_that_has_not_arrived() {
    let [outcome, _] = barrier(&["-DTHREADS=2", "-DLEAVE"], Model::Tso);
    let trace = outcome.into_finding().expect("a deadlock").trace.expect("an execution");
    let text = format!("{:?}", trace.names);
    assert!(text.contains("run#1 has not arrived"), "{text}");
}
