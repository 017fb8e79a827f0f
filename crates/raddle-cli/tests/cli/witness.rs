//! `raddle verify --witness`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{raddle, run, scratch};

/// What a run writes to its witness file; it prints what it prints without one.
fn witnesses(name: &str, args: &str) -> String {
    let file = scratch(name).join("witnesses.jsonl");
    let output = raddle(args).arg("--witness").arg(&file).output().expect("raddle runs");
    let without = raddle(args).output().expect("raddle runs");
    assert_eq!(output, without);
    fs::read_to_string(file).expect("a file of witnesses")
}

#[test]
fn a_line_for_each_consistent_pair() {
    let args = "verify examples/store-buffering.txt examples/iriw.txt --model sc,tso";
    assert_snapshot!(witnesses("witness-lines", args), @r#"{"history":"examples/store-buffering.txt","model":"tso","witness":[{"run":"P0.0","does":"W x 1"},{"run":"P0.1","does":"R y 0 <- init"},{"run":"P1.0","does":"W y 1"},{"run":"P1.1","does":"R x 0 <- init"},{"flush":"P0.0"},{"flush":"P1.0"}]}"#);
}

#[test]
fn the_same_runs_as_in_json() {
    let args = "verify --json examples/message-passing.jsonl examples/message-passing.txt";
    let written = witnesses("witness-json", args);
    let printed = run(args);
    let printed = printed.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut with_witness = printed.filter(|line: &Value| line["witness"].is_array());
    for line in written.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let printed = with_witness.next().expect("a consistent pair");
        for name in ["history", "model", "witness"] {
            assert_eq!(line[name], printed[name]);
        }
    }
    assert!(with_witness.next().is_none());
}

#[test]
fn nothing_is_consistent() {
    assert_eq!(witnesses("witness-none", "verify examples/iriw.txt examples/nowhere.txt"), "");
}
