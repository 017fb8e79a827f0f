//! Functions of libraries in whose place the host acts.

use crate::harness::{BUDGET, Built, build, build_c, run_as_guest, start};
use raddle_cpu::Register;
use raddle_cpu::memory::{State, Thread};
use raddle_native::process::{Ending, Event, HostFunction, Options, Process, Status};

fn with_host_functions(program: &Built, names: &[&str]) -> Process {
    let host_functions = names.iter().map(|name| String::from(*name)).collect();
    let options = Options { host_functions, ..Options::default() };
    start(&program.path, &options)
}

/// Runs to the next call of a host function.
fn next_call(process: &mut Process) -> Result<HostFunction, Ending> {
    match process.run_alone(BUDGET) {
        Ending::Stopped(event) => match *event {
            Event::HostCall(function) => Ok(function),
            event => Err(Ending::Stopped(Box::new(event))),
        },
        ending => Err(ending),
    }
}

fn argument(process: &Process) -> u64 {
    process.cpu(Thread::MAIN).expect("the main thread").register(Register::Rdi)
}

fn return_value(process: &mut Process, value: u64) {
    process.return_from_host(Thread::MAIN, value).expect("the stack is private");
}

#[test]
fn the_heap_can_be_the_hosts_even_for_calls_inside_libraries() {
    // strdup and printf call malloc inside of libc, by internal names.
    let code = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            char *copy = strdup("duplicated");
            free(copy);
            printf("%d\n", (unsigned long)copy >> 44 == 1);
            return 3;
        }
    "#;
    for flags in [&["-O1"][..], &["-O1", "-static"]] {
        let program = build_c(code, flags);
        let mut process = with_host_functions(&program, &["malloc", "free"]);
        let [malloc, free] = ["malloc", "free"].map(|name| process.host_function(name));
        let (mut sizes, mut freed) = (Vec::new(), 0);
        let ending = loop {
            let call = match next_call(&mut process) {
                Ok(call) => Some(call),
                Err(ending) => break ending,
            };
            let argument = argument(&process);
            if call == malloc {
                sizes.push(argument);
                let thread = Thread::MAIN;
                let block =
                    process.memory_mut().allocate(thread, argument, 16, State::Private(thread));
                return_value(&mut process, block.expect("room"));
            } else {
                assert_eq!(call, free);
                freed += usize::from(process.memory_mut().free(Thread::MAIN, argument).is_ok());
                return_value(&mut process, 0);
            }
        };
        assert_eq!(ending, Ending::Exited(Status::Exited(3)));
        assert!(sizes.contains(&11), "{sizes:?}");
        assert!(freed >= 1);
        assert_eq!(process.output().stdout, b"1\n");
    }
}

#[test]
fn abort_can_be_the_hosts() {
    let program = build_c(
        "#include <assert.h>\nint main(int argc, char **argv) { assert(argc == 9); }",
        &["-O1"],
    );
    let mut process = with_host_functions(&program, &["abort"]);
    // The assertion calls it inside of libc.
    assert_eq!(next_call(&mut process).ok(), process.host_function("abort"));
    let stderr = String::from_utf8_lossy(&process.output().stderr).into_owned();
    assert!(stderr.contains("Assertion `argc == 9' failed"), "{stderr}");
}

#[test]
fn indirect_functions_can_be_the_hosts() {
    let code = "#include <string.h>\n#include <time.h>\nint main(void) { return time(NULL) == 77 ? (int)strlen(\"four\") : 1; }";
    let program = build_c(code, &["-O0", "-fno-builtin"]);
    let mut process = with_host_functions(&program, &["time", "strlen"]);
    let mut calls = Vec::new();
    let ending = loop {
        match next_call(&mut process) {
            Ok(call) => {
                calls.push(call);
                let value = if Some(call) == process.host_function("time") { 77 } else { 4 };
                return_value(&mut process, value);
            }
            Err(ending) => break ending,
        }
    };
    assert_eq!(ending, Ending::Exited(Status::Exited(4)));
    assert!(calls.contains(&process.host_function("time").expect("named")));
}

#[test]
fn a_programs_own_function_of_that_name_stays_its_own() {
    let code = "int abort_count; void abort(void) { abort_count++; }\nint main(void) { abort(); return abort_count; }";
    let program = build_c(code, &["-O0", "-fno-builtin"]);
    let mut process = with_host_functions(&program, &["abort"]);
    assert_eq!(process.run_alone(BUDGET), Ending::Exited(Status::Exited(1)));
}

#[test]
fn undefined_functions_are_the_hosts_or_refused_when_they_are_called() {
    let code = r"
        int answer(int); int never(void);
        int main(int argc, char **argv) { return argc > 5 ? never() : answer(argc + 40); }
    ";
    let flags = ["-O1", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all"];
    let program = build_c(code, &flags);
    let mut process = with_host_functions(&program, &["answer"]);
    assert_eq!(next_call(&mut process).ok(), process.host_function("answer"));
    let argument = argument(&process);
    return_value(&mut process, argument + 1);
    assert_eq!(process.run_alone(BUDGET), Ending::Exited(Status::Exited(42)));

    let message = run_as_guest(&program.path).status.expect_err("answer is not defined");
    assert!(message.contains("main+0x"), "{message}");
    assert!(
        message
            .ends_with("function `answer` is defined in no object: link the library that has it"),
        "{message}"
    );
}

#[test]
fn constructors_of_libraries_call_host_functions_before_the_program_starts() {
    let source = tempfile::Builder::new().suffix(".cpp").tempfile().expect("a temporary file");
    let code =
        "#include <iostream>\nint main() { std::cout << new int(5) << std::endl; return 3; }";
    std::fs::write(source.path(), code).expect("written");
    let program = build(source.path(), "g++", &["-O1"]);
    let options = Options { host_functions: vec![String::from("malloc")], ..Options::default() };
    let mut sizes = Vec::new();
    let mut malloc = |process: &mut Process, _| {
        let (thread, size) = (Thread::MAIN, argument(process));
        sizes.push(size);
        let block = process.memory_mut().allocate(thread, size, 16, State::Private(thread));
        return_value(process, block.expect("room"));
        true
    };
    let process = Process::start_with(&program.path, &options, &mut malloc);
    let mut process = process.unwrap_or_else(|error| panic!("{error}"));
    // The pool for exceptions when there is no memory.
    assert!(process.memory().allocations(Thread::MAIN) >= 1);
    assert_eq!(process.run_with(BUDGET, &mut malloc), Ending::Exited(Status::Exited(3)));
    assert!(sizes.contains(&4), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size > 10_000), "{sizes:?}");
    assert!(process.output().stdout.starts_with(b"0x1000"), "addresses of the host's heap");
}

#[test]
fn string_functions_access_nothing_beyond_their_strings() {
    let code = r#"
        #define _GNU_SOURCE
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <wchar.h>
        #define COPY(text) (memcpy(malloc(sizeof text), text, sizeof text))
        int main(void) {
            char *a = COPY("abc"), *b = COPY("abd"), *c = malloc(7), *raw = malloc(3);
            wchar_t *w = COPY(L"wide");
            memcpy(raw, "xyz", 3);
            strcat(strcpy(c, a), b);
            printf("%zu %zu %d %d %d\n", strlen(a), strnlen(raw, 3), strcmp(a, b), strncmp(a, b, 2), strcasecmp(a, b));
            printf("%s %s %s %td\n", strchr(c, 'a'), strrchr(c, 'a'), strstr(c, "ca"), (char *)memchr(raw, 'z', 3) - raw);
            printf("%d %d %zu %s\n", memcmp(raw, a, 3) > 0, strchrnul(a, 'x') == a + 3, wcslen(w), strncat(strncpy(c, "q", 3), b, 2));
            fflush(stdout);
            return strlen(raw);
        }
    "#;
    for flags in [&["-O1", "-fno-builtin"][..], &["-O1", "-fno-builtin", "-static"]] {
        let program = build_c(code, flags);
        let names = ["malloc", "calloc", "realloc", "free"].map(String::from).to_vec();
        let options = Options { host_functions: names, ..Options::default() };
        let mut heap = |process: &mut Process, _| {
            let (thread, size) = (Thread::MAIN, argument(process));
            let block = process.memory_mut().allocate(thread, size, 16, State::Private(thread));
            return_value(process, block.expect("room"));
            true
        };
        let mut process =
            Process::start_with(&program.path, &options, &mut heap).expect("it starts");
        let Ending::Stopped(event) = process.run_with(BUDGET, &mut heap) else {
            panic!("it reads too far")
        };
        let Event::Fault(place, fault) = *event else { panic!("{event}") };
        assert_eq!(place.symbol, Some(("strlen".into(), 2)));
        let nearest = fault.nearest.as_ref().expect("a block");
        assert_eq!((nearest.offset, nearest.object.size, fault.size), (3, 3, 1));
        assert_eq!(process.output().stdout, b"3 3 -1 0 -1\nabcabd abd cabd 2\n1 1 4 qab\n");
    }
}
