//! Bounds on the rounds of loops.

use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, CutLimit, CutThread, FindingKind, Outcome, Verdict};
use raddle_native::{Request, build, check_built};

/// Explores a program, with this bound on the rounds of its loops.
fn explore(program: &str, flags: &[&str], model: Model, unroll: Option<u32>) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unroll").join(program);
    let mut request = Request { model, unroll, ..Request::new(&[&path]) };
    request.source.flags = flags.iter().copied().map(String::from).collect();
    let object = build(&request.source).expect("it compiles");
    check_built(&object, &request).expect("it can be loaded")
}

#[test]
fn a_loop_has_as_many_rounds_as_the_bound_says() {
    for optimisation in ["-O0", "-O1"] {
        for rounds in [2, 3, 5] {
            let flags = [optimisation, &format!("-DROUNDS={rounds}")];
            // The jumps backwards of a loop are one less than the times that its body runs, or as many.
            let outcome = explore("shapes.c", &flags, Model::Sc, Some(rounds));
            assert_eq!(outcome.verdict, Verdict::Clean, "{flags:?}: {outcome}");
            assert_eq!(outcome.bound, None, "{flags:?}");
            let outcome = explore("shapes.c", &flags, Model::Sc, Some(rounds - 2));
            assert_eq!(outcome.verdict, Verdict::Incomplete, "{flags:?}: {outcome}");
        }
    }
}

#[test]
fn a_loop_with_too_many_rounds_is_named() {
    for model in [Model::Sc, Model::Tso, Model::C20] {
        let outcome = explore("stop.c", &[], model, Some(1));
        let Some(Bound::LongExecution(cut)) = &outcome.bound else { panic!("{model}: {outcome}") };
        let CutThread { thread, place, function, limit } = &**cut;
        assert_eq!((thread.as_str(), function.as_deref()), ("main/0", Some("count_up")));
        assert!(place.contains("stop.c:"), "{place}");
        assert_eq!(*limit, CutLimit::Rounds);
        assert_eq!(outcome.verdict, Verdict::Incomplete, "{model}");
        // The thread sees the flag in its first round or in its second one.
        assert_eq!(outcome.counts.classes, 2, "{model}");
    }
}

#[test]
fn a_bug_within_the_bound_is_found() {
    for model in [Model::Sc, Model::Pso, Model::C20] {
        let kind = |unroll| explore("stop.c", &[], model, Some(unroll)).kind();
        let kinds = [1, 2, 3].map(kind);
        let assertion = Some(FindingKind::Assertion);
        assert_eq!(kinds, [None, assertion, assertion], "{model}");
    }
}

#[test]
fn a_loop_that_exceeds_the_bound_on_events_is_named() {
    let outcome = explore("stop.c", &["-DNDEBUG"], Model::Sc, None);
    let Some(bound @ Bound::LongExecution(cut)) = &outcome.bound else { panic!("{outcome}") };
    assert_eq!(cut.function.as_deref(), Some("count_up"));
    let CutLimit::Events { events: 1000, rounds } = cut.limit else { panic!("{cut:?}") };
    assert!((490..500).contains(&rounds), "{rounds}");
    let expected = format!(
        "an execution has more than 1000 events, most of them of thread main/0, which was stopped after {rounds} rounds of \
         the loop at {} in count_up",
        cut.place
    );
    assert_eq!(bound.to_string(), expected);
}

#[test]
fn loops_without_end_are_named_soon() {
    for (program, flags, function) in
        [("back_off.c", &[][..], "enter"), ("timed_waits.c", &["-DTHREADS=2"], "wait_until_ready")]
    {
        for model in [Model::Sc, Model::C20] {
            let outcome = explore(program, flags, model, None);
            let Some(bound @ Bound::LongExecution(cut)) = &outcome.bound else {
                panic!("{outcome}")
            };
            assert_eq!(cut.function.as_deref(), Some(function), "{program}, {model}");
            assert_eq!(cut.limit, CutLimit::Endless { rounds: 4 }, "{program}, {model}");
            let expected = format!(
                "a loop does not seem to end: thread {} was stopped after 4 rounds of the loop at {} in {function}",
                cut.thread, cut.place
            );
            assert_eq!(bound.to_string(), expected);
            assert_eq!(outcome.verdict, Verdict::Incomplete, "{program}, {model}");
        }
    }
}

#[test]
fn code_without_jumps_has_no_rounds() {
    let statement = "x++; ".repeat(200);
    let code = format!("static volatile int x;\nint main(void) {{ {statement} return x != 200; }}");
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let path = directory.path().join("straight.c");
    std::fs::write(&path, code).expect("it can be written");
    let request = Request { unroll: Some(0), ..Request::new(&[&path]) };
    let object = build(&request.source).expect("it compiles");
    let outcome = check_built(&object, &request).expect("it can be loaded");
    assert_eq!((outcome.verdict, outcome.bound), (Verdict::Clean, None));
}

/// A bound on events was doubled instead of learning which locations threads share, up to a million events.
#[test]
fn a_bug_beside_a_thread_that_counts_its_rounds_is_found() {
    for model in [Model::Sc, Model::Tso, Model::C20] {
        let outcome = explore("counted_poll.c", &[], model, None);
        assert_eq!(outcome.kind(), Some(FindingKind::Assertion), "{model}: {outcome}");
    }
}
