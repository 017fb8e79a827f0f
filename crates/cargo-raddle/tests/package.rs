//! `cargo raddle test` on a package. If the toolchain does not accept the flags, the tests say so and pass.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Without the path of `raddle-test`, which comes last.
const MANIFEST: &str = "\
[package]
name = \"sample\"
version = \"0.1.0\"
edition = \"2021\"

[workspace]

[dev-dependencies.raddle-test]
";

/// Fails to compile the package if build scripts take the compiler for a nightly one, or are compiled with hooks.
const BUILD_SCRIPT: &str = "\
fn main() {
    assert!(std::env::var_os(\"RUSTC_BOOTSTRAP\").is_none());
    assert!(std::env::var_os(\"CARGO_RADDLE_RUSTC_FLAGS\").is_some());
    std::thread::spawn(|| ()).join().unwrap();
    // As proc-macro2 finds out whether the compiler is a nightly one.
    let variable = |name| std::env::var_os(name).unwrap();
    let probe = std::path::Path::new(&variable(\"OUT_DIR\")).join(\"probe.rs\");
    std::fs::write(&probe, \"#![feature(test)]\").unwrap();
    let mut rustc = std::process::Command::new(variable(\"RUSTC_WRAPPER\"));
    rustc.arg(variable(\"RUSTC\")).args([\"--crate-type=lib\", \"--emit=metadata\", \"--target\"]);
    rustc.arg(variable(\"TARGET\")).arg(\"--out-dir\").arg(variable(\"OUT_DIR\")).arg(&probe);
    let version = std::process::Command::new(variable(\"RUSTC\")).arg(\"-V\").output().unwrap();
    let is_nightly = String::from_utf8_lossy(&version.stdout).contains(\"nightly\");
    assert_eq!(rustc.output().unwrap().status.success(), is_nightly);
}
";

const LIBRARY: &str = "\
use std::sync::atomic::{AtomicU32, Ordering};

pub static COUNTER: AtomicU32 = AtomicU32::new(0);

pub fn count(order: Ordering) {
    let value = COUNTER.load(order);
    COUNTER.store(value + 1, order);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::thread::spawn;

    #[test]
    fn counts_in_critical_sections() {
        static LOCK: Mutex<()> = Mutex::new(());
        let count = || {
            let _guard = LOCK.lock().unwrap();
            super::count(Ordering::Relaxed);
        };
        let thread = spawn(count);
        count();
        thread.join().unwrap();
        assert_eq!(COUNTER.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn counts_without_lock() {
        let thread = spawn(|| count(Ordering::SeqCst));
        count(Ordering::SeqCst);
        thread.join().unwrap();
        assert_eq!(COUNTER.load(Ordering::SeqCst), 2);
    }

    #[test]
    #[ignore]
    fn is_slow() {}

    #[test]
    #[should_panic(expected = \"expected\")]
    fn panics() {
        panic!(\"as expected\");
    }

    #[test]
    fn opens_a_socket() {
        let _ = std::net::UdpSocket::bind(\"127.0.0.1:0\");
    }

    #[test]
    fn sends_twice() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let other = sender.clone();
        let threads = [sender, other].map(|sender| spawn(move || sender.send(1).unwrap()));
        threads.map(|thread| thread.join().unwrap());
        assert_eq!(receiver.iter().sum::<u32>(), 2);
    }

    raddle_test::options! { chooses: model = \"sc\", max_events = \"500\" }

    #[test]
    fn chooses() {
        let number = raddle_test::any_of(3);
        raddle_test::assume(number > 0 || !cfg!(raddle));
        assert!(number < 3);
    }

    #[test]
    fn panics_twice() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!(\"again\");
            }
        }
        let _panics = Panics;
        panic!(\"once\");
    }
}
";

/// Another test executable.
const INTEGRATION: &str = "\
#[test]
fn counts_once() {
    sample::count(std::sync::atomic::Ordering::Relaxed);
}
";

fn package() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the package")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    let raddle_test = concat!(env!("CARGO_MANIFEST_DIR"), "/../raddle-test");
    write("Cargo.toml", &format!("{MANIFEST}path = {raddle_test:?}\n"));
    write("build.rs", BUILD_SCRIPT);
    write("src/lib.rs", LIBRARY);
    write("tests/integration.rs", INTEGRATION);
    directory
}

/// Runs `cargo raddle test`. `None` if the toolchain cannot compile tests with hooks.
fn raddle(package: &Path, args: &[&str]) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.args(["raddle", "test"]).args(args).current_dir(package);
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "RUSTC_WRAPPER"] {
        command.env_remove(variable);
    }
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("does not accept the flags") || stderr.contains("only, and these are for") {
        eprintln!("skipped: {stderr}");
        return None;
    }
    Some(output)
}

/// The lines of the standard output about single tests and results, without times. What the harness prints in the guest is not
/// among them.
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let is_report = |line: &&str| {
        line.starts_with("test ")
            && !line.trim_end().ends_with("...")
            && !line.contains(" measured")
    };
    let kept = text.lines().filter(is_report);
    kept.map(|line| line.split("; finished").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn tests_of_a_package_are_explored() {
    let package = package();
    for profile in [&[][..], &["--release"]] {
        let Some(output) = raddle(package.path(), profile) else { return };
        let expected = [
            "test tests::chooses ... ok (2 classes)",
            "test tests::counts_in_critical_sections ... ok (2 classes)",
            "test tests::counts_without_lock ... FAILED",
            "test tests::is_slow ... ignored",
            "test tests::opens_a_socket ... incomplete",
            "test tests::panics ... ok (1 class)",
            "test tests::panics_twice ... FAILED",
            "test tests::sends_twice ... ok (24 classes)",
            "test result: FAILED. 4 passed; 2 failed; 1 incomplete; 1 ignored; 0 filtered out",
            "test counts_once ... ok (1 class)",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 filtered out",
        ];
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(lines(&output), expected, "{profile:?} {stderr}");
        assert_eq!(output.status.code(), Some(101), "{stderr}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains(
                "thread 'main' panicked: assertion `left == right` failed, left: 1, right: 2"
            ),
            "{text}"
        );
        assert!(text.contains("src/lib.rs:34"), "{text}");
    }
    let passing =
        raddle(package.path(), &["critical", "--model", "sc,tso,c20", "--", "--skip", "slow"]);
    let passing = passing.expect("the toolchain is the same");
    assert_eq!(passing.status.code(), Some(0));
    let expected = [
        "test tests::counts_in_critical_sections ... ok",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 7 filtered out",
        "test result: ok. 0 passed; 0 failed; 0 ignored; 1 filtered out",
    ];
    assert_eq!(lines(&passing), expected);
    let bounded = raddle(package.path(), &["--lib", "critical", "--max-executions", "1"]);
    assert_eq!(bounded.expect("the toolchain is the same").status.code(), Some(3));
    let json = raddle(package.path(), &["--lib", "critical", "--json"]).expect("as before");
    let text = String::from_utf8_lossy(&json.stdout);
    assert!(
        text.starts_with('{') && text.contains("\"tests::counts_in_critical_sections\""),
        "{text}"
    );
}

#[test]
fn invalid_usage_is_refused() {
    let package = package();
    let Some(output) = raddle(package.path(), &["--model", "nothing", "--lib"]) else { return };
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("nothing"), "{message}");
    let output = raddle(package.path(), &["--target", "aarch64-unknown-linux-gnu"]);
    assert!(output.is_none_or(|output| output.status.code() == Some(2)));
}
