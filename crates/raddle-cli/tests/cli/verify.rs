//! `raddle verify`: the table of verdicts, the reasons below it, and the exit status.

use insta::assert_snapshot;

use super::{raddle, run, run_with};

const EXAMPLES: &str = "examples/iriw.txt examples/lock.txt examples/lost-update.txt \
    examples/message-passing-fenced.txt examples/message-passing.jsonl \
    examples/message-passing.txt examples/several-sources.txt examples/spawn-join.txt \
    examples/store-buffering.txt";

/// A budget that suffices only if the closure decides the history.
const GIVE_UP: &str = "--budget 0 --no-closure";

fn exit_status(args: &str) -> i32 {
    let output = raddle(args).output().expect("raddle runs");
    output.status.code().expect("an exit status")
}

#[test]
fn all_examples_under_the_models_with_store_buffers() {
    assert_snapshot!(run(&format!("verify {EXAMPLES}")), @r"
exit 1
--- stdout
history                              sc            tso           pso
examples/iriw.txt                    inconsistent  inconsistent  inconsistent
examples/lock.txt                    inconsistent  inconsistent  inconsistent
examples/lost-update.txt             inconsistent  inconsistent  inconsistent
examples/message-passing-fenced.txt  inconsistent  inconsistent  inconsistent
examples/message-passing.jsonl       consistent    consistent    consistent
examples/message-passing.txt         inconsistent  inconsistent  consistent
examples/several-sources.txt         consistent    consistent    consistent
examples/spawn-join.txt              consistent    consistent    consistent
examples/store-buffering.txt         inconsistent  consistent    consistent

examples/iriw.txt, sc, tso, pso: P0.0 -> P2.0 -> P2.1 -> P1.0 -> P3.0 -> P3.1 -> P0.0 must each come before the next
examples/lock.txt, sc, tso, pso: P0.2 -> P0.3 -> P1.0 -> P1.1 -> P0.2 must each come before the next
examples/lost-update.txt, sc, tso, pso: P0.0 and P1.0 both update counter from its initial value
examples/message-passing-fenced.txt, sc, tso, pso: P0.0 -> P0.2 -> P1.0 -> P1.1 -> P0.0 must each come before the next
examples/message-passing.txt, sc, tso: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
examples/store-buffering.txt, sc: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
--- stderr
");
}

#[test]
fn consistent_histories() {
    let files = "examples/message-passing.jsonl examples/several-sources.txt";
    assert_snapshot!(run(&format!("verify {files} --model pso")), @r"
exit 0
--- stdout
history                         pso
examples/message-passing.jsonl  consistent
examples/several-sources.txt    consistent
--- stderr
");
}

#[test]
fn a_search_that_gives_up() {
    assert_snapshot!(run(&format!("verify {GIVE_UP} examples/iriw.txt --model sc,tso")), @r"
exit 3
--- stdout
history            sc       tso
examples/iriw.txt  unknown  unknown

examples/iriw.txt, sc, tso: given up after 0 steps: a larger --budget may decide it
--- stderr
");
}

#[test]
fn reasons_of_all_kinds() {
    let overwritten = "P0: W x 1; R x 0\n";
    assert_snapshot!(run_with("verify --model sc -", overwritten), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: P0.1 reads the initial value of x after P0.0 has overwritten it
--- stderr
");
    let own_past = "P0: R x 1; W x 1\n";
    assert_snapshot!(run_with("verify --model pso -", own_past), @r"
exit 1
--- stdout
history  pso
-        inconsistent

-, pso: P0.0 reads x from P0.1, which comes later
--- stderr
");
    let unwritten = "P0: W x 1; R x 7\n";
    assert_snapshot!(run_with("verify --model tso -", unwritten), @r"
exit 1
--- stdout
history  tso
-        inconsistent

-, tso: P0.1 reads x = 7, a value that no other event writes there
--- stderr
");
    let no_source = "P0: W x 1; W x 2; R x 1\nP1: W x 1; R x 2; R x 1; R x 2\n";
    assert_snapshot!(run_with("verify --model sc -", no_source), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: P0.2 reads x = 1, but each of its possible sources is ruled out
--- stderr
");
    let locks = "P0: LOCK m\nP1: LOCK m\n";
    assert_snapshot!(run_with("verify --model sc -", locks), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: P0.0 and P1.0 are both the first to take m
--- stderr
");
    let part = "P0: W x 1; R y 0; W z 1\nP1: W y 1; R x 0; R z 0\n";
    assert_snapshot!(run_with("verify --no-closure --model sc -", part), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: sc has no order for the first 2 events of P0 and the first 2 events of P1
--- stderr
");
}

#[test]
fn standard_input_beside_files() {
    let args = "verify --model tso,sc examples/store-buffering.txt -";
    assert_snapshot!(run_with(args, "P0: W x 1\nP1: R x 1\n"), @r"
exit 1
--- stdout
history                       tso         sc
examples/store-buffering.txt  consistent  inconsistent
-                             consistent  consistent

examples/store-buffering.txt, sc: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
--- stderr
");
}

#[test]
fn standard_input_in_json_lines() {
    let line = r#"{"thread":"P0","op":"write","location":"x","value":1}"#;
    assert_snapshot!(run_with("verify -", line), @r"
exit 0
--- stdout
history  sc          tso         pso
-        consistent  consistent  consistent
--- stderr
");
}

#[test]
fn a_history_without_events() {
    assert_snapshot!(run_with("verify -", "P0:\n"), @r"
exit 0
--- stdout
history  sc          tso         pso
-        consistent  consistent  consistent
--- stderr
");
}

#[test]
fn an_invalid_line_does_not_hide_the_other_histories() {
    let args = "verify --model sc examples/lock.txt - examples/spawn-join.txt";
    assert_snapshot!(run_with(args, "P0: W x 1\nP1: X y 1\n"), @r"
exit 2
--- stdout
history                  sc
examples/lock.txt        inconsistent
examples/spawn-join.txt  consistent

examples/lock.txt, sc: P0.2 -> P0.3 -> P1.0 -> P1.1 -> P0.2 must each come before the next
--- stderr
-:2:5: found 'X': expected an event: R, W, RMW, CAS, F, F.ss, LOCK, UNLOCK, SPAWN or JOIN
");
}

#[test]
fn the_exit_status_is_the_worst() {
    let good = "examples/spawn-join.txt";
    let inconsistent = "examples/store-buffering.txt";
    let bad = "examples/nowhere.txt";
    assert_eq!(exit_status(&format!("verify {good}")), 0);
    // No event writes the value of this read, which is detected without a search.
    let unwritten = "P0: W x 1; R x 7\n";
    let unknown = format!("verify {GIVE_UP} {good}");
    assert_eq!(exit_status(&unknown), 3);
    assert!(run_with(&format!("{unknown} -"), unwritten).starts_with("exit 1\n"));
    assert!(run_with(&format!("{unknown} - {bad}"), unwritten).starts_with("exit 2\n"));
    assert_eq!(exit_status(&format!("verify {good} {inconsistent}")), 1);
    assert_eq!(exit_status(&format!("verify {inconsistent} {good}")), 1);
    assert_eq!(exit_status(&format!("verify {bad} {inconsistent}")), 2);
    assert_eq!(exit_status(&format!("verify {inconsistent} {bad}")), 2);
    assert_eq!(exit_status(&format!("{unknown} {bad}")), 2);
    assert_eq!(exit_status(&format!("verify {good} {bad}")), 2);
}

#[test]
fn models_are_in_the_order_given_and_unique() {
    assert_snapshot!(run("verify --model tso,sc,tso examples/message-passing.txt"), @r"
exit 1
--- stdout
history                       tso           sc
examples/message-passing.txt  inconsistent  inconsistent

examples/message-passing.txt, tso, sc: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
--- stderr
");
    let twice = run("verify --model tso --model sc examples/message-passing.txt");
    assert_eq!(run("verify --model tso,sc,tso examples/message-passing.txt"), twice);
}

#[test]
fn all_models() {
    let run = |models: &str| run(&format!("verify{models} examples/message-passing.txt"));
    assert_eq!(run(""), run(" --model sc,tso,pso"));
    let c11 = "sra,ra,wra,rc20,relaxed,rc11,c20";
    assert_eq!(run(" --model all"), run(&format!(" --model sc,tso,pso,{c11}")));
    assert_eq!(run(" --model pso,all"), run(&format!(" --model pso,sc,tso,{c11}")));
}

#[test]
fn the_number_of_jobs_does_not_change_the_output() {
    for mode in ["", "--explain", "--json", "--recheck", "--json --recheck"] {
        let one = run(&format!("verify {mode} --jobs 1 {EXAMPLES} examples/nowhere.txt"));
        let eight = run(&format!("verify {mode} --jobs 8 {EXAMPLES} examples/nowhere.txt"));
        assert_eq!(one, eight, "{mode}");
    }
}
