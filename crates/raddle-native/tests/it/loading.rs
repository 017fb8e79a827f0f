//! What is loaded, and what cannot be.

use crate::harness::{BUDGET, build, build_c, run_as_guest, start};
use raddle_cpu::memory::{State, Thread};
use raddle_native::process::{Ending, Options, Process, Status};
use std::path::Path;
use std::process::Command;

#[test]
fn runs_of_a_program_are_the_same_to_the_instruction() {
    let code = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <time.h>
        int main(void) {
            int local;
            printf("%p %p %p %ld\n", &local, malloc(10), main, (long)time(NULL));
        }
    "#;
    let program = build_c(code, &["-O2"]);
    let run = || {
        let mut process = start(&program.path, &Options::default());
        let ending = process.run_alone(BUDGET);
        (ending, process.output().clone(), process.instructions())
    };
    let first = run();
    assert_eq!(first.0, Ending::Exited(Status::Exited(0)));
    assert_eq!(first, run());
}

#[test]
fn a_started_program_runs_again_from_its_snapshot() {
    let code = r#"
        #include <stdio.h>
        #include <stdlib.h>
        static int runs;
        int main(void) {
            char *block = malloc(200000);
            block[70000] = (char)++runs;
            printf("%d %d\n", runs, block[70000]);
            return rand() % 100;
        }
    "#;
    let program = build_c(code, &["-O2"]);
    let mut process = start(&program.path, &Options::default());
    let snapshot = process.snapshot(Thread::MAIN).expect("the main thread");
    let mut endings = Vec::new();
    for _ in 0..3 {
        let before = process.instructions();
        let ending = process.run_alone(BUDGET);
        endings.push((ending, process.output().clone(), process.instructions() - before));
        process.restore(&snapshot);
    }
    assert_eq!(endings[0].0, Ending::Exited(Status::Exited(83)));
    assert_eq!(endings[0].1.stdout, b"1 1\n");
    assert_eq!(endings[0], endings[1]);
    assert_eq!(endings[0], endings[2]);
}

#[test]
fn the_program_sees_its_own_arguments_and_environment_only() {
    let code = r#"
        #include <stdio.h>
        int main(int argc, char **argv, char **envp) {
            for (int i = 1; i < argc; i++) printf("%s\n", argv[i]);
            for (char **v = envp; *v; v++) printf("%s\n", *v);
        }
    "#;
    for flags in [&["-O2"][..], &["-static"]] {
        let program = build_c(code, flags);
        let (args, variables) =
            (vec!["one".into(), "two words".into()], vec!["COLOUR=blue".into()]);
        let mut process = start(&program.path, &Options { args, variables, ..Options::default() });
        assert_eq!(process.run_alone(BUDGET), Ending::Exited(Status::Exited(0)));
        assert_eq!(process.output().stdout, b"one\ntwo words\nCOLOUR=blue\n");
    }
}

#[test]
fn shared_objects_are_found_by_their_run_path() {
    let library = build_c("int twice(int n) { return 2 * n; }", &["-shared", "-fPIC"]);
    let object = library.directory.path().join("libtwice.so");
    std::fs::rename(&library.path, &object).expect("renamed");
    let directory = library.directory.path().to_string_lossy().into_owned();
    let path = format!("-Wl,-rpath,{directory}");
    let code = "int twice(int); int main(void) { return twice(21); }";
    let link = format!("-L{directory}");
    // The library must follow the source that uses it.
    let program = build_c(code, &["-O2", &link, &path, "-Wl,--no-as-needed", "-ltwice"]);
    assert_eq!(run_as_guest(&program.path).status, Ok(Status::Exited(42)));
    std::fs::remove_file(object).expect("removed");
    let status = run_as_guest(&program.path).status.expect_err("the library is gone");
    let message =
        "error while loading shared libraries: libtwice.so: cannot open shared object file";
    assert!(status.contains(message), "{status}");
}

#[test]
fn stripped_programs_run() {
    let program = build_c("int main(void) { return 5; }", &["-O2", "-s"]);
    assert_eq!(run_as_guest(&program.path).status, Ok(Status::Exited(5)));
}

#[test]
fn binaries_that_others_have_built_run_unmodified() {
    let commands: [&[&str]; 6] = [
        &["/usr/bin/factor", "1234567890123457", "600851475143"],
        &["/usr/bin/seq", "1", "3", "20"],
        &["/usr/bin/expr", "3", "+", "4"],
        &["/usr/bin/printf", "%x %s %5.2f\\n", "255", "text", "3.14159"],
        &["/usr/bin/numfmt", "--to=iec", "123456789"],
        &["/usr/bin/date", "-u", "-d", "@86400"],
    ];
    for command in commands {
        let path = Path::new(command[0]);
        if !path.exists() {
            eprintln!("{} is not installed: not compared", command[0]);
            continue;
        }
        let native = Command::new(path).args(&command[1..]).env_clear().output().expect("it runs");
        let args = command[1..].iter().map(|arg| String::from(*arg)).collect();
        let mut process = start(path, &Options { args, ..Options::default() });
        assert_eq!(process.run_alone(BUDGET), Ending::Exited(Status::Exited(0)), "{command:?}");
        assert_eq!(process.output().stdout, native.stdout, "{command:?}");
    }
}

#[test]
fn jump_tables_are_read_only_once_the_program_runs() {
    let code = "#include <stdio.h>\nint main(void) { puts(\"\"); }";
    let program = build_c(code, &["-O2", "-Wl,-z,lazy", "-Wl,-z,norelro", "-no-pie"]);
    let process = start(&program.path, &Options::default());
    let table = process.modules()[0].jump_table().expect("it calls puts");
    assert_eq!(process.memory().state(table.start), State::ReadOnly);
    assert_eq!(process.memory().state(table.end - 1), State::ReadOnly);
    assert_ne!(process.memory().state(table.end), State::ReadOnly);
}

#[test]
fn files_that_are_no_programs_are_refused_with_the_reason() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let script = directory.path().join("script");
    std::fs::write(&script, "#!/bin/sh\n").expect("written");
    let error = Process::start(&script, &Options::default()).expect_err("a script");
    assert!(error.to_string().contains("is not a valid ELF file"), "{error}");
    let source = directory.path().join("object.c");
    std::fs::write(&source, "int x;").expect("written");
    let object = build(&source, "gcc", &["-c"]);
    let error = Process::start(&object.path, &Options::default()).expect_err("an object file");
    assert!(error.to_string().contains("it is not linked: link it first"), "{error}");
}

/// A program without libraries, small enough to be damaged everywhere.
const TINY: &str = r#"
    __thread int local = 5;
    int global = 7;
    void _start(void) { __asm__ volatile("syscall" : : "a"(231), "D"(global) : "rcx", "r11"); }
"#;

#[test]
fn damaged_programs_fail_and_do_no_harm() {
    let program = build_c(TINY, &["-nostdlib", "-static", "-O1", "-g"]);
    let data = std::fs::read(&program.path).expect("the program");
    let headers = 0..64 + 56 * 8;
    for index in headers {
        for change in [0xff, 0x01, 0x80] {
            let mut copy = data.clone();
            copy[index] ^= change;
            std::fs::write(&program.path, copy).expect("written");
            if let Ok(mut process) = Process::start(&program.path, &Options::default()) {
                process.run_alone(1000);
                let module = &process.modules()[0];
                process.place(module.base + module.file.entry);
            }
        }
    }
    std::fs::write(&program.path, &data).expect("written");
    assert_eq!(run_as_guest(&program.path).status, Ok(Status::Exited(7)));
}

#[test]
fn hosts_memory_limits_do_not_matter() {
    // Nothing is reserved beyond what is used.
    let program = build_c("int main(void) { return 9; }", &["-O2"]);
    let own = std::env::current_exe().expect("the test has a file");
    if std::env::var_os("RADDLE_LIMITED").is_some() {
        assert_eq!(run_as_guest(&program.path).status, Ok(Status::Exited(9)));
        return;
    }
    let command = format!(
        "ulimit -v 2000000; RADDLE_LIMITED=1 exec '{}' --exact loading::hosts_memory_limits_do_not_matter",
        own.display()
    );
    let status = Command::new("sh").args(["-c", &command]).output().expect("a shell").status;
    assert!(status.success());
}
