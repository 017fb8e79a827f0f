//! `raddle history convert`.

use std::fs;

use insta::assert_snapshot;

use super::{raddle, run, run_with, scratch, stdout};

#[test]
fn text_to_json_lines() {
    assert_snapshot!(stdout("history convert --format jsonl examples/lock.txt"), @r#"
{"recorded":false}
{"thread":"P0","op":"lock","lock":"m","from":"init"}
{"thread":"P0","op":"read","location":"n","value":0}
{"thread":"P0","op":"write","location":"n","value":1}
{"thread":"P0","op":"unlock","lock":"m"}
{"thread":"P1","op":"lock","lock":"m","from":"P0.3"}
{"thread":"P1","op":"read","location":"n","value":0}
{"thread":"P1","op":"write","location":"n","value":1}
{"thread":"P1","op":"unlock","lock":"m"}
"#);
}

#[test]
fn json_lines_to_text() {
    assert_snapshot!(stdout("history convert --format text examples/message-passing.jsonl"), @r"
P0: W data 42; W flag 1
P1: R flag 1 <- P0.1; R data 42 <- P0.0
");
}

#[test]
fn a_round_trip_preserves_the_history() {
    for example in fs::read_dir("../../examples").expect("there are examples") {
        let path = example.expect("a file").path();
        let is_program = ["litmus", "c", "cpp"].map(Some);
        if is_program.contains(&path.extension().and_then(|extension| extension.to_str())) {
            continue;
        }
        let path = path.strip_prefix("../..").expect("the root of the workspace").display();
        let text = stdout(&format!("history convert --format text {path}"));
        let json = stdout(&format!("history convert --format jsonl {path}"));
        let expected = |out: &str| format!("exit 0\n--- stdout\n{out}--- stderr\n");
        assert_eq!(run_with("history convert --format text -", &json), expected(&text));
        assert_eq!(run_with("history convert --format text -", &text), expected(&text));
    }
}

#[test]
fn to_a_file() {
    let file = scratch("convert-to-a-file").join("lock.jsonl");
    let run =
        raddle("history convert --format jsonl examples/lock.txt --output").arg(&file).status();
    assert!(run.expect("raddle runs").success());
    let written = fs::read_to_string(&file).expect("the file is there");
    assert_eq!(written, stdout("history convert --format jsonl examples/lock.txt"));
}

#[test]
fn to_a_file_that_cannot_be_written() {
    let args = "history convert --format text examples/lock.txt --output examples/lock.txt/out";
    assert_snapshot!(run(args), @r"
exit 2
--- stdout
--- stderr
examples/lock.txt/out: cannot write: Not a directory (os error 20)
");
}

#[test]
fn a_bad_history() {
    assert_snapshot!(run_with("history convert --format text -", "P0 W x 1\n"), @r"
exit 2
--- stdout
--- stderr
-:1:4: found 'W': expected ':' after 'P0', as in 'P0: W x 1'
");
}
