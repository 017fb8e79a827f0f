//! Atomic sections of SV-COMP exclude all other threads, with every explorer.

use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};
use raddle_explore::plan::Explorer;
use raddle_explore::sampling::Sampling;
use raddle_native::{Object, Request, Source, build, check_built};

/// What a case of `tests/posix/sections.c` shows under SC, and under TSO and PSO.
struct Case {
    number: u32,
    sc: &'static str,
    tso: &'static str,
    pso: &'static str,
    /// Threads wait in loops, which only the default explorer recognises.
    has_loop: bool,
}

const fn case(number: u32, sc: &'static str, tso: &'static str, pso: &'static str) -> Case {
    Case { number, sc, tso, pso, has_loop: false }
}

const fn same(number: u32, shown: &'static str) -> Case {
    case(number, shown, shown, shown)
}

const CLEAN: &str = "clean";
/// Weaker executions may be missing.
const BOUNDED: &str = "incomplete";

const CASES: &[Case] = &[
    case(0, CLEAN, BOUNDED, BOUNDED),
    same(1, "!seen_x || seen_y"),
    same(2, "seen_x == seen_y"),
    same(3, CLEAN),
    same(4, CLEAN),
    same(5, "x == 4"),
    same(6, CLEAN),
    same(7, "x == 2"),
    same(8, CLEAN),
    same(9, "seen_x != 1"),
    same(10, CLEAN),
    same(11, "seen_x == 1"),
    same(12, CLEAN),
    same(13, "!one_saw || other_saw"),
    Case { has_loop: true, ..same(14, CLEAN) },
    Case { has_loop: true, ..same(15, "seen_y == 1") },
    same(16, "an atomic section is ended by a thread that is in none"),
    same(17, "locks a mutex within an atomic section"),
    case(18, CLEAN, "one_saw || other_saw", "one_saw || other_saw"),
    case(19, CLEAN, BOUNDED, BOUNDED),
    case(20, CLEAN, BOUNDED, BOUNDED),
];

fn source() -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posix/sections.c");
    Source { files: vec![path], ..Source::default() }
}

fn explore(object: &Object, number: u32, model: Model, explorer: Explorer) -> Outcome {
    let arguments = vec![number.to_string()];
    let request = Request { model, explorer, arguments, ..Request::new(&[]) };
    check_built(object, &request).expect("it loads")
}

fn shows(outcome: &Outcome, expected: &str) -> bool {
    match outcome.finding() {
        Some(finding) => finding.message.contains(expected),
        None => outcome.verdict.name() == expected,
    }
}

const EXPLORERS: [Explorer; 5] = [
    Explorer::RfPartSmc,
    Explorer::RfSmc,
    Explorer::SourceDpor,
    Explorer::OptimalDpor,
    Explorer::RvfSmc,
];

#[test]
fn sections_exclude_all_other_threads() {
    let object = build(&source()).expect("it compiles");
    let sampling = Sampling { iterations: 300, ..Sampling::default() };
    let mut wrong = vec![];
    for case in CASES {
        for (model, expected) in
            [(Model::Sc, case.sc), (Model::Tso, case.tso), (Model::Pso, case.pso)]
        {
            for explorer in EXPLORERS.into_iter().take(if case.has_loop { 1 } else { 5 }) {
                let outcome = explore(&object, case.number, model, explorer);
                if !shows(&outcome, expected) {
                    wrong.push(format!("{} under {model} by {explorer:?}: {outcome}", case.number));
                }
            }
            let outcome = explore(&object, case.number, model, Explorer::Random(sampling));
            let expected = if expected == CLEAN { BOUNDED } else { expected };
            if !shows(&outcome, expected) {
                wrong.push(format!("{} under {model} randomly: {outcome}", case.number));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn plain_accesses_outside_of_sections_race_under_c11_models() {
    let object = build(&source()).expect("it compiles");
    let kind = |number| explore(&object, number, Model::C20, Explorer::RfPartSmc).kind();
    use raddle_core::outcome::FindingKind::Race;
    assert_eq!([0, 2, 5, 8, 10].map(kind), [Some(Race); 5]);
    assert_eq!(
        [3, 4].map(|number| explore(&object, number, Model::C20, Explorer::RfPartSmc).verdict),
        [Verdict::Clean; 2]
    );
}

#[test]
fn machine_code_with_atomic_functions_is_refused() {
    let source = source();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("sections.o");
    let mut command = std::process::Command::new("gcc");
    command.args(["-c", "-o"]).arg(&path).arg(&source.files[0]);
    assert!(command.status().expect("gcc runs").success());
    let source = Source { files: vec![path.clone()], ..Source::default() };
    let error = build(&source).expect_err("it is refused").to_string();
    let expected = format!(
        "{}: __VERIFIER_atomic_add is atomic only if Raddle compiles it: pass its source",
        path.display()
    );
    assert_eq!(error, expected);
}
