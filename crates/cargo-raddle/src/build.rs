//! Compiling the tests.
//!
//! Cargo does it, in a target directory of its own. What was compiled by another version of Raddle or of the compiler is removed, as
//! cargo does not know that the flags have changed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use raddle_cli::TestBinary;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::toolchain::Toolchain;
use crate::wrapper;

/// Why there are no tests to explore.
pub(crate) enum Error {
    /// Cargo has printed why, and ended with this status.
    Cargo(u8),
    Message(String),
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::Message(message)
    }
}

/// What the titles of executables with unit tests start with.
const UNIT: &str = "unittests ";

/// Settings of profiles without which names and lines are unknown, or the standard library is compiled into the program.
const PROFILES: [(&str, &str); 6] = [
    ("CARGO_PROFILE_DEV_STRIP", "none"),
    ("CARGO_PROFILE_TEST_STRIP", "none"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
    ("CARGO_PROFILE_BENCH_STRIP", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
];

/// Compiles the tests that the arguments name.
pub(crate) fn build(arguments: &Arguments) -> Result<Vec<TestBinary>, Error> {
    let toolchain = Toolchain::find(arguments.target.as_deref())?;
    let directory = target_directory(arguments)?;
    let hooks = prepare(&directory, &toolchain)?;
    let own =
        std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let mut cargo = Command::new(cargo());
    cargo.args(["test", "--no-run", "--message-format=json-render-diagnostics", "--target"]);
    cargo.arg(&toolchain.target).arg("--target-dir").arg(&directory).args(&arguments.cargo);
    cargo
        .env("RUSTC_WRAPPER", own)
        .env(wrapper::FLAGS, &toolchain.flags)
        .env(wrapper::HOOKS, hooks);
    cargo.envs(PROFILES).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo does not start: {error}"))?;
    if !output.status.success() {
        return Err(Error::Cargo(output.status.code().unwrap_or(1) as u8));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut binaries: Vec<TestBinary> = messages.lines().filter_map(binary).collect();
    // As cargo orders them; it compiles them in any order.
    binaries.sort_by_key(|binary| (!binary.title.starts_with(UNIT), binary.path.clone()));
    Ok(binaries)
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The directory for compiled files: `raddle` in that of cargo.
fn target_directory(arguments: &Arguments) -> Result<PathBuf, String> {
    if let Some(directory) = &arguments.target_directory {
        return Ok(PathBuf::from(directory).join("raddle"));
    }
    let mut metadata = Command::new(cargo());
    metadata.args(["metadata", "--no-deps", "--format-version=1"]);
    let manifest = arguments.cargo.iter().position(|arg| arg == "--manifest-path");
    if let Some(path) = manifest.and_then(|at| arguments.cargo.get(at + 1)) {
        metadata.arg("--manifest-path").arg(path);
    }
    let output = metadata.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo does not start: {error}"))?;
    let metadata: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let directory = metadata.as_ref().and_then(|metadata| metadata["target_directory"].as_str());
    let directory = directory.ok_or("cargo does not describe the package (cargo metadata)")?;
    Ok(Path::new(directory).join("raddle"))
}

/// Removes what others have compiled, and writes the hooks. Returns their file.
fn prepare(directory: &Path, toolchain: &Toolchain) -> Result<PathBuf, String> {
    let (text, flags) = (raddle_native::rust_hooks(), &toolchain.flags);
    let stamp = format!("{}\n{flags}\n{text}", toolchain.version);
    let (hooks, stamp_file) = (directory.join("raddle-hooks.s"), directory.join("raddle-stamp"));
    let problem = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    if stamp_file.exists() && fs::read_to_string(&stamp_file).ok().as_ref() != Some(&stamp) {
        fs::remove_dir_all(directory).map_err(|error| problem(directory, error))?;
    }
    if !stamp_file.exists() {
        fs::create_dir_all(directory).map_err(|error| problem(directory, error))?;
        fs::write(&hooks, text).map_err(|error| problem(&hooks, error))?;
        fs::write(&stamp_file, stamp).map_err(|error| problem(&stamp_file, error))?;
    }
    Ok(hooks)
}

/// The executable with tests that a message of cargo announces.
fn binary(message: &str) -> Option<TestBinary> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
    let source = Path::new(message["target"]["src_path"].as_str()?);
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let source = source.strip_prefix(package).unwrap_or(source).display();
    let is_integration = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "test");
    let title = if is_integration { format!("{source}") } else { format!("{UNIT}{source}") };
    Some(TestBinary { path, title })
}
