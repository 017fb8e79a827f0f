//! `raddle verify --witness`.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use super::{raddle, run, scratch};

/// The witness file of a run. The output must be the same as without one.
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

const HISTORY: &str = "P0: W x 1\nP1: R x 1\n";

/// A command that runs `raddle` in a directory with the history `c.txt`.
fn beside_history(directory: &Path, args: &str) -> Command {
    fs::write(directory.join("c.txt"), HISTORY).expect("a file");
    let mut command = raddle(args);
    command.current_dir(directory);
    command
}

/// Asserts that a run is rejected and does not change the history.
fn assert_refused(directory: &Path, command: &mut Command) {
    let files = || fs::read_dir(directory).expect("a directory").count();
    let before = files();
    let output = command.output().expect("raddle runs");
    assert_eq!(output.status.code(), Some(2), "{command:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{command:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let complaint = "error: --witness would overwrite one of the histories: name another file";
    assert_eq!(stderr.lines().next(), Some(complaint), "{command:?}");
    assert_eq!(fs::read_to_string(directory.join("c.txt")).expect("the history"), HISTORY);
    assert_eq!(files(), before, "{command:?}");
}

#[test]
fn a_history_is_not_overwritten() {
    let directory = scratch("witness-history");
    fs::create_dir(directory.join("sub")).expect("a directory");
    let absolute = format!("verify c.txt --witness {}", directory.join("c.txt").display());
    for args in [
        "verify c.txt --witness c.txt",
        "verify c.txt --witness ./c.txt",
        "verify ./c.txt --witness sub/../c.txt",
        "verify other.txt c.txt --json --witness c.txt",
        "verify c.txt new.txt --witness ./new.txt",
        &absolute,
    ] {
        assert_refused(&directory, &mut beside_history(&directory, args));
    }
}

#[cfg(unix)]
#[test]
fn a_history_is_not_overwritten_through_a_link() {
    let directory = scratch("witness-link");
    std::os::unix::fs::symlink("c.txt", directory.join("link")).expect("a link");
    std::os::unix::fs::symlink(".", directory.join("here")).expect("a link");
    for args in [
        "verify c.txt --witness link",
        "verify link --witness c.txt",
        "verify c.txt --witness here/c.txt",
        "verify new.txt --witness here/new.txt",
    ] {
        assert_refused(&directory, &mut beside_history(&directory, args));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_history_on_standard_input_is_not_overwritten() {
    let directory = scratch("witness-stdin");
    let mut command = beside_history(&directory, "verify - --witness c.txt");
    command.stdin(fs::File::open(directory.join("c.txt")).expect("the history"));
    assert_refused(&directory, &mut command);
}

#[cfg(unix)]
#[test]
fn a_device_can_be_read_and_written() {
    let output = raddle("verify /dev/null --witness /dev/null").output().expect("raddle runs");
    assert_eq!(output, raddle("verify /dev/null").output().expect("raddle runs"));
}

#[test]
fn older_witnesses_are_replaced() {
    let directory = scratch("witness-older");
    let file = directory.join("w.jsonl");
    let args = "verify c.txt --model sc --witness w.jsonl";
    let mut written = vec![];
    for older in [String::new(), "older\n".repeat(1000)] {
        fs::write(&file, older).expect("a file");
        let output = beside_history(&directory, args).output().expect("raddle runs");
        assert!(output.status.success());
        written.push(fs::read_to_string(&file).expect("a file of witnesses"));
    }
    assert_eq!(written[0].lines().count(), 1);
    assert_eq!(written[0], written[1]);
}
