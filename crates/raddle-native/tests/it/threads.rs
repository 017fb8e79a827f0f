//! Guest threads with stacks and thread-local storage of their own, created by the host.

use crate::harness::{BUDGET, Built, build, build_c, start};
use raddle_cpu::memory::{State, Thread};
use raddle_cpu::{Register, Stop};
use raddle_native::process::{Ending, Event, Options, Process, Status, ThreadStart};

const CODE: &str = r#"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef STATIC
void __attribute__((noinline)) run_thread(void *(*function)(void *), void *argument) {
    __asm__ volatile("" : : "r"(function), "r"(argument));
}
#else
void run_thread(void *(*function)(void *), void *argument);
#endif
static __thread int counter = 5;
static __thread char name[16] = "initial";
static _Alignas(64) __thread double wide = 1.5;
static char seen[2][100];

static void *worker(void *argument) {
    long index = (long)argument;
    char guarded[32];
    counter += (int)index;
    errno = 40 + (int)index;
    volatile double minus = -1;
    if (index == 2 && sqrt(minus) == sqrt(minus)) return 0;
    snprintf(guarded, sizeof guarded, "%s", name);
    for (char *p = guarded; *p; p++) *p = (char)toupper(*p);
    strcpy(name, "changed");
    snprintf(seen[index - 1], 100, "%d %s %g %d", counter, guarded, wide * (double)index, errno);
    return (void *)(index * 11);
}

int main(void) {
    counter = 100;
    strcpy(name, "main");
    errno = 7;
    run_thread(worker, (void *)1);
    run_thread(worker, (void *)2);
    printf("%s|%s|%d %s %d\n", seen[0], seen[1], counter, name, errno);
    return 0;
}
"#;

/// Runs a thread to the end of its function, with the simplest memory: all others have stopped. Returns its result, and gives the
/// main thread back what it has shared with it.
fn run_to_return(process: &mut Process, thread: Thread) -> u64 {
    let mut shared = Vec::new();
    loop {
        let event = process.run(thread);
        if process.has_returned(&event) {
            for range in shared {
                process.memory_mut().set_state(range, State::Private(Thread::MAIN));
            }
            return process.cpu(thread).expect("it exists").register(Register::Rax);
        }
        if matches!(event, Event::Futex(call) if call.operation == 1) {
            // Nobody waits.
            process.return_from_syscall(thread, 0);
            continue;
        }
        let Event::Cpu(stop) = event else { panic!("{event}") };
        let mut bytes = [0; 16];
        let value = match stop {
            Stop::Load { address, size } => {
                let bytes = &mut bytes[..size.into()];
                process.memory().read(address, bytes).expect("mapped");
                u128::from_le_bytes(padded(bytes))
            }
            Stop::Store { address, size, value } => {
                let bytes = &value.to_le_bytes()[..size.into()];
                process.memory_mut().write_initial(address, bytes).expect("mapped");
                0
            }
            Stop::ReadModifyWrite { address, size, operation } => {
                let bytes = &mut bytes[..size.into()];
                process.memory().read(address, bytes).expect("mapped");
                let old = u128::from_le_bytes(padded(bytes));
                let new = operation.apply(old, size).to_le_bytes();
                process.memory_mut().write_initial(address, &new[..size.into()]).expect("mapped");
                old
            }
            Stop::Escape { address, size, .. } => {
                let range = address..address + u64::from(size);
                process.memory_mut().set_state(range.clone(), State::Shared);
                shared.push(range);
                continue;
            }
            stop => panic!("{stop:?}"),
        };
        process.cpu_mut(thread).expect("it exists").answer_wide(value);
    }
}

fn padded(bytes: &[u8]) -> [u8; 16] {
    let mut padded = [0; 16];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}

/// Runs a program; a call of `run_thread(function, argument)` creates a thread and runs it to its end. Returns the
/// results of threads and the output.
fn run_with_threads(program: &Built) -> (Vec<u64>, String) {
    let host_functions = vec![String::from("run_thread")];
    let mut process = start(&program.path, &Options { host_functions, ..Options::default() });
    let mut results = Vec::new();
    let mut run_thread = |process: &mut Process, _| {
        let cpu = process.cpu(Thread::MAIN).expect("the main thread");
        let [function, argument] =
            [Register::Rdi, Register::Rsi].map(|register| cpu.register(register));
        let thread = Thread::new(results.len() + 1).expect("few threads");
        let start = ThreadStart { function, argument, stack_size: 1 << 18 };
        process.create_thread(thread, start).expect("room");
        results.push(run_to_return(process, thread));
        if process.begin_destructors(thread).expect("the stack is private") {
            run_to_return(process, thread);
        }
        process.return_from_host(Thread::MAIN, 0).expect("the stack is private");
        true
    };
    let ending = process.run_with(BUDGET, &mut run_thread);
    assert_eq!(ending, Ending::Exited(Status::Exited(0)));
    (results, String::from_utf8_lossy(&process.output().stdout).into_owned())
}

fn check_threads(flags: &[&str]) {
    let (results, output) = run_with_threads(&build_c(CODE, flags));
    assert_eq!(results, [11, 22]);
    assert_eq!(output, "6 INITIAL 1.5 41|7 INITIAL 3 33|100 main 7\n");
}

#[test]
fn threads_have_their_own_stack_and_thread_local_storage() {
    check_threads(&[
        "-O1",
        "-fstack-protector-all",
        "-rdynamic",
        "-Wl,--unresolved-symbols=ignore-all",
    ]);
}

#[test]
fn threads_of_position_dependent_programs_too() {
    check_threads(&["-O1", "-no-pie", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all"]);
}

#[test]
fn threads_of_static_programs_too() {
    check_threads(&["-O1", "-static", "-DSTATIC"]);
}

#[test]
fn thread_local_objects_are_destroyed_with_their_thread() {
    let source = tempfile::Builder::new().suffix(".cpp").tempfile().expect("a temporary file");
    let code = r#"
        #include <cstdio>
        #include <stdexcept>
        #include <string>
        extern "C" void run_thread(void *(*function)(void *), void *argument);
        static std::string log;
        struct Logged { int id; ~Logged() { log += "~" + std::to_string(id) + " "; } };
        static thread_local Logged first{1}, second{2};
        static void *worker(void *argument) {
            second.id += (int)(long)argument;
            try { throw std::runtime_error("in a thread"); }
            catch (const std::exception &e) { log += e.what(); log += "; "; }
            return nullptr;
        }
        int main() {
            first.id = 50;
            run_thread(worker, (void *)10);
            std::printf("%s| ", log.c_str());
            log.clear();
        }
    "#;
    std::fs::write(source.path(), code).expect("written");
    let flags = ["-O1", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all"];
    let (_, output) = run_with_threads(&build(source.path(), "g++", &flags));
    assert_eq!(output, "in a thread; ~12 ~1 | ");
}
