//! `raddle bmc`.

use std::process::Command;

use insta::assert_snapshot;

use super::{raddle, scratch};

/// The output of a bounded check, without sizes and times.
fn bmc(args: &str) -> String {
    output(&mut raddle(&format!("bmc {args}")))
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("raddle runs");
    let text = format!(
        "exit {}\n{}{}",
        output.status.code().expect("an exit status"),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let without_size = |line: &str| match line.split_once(" shared cells; ") {
        Some((before, _)) => format!("{before} shared cells"),
        None => line.trim_end().to_owned(),
    };
    text.lines().map(without_size).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_bug_is_confirmed_by_the_compiled_program() {
    assert_snapshot!(bmc("corpus/c/litmus/sb.c --model tso --cc gcc"));
}

#[test]
fn bounds_that_exclude_no_execution_are_a_proof() {
    assert_snapshot!(bmc("corpus/c/litmus/sb.c --model tso --rounds 8 -- -DSC"), @r"
    exit 0
    corpus/c/litmus/sb.c, tso: clean: no execution has a bug, and rounds=8, unwind=2 exclude no execution
    3 threads, 11 visible statements, 4 shared cells
    ");
}

#[test]
fn bounds_that_exclude_executions_are_no_proof() {
    assert_snapshot!(bmc("examples/peterson.c --rounds 2"));
}

#[test]
fn inputs_are_found_and_passed_to_the_compiled_program() {
    let directory = scratch("bmc-inputs");
    let trace = directory.join("trace.json");
    let printed = bmc(&format!("corpus/bmc/inputs.c --cc gcc --trace {}", trace.display()));
    assert!(printed.starts_with("exit 1\n"), "{printed}");
    assert!(
        printed.contains("main: __VERIFIER_nondet_int() = 123456  corpus/bmc/inputs.c:20"),
        "{printed}"
    );
    assert!(
        printed.contains("main: __VERIFIER_nondet_uchar() = 200  corpus/bmc/inputs.c:21"),
        "{printed}"
    );
    assert!(printed.contains("Confirmed: the compiled program has this execution."), "{printed}");
    let replayed = output(&mut raddle(&format!("replay {}", trace.display())));
    assert!(
        replayed.starts_with("exit 1\nerror[assertion]: thread main: assertion failed"),
        "{replayed}"
    );
}

/// The program has too many executions to explore them all.
#[test]
fn the_compiled_program_is_guided_to_a_bug() {
    let printed = bmc("corpus/bmc/rare.c --unwind 16 --cc gcc");
    assert!(printed.starts_with("exit 1\n"), "{printed}");
    assert!(printed.contains("Confirmed: the compiled program has this execution."), "{printed}");
}

#[test]
fn unsupported_statements_are_rejected_with_their_place() {
    assert_snapshot!(bmc("corpus/c/errors/fork.c"), @r"
    exit 2
    corpus/c/errors/fork.c:4: the function `fork` is neither defined nor supported: define it in the program
    ");
    assert_eq!(bmc("corpus/c"), "exit 2\ncorpus/c: this is a directory: expected a C file");
    assert_snapshot!(bmc("corpus/c/nothing.c"), @r"
    exit 2
    corpus/c/nothing.c: cannot read: No such file or directory (os error 2)
    ");
}

#[test]
fn bounds_are_increased_until_they_exclude_no_execution() {
    let printed = bmc("corpus/c/svcomp/nondet.c --deepen");
    assert!(printed.starts_with("exit 0\n"), "{printed}");
}

#[test]
fn json_has_the_keys_of_check() {
    let printed = bmc("corpus/c/litmus/sb.c --model tso --no-replay --json");
    for name in ["command", "program", "model", "by", "explorer", "verdict", "seconds", "bug"] {
        assert!(printed.contains(&format!("\"{name}\":")), "{printed}");
    }
    assert!(printed.contains("\"verdict\":\"bug\""), "{printed}");
    assert!(printed.contains("\"confirmed\":\"unknown\""), "{printed}");
}

/// The compiled program fails in another thread than the counterexample of the solver.
#[test]
fn a_confirmed_bug_is_the_same_in_text_and_json() {
    let program = "corpus/c/errors/double_free.c";
    let printed = bmc(&format!("{program} --cc gcc"));
    let (text, solver) = printed.split_once("Confirmed: ").expect("it is confirmed");
    assert!(text.contains(&format!("--> {program}:6:5\n")), "{text}");
    let solver: Vec<&str> = solver.lines().take(2).collect();
    let solver_bug = "thread main: memory is freed twice";
    let expected = [
        "the compiled program has this execution.",
        &format!(
            "The counterexample of the solver ends differently (double-free at {program}:14): {solver_bug}"
        ),
    ];
    assert_eq!(solver, expected);
    let printed = bmc(&format!("{program} --cc gcc --json"));
    let json = printed.strip_prefix("exit 1\n").expect("a bug");
    let fields: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(fields["bug"]["confirmed"], "yes");
    assert_eq!(fields["bug"]["kind"], "double-free");
    assert_eq!(fields["bug"]["place"], format!("{program}:6"));
    let message = fields["bug"]["message"].as_str().expect("a text");
    assert!(text.contains(message), "{message}\n{text}");
}

#[test]
fn formulas_and_sequential_programs_are_written() {
    let directory = scratch("bmc-files");
    let (c, cnf) = (directory.join("out.c"), directory.join("out.cnf"));
    let files = format!("--emit-c {} --dimacs {}", c.display(), cnf.display());
    bmc(&format!("corpus/c/litmus/sb.c --no-replay --model tso {files}"));
    let program = std::fs::read_to_string(c).expect("the program is written");
    assert!(program.contains("static word sma_read(int v, int t)"), "{program}");
    let formula = std::fs::read_to_string(cnf).expect("the formula is written");
    let (head, clauses) = formula.split_once('\n').expect("a head");
    let count = head.rsplit(' ').next().and_then(|count| count.parse::<usize>().ok());
    assert_eq!(count, Some(clauses.lines().count()), "{head}");
}
