//! `raddle verify --json`: one object per line, with stable keys.

use insta::assert_snapshot;
use serde_json::Value;

use super::{raddle, run, run_with};

/// The lines that a run prints on standard output, as JSON.
fn lines(args: &str) -> Vec<Value> {
    let output = raddle(args).output().expect("raddle runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_witness() {
    assert_snapshot!(run("verify --json --model sc,pso examples/message-passing.jsonl"), @r#"
exit 0
--- stdout
{"version":2,"history":"examples/message-passing.jsonl","model":"sc","verdict":"consistent","witness":[{"run":"P0.0","does":"W data 42"},{"run":"P0.1","does":"W flag 1"},{"run":"P1.0","does":"R flag 1 <- P0.1"},{"run":"P1.1","does":"R data 42 <- P0.0"}]}
{"version":2,"history":"examples/message-passing.jsonl","model":"pso","verdict":"consistent","witness":[{"run":"P0.0","does":"W data 42"},{"run":"P0.1","does":"W flag 1"},{"flush":"P0.1"},{"run":"P1.0","does":"R flag 1 <- P0.1"},{"flush":"P0.0"},{"run":"P1.1","does":"R data 42 <- P0.0"}]}
--- stderr
"#);
}

#[test]
fn a_cycle() {
    assert_snapshot!(run("verify --json --model sc examples/store-buffering.txt"), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/store-buffering.txt","model":"sc","verdict":"inconsistent","violation":{"kind":"cycle","message":"P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next","cycle":[{"from":"P0.0","to":"P0.1","why":"program"},{"from":"P0.1","to":"P1.0","why":"before-overwrite","source":"init y"},{"from":"P1.0","to":"P1.1","why":"program"},{"from":"P1.1","to":"P0.0","why":"before-overwrite","source":"init x"}],"derivation":[{"from":"P1.1","to":"P0.0","why":"before-overwrite","source":"init x"},{"from":"P0.1","to":"P1.0","why":"before-overwrite","source":"init y"}]}}
--- stderr
"#);
}

#[test]
fn a_lost_update() {
    assert_snapshot!(run("verify --json --model tso examples/lost-update.txt"), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/lost-update.txt","model":"tso","verdict":"inconsistent","violation":{"kind":"cycle","message":"P0.0 and P1.0 both update counter from its initial value","cycle":[{"from":"init counter","to":"P1.0","why":"program"},{"from":"P1.0","to":"init counter","why":"before-source","read":"P0.0"}],"derivation":[{"from":"P1.0","to":"P0.0","why":"before-overwrite","source":"init counter"},{"from":"P1.0","to":"init counter","why":"before-source","read":"P0.0"}]}}
--- stderr
"#);
}

#[test]
fn a_core() {
    assert_snapshot!(run("verify --json --no-closure --model sc examples/iriw.txt"), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/iriw.txt","model":"sc","verdict":"inconsistent","violation":{"kind":"core","message":"sc has no order for the whole execution","events":["P0.0","P1.0","P2.0","P2.1","P3.0","P3.1"],"size":"smallest"}}
--- stderr
"#);
}

#[test]
fn an_unwritten_value() {
    assert_snapshot!(run_with("verify --json --model sc -", "P0: W x 1; R x 7\n"), @r#"
exit 1
--- stdout
{"version":2,"history":"-","model":"sc","verdict":"inconsistent","violation":{"kind":"unwritten-value","message":"P0.1 reads x = 7, a value that no other event writes there","read":"P0.1"}}
--- stderr
"#);
}

#[test]
fn a_read_without_a_source() {
    let history = "P0: W x 1; W x 2; R x 1\nP1: W x 1; R x 2; R x 1; R x 2\n";
    assert_snapshot!(run_with("verify --json --model sc -", history), @r#"
exit 1
--- stdout
{"version":2,"history":"-","model":"sc","verdict":"inconsistent","violation":{"kind":"no-source","message":"P0.2 reads x = 1, but each of its possible sources is ruled out","read":"P0.2","derivation":[{"from":"P1.0","to":"P0.1","why":"own-store-first","read":"P1.1"},{"read":"P0.2","not_from":"P0.0","why":"own-store","by":"P0.1"},{"read":"P0.2","not_from":"P1.0","why":"own-store","by":"P0.1"}]}}
--- stderr
"#);
}

#[test]
fn a_search_that_gives_up() {
    let args = "verify --json --budget 0 --no-closure --model sc examples/iriw.txt";
    assert_snapshot!(run(args), @r#"
exit 3
--- stdout
{"version":2,"history":"examples/iriw.txt","model":"sc","verdict":"unknown","steps":0}
--- stderr
"#);
}

#[test]
fn every_line_names_its_history_and_model() {
    let histories = ["examples/message-passing.txt", "examples/spawn-join.txt"];
    let lines = lines(&format!("verify --json {}", histories.join(" ")));
    let pairs = histories.iter().flat_map(|&history| ["sc", "tso", "pso"].map(|m| (history, m)));
    assert_eq!(lines.len(), 6);
    for (line, (history, model)) in lines.iter().zip(pairs) {
        assert_eq!(line["history"], history);
        assert_eq!(line["model"], model);
        let evidence = match line["verdict"].as_str().expect("a verdict") {
            "consistent" => "witness",
            "inconsistent" => "violation",
            other => panic!("{other}"),
        };
        assert!(line[evidence].is_array() || line[evidence].is_object());
        assert_eq!(line.as_object().expect("an object").len(), 5);
    }
}

#[test]
fn errors_are_in_the_order_of_the_histories() {
    let files = "examples/iriw.txt examples/nowhere.txt examples/lock.txt";
    let lines = lines(&format!("verify --json --model sc {files}"));
    let histories: Vec<&str> =
        lines.iter().map(|line| line["history"].as_str().expect("a name")).collect();
    assert_eq!(histories.join(" "), files);
    assert!(lines[1]["error"]["message"].is_string());
    assert!(lines[1]["verdict"].is_null());
}

#[test]
fn names_are_escaped() {
    let output = raddle("verify --json").arg("no\"such\nfile").output().expect("raddle runs");
    let line: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(line["history"], "no\"such\nfile");
}
