//! The wrapper of the compiler: cargo calls this program with the compiler and its arguments.
//!
//! Only what is compiled for the target has hooks. Build scripts and procedural macros run while cargo builds, and are compiled for
//! the host, without `--target`. Only the compiler sees `RUSTC_BOOTSTRAP`: build scripts that do would take the compiler for a nightly one; those that
//! try what the compiler accepts do so through this program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The variable with the flags, separated by spaces. It says that this program is the wrapper.
pub(crate) const FLAGS: &str = "CARGO_RADDLE_RUSTC_FLAGS";

/// The variable with the file that programs are linked with.
pub(crate) const HOOKS: &str = "CARGO_RADDLE_HOOKS";

/// Runs the compiler.
pub(crate) fn run(flags: &str, args: &[OsString]) -> ExitCode {
    let Some((rustc, args)) = args.split_first() else {
        eprintln!("error: {FLAGS} is set, which is for `cargo raddle` itself");
        return ExitCode::from(super::INVALID);
    };
    let mut command = Command::new(rustc);
    command.args(args).env_remove(FLAGS).env_remove(HOOKS);
    if args.iter().any(|arg| arg == "--target") && !is_in_build_script() {
        command.env("RUSTC_BOOTSTRAP", "1").args(flags.split(' '));
        if let Some(hooks) = std::env::var_os(HOOKS) {
            let mut argument = OsString::from("-Clink-arg=");
            argument.push(hooks);
            command.arg(argument);
        }
    }
    let error = command.exec();
    eprintln!("error: {} does not start: {error}", rustc.display());
    ExitCode::from(super::INVALID)
}

/// Returns `true` if a build script calls the compiler, to try what it accepts: cargo sets these variables for build scripts only.
fn is_in_build_script() -> bool {
    ["HOST", "TARGET", "NUM_JOBS", "OPT_LEVEL"].iter().all(|name| std::env::var_os(name).is_some())
}
