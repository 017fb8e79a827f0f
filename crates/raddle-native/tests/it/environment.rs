//! What the environment of a program may do, and what counts as an error.

use std::num::NonZero;
use std::path::Path;
use std::sync::OnceLock;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, KindSet, Outcome, Verdict};
use raddle_native::{
    Environment, Object, ParallelOptions, Property, Request, Source, build, check_built,
    check_parallel,
};

fn object() -> &'static Object {
    static OBJECT: OnceLock<Object> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posix/environment.c");
        build(&Source { files: vec![path], ..Source::default() }).expect("it compiles")
    })
}

fn request(case: &str, environment: Environment) -> Request {
    let arguments = vec![case.to_owned()];
    Request { model: Model::Sc, arguments, environment, ..Request::new(&[]) }
}

fn explore(case: &str, environment: Environment) -> Outcome {
    check_built(object(), &request(case, environment)).expect("it loads")
}

/// The message of the first finding, or the verdict.
fn shown(case: &str, environment: Environment) -> String {
    let outcome = explore(case, environment);
    outcome.finding().map_or(outcome.verdict.name().to_owned(), |finding| finding.message.clone())
}

fn usual() -> Environment {
    Environment::default()
}

fn ignoring(kind: FindingKind) -> Environment {
    Environment { ignored: KindSet::from_iter([kind]), ..usual() }
}

#[test]
fn spurious_wakeups_are_explored_on_request() {
    let spurious = Environment { spurious: true, ..usual() };
    assert_eq!(shown("wait_once", spurious), "thread main: assertion failed: is_ready");
    assert_eq!(shown("wait_in_loop", spurious), "clean");
    let outcome = explore("wait_once", usual());
    assert_eq!(outcome.verdict, Verdict::Clean);
    let [remark] = &outcome.remarks[..] else { panic!("one remark: {:?}", outcome.remarks) };
    let start = "spurious wakeups were not explored, and the wait at ";
    assert!(remark.starts_with(start) && remark.ends_with("is in no loop (see --spurious)"));
    assert_eq!(explore("wait_in_loop", usual()).remarks, Vec::<String>::new());
    assert_eq!(explore("wait_once", spurious).remarks, Vec::<String>::new());
}

#[test]
fn allocations_fail_on_request() {
    let failing = Environment { malloc_may_fail: true, ..usual() };
    assert_eq!(shown("use_block", usual()), "clean");
    assert_eq!(shown("use_block", failing), "thread main: a null pointer is followed");
    assert_eq!(shown("check_block", failing), "clean");
}

#[test]
fn threads_that_are_not_joined_are_found_on_request() {
    let joining = Environment { require_join: true, ..usual() };
    assert_eq!(shown("join_nobody", usual()), "clean");
    let found = "nothing was not joined and may still run when main returns";
    assert_eq!(shown("join_nobody", joining), found);
    assert_eq!(shown("join_all", joining), "clean");
    assert_eq!(shown("leave", joining), "clean");
}

#[test]
fn a_livelock_hides_no_other_error() {
    let kinds = |outcome: &Outcome| -> Vec<FindingKind> {
        outcome.findings.iter().map(|finding| finding.kind).collect()
    };
    let found = explore("livelock_and_assertion", usual());
    assert_eq!(kinds(&found), [FindingKind::Assertion]);
    let request = request("livelock_and_assertion", usual());
    for jobs in [1, 3].into_iter().filter_map(NonZero::new) {
        let options = ParallelOptions { jobs, ..ParallelOptions::default() };
        let found = check_parallel(object(), &request, options).expect("it loads");
        assert_eq!(kinds(&found), [FindingKind::Assertion], "{jobs} jobs");
    }
    let all = Request { keep_going: true, ..request };
    let found = check_built(object(), &all).expect("it loads");
    assert_eq!(kinds(&found), [FindingKind::Assertion, FindingKind::Livelock]);
    assert_eq!(kinds(&explore("only_livelock", usual())), [FindingKind::Livelock]);
    assert_eq!(shown("only_livelock", ignoring(FindingKind::Livelock)), "clean");
}

#[test]
fn plain_accesses_are_relaxed_if_races_are_not_looked_for() {
    let under_c20 = |environment| {
        let request = Request { model: Model::C20, ..request("race", environment) };
        let found = check_built(object(), &request).expect("it loads");
        found.kind().map(FindingKind::name)
    };
    assert_eq!(under_c20(usual()), Some("race"));
    assert_eq!(under_c20(ignoring(FindingKind::Race)), Some("assertion"));
}

#[test]
fn a_property_says_what_is_an_error() {
    let property = |property: Property| Environment { ignored: property.ignored(), ..usual() };
    let reach = property(Property::UnreachCall);
    let reached = "thread reach: reach_error is called";
    assert_eq!(shown("crash_and_error", usual()), "thread crash: a null pointer is followed");
    assert_eq!(shown("crash_and_error", reach), reached);
    assert_eq!(shown("crash_and_error", property(Property::NoDeadlock)), "clean");
    let crash = shown("crash_and_error", property(Property::ValidMemsafety));
    assert_eq!(crash, "thread crash: a null pointer is followed");
    assert_eq!(shown("abort_and_error", usual()), "thread call_abort: the program calls abort");
    assert_eq!(shown("abort_and_error", reach), reached);
    assert_eq!(shown("error_after_abort", reach), "clean");
}

#[test]
fn nondeterministic_numbers_have_the_values_that_are_chosen() {
    let numbers = |first, last| Environment { nondet: Some((first, last)), ..usual() };
    assert_eq!(shown("number", usual()), "incomplete");
    assert_eq!(shown("number", numbers(0, 6)), "incomplete");
    assert!(shown("number", numbers(7, 7)).contains("assertion failed"));
    assert!(shown("number", numbers(-2, 9)).contains("assertion failed"));
}

fn built(file: &str) -> Object {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posix").join(file);
    build(&Source { files: vec![path], ..Source::default() }).expect("it compiles")
}

#[test]
fn files_are_read_if_they_are_named_and_written_to_the_report() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("in");
    std::fs::write(&path, "hello\n").expect("it is written");
    let object = built("files.c");
    let name = path.display().to_string();
    let explore = |readable: &[&Path], arguments: &[&str]| {
        let readable = readable.iter().map(|path| path.to_path_buf()).collect();
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        check_built(
            &object,
            &Request { model: Model::Sc, readable, arguments, ..Request::new(&[]) },
        )
    };
    let found = explore(&[&path], &[&name]).expect("it loads").findings.remove(0);
    assert_eq!(found.message, "thread main: assertion failed: argc > 9");
    let printed = found.trace.map(|trace| trace.printed).unwrap_or_default();
    assert_eq!(printed, "copy: hello\nlog: from a thread\n");
    let message = |readable: &[&Path], arguments: &[&str]| {
        explore(readable, arguments).expect("it loads").findings.remove(0).message
    };
    let refused = format!(
        "thread main: system call `openat` on {name:?}: files are only written, or read if --allow-read names them"
    );
    assert_eq!(message(&[], &[&name]), refused);
    let other = "thread read_again: system call `lseek`: the descriptor belongs to another thread, or was never opened";
    assert_eq!(message(&[&path], &[&name, "x"]), other);
    let missing =
        explore(&[&directory.path().join("missing")], &[&name]).expect_err("it is refused");
    assert!(missing.to_string().contains("missing: "), "{missing}");
}

#[test]
fn volatile_accesses_are_relaxed_on_request() {
    let object = built("volatile.c");
    let explore = |volatile_relaxed, arguments: &[&str]| {
        let environment = Environment { volatile_relaxed, ..usual() };
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let request = Request { arguments, environment, ..Request::new(&[]) };
        let outcome = check_built(&object, &request).expect("it loads");
        let message = outcome.finding().map(|finding| finding.message.clone());
        let message = message.unwrap_or_else(|| outcome.verdict.name().to_owned());
        (message.split(" between").next().unwrap_or_default().to_owned(), outcome.remarks.len())
    };
    assert_eq!(explore(false, &[]), ("data race on flag".into(), 1));
    assert_eq!(explore(true, &[]), ("clean".into(), 0));
    assert_eq!(explore(true, &["x"]), ("data race on data".into(), 0));
}
