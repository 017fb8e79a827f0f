//! The files of `--checkpoint` and `--resume`: damage, changed programs and runs at the same time.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::limits::{LONG, send, start, wait_for, write};
use super::{run, scratch};

/// Two classes: a thread reads what another one writes. The header decides what it writes.
const SHORT: &str = "#include <pthread.h>
#include <stdatomic.h>
#include \"value.h\"
static atomic_int x;
static void *write(void *unused) {
    atomic_store(&x, VALUE);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write, 0);
    atomic_load(&x);
    pthread_join(thread, 0);
}
";

/// A program that was explored, and its checkpoint.
fn explored(name: &str) -> (PathBuf, String, PathBuf) {
    let directory = scratch(name);
    write(&directory, "value.h", "#define VALUE 1\n");
    let program = write(&directory, "short.c", SHORT);
    let left = directory.join("left");
    let text = run(&format!("check {program} --model sc --checkpoint {}", left.display()));
    assert!(text.starts_with("exit 0\n"), "{text}");
    (directory, program, left)
}

/// The message for a checkpoint that is refused.
fn refusal(program: &str, left: &Path) -> String {
    let text = run(&format!("check {program} --model sc --resume {}", left.display()));
    let head = format!("exit 2\n--- stdout\n--- stderr\n{program}: {}: ", left.display());
    text.strip_prefix(&head).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn a_checkpoint_is_one_of_the_linked_program() {
    let (directory, program, left) = explored("header");
    let resume = format!("check {program} --model sc --resume {}", left.display());
    assert!(run(&resume).starts_with("exit 0\n"));
    write(&directory, "value.h", "#define VALUE 2\n");
    let message = refusal(&program, &left);
    assert!(message.starts_with("it is about another exploration: `raddle "), "{message}");
    write(&directory, "value.h", "#define VALUE 1\n");
    assert!(run(&resume).starts_with("exit 0\n"));
    let other = run(&format!("{resume} -- -DOTHER"));
    assert!(other.contains("it is about another exploration: `raddle "), "{other}");
}

#[test]
fn damaged_checkpoints_are_refused_as_such() {
    let (_, program, left) = explored("damaged");
    let bytes = fs::read(&left).expect("it was written");
    let refused = |bytes: &[u8]| {
        fs::write(&left, bytes).expect("it can be written");
        refusal(&program, &left)
    };
    let line = bytes.iter().position(|&byte| byte == b'\n').expect("a first line") + 1;
    let length = bytes.len() - line;
    assert_eq!(
        refused(&bytes[..bytes.len() - 7]),
        format!(
            "the checkpoint is damaged: it is truncated, {} of {length} bytes are left\n",
            length - 7
        )
    );
    let mut flipped = bytes.clone();
    flipped[line + length / 2] ^= 1;
    assert_eq!(refused(&flipped), "the checkpoint is damaged: its checksum does not match\n");
    let other = String::from_utf8(bytes).expect("text").replacen("format 2", "format 7", 1);
    assert_eq!(
        refused(other.as_bytes()),
        "the checkpoint has format 7, but this version of Raddle reads format 2: explore from the start\n"
    );
    assert_eq!(refused(b"int main(void) {}\n"), "this is no checkpoint of an exploration\n");
    assert_eq!(refused(b""), "the checkpoint is damaged: the file is empty\n");
}

#[test]
fn two_runs_cannot_use_one_checkpoint() {
    let directory = scratch("locked");
    let program = write(&directory, "long.c", LONG);
    let left = directory.join("left");
    let check = format!("check {program} --model sc --timeout 1");
    let first = format!("check {program} --model sc --checkpoint {}", left.display());
    let mut child = start(&first, &directory.join("tmp"));
    wait_for("it explores", || left.exists());
    // Another spelling of the same file.
    let other = directory.join("tmp/../left").display().to_string();
    let expected = format!(
        "exit 2\n--- stdout\n--- stderr\n{program}: {}: another run of Raddle uses this checkpoint\n",
        left.canonicalize().expect("it exists").display()
    );
    assert_eq!(run(&format!("{check} --checkpoint {other}")), expected);
    assert_eq!(run(&format!("{check} --resume {other}")), expected);
    send(child.id(), Signal::KILL);
    child.wait().expect("it ends");
    let text = run(&format!("{check} --checkpoint {other} --resume {other}"));
    assert!(text.starts_with("exit 3\n"), "{text}");
    let mut names: Vec<String> = fs::read_dir(&directory)
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["left", "long.c", "tmp"]);
}
