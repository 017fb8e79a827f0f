//! Litmus tests of the literature compared with known verdicts, others compared with brute force.

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
use raddle_litmus::{LitmusOptions, LitmusOutcome, LitmusTest, explore};

/// Returns the directory of tests that are not part of this project, if it exists.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("RADDLE_LITMUS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let directory = given.unwrap_or(beside);
    directory.join("oracle.tsv").is_file().then_some(directory)
}

/// Returns the directory of the tests of this project.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus")
}

fn assert_table_agrees(directory: &Path) {
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
fn assert_machine_agrees(name: &str, test: &LitmusTest, model: Model) {
    let expected = machine::states(test, model);
    for explorer in oracle::explorers(model) {
        let states = oracle::outcome(test, model, explorer).finals.states;
        assert_eq!(states, expected, "{name}, {model}, {}", explorer.name());
    }
}

fn x86_agrees_with_machine(directory: &Path) {
    for (name, test) in oracle::tests(directory) {
        if test.language == Language::X86 {
            assert_machine_agrees(&name, &test, Model::Pso);
        }
    }
}

#[test]
fn shared_tests_agree_with_herd() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus, and RADDLE_LITMUS names no other");
        return;
    };
    assert_table_agrees(&directory);
}

#[test]
fn shared_tests_agree_with_the_machine_under_pso() {
    let Some(directory) = shared() else {
        println!("skipped: there is no ../shared/litmus, and RADDLE_LITMUS names no other");
        return;
    };
    x86_agrees_with_machine(&directory);
}

#[test]
fn own_tests_agree_with_their_table() {
    assert_table_agrees(&own());
}

#[test]
fn own_tests_agree_with_the_machine() {
    for (name, test) in oracle::tests(&own()) {
        for model in Model::STORE_BUFFERS {
            assert_machine_agrees(&name, &test, model);
        }
    }
}

#[test]
fn random_tests_agree_with_the_machine() {
    let mut random = Random::new(6);
    for _ in 0..300 {
        let text = random::test(&mut random);
        let test = LitmusTest::parse(text.as_bytes()).expect("a test");
        for model in Model::STORE_BUFFERS {
            assert_machine_agrees(&text, &test, model);
        }
    }
}

/// Registers, memory and races are those that the axioms admit for executions without thread 0, so thread 0 changes
/// nothing.
#[test]
fn random_tests_agree_with_the_axioms() {
    let mut random = Random::new(11);
    let models = [Model::Rc11, Model::C20, Model::Ra, Model::Rc20, Model::Relaxed, Model::Sra];
    let mut races = 0;
    for _ in 0..200 {
        let text = random::test(&mut random);
        let test = LitmusTest::parse(text.as_bytes()).expect("a test");
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

/// Explores a C test with these threads with every explorer.
fn explored(threads: &str) -> Vec<LitmusOutcome> {
    let test = LitmusTest::parse(format!("C t\n{{}}\n{threads}\nexists (x=1)").as_bytes())
        .expect("a test");
    let outcome = |explorer| {
        let plan = plan(test.language, Model::Rc11, explorer).expect("C goes with every model");
        explore(&test, plan, &LitmusOptions::default())
    };
    oracle::explorers(Model::Rc11).map(outcome).collect()
}

#[test]
fn a_bounded_loop_makes_the_outcome_incomplete() {
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
fn an_operation_without_a_meaning_ends_the_exploration() {
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
