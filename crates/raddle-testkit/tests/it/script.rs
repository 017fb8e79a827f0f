//! Scripts: reading, printing, running.

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{Answer, End, LocalHistories, Naming, OpKind, Program};
use raddle_testkit::programs::classes;
use raddle_testkit::script::{MAX_ROUNDS, Script, ScriptProgram};

/// Everything the language has.
const EVERYTHING: &str = "\
x = 0
y = -3
cells = [0, 1, 7]
o = 2
lock m
lock n[2]
thread main {
    spawn a
    r = load x
    s = load cells[r + 1] acq
    load y sc
    store x (r + 1) * 2 rel
    store y (-1) na
    t = add x 1 ar
    max y 5
    t = cas x 0 r + 1
    t, ok = casw cells[2] 0 1 sc rlx
    _, ok = cas x 1 2 rel
    fence sc
    fence acq
    storefence
    lock m
    lock n[r]
    unlock n[r]
    unlock m
    sync o > 0 sub 1
    sync o any add 1
    sync o nobits 4 or 4
    c = choose 3
    if (c == 1 || r < 2) && s - (1 - r) != 0 {
        assume c == 1
    } else {
        repeat 3 {
            c = c + 1
            if c >= 2 {
                break
            }
        }
    }
    assert r == r
    loop {
        r = load x
        if r == 1 {
            break
        }
    }
    join a
}
thread a {
}
";

#[test]
fn what_is_printed_can_be_read() {
    let script = Script::parse(EVERYTHING).expect("a script");
    assert_eq!(script.to_string(), EVERYTHING);
}

#[test]
fn separators_and_comments_are_equivalent() {
    let one = Script::parse("x = 0; thread a { r = load x acq; store x 1 rel } // the end");
    let many =
        Script::parse("\nx = 0 // memory\n\nthread a {\n r = load x acq\n;; store x 1 rel }\n");
    assert_eq!(one, many);
    let script = one.expect("a script");
    assert!(script.is_parallel());
    assert_eq!(script.threads.len(), 2);
}

#[test]
fn operators_have_the_usual_precedence() {
    let value = |text: &str| {
        let script = Script::parse(&format!("thread main {{ r = {text} }}")).expect("a script");
        let classes = classes(&script, Model::Sc, 100).expect("few states");
        classes.into_values().next().expect("a class")[&ThreadId::new(0)][0]
    };
    assert_eq!(value("1 + 2 * 3 - 4"), 3);
    assert_eq!(value("(1 + 2) * 3 == 9"), 1);
    assert_eq!(value("1 < 2 && 2 <= 1 || 3 > 2"), 1);
    assert_eq!(value("1 != 1"), 0);
    assert_eq!(value("5 - 2 - 1"), 2);
    assert_eq!(value("9223372036854775807 + 1"), i128::from(i64::MIN));
    assert_eq!(value("-9223372036854775808"), i128::from(i64::MIN));
}

#[track_caller]
fn assert_error(text: &str, expected: &str) {
    let error = Script::parse(text).expect_err("not a script");
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn errors_name_the_position_and_what_was_expected() {
    assert_error("x", "1:2: expected '=', found the end of the statement");
    assert_error("x = y", "1:5: expected an initial value, found 'y'");
    assert_error("x = 0\nx = 1", "2:1: 'x' is declared twice: expected another name");
    assert_error("x = 0 y = 1", "1:7: expected ';' or a new line, found 'y'");
    assert_error("x = [1", "1:7: expected ',' or ']', found the end of the statement");
    assert_error("load = 1", "1:1: expected 'x = 0', 'lock m' or 'thread', found 'load'");
    assert_error(
        "x = 99999999999999999999",
        "1:5: '99999999999999999999' is not a number of 64 bits",
    );
    assert_error(
        "x = 9223372036854775808",
        "1:5: '9223372036854775808' is not a number of 64 bits",
    );
    assert_error("x = 0 ?", "1:7: found '?': expected a word, a number or a symbol");
    assert_error("thread a {", "2:1: expected a statement or '}', found the end of the text");
    assert_error("thread a { } thread b { }", "1:14: expected ';' or a new line, found 'thread'");
    assert_error(
        "thread a { }\nthread a { }",
        "2:8: the thread 'a' is defined twice: expected another name",
    );
    assert_error(
        "thread a { }\nthread main { }",
        "2:8: 'main' is not the first thread: expected it before all others",
    );
    assert_error(
        "thread a { load x }",
        "1:17: 'x' is not declared: expected a variable with a declaration above",
    );
    assert_error("x = 0; thread a { lock x }", "1:24: 'x' is not a lock: expected a lock");
    assert_error("lock m; thread a { load m }", "1:25: 'm' is not a variable: expected a variable");
    assert_error("x = [0, 0]; thread a { load x }", "1:31: expected '[', found '}'");
    assert_error(
        "x = 0; thread a { r = load x rel }",
        "1:30: expected one of na, rlx, acq, sc, found 'rel'",
    );
    assert_error("thread a { r, s = 3 }", "1:19: expected 'cas' or 'casw', found '3'");
    assert_error("thread a { _ = 3 }", "1:16: expected an operation that reads, found '3'");
    assert_error("thread a { r = }", "1:16: expected a number, a register or '(', found '}'");
    assert_error("thread a { r = 1 s = 2 }", "1:18: expected ';', a new line or '}', found 's'");
    assert_error("thread main { spawn b }", "1:21: the thread 'b' is not defined");
    assert_error(
        "thread main { spawn main }",
        "1:21: the thread 'main' is started twice: expected one 'spawn'",
    );
    assert_error(
        "thread a { spawn a }",
        "1:18: without a thread 'main' all threads are started implicitly: expected no 'spawn'",
    );
    assert_error(
        "thread main { spawn a; spawn a }\nthread a { }",
        "1:30: the thread 'a' is started twice: expected one 'spawn'",
    );
    assert_error(
        "thread main { repeat 2 { spawn a } }\nthread a { }",
        "1:32: 'spawn' in a loop: expected each thread to be started once",
    );
    assert_error(
        "thread main { loop { spawn a } }\nthread a { }",
        "1:28: 'spawn' in a loop: expected each thread to be started once",
    );
    assert_error(
        "o = 0; thread a { sync o add 1 }",
        "1:26: expected a guard: 'any', '==', '<', '>' or 'nobits', found 'add'",
    );
    assert_error(
        "thread a { repeat 0 { } }",
        "1:19: expected how often to repeat, from 1 to 10000, found '0'",
    );
    let deep = format!("thread a {{ r = {} }}", "(".repeat(1_000));
    assert_error(&deep, "1:115: nested too deeply: expected at most 100 levels");
}

#[test]
fn a_history_runs_only_its_new_part() {
    let text = "x = 0\nthread main { r = load x; store x r + 1; s = load x; assert s == 2 }";
    let script = Script::parse(text).expect("a script");
    let mut program = ScriptProgram::new(&script);
    let mut histories = LocalHistories::new();
    let start = histories.start(&mut program, &[], ThreadId::new(0), None);
    let first = histories.after(&mut program, &[], start, Answer::Value(1));
    let [effect] = histories.effects(first) else { panic!("there is one store") };
    assert!(matches!(effect.kind, OpKind::Store { value: 2, .. }));
    assert_eq!(program.place(effect.place), "main.1: store x r + 1");
    assert_eq!(program.location_name(LocationId::new(0)), "x");
    let good = histories.after(&mut program, &[], first, Answer::Value(2));
    let bad = histories.after(&mut program, &[], first, Answer::Value(0));
    assert_eq!(program.registers(good), [1, 2]);
    assert_eq!(program.registers(bad), [1, 0]);
    assert_eq!(*histories.end(good), End::Finished);
    assert!(
        matches!(histories.end(bad), End::Failed(failure) if failure.kind == FindingKind::Panic)
    );
}

/// The thread of a script that is `main`, after these answers.
fn end_after(text: &str, answers: &[Answer]) -> (End, Vec<i128>) {
    let script = Script::parse(text).expect("a script");
    let mut program = ScriptProgram::new(&script);
    let mut histories = LocalHistories::new();
    let mut node = histories.start(&mut program, &[], ThreadId::new(0), None);
    for &answer in answers {
        node = histories.after(&mut program, &[], node, answer);
    }
    (histories.end(node).clone(), program.registers(node).to_vec())
}

#[test]
fn break_leaves_the_innermost_loop() {
    let text = "x = 0\nthread main {
        loop { loop { r = load x; u = u + r; if u == 2 { break } }; s = s + 1; u = 0; if s == 2 { break } }
        t = 1 }";
    let one = Answer::Value(1);
    let (end, registers) = end_after(text, &[one, one]);
    assert!(matches!(end, End::Question(_)));
    assert_eq!(registers, [0, 1, 0, 1]);
    assert_eq!(end_after(text, &[one, one, one, one]), (End::Finished, vec![1, 2, 0, 1]));
}

#[test]
fn loops_without_questions_reach_the_limit() {
    assert_eq!(end_after("thread main { loop { } }", &[]).0, End::Limit);
    let long = format!("thread main {{ loop {{ r = r + 1; if r == {MAX_ROUNDS} {{ break }} }} }}");
    assert_eq!(end_after(&long, &[]), (End::Finished, vec![MAX_ROUNDS as i128]));
}

/// The end of the first thread after these answers, and which of the histories it repeats.
fn round_after(body: &str, answers: &[Answer]) -> (End, Option<usize>) {
    let text = format!("x = 0; y = 0; lock m\nthread main {{ {body} }}");
    let script = Script::parse(&text).expect("a script");
    let mut program = ScriptProgram::new(&script);
    let mut histories = LocalHistories::new();
    let mut nodes = vec![histories.start(&mut program, &[], ThreadId::new(0), None)];
    for &answer in answers {
        let last = *nodes.last().expect("a history");
        nodes.push(histories.after(&mut program, &[], last, answer));
    }
    let last = *nodes.last().expect("a history");
    let end = histories.end(last).clone();
    let repeated = match end {
        End::Repeats(start) => {
            assert!(program.is_same_state(&LocalHistories::new(), start, last));
            nodes.iter().position(|&node| node == start)
        }
        _ => None,
    };
    (end, repeated)
}

#[test]
fn rounds_without_effect_are_recognized() {
    let [zero, one] = [Answer::Value(0), Answer::Value(1)];
    let repeats = |body: &str, answers: &[Answer]| round_after(body, answers).1;
    let wait = "loop { r = load x; fence; if r == 1 { break } }";
    assert_eq!(repeats(wait, &[zero]), Some(0));
    assert_eq!(round_after(wait, &[one]).0, End::Finished);
    assert_eq!(repeats(&format!("s = load y; {wait}"), &[one, zero]), Some(1));
    let two = "loop { r = load x; if r == 1 { break }; s = load y }";
    assert_eq!(repeats(two, &[zero]), None);
    assert_eq!(repeats(two, &[zero, one]), None, "the second register is 1 at the end");
    assert_eq!(repeats(two, &[zero, zero]), Some(0));
    let lock = "loop { _, ok = cas x 0 1; if ok == 1 { break } }";
    assert_eq!(repeats(lock, &[one]), Some(0));
    let lock = "loop { r = swap x 1; if r == 0 { break } }";
    assert_eq!(repeats(lock, &[one]), Some(0));
    let weak = "loop { _, ok = casw x 0 1; if ok == 1 { break } }";
    assert_eq!(repeats(weak, &[Answer::Spurious(0)]), Some(0));
}

#[test]
fn rounds_with_effects_and_counters_go_on() {
    let zero = Answer::Value(0);
    let goes_on =
        |body: &str, answers: &[Answer]| matches!(round_after(body, answers).0, End::Question(_));
    assert!(goes_on("loop { r = load x; store y 0; if r == 1 { break } }", &[zero]));
    assert!(goes_on("loop { r = add x 1; if r == 1 { break } }", &[zero]));
    assert!(goes_on("loop { r = load x; n = n + 1; if n == 3 { break } }", &[zero]));
    assert!(goes_on("repeat 3 { r = load x }", &[zero]));
    let lock = "loop { lock m; r = load x; unlock m; if r == 1 { break } }";
    assert!(goes_on(lock, &[Answer::Initial, zero]));
}

/// A round with a choice need not be gone around again, but it does not go on forever either.
#[test]
fn rounds_with_choices_are_discarded() {
    let body = "loop { c = choose 2; r = load x; if r == 1 { break } }; c = 0";
    let answers = [Answer::Choice(1), Answer::Value(0)];
    assert_eq!(round_after(body, &answers).0, End::Assume);
}

#[test]
fn states_agree_if_their_live_registers_do() {
    let text = "x = 0\nthread main { r = load x; s = load x; assert s == 0; r = 1; t = load x }";
    let script = Script::parse(text).expect("a script");
    let mut program = ScriptProgram::new(&script);
    let mut histories = LocalHistories::new();
    let start = histories.start(&mut program, &[], ThreadId::new(0), None);
    let mut after = |program: &mut ScriptProgram, node, value| {
        histories.after(program, &[], node, Answer::Value(value))
    };
    let [one, two] = [1, 2].map(|value| after(&mut program, start, value));
    assert!(program.is_same_state(&LocalHistories::new(), one, two), "r is overwritten");
    assert!(!program.is_same_state(&LocalHistories::new(), start, one));
    let [one, two] = [one, two].map(|node| after(&mut program, node, 0));
    assert!(program.is_same_state(&LocalHistories::new(), one, two));
    let [three, four] = [3, 4].map(|value| after(&mut program, one, value));
    assert!(!program.is_same_state(&LocalHistories::new(), three, four), "t is a result");
    program.set_results_are_live(false);
    assert!(program.is_same_state(&LocalHistories::new(), three, four));
}

#[test]
fn threads_fail_at_invalid_operations() {
    let failure = |text: &str| {
        let script = Script::parse(text).expect("a script");
        let mut program = ScriptProgram::new(&script);
        let mut histories = LocalHistories::new();
        let start = histories.start(&mut program, &[], ThreadId::new(0), None);
        match histories.end(start) {
            End::Failed(failure) => (failure.kind, failure.message.clone()),
            other => panic!("{other:?}"),
        }
    };
    let (kind, message) = failure("a = [0, 0]\nthread main { r = 2; store a[r] 1 }");
    assert_eq!(
        (kind, message.as_str()),
        (FindingKind::Panic, "the index 2 is out of bounds: expected 0 to 1")
    );
    let (kind, message) = failure("lock m\nthread main { unlock m }");
    assert_eq!(
        (kind, message.as_str()),
        (FindingKind::Misuse, "the thread releases a lock that it does not hold")
    );
}

/// A cell that one thread accesses becomes a register, and the only writer of a cell reads its own last write. Strong
/// accesses, updates and accesses with a variable index stay.
#[test]
fn private_accesses_are_registers() {
    let script = Script::parse(
        "x = 0; own = 7; strong = 0; cells = [0, 0]
         thread a { r = load own; store own r + 1; s = load x; store x s; t = load cells[r] }
         thread b { r = load x; store strong 1 sc; r = load strong; store cells[1] 1 }",
    )
    .unwrap();
    let without = script.without_private();
    let body = |thread: usize| {
        let statements = without.threads[thread].body.iter().map(ToString::to_string);
        statements.collect::<Vec<_>>()
    };
    let a = ["own[0] = 7", "r = own[0]", "own[0] = r + 1", "s = x[0]", "x[0] = s"];
    assert_eq!(body(1)[..5], a);
    assert_eq!(body(1)[5..], ["store x x[0]", "t = load cells[r]"]);
    let b = ["r = load x", "store strong 1 sc", "r = load strong", "store cells[1] 1"];
    assert_eq!(body(2), b);
}
