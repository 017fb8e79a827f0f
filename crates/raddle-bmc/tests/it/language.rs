//! The C language: control flow, data, bounds, memory errors and unsupported constructs.

use raddle_bmc::BmcReport;
use raddle_core::outcome::{Bound, FindingKind, Verdict};

use super::support::check_text;

fn checked(text: &str, unwind: usize) -> BmcReport {
    let report = check_text(text, |options| options.unwind = unwind);
    report.expect("the program is supported")
}

fn verdict(text: &str, unwind: usize) -> Verdict {
    checked(text, unwind).outcome.verdict
}

/// File, line and message of the error for an unsupported program.
fn error(text: &str) -> String {
    let error = check_text(text, |_| {}).expect_err("the program is not supported");
    let place = error.place.rsplit('/').next().unwrap_or_default().to_owned();
    format!("{place}: {}", error.message)
}

#[test]
fn control_flow_and_data_follow_the_c_standard() {
    assert_eq!(verdict(include_str!("../programs/language.c"), 9), Verdict::Clean);
}

#[test]
fn loops_beyond_the_bound_are_reported() {
    let text = "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\nint main(void) {\n\
                int n = __VERIFIER_nondet_int(), i = 0;\nwhile (i < n) i++;\nassert(i != 7);\n}\n";
    let Some(Bound::Excluded(reasons)) = checked(text, 3).outcome.bound else {
        panic!("three iterations do not reach the bug")
    };
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    let expected = "program.c:5: a loop exceeds 3 iterations: raise --unwind";
    assert!(reasons[0].ends_with(expected), "{reasons:?}");
    let bug = checked(text, 7).counterexample.expect("seven iterations reach the bug");
    assert_eq!(bug.inputs[0].value, 7);
}

#[test]
fn recursion_beyond_the_bound_is_reported() {
    let text = "static int f(int n) { return n ? f(n - 1) : 0; }\nextern int __VERIFIER_nondet_int(void);\n\
                int main(void) { return f(__VERIFIER_nondet_int()); }\n";
    assert!(matches!(checked(text, 3).outcome.bound, Some(Bound::Excluded(_))));
}

#[test]
fn unsupported_constructs_are_reported_with_their_line() {
    assert_eq!(
        error("int main(void) {\n  float x = 1;\n}"),
        "program.c:2: floating-point values are not supported"
    );
    assert_eq!(
        error("struct s {\n  int a : 3;\n};\nint main(void) { struct s x; return x.a; }"),
        "program.c:2: bit-fields are not supported"
    );
    assert_eq!(
        error("int main(void) {\n\n  __asm__(\"nop\");\n}"),
        "program.c:3: inline assembly is not supported"
    );
    assert_eq!(
        error(
            "union u { int i; char c; };\nint main(void) {\n  union u x;\n  x.i = 3;\n  return x.c;\n}"
        ),
        "program.c:5: accesses of different sizes to the same memory are not supported (in x)"
    );
    assert_eq!(
        error("int g(int);\nint main(void) {\n  return g(1);\n}"),
        "program.c:3: the function `g` is neither defined nor supported: define it in the program"
    );
    assert_eq!(error("int main(void) {\n  return x;\n}"), "program.c:2: `x` is not declared");
    assert_eq!(error("int f(void) { return 0; }"), "program.c: the program has no function `main`");
}

#[test]
fn invalid_accesses_and_divisions_are_bugs() {
    let bug = |text: &str| {
        let bug = checked(text, 3).outcome.into_finding().expect("a bug");
        (bug.kind, bug.message)
    };
    let pair = |kind: FindingKind, message: &str| (kind, format!("thread main: {message}"));
    assert_eq!(
        bug("int main(void) { int *p = 0; return *p; }"),
        pair(FindingKind::Crash, "a null pointer is dereferenced")
    );
    assert_eq!(
        bug(
            "extern int __VERIFIER_nondet_int(void);\nint a[4];\nint main(void) { return a[__VERIFIER_nondet_int() & 7]; }"
        ),
        pair(FindingKind::Crash, "an access to invalid memory")
    );
    assert_eq!(
        bug(
            "#include <stdlib.h>\nint main(void) { int *p = malloc(4); *p = 1; free(p); return *p; }"
        ),
        pair(FindingKind::UseAfterFree, "memory is used after it was freed")
    );
    assert_eq!(
        bug(
            "extern int __VERIFIER_nondet_int(void);\nint main(void) { return 1 / __VERIFIER_nondet_int(); }"
        ),
        pair(FindingKind::Division, "a division by zero")
    );
}

/// Duff's device: the switch enters the loop once; a later iteration that passes the case label does not.
#[test]
fn a_switch_enters_a_loop_once() {
    let text = "#include <assert.h>\nint main(void) {\nint n = 7, c = 0, i = (n + 3) / 4;\nswitch (n % 4) {\n\
                case 0: do { c++;\ncase 3: c++;\ndefault: c++;\ncase 1: c++; } while (--i > 0);\n}\n\
                assert(c == 7);\n}\n";
    assert_eq!(verdict(text, 3), Verdict::Clean);
}

/// Only the type of an unreachable operand is computed: this creates no thread and no infinite recursion.
#[test]
fn unreachable_operands_of_conditionals_are_not_executed() {
    let thread = "#include <assert.h>\n#include <pthread.h>\nstatic int x, y;\n\
                  static void *run(void *a) { x = 1; return 0; }\nstatic void *look(void *a) { y = x; return 0; }\n\
                  int main(void) {\npthread_t t, u;\nint r = x ? pthread_create(&t, 0, run, 0) : 0;\n\
                  pthread_create(&u, 0, look, 0);\nassert(x == 0);\nreturn r;\n}\n";
    assert_eq!(verdict(thread, 2), Verdict::Clean);
    let function = "#include <assert.h>\nstatic int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n\
                    int main(void) { assert(fib(9) == 34); }\n";
    assert_eq!(verdict(function, 2), Verdict::Clean);
}
