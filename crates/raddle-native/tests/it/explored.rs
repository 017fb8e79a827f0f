//! Compiling programs with the hooks of `-fsanitize=thread`, and exploring them.

use raddle_core::program::Naming;
use raddle_core::trace::Ending;
use raddle_cpu::Calls;
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::{Control, Leaf, Limits, driver};
use raddle_native::libc;
use raddle_native::process::Options;
use raddle_native::program::{NativeProgram, ScalarCut, Settings};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What an exploration found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Explored {
    /// All executions are correct: so many classes.
    Clean(u64),
    /// A failure: its message.
    Failure(String),
    /// Another bug, such as a deadlock.
    Bug(String),
}

/// Names of hooks that do nothing.
fn empty_hooks() -> Vec<String> {
    let mut names: Vec<String> =
        ["init", "read_range", "write_range", "vptr_read", "vptr_update", "atomic_signal_fence"]
            .map(String::from)
            .into();
    for size in [1, 2, 4, 8, 16] {
        for prefix in ["", "unaligned_", "volatile_", "unaligned_volatile_"] {
            names.push(format!("{prefix}read{size}"));
            names.push(format!("{prefix}write{size}"));
        }
    }
    names
}

fn run(command: &mut Command) {
    let output = command.output().expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles and links a program of C (`gcc`) or C++ (`g++`).
fn build(directory: &Path, code: &str, compiler: &str) -> PathBuf {
    let extension = if compiler == "g++" { "cpp" } else { "c" };
    let [source, hooks, object, program] =
        [&format!("program.{extension}"), "hooks.s", "program.o", "program"]
            .map(|name| directory.join(name));
    let mut assembly = String::from(".section .note.GNU-stack,\"\",@progbits\n.text\n");
    for name in empty_hooks() {
        let _ = writeln!(assembly, ".globl __tsan_{name}\n__tsan_{name}:");
    }
    assembly += "ret\n";
    std::fs::write(&source, code).expect("the file is writable");
    std::fs::write(&hooks, assembly).expect("the file is writable");
    let mut compile = Command::new(compiler);
    compile.args(["-g", "-O0", "-w", "-fno-builtin", "-fsanitize=thread"]);
    compile.args(["--param", "tsan-instrument-func-entry-exit=0"]);
    compile.args(["--param", "tsan-distinguish-volatile=1"]);
    run(compile.arg("-c").arg(&source).arg("-o").arg(&object));
    let mut link = Command::new(compiler);
    link.args(["-Wl,--unresolved-symbols=ignore-all", "-rdynamic", "-pthread"]);
    run(link.arg(&object).arg(&hooks).arg("-o").arg(&program));
    program
}

/// Explores all executions of a program under a memory model.
pub(crate) fn explore(code: &str, compiler: &str, model: &str) -> Explored {
    let directory = TempDir::new().expect("a temporary directory");
    let path = build(directory.path(), code, compiler);
    let process = libc::start(&path, &Options::default()).expect("the program starts");
    let table = libc::table(&process);
    let settings = Settings {
        max_events: 10_000,
        scalars: ScalarCut::Cut,
        calls: Calls::SystemV,
        updates_may_be_silent: true,
        ignores_dead_values: false,
        poison: false,
        unroll: None,
        symmetry: false,
        store_buffers: None,
        leaks: false,
        environment: raddle_native::Environment::default(),
    };
    let mut program = NativeProgram::new(process, table, settings);
    let plan = Plan { model: model.parse().expect("a model"), explorer: Explorer::RfPartSmc };
    let mut found = None;
    let summary = driver::until_stable(&mut program, |program| {
        found = None;
        let mut visitor = |leaf: &dyn Leaf| match leaf.ending() {
            ending if ending.is_bug() && !libc::has_exited(&leaf.trace()) => {
                found = Some(ending.clone());
                Control::Stop
            }
            _ => Control::Continue,
        };
        plan.explore(program, &Limits::default(), &mut visitor)
    });
    match found {
        None => Explored::Clean(summary.classes),
        Some(Ending::Failed(_, failure)) => {
            assert!(!program.place(failure.place).is_empty());
            Explored::Failure(failure.message)
        }
        Some(ending) => Explored::Bug(format!("{ending:?}")),
    }
}

/// Explores a C program under sequential consistency.
pub(crate) fn explore_c(code: &str) -> Explored {
    explore(code, "gcc", "sc")
}

/// Explores a C++ program under sequential consistency.
pub(crate) fn explore_cpp(code: &str) -> Explored {
    explore(code, "g++", "sc")
}
