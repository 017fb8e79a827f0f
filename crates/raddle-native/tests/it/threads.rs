//! Guest threads with stacks and thread-local storage of their own, created by the host.

use crate::harness::{BUDGET, build_c, start};
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

/// Runs a thread to the end of its function, with the simplest memory: all others have stopped. Returns its result.
fn run_to_return(process: &mut Process, thread: Thread) -> u64 {
    loop {
        let event = process.run(thread);
        if process.has_returned(&event) {
            return process.cpu(thread).expect("it exists").register(Register::Rax);
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
                process.memory_mut().set_state(address..address + u64::from(size), State::Shared);
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

fn run_with_threads(flags: &[&str]) {
    let program = build_c(CODE, flags);
    let host_functions = vec![String::from("run_thread")];
    let mut process = start(&program.path, &Options { host_functions, ..Options::default() });
    for index in 1..=2 {
        let Ending::Stopped(event) = process.run_alone(BUDGET) else { panic!("it runs threads") };
        assert_eq!(*event, Event::HostCall(process.host_function("run_thread").expect("named")));
        let cpu = process.cpu(Thread::MAIN).expect("the main thread");
        let [function, argument] =
            [Register::Rdi, Register::Rsi].map(|register| cpu.register(register));
        let thread = Thread::new(index).expect("few threads");
        let start = ThreadStart { function, argument, stack_size: 1 << 16 };
        process.create_thread(thread, start).expect("room");
        assert_eq!(run_to_return(&mut process, thread), index as u64 * 11);
        // Afterwards the main thread is alone again.
        let regions: Vec<_> =
            process.memory().regions().map(|region| region.range.clone()).collect();
        for range in regions.into_iter().filter(|range| range.end - range.start < 1 << 28) {
            for at in range.step_by(64) {
                let line = at..at + 64;
                if line.clone().any(|at| process.memory().state(at) == State::Shared) {
                    for at in line {
                        if process.memory().state(at) == State::Shared {
                            process
                                .memory_mut()
                                .set_state(at..at + 1, State::Private(Thread::MAIN));
                        }
                    }
                }
            }
        }
        process.return_from_host(Thread::MAIN, 0).expect("the stack is private");
    }
    assert_eq!(process.run_alone(BUDGET), Ending::Exited(Status::Exited(0)));
    let output = String::from_utf8_lossy(&process.output().stdout).into_owned();
    assert_eq!(output, "6 INITIAL 1.5 41|7 INITIAL 3 33|100 main 7\n");
}

#[test]
fn threads_have_their_own_stack_and_thread_local_storage() {
    run_with_threads(&[
        "-O1",
        "-fstack-protector-all",
        "-rdynamic",
        "-Wl,--unresolved-symbols=ignore-all",
    ]);
}

#[test]
fn threads_of_position_dependent_programs_too() {
    run_with_threads(&["-O1", "-no-pie", "-rdynamic", "-Wl,--unresolved-symbols=ignore-all"]);
}

#[test]
fn threads_of_static_programs_too() {
    run_with_threads(&["-O1", "-static", "-DSTATIC"]);
}
