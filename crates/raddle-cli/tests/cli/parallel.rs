//! `raddle check --jobs`, `--checkpoint` and `--resume`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{raddle, run, scratch};

/// One thread writes three values to a heap cell, and N others read it: 4^N classes. With BAD, the main thread asserts
/// that not all of them read the third value, which fails in one class.
const READERS: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct shared { atomic_int value; int seen[N]; };
static struct shared *shared;
static void *writer(void *unused) {
    (void)unused;
    for (int i = 1; i < 4; i++)
        atomic_store(&shared->value, i);
    return 0;
}
static void *reader(void *seen) {
    int value = atomic_load(&shared->value);
#ifdef BAD
    *(int *)seen = value;
#endif
    return 0;
}
int main(void) {
    shared = calloc(1, sizeof *shared);
    pthread_t writes, reads[N];
    pthread_create(&writes, 0, writer, 0);
    for (int i = 0; i < N; i++)
        pthread_create(&reads[i], 0, reader, &shared->seen[i]);
    pthread_join(writes, 0);
    for (int i = 0; i < N; i++)
        pthread_join(reads[i], 0);
#ifdef BAD
    int thirds = 0;
    for (int i = 0; i < N; i++)
        thirds += shared->seen[i] == 2;
    assert(thirds < N);
#endif
    free(shared);
}
";

const FLAGS: &str = "-O0 -g -fPIC -fno-common -fno-builtin -fsanitize=thread -fno-omit-frame-pointer \
                     -fcf-protection=none -mno-avx -U_FORTIFY_SOURCE";

/// The program with this number of readers, compiled once.
fn compiled(name: &str, flags: &str) -> PathBuf {
    let directory = scratch(name);
    let (source, object) = (directory.join("readers.c"), directory.join("readers.o"));
    std::fs::write(&source, READERS).expect("it can be written");
    let mut gcc = Command::new("gcc");
    gcc.args(FLAGS.split_whitespace()).args(flags.split_whitespace()).arg("-c").arg(&source);
    let status = gcc.arg("-o").arg(&object).status().expect("gcc runs");
    assert!(status.success());
    object
}

fn answer(args: &str) -> Value {
    let output = raddle(args).output().expect("raddle runs");
    let text = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args}: {error}: {text}"))
}

fn assert_all(line: &Value, classes: u64) {
    assert_eq!((&line["verdict"], &line["classes"]), (&"clean".into(), &classes.into()), "{line}");
}

fn start(args: &str) -> Child {
    raddle(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("raddle starts")
}

/// Kills a run after some time. Returns `true` if it was still running.
fn kill_after(mut child: Child, time: Duration) -> bool {
    std::thread::sleep(time);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends").code().is_none()
}

/// Pseudo-random numbers that are the same in every run of the test.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

#[test]
fn a_killed_exploration_resumes_with_the_same_counts() {
    const CLASSES: u64 = 1 << 18;
    let program = compiled("killed", "-DN=9").display().to_string();
    let file = Path::new(&program).with_extension("left").display().to_string();
    let check = format!("check {program} --model sc --json --jobs 2");
    let kept = format!("{check} --checkpoint {file} --every 0.005");
    let begin = Instant::now();
    assert_all(&answer(&kept), CLASSES);
    let mut all = begin.elapsed().as_millis() as u64;
    // A finished exploration writes a checkpoint, too.
    assert_all(&answer(&format!("{check} --resume {file}")), CLASSES);
    let (mut number, mut killed, mut began) = (numbers(8), 0, 0);
    for moment in 0..20 {
        let time = Duration::from_millis(number(all));
        let was_there = kill_after(start(&kept), time);
        killed += u32::from(was_there);
        // The run may have ended already if the first one was slower.
        all = if was_there { all } else { all * 3 / 4 };
        if moment % 4 == 0 {
            let time = Duration::from_millis(number(all));
            kill_after(start(&format!("{kept} --resume {file}")), time);
        }
        let Ok(left) = std::fs::read_to_string(&file) else { continue };
        began += u32::from(left.contains("\"facts\":{"));
        assert_all(&answer(&format!("{check} --resume {file}")), CLASSES);
        std::fs::remove_file(&file).expect("it is there");
    }
    assert!(killed > 0 && began > 0, "{killed} were killed, {began} had begun");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    for (flags, verdict) in [("-DN=9", "clean"), ("-DN=7 -DBAD", "bug")] {
        let program = compiled("workers", flags).display().to_string();
        let text = |jobs| {
            let args = format!("check {program} --model tso --jobs {jobs}");
            let text = run(&args);
            let (before, _) = text.split_once(" thread run").expect("counts");
            let (classes, _thread_runs) = before.rsplit_once(", ").expect("counts");
            classes.to_owned()
        };
        let one = text(1);
        assert!(one.contains("262144 execution classes") == (verdict == "clean"), "{one}");
        assert!(one.contains("assertion failed: thirds < N") == (verdict == "bug"), "{one}");
        for jobs in [2, 3] {
            assert_eq!(text(jobs), one);
        }
    }
}

#[test]
fn the_remaining_work_is_saved_at_the_time_limit() {
    // Linking is a part of the time, so the program is linked before.
    let object = compiled("late", "-DN=10 -fno-sanitize=thread");
    let (program, file) = (object.with_extension("exe"), object.with_extension("left"));
    let gcc = Command::new("gcc").arg(&object).arg("-pthread").arg("-o").arg(&program).status();
    assert!(gcc.expect("gcc runs").success());
    let (program, file) = (program.display(), file.display());
    let check = format!("check {program} --model sc --json");
    let line = answer(&format!("{check} --checkpoint {file} --timeout 0.2"));
    assert_eq!(line["verdict"], "incomplete", "{line}");
    assert_all(&answer(&format!("{check} --resume {file}")), 1 << 20);
}

#[test]
fn only_the_same_exploration_is_resumed() {
    let program = compiled("other", "-DN=2").display().to_string();
    let file = Path::new(&program).with_extension("left").display().to_string();
    assert_all(&answer(&format!("check {program} --model sc --json --checkpoint {file}")), 16);
    let refused = |args: &str, why: &str| {
        let text = run(&format!("check {program} {args}"));
        assert!(text.starts_with("exit 2\n"), "{text}");
        assert!(text.contains(why), "{text}");
    };
    refused(&format!("--model tso --resume {file}"), "it is about another exploration: `raddle ");
    refused(
        &format!("--model sc --resume {file} -- -- x"),
        "it is about another exploration: `raddle ",
    );
    let why = "this is no checkpoint of an exploration";
    refused(&format!("--model sc --resume {program}"), why);
    refused("--model sc --resume nowhere", "nowhere: cannot read: No such file");
    let printed = run(&format!("check {program} --json --model sc --resume nowhere"));
    let error = "nowhere: cannot read: No such file or directory (os error 2)";
    let json = format!(
        r#"{{"version":2,"command":"check","program":"{program}","model":"sc","error":{{"message":"{error}"}}}}"#
    );
    let expected = format!("exit 2\n--- stdout\n{json}\n--- stderr\n{program}: {error}\n");
    assert_eq!(printed, expected);
    refused("--model sc --checkpoint /nowhere/left", "/nowhere/left: cannot write: No such file");
    let why = "--checkpoint and --resume require one program and one model";
    refused(&format!("--model sc,tso --checkpoint {file}"), why);
    let why = "optimal-dpor supports neither several workers nor checkpoints";
    refused("--model sc --explorer optimal-dpor --jobs 2", why);
    refused("--model sc --checkpoint left --leaks", "cannot be used with");
    let text = run("check examples/store-buffering.litmus --checkpoint left");
    assert!(text.contains("litmus tests do not support --checkpoint and --resume"), "{text}");
}

#[test]
fn an_exploration_of_a_program_with_an_edited_header_is_not_resumed() {
    let directory = scratch("edited-header");
    let (header, source) = (directory.join("value.h"), directory.join("program.c"));
    let left = directory.join("program.left").display().to_string();
    let write = |value| std::fs::write(&header, format!("#define VALUE {value}\n"));
    std::fs::write(&source, "#include \"value.h\"\nint main(void) { return VALUE; }\n")
        .expect("it can be written");
    write(0).expect("it can be written");
    let check = format!("check {} --model sc", source.display());
    let text = run(&format!("{check} --checkpoint {left}"));
    assert!(text.starts_with("exit 0\n"), "{text}");
    let text = run(&format!("{check} --resume {left}"));
    assert!(text.starts_with("exit 0\n"), "{text}");
    write(1).expect("it can be written");
    let text = run(&format!("{check} --resume {left}"));
    assert!(text.starts_with("exit 2\n"), "{text}");
    assert!(text.contains("it is about another exploration"), "{text}");
}

#[test]
fn an_interrupted_compilation_leaves_no_files() {
    let directory = scratch("interrupted");
    let temporary = directory.join("temporary");
    std::fs::create_dir_all(&temporary).expect("it can be made");
    let source = directory.join("slow.cpp");
    std::fs::write(
        &source,
        "#include <regex>\n#include <map>\nint main() { std::regex r(\"a\"); }\n",
    )
    .expect("it can be written");
    let mut command = raddle(&format!("check {} --model sc", source.display()));
    command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("raddle starts");
    assert!(kill_after(child, Duration::from_millis(300)), "the compiler was faster");
    let is_ours = |file: &std::fs::DirEntry| file.file_name().to_string_lossy().contains("raddle");
    let files = std::fs::read_dir(&temporary).expect("it is there").flatten();
    assert_eq!(files.filter(is_ours).count(), 0);
}
