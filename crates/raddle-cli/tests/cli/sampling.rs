//! `raddle check --explorer random` and `pct`.

use serde_json::Value;

use super::{raddle, run, scratch};

fn json(args: &str) -> Value {
    let output = raddle(args).output().expect("raddle runs");
    serde_json::from_slice(&output.stdout).expect("a line of JSON")
}

#[test]
fn runs_without_a_bug_are_no_proof() {
    for explorer in ["random", "pct"] {
        let args =
            format!("check examples/peterson.c --model sc --explorer {explorer} --iterations 50");
        let text = run(&args);
        let bound = format!(
            "incomplete: no bug found in 50 runs ({explorer}, seed 0); random testing is no proof"
        );
        assert!(text.starts_with("exit 3\n"), "{text}");
        assert!(text.contains(&bound), "{text}");
        let line = json(&format!("{args} --json --seed 7"));
        assert_eq!(line["verdict"], "incomplete", "{line}");
        assert_eq!((&line["explorer"], &line["seed"]), (&explorer.into(), &7.into()));
    }
}

#[test]
fn a_bug_is_found_and_replayed() {
    let directory = scratch("online");
    for (explorer, model) in [("random", "tso"), ("pct", "tso"), ("random", "c20")] {
        let file = directory.join(format!("{explorer}-{model}.json"));
        let file = file.display();
        let args = format!(
            "check examples/peterson.c --model {model} --explorer {explorer} --trace {file}"
        );
        let text = run(&args);
        assert!(text.starts_with("exit 1\n"), "{text}");
        assert!(text.contains("assertion failed: others == 0"), "{text}");
        assert!(text.contains(&format!("--explorer {explorer} --seed ")), "{text}");
        let again = run(&format!("replay {file}"));
        assert!(again.starts_with("exit 1\n"), "{again}");
        assert!(again.contains("assertion failed: others == 0"), "{again}");
    }
}

#[test]
fn the_printed_seed_reproduces_the_bug() {
    let args = "check examples/peterson.c --model tso --explorer random --json";
    let first = json(args);
    let again = json(&format!("{args} --iterations 1 --seed {}", first["seed"]));
    assert_eq!(first["verdict"], "bug", "{first}");
    assert_eq!((&again["bug"], &again["classes"]), (&first["bug"], &1.into()));
}

#[test]
fn litmus_tests_are_tested_randomly() {
    let line =
        json("check examples/store-buffering.litmus --explorer random --iterations 200 --json");
    let text = run("check examples/store-buffering.litmus --explorer random --iterations 200");
    assert!(text.contains("no bug found in 200 runs (random, seed 0)"), "{text}");
    assert_eq!(line["explorer"], "random", "{line}");
}

#[test]
fn options_for_random_testing_require_a_random_explorer() {
    let text = run("check examples/peterson.c --seed 1");
    assert!(text.starts_with("exit 2\n"), "{text}");
    assert!(text.contains("--iterations and --seed require --explorer random or pct"), "{text}");
    let text = run("check examples/peterson.c --explorer random --depth 2");
    assert!(text.contains("--depth requires --explorer pct"), "{text}");
}
