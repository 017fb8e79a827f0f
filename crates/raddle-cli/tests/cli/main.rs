//! The `raddle` program: its output, error messages and exit statuses.

mod bmc;
mod c11;
mod check;
mod checkpoints;
mod convert;
mod documents;
mod estimate;
mod explain;
mod formats;
mod generate;
mod input;
mod json;
mod limits;
mod native;
mod overwrites;
mod parallel;
mod random;
mod recheck;
mod robust;
mod sampling;
mod schema;
mod stats;
mod sv_comp;
mod usage;
mod verify;
mod witness;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command that runs `raddle` in the root of the workspace.
fn raddle(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    command.current_dir(root).args(args.split_whitespace());
    command
}

/// Runs `raddle` and returns the exit status, standard output and standard error, for snapshots.
fn run(args: &str) -> String {
    run_with(args, "")
}

/// Like [`run`], with text on standard input.
fn run_with(args: &str, stdin: &str) -> String {
    let mut child = raddle(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("raddle starts");
    let mut input = child.stdin.take().expect("standard input is piped");
    // A command that fails early closes its standard input.
    let _ = input.write_all(stdin.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("raddle ends");
    format!(
        "exit {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().expect("an exit status"),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
}

/// Runs `raddle`, which must succeed without messages, and returns standard output.
fn stdout(args: &str) -> String {
    let output = raddle(args).output().expect("raddle runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args}: {stderr}");
    assert!(stderr.is_empty(), "{args}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// An empty directory for the files of the test with this name.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory for temporary files");
    path
}
