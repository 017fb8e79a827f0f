//! Unmodified Rust tests: threads, locks and panics of the standard library.
//!
//! A guest is compiled once for all tests, with the flags of `cargo raddle`. If the toolchain does not accept them, the tests say so and
//! pass.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Verdict};
use raddle_native::{Object, Request, build, check_built, rust_hooks};
use tempfile::TempDir;

const FLAGS: [&str; 5] = [
    "--edition=2021",
    "-Awarnings",
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
];

/// Compiles a file of `tests/guests` with these options of rustc. `None` if the toolchain cannot.
pub(crate) fn compile(name: &str, options: &[&str]) -> Option<Object> {
    let directory = TempDir::new().expect("a temporary directory");
    let hooks = directory.path().join("hooks.s");
    std::fs::write(&hooks, rust_hooks()).expect("the directory is writable");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name);
    let program = directory.path().join("guest");
    let mut rustc = Command::new("rustc");
    rustc
        .env("RUSTC_BOOTSTRAP", "1")
        .args(FLAGS)
        .args(options)
        .arg(&source)
        .arg("-o")
        .arg(&program);
    let output = rustc.arg(format!("-Clink-arg={}", hooks.display())).output().ok()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("error[E"), "{message}");
        eprintln!("skipped: rustc does not compile guests: {message}");
        return None;
    }
    let files: Vec<PathBuf> = vec![program];
    let source = raddle_native::Source { files, ..Default::default() };
    Some(build(&source).expect("the executable is readable"))
}

/// The guest `std_threads.rs`, not optimised and optimised.
fn std_threads(is_optimised: bool) -> Option<&'static Object> {
    static GUESTS: [OnceLock<Option<Object>>; 2] = [OnceLock::new(), OnceLock::new()];
    let profile = if is_optimised { "-Copt-level=3" } else { "-g" };
    GUESTS[usize::from(is_optimised)]
        .get_or_init(|| compile("std_threads.rs", &["--test", profile]))
        .as_ref()
}

/// Explores a test of a guest.
pub(crate) fn explore(object: &Object, test: &str, model: Model, is_exact: bool) -> Outcome {
    let arguments = ["--exact", test, "--test-threads=1", "--nocapture"].map(String::from).to_vec();
    let request = Request { model, arguments, exact: is_exact, ..Request::new(&[]) };
    check_built(object, &request).unwrap_or_else(|error| panic!("{test}: {error}"))
}

/// What an exploration shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// No bug, and this many classes.
    Clean(u64),
    /// A bug of this kind, whose message contains this.
    Bug(FindingKind, &'static str),
}
use Shows::{Bug, Clean};

/// Checks tests with both profiles.
fn check(model: Model, expected: &[(&str, Shows)]) {
    for is_optimised in [false, true] {
        let Some(object) = std_threads(is_optimised) else { return };
        for &(test, shows) in expected {
            let outcome = explore(object, test, model, false);
            let what = format!("{test} under {model}, optimised: {is_optimised}: {outcome:?}");
            match shows {
                Clean(classes) => {
                    assert_eq!(outcome.verdict, Verdict::Clean, "{what}");
                    assert_eq!(outcome.counts.classes, classes, "{what}");
                }
                Bug(kind, message) => {
                    let finding = outcome.finding().unwrap_or_else(|| panic!("{what}"));
                    assert_eq!(finding.kind, kind, "{what}");
                    assert!(finding.message.contains(message), "{what}");
                }
            }
        }
    }
}

#[test]
fn threads_that_share_nothing_have_one_class() {
    let expected = ["two_empty", "local", "map", "sleep"].map(|test| (test, Clean(1)));
    check(Model::C20, &expected);
}

#[test]
fn critical_sections_have_a_class_for_each_order() {
    check(Model::C20, &[("mutex2", Clean(2)), ("mutex3", Clean(6)), ("ww", Clean(2))]);
}

#[test]
fn locks_that_are_tried() {
    check(
        Model::C20,
        &[
            ("try_lock", Clean(4)),
            (
                "try_lock_bad",
                Bug(FindingKind::Panic, "thread 'main' panicked: assertion failed: n == 2"),
            ),
            ("try_and_lock", Clean(3)),
        ],
    );
}

#[test]
fn threads_that_wait_for_each_other_are_a_deadlock() {
    check(
        Model::C20,
        &[
            ("self_deadlock", Bug(FindingKind::Deadlock, "main waits forever")),
            ("abba", Bug(FindingKind::Deadlock, "#2 wait forever")),
            ("lost_wakeup", Bug(FindingKind::Deadlock, "wait forever")),
            ("two_waiters_one_notify", Bug(FindingKind::Deadlock, "wait forever")),
            ("park_forever", Bug(FindingKind::Deadlock, "main waits forever")),
            // The scope may have taken the token.
            ("park_after_scope", Bug(FindingKind::Deadlock, "main waits forever")),
        ],
    );
}

#[test]
fn waits_that_end() {
    for test in [
        "condvar",
        "two_waiters_notify_all",
        "wait_timeout",
        "park",
        "park_once",
        "barrier",
        "once",
        "rw",
        "rw2r",
        "rr",
        "scope",
        "scope_empty",
        "scope_panics",
        "scope_park",
        "spin",
        "detached",
        "arc",
        "println",
        "moved_atomic",
    ] {
        for is_optimised in [false, true] {
            let Some(object) = std_threads(is_optimised) else { return };
            let outcome = explore(object, test, Model::C20, false);
            assert_eq!(outcome.verdict, Verdict::Clean, "{test}: {outcome:?}");
        }
    }
}

#[test]
fn failed_attempts_before_a_wait_are_explored() {
    let bug = Bug(FindingKind::Panic, "thread 'main' panicked: assertion `left != right` failed");
    check(Model::C20, &[("try_lock_then_lock", bug), ("try_read_then_read", bug)]);
}

#[test]
fn panics_are_bugs_unless_they_are_expected() {
    check(
        Model::C20,
        &[
            ("poison", Clean(1)),
            ("should", Clean(1)),
            ("should_bad", Bug(FindingKind::Panic, "thread 'main' panicked: other")),
            ("should_none", Bug(FindingKind::Panic, "the test or the main thread fails")),
            ("result", Bug(FindingKind::Panic, "the test or the main thread fails")),
        ],
    );
}

#[test]
fn races_and_freed_memory_are_found() {
    let race = Bug(FindingKind::Race, "data race on ");
    check(Model::C20, &[("static_mut", race), ("scope_race", race)]);
    let Some(object) = std_threads(false) else { return };
    let outcome = explore(object, "uaf", Model::C20, false);
    assert_eq!(outcome.finding().map(|it| it.kind), Some(FindingKind::UseAfterFree));
}

#[test]
fn places_are_in_the_source_of_the_test() {
    let Some(object) = std_threads(false) else { return };
    for test in ["abba", "try_lock_bad", "static_mut"] {
        let outcome = explore(object, test, Model::C20, false);
        let place = outcome.finding().and_then(|finding| finding.place.clone());
        let place = place.map(|place| place.to_string()).unwrap_or_default();
        assert!(place.contains("std_threads.rs:"), "{test}: {place}");
    }
}
