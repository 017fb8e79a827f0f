//! Threads that run the same function with the same argument: one class of each orbit, and threads that only look so.

use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Symmetry, Verdict};
use raddle_native::{Object, Request, build, check_built};

/// A program of `tests/symmetry` with these flags.
fn built(program: &str, flags: &[&str]) -> (Object, Request) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/symmetry");
    let mut request = Request::new(&[&directory.join(program)]);
    request.source.flags = flags.iter().copied().map(String::from).collect();
    let object = build(&request.source).unwrap_or_else(|error| panic!("{program}: {error}"));
    (object, request)
}

fn explored(object: &Object, request: &Request, model: Model) -> Outcome {
    check_built(object, &Request { model, ..request.clone() }).expect("it can be loaded")
}

/// Program and flags; classes up to renaming of threads, classes with renamed threads, and blocked executions of both.
type Row = (&'static str, &'static [&'static str], (u64, u64), (u64, u64));

/// Counts of unlabelled rooted trees, of orders of entering, and of an independent experiment.
const PROGRAMS: &[Row] = &[
    ("counter.c", &["-DN=5"], (20, 1_296), (0, 0)),
    ("counter.c", &["-DN=6"], (48, 16_807), (0, 0)),
    ("counter.c", &["-DN=7"], (115, 262_144), (0, 0)),
    ("counter.c", &["-DN=8"], (286, 4_782_969), (0, 0)),
    ("counter.c", &["-DN=8", "-DADD"], (1, 40_320), (0, 0)),
    ("counter.c", &["-DN=7", "-DLOCK"], (1, 5_040), (0, 0)),
    ("counter.c", &["-DN=4", "-DTRY"], (14, 280), (0, 0)),
    ("counter.c", &["-DN=4", "-DCAS"], (1, 24), (7, 124)),
    ("readers.c", &["-DN=15"], (16, 32_768), (0, 0)),
    ("stack.c", &["-DN=4", "-DONCE"], (14, 280), (0, 0)),
    ("stack.c", &["-DN=5", "-DM=1", "-DONCE"], (628, 64_165), (0, 0)),
    ("stack.c", &["-DN=4", "-DM=2", "-DONCE"], (982, 43_492), (0, 0)),
    ("waiting.c", &["-DN=6", "-DTICKET"], (1, 720), (0, 0)),
    ("waiting.c", &["-DN=6", "-DBARRIER"], (1, 720), (0, 0)),
    ("waiting.c", &["-DN=5", "-DTTAS"], (1, 120), (15, 1_185)),
    ("counter.c", &["-DN=5", "-DCAS"], (1, 120), (15, 1_185)),
    // Threads that get memory of their own.
    ("structures.c", &["-DN=4"], (9, 125), (0, 0)),
    ("structures.c", &["-DN=4", "-DFIRST"], (9, 125), (0, 0)),
    ("structures.c", &["-DN=4", "-DFREES"], (9, 125), (0, 0)),
    ("closures.cpp", &["-DN=5"], (20, 1_296), (0, 0)),
    ("closures.cpp", &["-DN=4", "-DARRAY"], (9, 125), (0, 0)),
    ("closures.cpp", &["-DN=4", "-DLOCK"], (1, 24), (0, 0)),
    ("closures.cpp", &["-DN=3", "-DOWN"], (4, 16), (0, 0)),
    ("closures.cpp", &["-DN=3", "-DROLES"], (31, 256), (0, 0)),
];

#[test]
fn one_class_of_each_orbit_is_explored() {
    for &(program, flags, (classes, all), (blocked, all_blocked)) in PROGRAMS {
        let (object, request) = built(program, flags);
        for model in [Model::Sc, Model::Tso, Model::C20] {
            let Outcome { verdict, counts, symmetry, .. } = explored(&object, &request, model);
            let Symmetry { classes: with_renamed, blocked: blocked_with_renamed, .. } =
                symmetry.unwrap_or_default();
            let found = ((counts.classes, with_renamed), (counts.blocked, blocked_with_renamed));
            let expected = ((classes, all), (blocked, all_blocked));
            assert_eq!((verdict, found), (Verdict::Clean, expected), "{program} {flags:?} {model}");
        }
    }
}

#[test]
fn the_classes_with_renamed_threads_are_those_without_symmetry() {
    let programs: [(&str, &[&str]); 5] = [
        ("counter.c", &["-DN=4"]),
        ("counter.c", &["-DN=4", "-DTRY"]),
        ("readers.c", &["-DN=7"]),
        ("stack.c", &["-DN=3", "-DM=1", "-DONCE"]),
        ("stack.c", &["-DN=2", "-DM=2", "-DONCE"]),
    ];
    for (program, flags) in programs {
        let (object, request) = built(program, flags);
        for model in [Model::Sc, Model::Pso, Model::Ra, Model::Rc20] {
            let reduced = explored(&object, &request, model);
            let exact = explored(&object, &Request { exact: true, ..request.clone() }, model);
            let renamed = reduced.symmetry.map(|it| (it.classes, it.blocked));
            let expected = Some((exact.counts.classes, exact.counts.blocked));
            assert_eq!(renamed, expected, "{program} {flags:?} {model}");
            assert_eq!(exact.symmetry, None);
        }
    }
}

/// Flags of `asymmetric.c`, and whether the threads are taken for symmetric nevertheless.
const ASYMMETRIC: &[(&str, bool)] = &[
    ("-DINDEX", false),
    ("-DSELF", false),
    ("-DSELF_LATE", false),
    ("-DSTACK", false),
    ("-DHASH", false),
    ("-DXOR", false),
    ("-DRESULT", false),
    ("-DOWN_RESULT", false),
    ("-DBETWEEN", false),
    ("-DBETWEEN_JOINS", false),
    ("-DONE_RESULT", true),
    ("-DDRAIN", true),
];

#[test]
fn threads_that_only_look_symmetric_are_noticed() {
    for &(flag, is_symmetric) in ASYMMETRIC {
        for threads in ["-DN=2", "-DN=3"] {
            let (object, request) = built("asymmetric.c", &[flag, threads]);
            for model in [Model::Sc, Model::Tso, Model::C20] {
                let outcome = explored(&object, &request, model);
                let exact = explored(&object, &Request { exact: true, ..request.clone() }, model);
                let case = format!("{flag} {threads} {model}");
                let found = |outcome: &Outcome| (outcome.verdict, outcome.kind());
                assert_eq!(found(&outcome), found(&exact), "{case}");
                // Threads that start later are symmetric to each other.
                let first = String::from("main/0");
                let is_first = |it: &Symmetry| it.threads.concat().contains(&first);
                let is_renamed = outcome.symmetry.as_ref().is_some_and(is_first);
                assert!(is_symmetric || !is_renamed, "{case}: {outcome:?}");
                if outcome.symmetry.is_none() && outcome.verdict == Verdict::Clean {
                    assert_eq!(outcome.counts.classes, exact.counts.classes, "{case}");
                }
            }
        }
    }
}

/// Programs whose threads get different memory from their creator, or do not keep it to themselves.
const OTHER_MEMORY: &[Row] = &[
    ("structures.c", &["-DN=3", "-DINDEX"], (16, 0), (0, 0)),
    ("structures.c", &["-DN=3", "-DSHOWN"], (36, 0), (0, 0)),
    ("structures.c", &["-DN=3", "-DFIRST", "-DCYCLE"], (16, 0), (0, 0)),
    ("structures.c", &["-DN=3", "-DRESULTS"], (16, 0), (0, 0)),
];

#[test]
fn memory_that_differs_is_noticed() {
    for &(program, flags, (classes, _), (blocked, _)) in OTHER_MEMORY {
        let (object, request) = built(program, flags);
        let Outcome { verdict, counts, symmetry, .. } = explored(&object, &request, Model::Sc);
        let found = (verdict, counts.classes, counts.blocked);
        assert_eq!(found, (Verdict::Clean, classes, blocked), "{program} {flags:?}: {symmetry:?}");
    }
    for (program, flag) in [("structures.c", "-DRESULT"), ("closures.cpp", "-DINDEX")] {
        let (object, request) = built(program, &["-DN=3", flag]);
        let kind = explored(&object, &request, Model::Sc).kind();
        assert_eq!(kind, Some(FindingKind::Assertion), "{program} {flag}");
    }
}

/// Programs in other styles, with or without symmetric threads: the same verdict and the same finding as without symmetry.
#[test]
fn programs_of_others_have_the_same_results() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/symmetry/others");
    let mut programs: Vec<_> = std::fs::read_dir(&directory)
        .expect("the directory exists")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    programs.sort();
    assert!(programs.len() >= 20, "{programs:?}");
    for program in programs {
        let program = format!("others/{}", program.to_string_lossy());
        let flags: &[&str] = if program.ends_with(".cpp") { &["-std=c++20"] } else { &[] };
        let (object, request) = built(&program, flags);
        let outcome = explored(&object, &request, Model::C20);
        let exact = explored(&object, &Request { exact: true, ..request.clone() }, Model::C20);
        let found = |outcome: &Outcome| (outcome.verdict, outcome.kind());
        assert_eq!(found(&outcome), found(&exact), "{program}");
    }
}

#[test]
fn the_failures_are_those_that_the_programs_have() {
    let is_bug = |flag: &str| !matches!(flag, "-DHASH" | "-DXOR" | "-DDRAIN");
    for &(flag, _) in ASYMMETRIC {
        let (object, request) = built("asymmetric.c", &[flag, "-DN=3"]);
        let kind = explored(&object, &request, Model::Sc).kind();
        assert_eq!(kind == Some(FindingKind::Assertion), is_bug(flag), "{flag}: {kind:?}");
    }
}
