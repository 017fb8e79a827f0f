//! Litmus tests: those of the literature against what is known of them, and others against brute force.

mod axioms;
mod cycles;
mod fuzz;
mod machine;
mod oracle;
mod parse;
mod random;
mod semantics;

use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_core::outcome::Bound;
use raddle_core::random::Random;
use raddle_explore::plan::{Language, plan};
use raddle_litmus::{LitmusOutcome, Options, Test, explore};

/// Where tests are that are not part of this project, if they are there.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("RADDLE_LITMUS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let directory = given.unwrap_or(beside);
    directory.join("oracle.tsv").is_file().then_some(directory)
}

/// The tests of this project.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus")
}

fn agree_with_table(directory: &Path) {
    let tests = oracle::tests(directory);
    let rows = oracle::rows(directory);
    let unknown: Vec<&String> =
        tests.keys().filter(|name| rows.iter().all(|row| row.file != **name)).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    let differences: Vec<String> =
        rows.iter().flat_map(|row| oracle::differences(&tests[&row.file], row)).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Compares the states of a test under a model with those of the machine.
fn agree_with_machine(name: &str, test: &Test, model: Model) {
    let expected = machine::states(test, model);
    for explorer in oracle::explorers(model) {
        let states = oracle::outcome(test, model, explorer).finals.states;
        assert_eq!(states, expected, "{name}, {model}, {}", explorer.name());
    }
}

fn x86_agrees_with_machine(directory: &Path) {
    for (name, test) in oracle::tests(directory) {
        if test.language == Language::X86 {
            agree_with_machine(&name, &test, Model::Pso);
        }
    }
}

#[test]
fn the_shared_tests_agree_with_herd() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus, and RADDLE_LITMUS names no other");
        return;
    };
    agree_with_table(&directory);
}

#[test]
fn the_shared_tests_agree_with_the_machine_under_pso() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus, and RADDLE_LITMUS names no other");
        return;
    };
    x86_agrees_with_machine(&directory);
}

#[test]
fn the_tests_of_the_project_agree_with_their_table() {
    agree_with_table(&own());
}

#[test]
fn the_tests_of_the_project_agree_with_the_machine() {
    for (name, test) in oracle::tests(&own()) {
        for model in Model::STORE_BUFFERS {
            agree_with_machine(&name, &test, model);
        }
    }
}

#[test]
fn random_tests_agree_with_the_machine() {
    let mut random = Random::new(6);
    for _ in 0..300 {
        let text = random::test(&mut random);
        let test = Test::parse(text.as_bytes()).expect("a test");
        for model in Model::STORE_BUFFERS {
            agree_with_machine(&text, &test, model);
        }
    }
}

/// Registers and memory together are what the axioms admit of executions without the thread that starts
/// the others and loads the final values, so that thread changes nothing; and so are races.
#[test]
fn random_tests_agree_with_the_axioms() {
    let mut random = Random::new(11);
    let models = [Model::Rc11, Model::C20, Model::Ra, Model::Rc20, Model::Relaxed, Model::Sra];
    let mut races = 0;
    for _ in 0..200 {
        let text = random::test(&mut random);
        let test = Test::parse(text.as_bytes()).expect("a test");
        for (model, expected) in models.into_iter().zip(axioms::admitted(&test, &models)) {
            for explorer in oracle::explorers(model) {
                let outcome = oracle::outcome(&test, model, explorer);
                let race = outcome.has_race();
                let found = axioms::Admitted { states: outcome.finals.states, race };
                assert_eq!(found, expected, "{model}, {}:\n{text}", explorer.name());
            }
            races += usize::from(expected.race);
        }
    }
    assert_eq!(races, 390, "how many tests have races under how many models");
}

/// What each explorer says of a test in C with these threads.
fn explored(threads: &str) -> Vec<LitmusOutcome> {
    let test =
        Test::parse(format!("C t\n{{}}\n{threads}\nexists (x=1)").as_bytes()).expect("a test");
    let outcome = |explorer| {
        let plan = plan(test.language, Model::Rc11, explorer).expect("C goes with every model");
        explore(&test, plan, &Options::default())
    };
    oracle::explorers(Model::Rc11).map(outcome).collect()
}

#[test]
fn a_loop_that_is_cut_is_never_complete() {
    let threads = "P0 (atomic_int* x) { atomic_store(x, 1); }
                   P1 (atomic_int* x) { while (atomic_load(x) == 0) {} }";
    for outcome in explored(threads) {
        let bound = Some(Bound::LoopIterations);
        assert_eq!((&outcome.outcome.bound, outcome.has_race()), (&bound, false));
        assert_eq!((outcome.finals.positive, outcome.finals.negative), (9, 0));
    }
    let racing = threads.replace("atomic_store(x, 1)", "*x = 1");
    for outcome in explored(&racing) {
        let bound = Some(Bound::LoopIterations);
        assert_eq!((&outcome.outcome.bound, outcome.has_race()), (&bound, true));
        assert_eq!((outcome.finals.positive, outcome.finals.negative), (9, 0));
    }
}

#[test]
fn what_cannot_be_done_ends_the_exploration() {
    for store in ["atomic_store(x, 1)", "*x = 1"] {
        let threads = format!(
            "P0 (atomic_int* x) {{ {store}; }}
             P1 (atomic_int* x) {{ int r0 = 2 / (1 - atomic_load(x)); }}"
        );
        for outcome in explored(&threads) {
            assert!(outcome.failure().is_some() && !outcome.finals.is_complete, "{store}");
        }
    }
}
