//! `raddle check --robust`.

use insta::assert_snapshot;
use serde_json::Value;

use super::{raddle, run, scratch};

#[test]
fn a_litmus_test_is_compared_with_sc() {
    assert_snapshot!(run("check examples/store-buffering.litmus --robust --model tso"));
}

#[test]
fn a_robust_litmus_test_is_reported_as_robust() {
    assert_snapshot!(run("check corpus/litmus/X86/cycles/MP.litmus --robust --model tso"));
}

/// Removes the time.
fn without_time(text: &str) -> String {
    let lines = text.lines().map(|line| line.split(" thread run").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn peterson_needs_one_fence() {
    let text = run("check examples/peterson.c --cc gcc --robust --model tso");
    assert_snapshot!(without_time(&text));
    let fenced = run("check examples/peterson.c --cc gcc --robust --model tso -- -DFENCE");
    assert_snapshot!(without_time(&fenced));
}

#[test]
fn a_violation_of_robustness_is_a_bug_and_can_be_replayed() {
    let file = scratch("robust").join("trace.json");
    let file = file.display();
    let check =
        format!("check examples/peterson.c --cc gcc --robust --model pso --json --trace {file}");
    let checked = raddle(&check).output().expect("raddle runs");
    let line: Value = serde_json::from_slice(&checked.stdout).expect("a line of JSON");
    assert_eq!(line["verdict"], "bug");
    assert_eq!(line["bug"]["kind"], "not-robust");
    assert_eq!(checked.status.code(), Some(1));
    let again = run(&format!("replay {file}"));
    let expected = "exit 1\n--- stdout\nerror[not-robust]: not robust: pso allows an execution that sc does not";
    assert!(again.starts_with(expected), "{again}");
}

#[test]
fn robustness_requires_tso_or_pso() {
    assert_snapshot!(run("check examples/peterson.c --cc gcc --robust --model c20"), @r"
    exit 2
    --- stdout
    --- stderr
    examples/peterson.c: robustness compares a store-buffer model with sc and does not support c20: use tso or pso
    ");
}
