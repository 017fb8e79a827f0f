//! The compiler, and the flags that make it insert hooks.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Hooks for every atomic access, without the runtime library of the sanitizer.
const HOOKS: &str = "-Zsanitizer=thread -Zexternal-clangrt";

/// The standard library is compiled without hooks. Compilers that do not know this flag do not ask for it.
const MIXED: &str = "-Cunsafe-allow-abi-mismatch=sanitizer";

/// Tells code, `raddle-test` in particular, that it is compiled for Raddle.
const CFG: &str = "--cfg raddle --check-cfg cfg(raddle)";

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
        for flags in [format!("{CFG} {HOOKS} {MIXED}"), format!("{CFG} {HOOKS}")] {
            let mut args: Vec<&str> = flags.split(' ').collect();
            args.extend(["--print", "cfg", "--target", &target]);
            let output = run(&rustc, &args)?;
            if output.status.success() {
                let flags = format!("{flags}{}", keep_functions(&rustc, &flags));
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

/// Functions of the standard library that Raddle models, and that release builds would inline: ends of their mangled names.
const KEPT: [&str; 2] = ["Backoff10spin_light", "Backoff10spin_heavy"];

/// A crate that calls them.
const CALLER: &str = "use std::sync::mpsc; \
    pub fn f(c: (mpsc::Sender<u8>, mpsc::Receiver<u8>)) { let _ = (c.0.send(0), c.1.recv()); }";

/// The flags that keep the compiler from inlining [`KEPT`]. Their names contain a number of the library, so they are taken from code
/// that calls them. If that fails, the functions are not found in release builds, and run as they are.
fn keep_functions(rustc: &OsString, flags: &str) -> String {
    let mut command = Command::new(rustc);
    command.env("RUSTC_BOOTSTRAP", "1").args(flags.split(' '));
    command.args(["-", "--crate-name=caller", "--crate-type=lib", "--emit=llvm-ir=/dev/stdout"]);
    command.args(["-Copt-level=1", "-Cno-prepopulate-passes"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let output = command.spawn().and_then(|mut child| {
        let stdin = child.stdin.take();
        stdin.map_or(Ok(()), |mut stdin| stdin.write_all(CALLER.as_bytes()))?;
        child.wait_with_output()
    });
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || "_.$".contains(c);
    let names = text.split(|c| !is_part(c)).filter(|name| KEPT.iter().any(|it| name.contains(it)));
    let names: BTreeSet<&str> = names.collect();
    names.iter().map(|name| format!(" -Cllvm-args=-force-attribute={name}:noinline")).collect()
}

fn run(rustc: &OsString, args: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(rustc);
    // Flags with -Z are for nightly compilers, or with this variable.
    command.env("RUSTC_BOOTSTRAP", "1").args(args).stdin(Stdio::null());
    command.output().map_err(|error| format!("{} does not start: {error}", rustc.display()))
}
