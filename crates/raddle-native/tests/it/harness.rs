//! Compiling programs, and running them natively and as guests.

use raddle_native::process::{Ending, Options, Process, Status};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// More instructions than any program of the tests needs.
pub(crate) const BUDGET: u64 = 2_000_000_000;

/// An executable in a directory of its own.
pub(crate) struct Built {
    pub(crate) directory: TempDir,
    pub(crate) path: PathBuf,
}

/// What a run did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: Result<Status, String>,
}

/// Compiles a file with the compiler of its language and these flags.
pub(crate) fn build(source: &Path, compiler: &str, flags: &[&str]) -> Built {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("program");
    let mut command = Command::new(compiler);
    command.args(flags).arg(source).arg("-o").arg(&path).current_dir(directory.path());
    match source.extension().and_then(|extension| extension.to_str()) {
        Some("c") => command.args(["-w", "-lm"]),
        Some("cpp") => command.args(["-w", "-std=c++17"]),
        _ => command.args(["--edition=2021", "-Awarnings", "--crate-name=program"]),
    };
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {flags:?} {}: {message}", source.display());
    Built { directory, path }
}

/// Compiles C code with gcc and these flags.
pub(crate) fn build_c(code: &str, flags: &[&str]) -> Built {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("program.c");
    std::fs::write(&source, code).expect("the file is writable");
    build(&source, "gcc", flags)
}

/// Whether a compiler is installed.
pub(crate) fn is_installed(compiler: &str) -> bool {
    let run = Command::new(compiler).arg("--version").stdout(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// Runs a program natively, without environment and input.
pub(crate) fn run_natively(program: &Path) -> Run {
    let mut command = Command::new(program);
    let output = command.env_clear().stdin(Stdio::null()).output().expect("the program starts");
    let exited = output.status.code().map(|code| Status::Exited(code as u8));
    let signalled = output.status.signal().map(|signal| Status::Signalled(signal as u8));
    Run {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        status: exited.or(signalled).ok_or_else(String::new),
    }
}

/// Starts a program as a guest.
pub(crate) fn start(program: &Path, options: &Options) -> Process {
    let process = Process::start(program, options);
    process.unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// Runs a program as a guest, without environment and input.
pub(crate) fn run_as_guest(program: &Path) -> Run {
    let mut process = match Process::start(program, &Options::default()) {
        Ok(process) => process,
        Err(error) => {
            let status = Err(error.to_string());
            return Run { stdout: String::new(), stderr: String::new(), status };
        }
    };
    let status = match process.run_alone(BUDGET) {
        Ending::Exited(status) => Ok(status),
        Ending::Stopped(event) => Err(event.to_string()),
    };
    let output = process.output();
    Run { stdout: text(&output.stdout), stderr: text(&output.stderr), status }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
