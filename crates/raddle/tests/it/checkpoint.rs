//! Explorations that are interrupted, and go on: nothing is lost, and nothing counts twice.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::readers::readers;
use raddle::sync::Arc;
use raddle::sync::atomic::AtomicUsize;
use raddle::sync::atomic::Ordering::SeqCst;
use raddle::{Checker, Model, Outcome, Verdict, thread};

const MILLISECOND: Duration = Duration::from_millis(1);
/// How often what is left is written.
const EVERY: Duration = Duration::from_millis(5);

fn checker(path: &Path) -> Checker {
    Checker::new().model(Model::Sc).checkpoint(path, EVERY)
}

/// A file of this name in a folder of its own.
fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("left")
}

/// Explores for a millisecond, then for two, and so on until everything is explored.
fn explore_in_parts(path: &Path, jobs: usize, test: impl Fn()) -> (Outcome, u32) {
    let (mut time, mut times) = (MILLISECOND, 0);
    loop {
        let outcome = checker(path).jobs(jobs).timeout(time).explore(&test);
        if outcome.verdict != Verdict::Incomplete {
            return (outcome, times);
        }
        assert!(path.exists());
        (time, times) = (2 * time, times + 1);
    }
}

#[test]
fn what_is_left_when_the_time_is_up_is_explored_later() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = file(&folder);
    for jobs in [1, 2] {
        let (outcome, times) = explore_in_parts(&path, jobs, || drop(readers(16)));
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 1 << 16));
        assert!(times > 0 && !path.exists());
    }
}

#[test]
fn what_goes_wrong_is_reported_as_if_nothing_had_been_interrupted() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = file(&folder);
    let test = || {
        let ones: usize = readers(16).iter().sum();
        assert_ne!(ones, 16);
    };
    let (outcome, times) = explore_in_parts(&path, 1, test);
    assert!(times > 0 && !path.exists());
    let whole = Checker::new().model(Model::Sc).jobs(1).explore(test);
    let told = |outcome: &Outcome| outcome.finding().map(raddle::report_finding);
    assert!(whole.finding().is_some());
    assert_eq!((told(&outcome), outcome.counts.classes), (told(&whole), whole.counts.classes));
}

#[test]
fn what_is_about_another_test_is_not_gone_on_with() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = file(&folder);
    let outcome = checker(&path).timeout(Duration::ZERO).explore(|| drop(readers(8)));
    assert!(outcome.verdict == Verdict::Incomplete && path.exists());
    let other = checker(&path).explore(|| drop(readers(4)));
    assert_eq!((other.verdict, other.counts.classes), (Verdict::Clean, 16));
    std::fs::write(&path, "something else").expect("it can be written");
    let other = checker(&path).explore(|| drop(readers(4)));
    assert_eq!((other.verdict, other.counts.classes), (Verdict::Clean, 16));
}

#[test]
#[should_panic(expected = "a checkpoint supports none of max_executions, robust and leaks")]
fn what_is_counted_is_not_kept() {
    checker(Path::new("left")).max_executions(3).check(|| drop(readers(2)));
}

#[test]
#[should_panic(expected = "/nowhere/left: cannot write: No such file")]
fn what_cannot_be_written_is_told() {
    checker(Path::new("/nowhere/left")).check(|| drop(readers(2)));
}

/// Where the test below, which this process starts, keeps what is left, and writes how many classes there are.
const LEFT: &str = "RADDLE_TEST_LEFT";

#[test]
fn the_one_that_is_killed() {
    let Some(path) = std::env::var_os(LEFT).map(PathBuf::from) else { return };
    let outcome = checker(&path).jobs(2).explore(|| drop(readers(16)));
    let said = format!("{:?} {}", outcome.verdict, outcome.counts.classes);
    std::fs::write(path.with_extension("said"), said).expect("it can be written");
}

#[test]
fn whoever_is_killed_loses_and_counts_nothing_twice() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = file(&folder);
    let start = || {
        let mut command = Command::new(std::env::current_exe().expect("it has a name"));
        command.args(["--exact", "checkpoint::the_one_that_is_killed"]).env(LEFT, &path);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let said = path.with_extension("said");
    let mut began = 0;
    for moment in 0..20 {
        let mut child = start();
        // Sometimes it is killed before it has written anything.
        for _ in 0..if moment % 5 == 4 { 0 } else { 10_000 } {
            if path.exists() {
                break;
            }
            std::thread::sleep(MILLISECOND);
        }
        std::thread::sleep(Duration::from_millis(7 * moment % 31));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        began += u32::from(path.exists());
        // Every now and then it may come to its end, and the next one begins anew.
        if moment % 3 == 2 {
            assert!(start().wait().expect("it ends").success());
            assert_eq!(std::fs::read_to_string(&said).expect("it is said"), "Clean 65536");
            assert!(!path.exists());
        }
    }
    assert!(began > 0);
}

#[test]
fn how_many_classes_there_are_is_estimated() {
    let estimate = Checker::new().model(Model::Sc).estimate(
        || {
            let x = Arc::new(AtomicUsize::new(0));
            let add = |_| {
                let x = x.clone();
                thread::spawn(move || x.fetch_add(1, SeqCst))
            };
            let threads: Vec<_> = (0..7).map(add).collect();
            threads.into_iter().for_each(|thread| drop(thread.join()));
        },
        Duration::from_millis(300),
    );
    let ratio = estimate.expect("there are few events").classes / 5_040.0;
    assert!((0.5..=2.0).contains(&ratio), "{ratio}");
}
