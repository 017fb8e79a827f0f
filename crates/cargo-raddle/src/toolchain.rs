//! The compiler, and the flags that make it insert hooks.

use std::ffi::OsString;
use std::process::{Command, Output};

/// Hooks for every atomic access, without the runtime library of the sanitizer.
const HOOKS: &str = "-Zsanitizer=thread -Zexternal-clangrt";

/// The standard library is compiled without hooks. Compilers that do not know this flag do not ask for it.
const MIXED: &str = "-Cunsafe-allow-abi-mismatch=sanitizer";

/// The only system on which compiled programs can be explored.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What is known about the compiler.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// The target that its programs are for.
    pub(crate) target: String,
    /// The flags, separated by spaces.
    pub(crate) flags: String,
    /// Its version.
    pub(crate) version: String,
}

impl Toolchain {
    /// Asks the compiler that cargo will use. Fails if it does not accept the flags.
    pub(crate) fn find(target: Option<&str>) -> Result<Self, String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = run(&rustc, &["-vV"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        let version = text.lines().next().unwrap_or_default().to_owned();
        let target = target.unwrap_or(host).to_owned();
        if target != TARGET {
            return Err(format!(
                "tests can be explored for {TARGET} only, and these are for {target}"
            ));
        }
        let mut reason = String::new();
        for flags in [format!("{HOOKS} {MIXED}"), HOOKS.to_owned()] {
            let mut args: Vec<&str> = flags.split(' ').collect();
            args.extend(["--print", "cfg", "--target", &target]);
            let output = run(&rustc, &args)?;
            if output.status.success() {
                return Ok(Toolchain { target, flags, version });
            }
            reason = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        let reason = reason.lines().find(|line| line.contains("error")).unwrap_or("no reason");
        Err(format!(
            "{version} does not accept the flags `{HOOKS}`, which tell Raddle the memory orders of atomic accesses ({reason}): use \
             rustc 1.88 or later, or a nightly toolchain"
        ))
    }
}

fn run(rustc: &OsString, args: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(rustc);
    // Flags with -Z are for nightly compilers, or with this variable.
    command.env("RUSTC_BOOTSTRAP", "1").args(args).stdin(std::process::Stdio::null());
    command.output().map_err(|error| format!("{} does not start: {error}", rustc.display()))
}
