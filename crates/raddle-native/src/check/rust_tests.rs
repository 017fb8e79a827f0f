//! The tests of an executable, as it lists them itself.

use crate::build::Object;
use crate::process::{Ending, Options, Process, Status};

/// More instructions than a list of ten thousand tests needs.
const BUDGET: u64 = 2_000_000_000;

/// A test of a Rust test executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustTest {
    /// Its path, as `module::function`.
    pub name: String,
    /// It has the attribute `#[ignore]`.
    pub is_ignored: bool,
}

/// The tests of an executable that was compiled with `--test`, in the order of its list.
///
/// # Errors
/// If it does not list its tests as Rust's test harness does.
pub fn rust_tests(object: &Object) -> Result<Vec<RustTest>, String> {
    let ignored = list(object, &["--ignored"])?;
    let test = |name: String| RustTest { is_ignored: ignored.contains(&name), name };
    Ok(list(object, &[])?.into_iter().map(test).collect())
}

fn list(object: &Object, more: &[&str]) -> Result<Vec<String>, String> {
    let args = ["--list", "--format=terse"].iter().chain(more).map(|&arg| arg.to_owned()).collect();
    let options = Options { args, ..Options::default() };
    let process = Process::start_file(&object.file, &options, &mut |_, _| false);
    let mut process = process.map_err(|error| error.to_string())?;
    match process.run_alone(BUDGET) {
        Ending::Exited(Status::Exited(0)) => {}
        Ending::Exited(status) => return Err(format!("it does not list its tests: {status}")),
        Ending::Stopped(event) => return Err(format!("it does not list its tests: {event}")),
    }
    let output = String::from_utf8_lossy(&process.output().stdout);
    let lines = output.lines().filter(|line| !line.ends_with(": benchmark"));
    let name = |line: &str| line.strip_suffix(": test").map(str::to_owned);
    let names = lines
        .map(|line| name(line).ok_or_else(|| format!("it prints {line:?} in place of its tests")));
    names.collect()
}
