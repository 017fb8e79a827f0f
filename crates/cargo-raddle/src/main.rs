//! `cargo raddle test`: explores the tests of a package, without changes to its code.
//!
//! - `arguments`: which arguments are cargo's, the test harness's and Raddle's.
//! - `toolchain`: the compiler, and the flags that it accepts.
//! - `build`: cargo compiles the tests; this program is the wrapper of the compiler.
//! - `wrapper`: adds the flags to the compilation of what runs in tests.

#![forbid(unsafe_code)]

mod arguments;
mod build;
mod toolchain;
mod wrapper;

use std::ffi::OsString;
use std::process::ExitCode;

use arguments::{Arguments, Request};

/// The exit status for an invalid command line, or a package that cannot be compiled.
const INVALID: u8 = 2;

const HELP: &str = "\
Explore the tests of a package: all interleavings and weak behaviours that a memory model allows

Usage: cargo raddle test [OPTIONS] [CARGO OPTIONS] [TESTNAME] [-- [FILTERS] [--exact] [--skip F] [--ignored] [--list]]

Every #[test] is explored on its own, as `raddle check` explores a program, and the report is that of `cargo test`.
Nothing in the package changes. A test passes if no execution fails.

Options (those of `raddle check`):
  --model MODELS        Memory models, separated by commas, or all [default: c20]
  --timeout S           Stop the exploration of a test after this many seconds
  --jobs N              Number of tests that are explored at the same time [default: the number of processors]
  --classes             Count all classes, as the literature does (--exact of raddle check)
  --max-executions N, --max-events N, --unroll N, --max-memory MB
                        Bounds of the exploration of a test: its result is incomplete if it reaches one
  --explorer NAME, --by EQUIVALENCE, --iterations N, --seed S, --depth D
                        The algorithm, or random testing
  --spurious            Let threads wake up spuriously from condition variables and park
  --keep-going          Report all distinct errors of a test instead of the most important one
  --no-livelock, --no-races
                        Do not report livelocks, or data races
  --leaks               Report memory that is not freed and unreachable at the end of a test
  --json                Print one JSON object per line for each test and model

All other options are those of `cargo test`, such as --release, --package, --features, --lib and --test.

Exit status: 0 if all tests pass, 101 if a test fails or does not compile, 3 if a test was not explored to its end, 2 for an
invalid command line.
";

fn main() -> ExitCode {
    if let Some(exit) = raddle_cli::serve_parent() {
        return exit;
    }
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(flags) = std::env::var_os(wrapper::FLAGS) {
        return wrapper::run(&flags.to_string_lossy(), &args);
    }
    // `cargo raddle` passes its own name on.
    if args.first().is_some_and(|first| first == "raddle") {
        args.remove(0);
    }
    match Arguments::parse(args) {
        Ok(Request::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Request::Version) => {
            println!("cargo-raddle {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Ok(Request::Test(arguments)) => test(&arguments),
        Err(error) => fail(&error),
    }
}

fn test(arguments: &Arguments) -> ExitCode {
    match build::build(arguments) {
        Ok(binaries) if arguments.is_no_run => {
            for binary in binaries {
                eprintln!("  Executable {} ({})", binary.title, binary.path.display());
            }
            ExitCode::SUCCESS
        }
        Ok(binaries) => raddle_cli::run_tests(&binaries, &arguments.selection, &arguments.options),
        Err(build::Error::Cargo(status)) => ExitCode::from(status),
        Err(build::Error::Message(error)) => fail(&error),
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(INVALID)
}
