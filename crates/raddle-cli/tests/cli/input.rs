//! Invalid history files.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use super::{raddle, run, run_with};

#[test]
fn an_error_is_reported_with_its_position() {
    assert_snapshot!(run_with("verify -", "P0: W x 1\nP1: R x\n"), @r"
exit 2
--- stdout
--- stderr
-:2:8: the line ends here: expected the value read
");
}

#[test]
fn an_invalid_memory_order() {
    let message = |history: &str| {
        let text = run_with("verify -", history);
        assert!(text.starts_with("exit 2\n--- stdout\n--- stderr\n"), "{text}");
        text.lines().nth(3).unwrap_or_default().to_owned()
    };
    let read = r#"{"thread":"P1","op":"read","location":"x","value":1,"order":"rel"}"#;
    let histories = [
        "P0: W x 1\nP1: R.rel x 0",
        "P0: W.acq x 1",
        "P0: W x 1; F.rlx",
        "P0: W x 2; CAS.ar x 0 1 failed 2",
        "P0: R.foo x 0",
        "P0: LOCK.acq m",
        "P0: F x",
        "P0: W x 1; R x 1\nP1: R x 1 <- P0.1",
        &format!("{{\"init\":{{\"x\":1}}}}\n{read}"),
    ];
    assert_snapshot!(histories.map(message).join("\n"), @r"
-:2:7: a read cannot have the memory order 'rel': expected na, rlx, acq or sc
-:1:7: a write cannot have the memory order 'acq': expected na, rlx, rel or sc
-:1:14: a fence cannot have the memory order 'rlx': expected acq, rel, ar or sc
-:1:16: a failed compare-exchange, which only reads, cannot have the memory order 'ar': expected rlx, acq or sc
-:1:7: 'foo' is not a memory order: expected one of na, rlx, acq, rel, ar, sc
-:1:10: LOCK has no memory order: expected LOCK alone
-:1:7: found 'x' after a fence, which has no location: expected ';' or the end of the line
-:2:14: P0.1 cannot be read from: expected a write, or init
-:2:62: a read cannot have the memory order 'rel': expected na, rlx, acq or sc
");
}

#[test]
fn an_error_is_reported_in_json() {
    assert_snapshot!(run_with("verify --json -", "P0: W x 1; R x 2 <- P0.0\n"), @r#"
exit 2
--- stdout
{"version":2,"history":"-","error":{"line":1,"column":21,"message":"P0.0 writes 1: expected a write of 2, the value read here"}}
--- stderr
-:1:21: P0.0 writes 1: expected a write of 2, the value read here
"#);
}

#[test]
fn a_missing_history_file() {
    assert_snapshot!(run("verify examples/nowhere.txt"), @r"
exit 2
--- stdout
--- stderr
examples/nowhere.txt: cannot read: No such file or directory (os error 2)
");
}

#[test]
fn a_missing_file_in_json() {
    assert_snapshot!(run("verify --json examples/nowhere.txt"), @r#"
exit 2
--- stdout
{"version":2,"history":"examples/nowhere.txt","error":{"message":"cannot read: No such file or directory (os error 2)"}}
--- stderr
examples/nowhere.txt: cannot read: No such file or directory (os error 2)
"#);
}

#[test]
fn other_histories_are_still_checked() {
    let text = run("verify --json --model sc examples/nowhere.txt examples/iriw.txt");
    assert!(text.starts_with("exit 2\n"), "{text}");
    assert!(
        text.contains(r#"{"version":2,"history":"examples/iriw.txt","model":"sc","verdict":"#),
        "{text}"
    );
}

#[test]
fn a_witness_file_that_cannot_be_written() {
    assert_snapshot!(run("verify examples/iriw.txt --witness examples/iriw.txt/w.jsonl"), @r"
exit 2
--- stdout
--- stderr
examples/iriw.txt/w.jsonl: cannot write: Not a directory (os error 20)
");
}

#[test]
fn the_number_of_jobs_does_not_change_the_output() {
    let files = "examples/iriw.txt examples/nowhere.txt examples/lock.txt examples/spawn-join.txt";
    let one = run(&format!("verify --json --jobs 1 {files}"));
    for jobs in [2, 3, 50] {
        assert_eq!(run(&format!("verify --json --jobs {jobs} {files}")), one);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let many = "examples/iriw.txt ".repeat(2000);
    let mut child = raddle(&format!("verify --json {many}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("raddle starts");
    drop(child.stdout.take());
    let mut complaints = String::new();
    let stderr = child.stderr.as_mut().expect("standard error is piped");
    stderr.read_to_string(&mut complaints).expect("UTF-8");
    assert_eq!(complaints, "");
    let status = child.wait().expect("raddle ends").code().expect("an exit status");
    assert!(status == 1 || status == 3, "the verdict counts, not the pipe: {status}");
}
