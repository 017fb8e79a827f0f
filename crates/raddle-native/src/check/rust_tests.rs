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
    /// Its options and their values, from `raddle_test::options`.
    pub options: Vec<(String, String)>,
}

/// What `raddle_test::options` calls an ignored test whose reason is the value of an option. The module around it is called as the
/// option, and the one around that as the test that has it.
const OPTION: &str = "::raddle_option";

/// The tests of an executable that was compiled with `--test`, in the order of its list.
///
/// # Errors
/// If it does not list its tests as Rust's test harness does.
pub fn rust_tests(object: &Object) -> Result<Vec<RustTest>, String> {
    let ignored = list(object, &["--ignored"])?;
    let (options, names): (Vec<String>, Vec<String>) =
        list(object, &[])?.into_iter().partition(|name| name.ends_with(OPTION));
    let test =
        |name: String| RustTest { is_ignored: ignored.contains(&name), name, options: vec![] };
    let mut tests: Vec<RustTest> = names.into_iter().map(test).collect();
    for (test, option, value) in read_options(object, &options)? {
        let known = tests.iter_mut().find(|known| known.name == test);
        let known =
            known.ok_or_else(|| format!("there are options for {test}, which is no test"))?;
        known.options.push((option, value));
    }
    Ok(tests)
}

/// Runs the tests that stand for options. Returns tests, their options and the values of these.
fn read_options(
    object: &Object,
    names: &[String],
) -> Result<Vec<(String, String, String)>, String> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    // More threads, and libtest would ask the system how many there should be.
    let first = ["--test-threads=1", "--exact"];
    let args: Vec<&str> = first.into_iter().chain(names.iter().map(String::as_str)).collect();
    let output = output(object, &args)?;
    let options = output.lines().filter_map(|line| {
        let (path, value) = line.strip_prefix("test ")?.split_once(" ... ignored, ")?;
        let (test, option) = path.strip_suffix(OPTION)?.rsplit_once("::")?;
        Some((test.to_owned(), option.replace('_', "-"), value.to_owned()))
    });
    Ok(options.collect())
}

/// The names of the tests.
fn list(object: &Object, more: &[&str]) -> Result<Vec<String>, String> {
    let output = output(object, &[&["--list", "--format=terse"], more].concat())?;
    let lines = output.lines().filter(|line| !line.ends_with(": benchmark"));
    let name = |line: &str| line.strip_suffix(": test").map(str::to_owned);
    let names = lines
        .map(|line| name(line).ok_or_else(|| format!("it prints {line:?} in place of its tests")));
    names.collect()
}

/// What the executable prints. It must end by itself, with status 0.
fn output(object: &Object, args: &[&str]) -> Result<String, String> {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let options = Options { args, ..Options::default() };
    let process = Process::start_file(&object.file, &options, &mut |_, _| false);
    let mut process = process.map_err(|error| error.to_string())?;
    match process.run_alone(BUDGET) {
        Ending::Exited(Status::Exited(0)) => {}
        Ending::Exited(status) => return Err(format!("it does not list its tests: {status}")),
        Ending::Stopped(event) => return Err(format!("it does not list its tests: {event}")),
    }
    Ok(String::from_utf8_lossy(&process.output().stdout).into_owned())
}
