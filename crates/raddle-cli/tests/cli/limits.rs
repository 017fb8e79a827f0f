//! Limits that hold, signals, and children that die: `raddle check` on compiled programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{raddle, scratch};

/// More execution classes than can be explored in a test: four threads increment a counter six times.
pub(crate) const LONG: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *run(void *unused) {
    long sum = 0;
    for (int i = 0; i < 6; i++)
        sum += atomic_fetch_add(&counter, 1);
    return (void *)sum;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
}
";

/// No event after the start.
const LOOP: &str = "int main(void) { for (unsigned n = 0;;) n++; }\n";

/// The bounded checker finds the failure of the second thread; the compiled program never leaves the loop of the first.
const LOOP_AND_BUG: &str = "#include <assert.h>
#include <pthread.h>
int x;
unsigned __VERIFIER_nondet_uint(void);
static void *endless(void *unused) {
    unsigned n = __VERIFIER_nondet_uint();
    while (n | 1)
        n++;
    return unused;
}
static void *wrong(void *unused) {
    assert(x);
    return unused;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, endless, 0);
    pthread_create(&u, 0, wrong, 0);
    pthread_join(u, 0);
}
";

/// A litmus test that is explored at once.
const LITMUS: &str = "X86 quick\n{ x=0; }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n";

pub(crate) fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

/// An executable script.
pub(crate) fn script(directory: &Path, name: &str, text: &str) -> String {
    let path = write(directory, name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

/// Exit status, standard output and standard error, without durations.
fn outcome(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().expect("raddle ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Starts `raddle` with an empty directory for temporary files.
pub(crate) fn start(args: &str, temporary: &Path) -> Child {
    fs::create_dir_all(temporary).expect("a directory");
    let mut command = raddle(args);
    command.env("TMPDIR", temporary).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("raddle starts")
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).expect("a directory").next().is_none()
}

/// Waits for a condition that comes true soon.
pub(crate) fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(5));
    }
}

/// The processes that the threads of a process have started.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| {
        list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()
    };
    lists.flat_map(numbers).collect()
}

fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

pub(crate) fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(process as i32).expect("a process");
    kill_process(process, signal).expect("it is there");
}

/// A program that is explored, and the file that shows that this has begun.
fn exploring(directory: &Path, flags: &str) -> (String, PathBuf) {
    let program = write(directory, "long.c", LONG);
    let left = directory.join("left");
    let file = left.display();
    (format!("check {program} --exact --model sc --checkpoint {file} --every 0.01 {flags}"), left)
}

#[test]
fn a_loop_without_events_ends_at_the_time_limit() {
    let directory = scratch("endless");
    let program = write(&directory, "loop.c", LOOP);
    let begin = Instant::now();
    let (status, stdout, stderr) =
        outcome(start(&format!("check {program} --timeout 0.5"), &directory.join("tmp")));
    let seconds = begin.elapsed().as_secs_f64();
    let message = format!(
        "{program}, c20: incomplete: the time limit was reached: raise it with --timeout\n"
    );
    assert_eq!((status, stderr.as_str()), (Some(3), ""));
    assert!(stdout.starts_with(&message), "{stdout}");
    // It ends within one second; the rest is for a machine that does other things.
    assert!(seconds < 3.0, "{seconds} s");
}

#[test]
fn confirming_a_counterexample_ends_at_the_time_limit() {
    let directory = scratch("bmc-endless");
    let (program, temporary) = (write(&directory, "loop.c", LOOP_AND_BUG), directory.join("tmp"));
    let begin = Instant::now();
    let args = format!("bmc {program} --cc gcc --replay-timeout 0.5");
    let (status, stdout, stderr) = outcome(start(&args, &temporary));
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!((status, stderr.as_str()), (Some(1), ""));
    let bug = format!("{program}, sc: thread main/1: assertion failed: x\n");
    assert!(stdout.starts_with(&bug), "{stdout}");
    let why = "\nNot confirmed by the compiled program: the time limit was reached: increase --replay-timeout\n";
    assert!(stdout.contains(why), "{stdout}");
    assert!(is_empty(&temporary));
    // It takes 1.5 seconds; the rest is for the solver and for a machine that does other things.
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn a_signal_ends_the_confirmation_of_a_counterexample() {
    let directory = scratch("bmc-signal");
    let (program, temporary) = (write(&directory, "loop.c", LOOP_AND_BUG), directory.join("tmp"));
    let child = start(&format!("bmc {program} --cc gcc --replay-timeout 600"), &temporary);
    let is_raddle = |process: u32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.ends_with(b"child-process\0")
    };
    wait_for("it confirms", || children(child.id()).into_iter().any(is_raddle));
    let explorers = children(child.id());
    send(child.id(), Signal::TERM);
    let (status, stdout, stderr) = outcome(child);
    assert_eq!((status, stderr.as_str()), (Some(143), ""));
    assert!(
        stdout.contains("\nNot confirmed by the compiled program: interrupted while "),
        "{stdout}"
    );
    wait_for("its children end", || !explorers.iter().any(|&it| is_alive(it)));
    assert!(is_empty(&temporary));
}

#[test]
fn a_compiler_that_hangs_is_ended_at_the_time_limit() {
    let directory = scratch("hangs");
    let program = write(&directory, "loop.c", LOOP);
    let number = directory.join("number");
    let compiler =
        script(&directory, "cc", &format!("sleep 600 &\necho $! > {}\nwait", number.display()));
    let args = format!("check {program} --cc {compiler} --timeout 0.4 --model sc,tso");
    let (status, stdout, stderr) = outcome(start(&args, &directory.join("tmp")));
    assert_eq!((status, stderr.as_str()), (Some(3), ""));
    assert!(stdout.starts_with("program"), "{stdout}");
    let notes = ["sc", "tso"].map(|model| {
        format!(
            "{program}, {model}: incomplete: the time limit was reached: raise it with --timeout\n"
        )
    });
    assert!(stdout.ends_with(&format!("\n{}", notes.concat())), "{stdout}");
    let sleeper =
        fs::read_to_string(number).expect("it has started").trim().parse().expect("a number");
    wait_for("the group of the compiler ends", || !is_alive(sleeper));
    assert!(is_empty(&directory.join("tmp")));
}

#[test]
fn a_program_that_needs_too_much_memory_is_ended() {
    let directory = scratch("memory");
    let text = "#include <stdlib.h>\n#include <string.h>\n\
                int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }\n";
    let program = write(&directory, "memory.c", text);
    let args = format!("check {program} --max-memory 128 --quiet");
    let (status, _, stderr) = outcome(start(&args, &directory.join("tmp")));
    let message = format!(
        "{program}, c20: incomplete: the memory limit of 128 MB was reached: raise it with \
         --max-memory, or use fewer workers (--jobs)\n"
    );
    assert_eq!((status, stderr), (Some(3), message));
}

#[test]
fn a_compiler_that_needs_too_much_memory_is_ended() {
    let directory = scratch("compiler-memory");
    let program = write(&directory, "loop.c", LOOP);
    // tail keeps the whole line.
    let compiler = script(&directory, "cc", "head -c 2000000000 /dev/zero | tail -n 1 > /dev/null");
    let args = format!("check {program} --max-memory 64 --cc {compiler} --quiet");
    let (status, _, stderr) = outcome(start(&args, &directory.join("tmp")));
    let message = format!(
        "{program}, c20: incomplete: the memory limit of 64 MB was reached: raise it with \
         --max-memory, or use fewer workers (--jobs)\n"
    );
    assert_eq!((status, stderr), (Some(3), message));
}

#[test]
fn a_signal_ends_an_exploration_and_tells_how_far_it_got() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let directory = scratch(&format!("signal-{status}"));
        let (args, left) = exploring(&directory, "--jobs 2");
        let temporary = directory.join("tmp");
        let child = start(&args, &temporary);
        wait_for("it has explored a part", || {
            let has_classes = |text: String| !text.contains("\"classes\":0,");
            fs::read_to_string(&left).is_ok_and(has_classes)
        });
        // Progress is reported at least as often.
        sleep(Duration::from_millis(200));
        let explorers = children(child.id());
        let workers: Vec<u32> = explorers.iter().flat_map(|&it| children(it)).collect();
        assert_eq!(explorers.len(), 1, "{explorers:?}");
        send(child.id(), signal);
        let (code, stdout, stderr) = outcome(child);
        assert_eq!(code, Some(status), "{stderr}");
        let head = format!(
            "{}, sc: incomplete: interrupted while exploring, after ",
            directory.join("long.c").display()
        );
        let first = stdout.lines().next().unwrap_or_default();
        let classes =
            first.strip_prefix(&head).and_then(|rest| rest.strip_suffix(" execution classes"));
        let classes: u64 = classes.unwrap_or_else(|| panic!("{stdout}")).parse().expect("a number");
        let left = left.display();
        let again =
            format!("to continue: raddle check --resume {left} {}", &args["check ".len()..]);
        assert_eq!(stderr.trim_end(), again.trim_end());
        assert!(classes > 0);
        assert!(stdout.contains(&format!("\n{classes} execution classes explored, ")), "{stdout}");
        let processes = || explorers.iter().chain(&workers);
        wait_for("all processes end", || !processes().any(|&it| is_alive(it)));
        assert!(is_empty(&temporary));
        let names: Vec<_> = fs::read_dir(&directory).expect("it is there").flatten().collect();
        assert_eq!(names.len(), 3, "long.c, left and tmp: {names:?}");
    }
}

#[test]
fn a_signal_ends_the_compiler() {
    let directory = scratch("signal-compiler");
    let program = write(&directory, "loop.c", LOOP);
    let number = directory.join("number");
    let text = format!("mktemp\necho $$ > {}\nsleep 600", number.display());
    let compiler = script(&directory, "cc", &text);
    let temporary = directory.join("tmp");
    let child = start(&format!("check {program} --cc {compiler}"), &temporary);
    wait_for("the compiler runs", || {
        fs::read_to_string(&number).is_ok_and(|it| it.ends_with('\n'))
    });
    send(child.id(), Signal::INT);
    let message = format!("{program}, c20: incomplete: interrupted while compiling the program\n");
    assert_eq!(outcome(child), (Some(130), message, String::new()));
    let compiler =
        fs::read_to_string(number).expect("it is there").trim().parse().expect("a number");
    wait_for("the compiler ends", || !is_alive(compiler));
    assert!(is_empty(&temporary));
}

#[test]
fn results_before_a_signal_are_printed() {
    let directory = scratch("signal-results");
    let litmus = write(&directory, "quick.litmus", LITMUS);
    let program = write(&directory, "loop.c", LOOP);
    // The second exploration waits for the only worker.
    let args = format!("check {litmus} {program} --model sc,tso --jobs 1");
    let child = start(&args, &directory.join("tmp"));
    let is_exploring = |process: u32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        // Compilers have been started and have ended.
        line.ends_with(b"child-process\0")
            && fs::read_dir(directory.join("tmp")).is_ok_and(|mut it| it.next().is_none())
    };
    wait_for("it explores", || children(child.id()).into_iter().any(is_exploring));
    sleep(Duration::from_millis(300));
    send(child.id(), Signal::INT);
    let (status, stdout, stderr) = outcome(child);
    assert_eq!((status, stderr.as_str()), (Some(130), ""));
    let lines: Vec<Vec<&str>> =
        stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], [litmus.as_str(), "Always", "Always"], "{stdout}");
    assert_eq!(lines[2], [program.as_str(), "incomplete", "incomplete"], "{stdout}");
    let notes = format!(
        "\n{program}, sc: incomplete: interrupted while exploring\n\
         {program}, tso: incomplete: interrupted while waiting for other programs\n"
    );
    assert!(stdout.ends_with(&notes), "{stdout}");
}

#[test]
fn a_child_that_dies_is_reported_with_what_it_was_doing() {
    let directory = scratch("dies");
    let (args, left) = exploring(&directory, "--json");
    let child = start(&args, &directory.join("tmp"));
    wait_for("it explores", || left.exists());
    send(children(child.id())[0], Signal::ABORT);
    let (status, stdout, stderr) = outcome(child);
    let program = directory.join("long.c").display().to_string();
    assert_eq!(status, Some(2));
    let (doing, rest) =
        stderr.split_once(": the child process was killed by signal 6\n").expect("the signal");
    assert!(
        doing.starts_with(&format!("raddle: internal error while exploring ({program}, sc")),
        "{stderr}"
    );
    let version = env!("CARGO_PKG_VERSION");
    let report = format!(
        "This is a bug in Raddle {version}. Please report it with the input files and this command line:\n"
    );
    assert!(rest.starts_with(&report) && rest.ends_with(&format!("{args}\n")), "{rest}");
    let line: serde_json::Value = serde_json::from_str(&stdout).expect("one line of JSON");
    assert_eq!((&line["program"], &line["model"]), (&program.into(), &"sc".into()));
    assert!(line["error"]["message"].as_str().is_some_and(|it| it.ends_with("signal 6")), "{line}");
}

#[test]
fn children_die_with_their_parent() {
    let directory = scratch("orphans");
    let (args, left) = exploring(&directory, "--jobs 2");
    let mut child = start(&args, &directory.join("tmp"));
    wait_for("it explores", || left.exists());
    sleep(Duration::from_millis(200));
    let explorers = children(child.id());
    let workers: Vec<u32> = explorers.iter().flat_map(|&it| children(it)).collect();
    assert_eq!((explorers.len(), workers.len()), (1, 1));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait_for("its children end", || !explorers.iter().chain(&workers).any(|&it| is_alive(it)));
}
