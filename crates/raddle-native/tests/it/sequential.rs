//! Sequential programs in C, C++ and Rust: output and exit status as natively.
//!
//! A few run with every test; all of them, in every configuration, if `RADDLE_LONG` is set. `RADDLE_CORPUS` chooses the programs
//! whose names contain it.

use crate::harness::{Run, build, is_installed, run_as_guest, run_natively};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

/// For processors that have it.
const AVX2: &str = "-march=x86-64-v3";

/// Compiler and flags by directory.
const CONFIGURATIONS: [(&str, &str, &[&str]); 19] = [
    ("c", "gcc", &["-O0"]),
    ("c", "gcc", &["-O2"]),
    ("c", "gcc", &["-O2", "-static"]),
    ("c", "gcc", &["-O2", "-static-pie"]),
    ("c", "gcc", &["-O2", "-no-pie"]),
    ("c", "gcc", &["-Os", "-g"]),
    ("c", "gcc", &["-O2", "-mfpmath=387"]),
    ("c", "gcc", &["-O3", AVX2]),
    ("c", "clang", &["-O0"]),
    ("c", "clang", &["-O2"]),
    ("cpp", "g++", &["-O0"]),
    ("cpp", "g++", &["-O2"]),
    ("cpp", "g++", &["-O2", "-static"]),
    ("cpp", "g++", &["-O2", "-no-pie"]),
    ("cpp", "clang++", &["-O0"]),
    ("cpp", "clang++", &["-O2"]),
    ("rust", "rustc", &["-g"]),
    ("rust", "rustc", &["-O"]),
    ("rust", "rustc", &["-O", "-Cpanic=abort", "-Ctarget-feature=+crt-static"]),
];

fn directory(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(language)
}

/// The message of a panic contains the thread's identifier.
fn without_identifiers(stderr: &str) -> String {
    let line = |line: &str| match (line.find(" ("), line.find(") panicked at")) {
        (Some(start), Some(end)) => format!("{}{}\n", &line[..start], &line[end + 1..]),
        _ => format!("{line}\n"),
    };
    stderr.lines().map(line).collect()
}

/// Compares the native run of a program with the guest's. Returns the difference.
fn difference(source: &Path, compiler: &str, flags: &[&str]) -> Option<String> {
    let program = build(source, compiler, flags);
    let [native, guest] = [run_natively(&program.path), run_as_guest(&program.path)]
        .map(|run| Run { stderr: without_identifiers(&run.stderr), ..run });
    let what = format!("{} {compiler} {flags:?}", source.display());
    (native != guest).then(|| format!("{what}\nnative {native:?}\nguest {guest:?}\n"))
}

fn assert_equal(name: &str, compiler: &str, flags: &[&str]) {
    let language = match name.rsplit('.').next() {
        Some("rs") => "rust",
        Some(other) => other,
        None => "",
    };
    if !is_installed(compiler) {
        eprintln!("{compiler} is not installed: {name} is not compared");
        return;
    }
    let difference = difference(&directory(language).join(name), compiler, flags);
    assert_eq!(difference, None);
}

#[test]
fn floating_point_formats_are_equal() {
    assert_equal("float_format.c", "gcc", &["-O2"]);
}

#[test]
fn scanf_with_many_arguments_is_equal() {
    assert_equal("sscanf.c", "gcc", &["-O0"]);
}

#[test]
fn long_jumps_at_fixed_addresses_are_equal() {
    assert_equal("setjmp.c", "gcc", &["-O2", "-no-pie"]);
}

#[test]
fn exit_handlers_and_destructors_of_a_static_program_are_equal() {
    assert_equal("atexit_order.c", "gcc", &["-O2", "-static"]);
}

#[test]
fn trampolines_of_nested_functions_are_equal() {
    assert_equal("nested_functions.c", "gcc", &["-O0"]);
}

#[test]
fn exceptions_and_destructors_are_equal() {
    assert_equal("exceptions.cpp", "g++", &["-O0"]);
}

#[test]
fn iostreams_are_equal() {
    assert_equal("streams.cpp", "g++", &["-O2"]);
}

#[test]
fn destructors_of_thread_local_objects_are_equal() {
    assert_equal("thread_local_dtor.cpp", "g++", &["-O2"]);
}

#[test]
fn caught_panics_are_equal() {
    assert_equal("catch_unwind.rs", "rustc", &["-O"]);
}

type Case = (PathBuf, &'static str, &'static [&'static str]);

/// All programs in all configurations whose compiler is installed.
fn cases() -> Vec<Case> {
    let chosen = std::env::var("RADDLE_CORPUS").unwrap_or_default();
    let mut cases = Vec::new();
    for (language, compiler, flags) in CONFIGURATIONS {
        if !is_installed(compiler) {
            eprintln!("{compiler} is not installed: not compared");
            continue;
        }
        if flags.contains(&AVX2) && !std::arch::is_x86_feature_detected!("avx2") {
            eprintln!("the processor has no AVX2: not compared");
            continue;
        }
        let files = std::fs::read_dir(directory(language)).expect("the programs");
        let paths = files.map(|file| file.expect("a program").path());
        let chosen = paths.filter(|path| path.to_string_lossy().contains(&chosen));
        cases.extend(chosen.map(|path| (path, compiler, flags)));
    }
    cases.sort();
    cases
}

#[test]
fn all_programs_are_equal_in_all_configurations() {
    if std::env::var_os("RADDLE_LONG").is_none() {
        return;
    }
    let cases = cases();
    let (next, differences) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((source, compiler, flags)) = { next.lock().expect("no panic").next() } {
            let difference = difference(source, compiler, flags);
            differences.lock().expect("no panic").extend(difference);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let differences = differences.into_inner().expect("no panic");
    eprintln!("{} of {} runs are equal", cases.len() - differences.len(), cases.len());
    assert!(differences.is_empty(), "{}", differences.concat());
}
