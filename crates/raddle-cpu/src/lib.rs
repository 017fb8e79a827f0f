//! A virtual x86-64 CPU: checked guest memory, questions for shared accesses, snapshots, budgets.
//!
//! [`Memory`](memory::Memory) and [`Code`] belong to a guest process, a [`Cpu`] to each of its threads. [`Cpu::run`] runs a thread
//! until it stops at a question or effect ([`Stop`]); the caller answers, takes a [`Snapshot`], or goes back to one.
//!
//! **Problem.** A model checker for compiled programs must see every access, interrupt any loop, return to earlier states and
//! survive whatever the program does. Hooks inserted by compilers see only what compilers instrument, and a program in the
//! checker's own address space takes the checker with it. **Idea.** Interpret machine code. Blocks are translated once into linked
//! micro-operations in safe Rust; about 60 operations have semantics of their own, and every other instruction runs natively
//! and alone in a generated stub. A test compares each form with the real processor on random states.
//!
//! **Cost.** On a virtual machine with an AMD EPYC, in CPU time (`cargo bench -p raddle-cpu`), million instructions per second at
//! -O0 and -O2: a loop on the stack 355 and 399, quicksort 320 and 398, SHA-256 339 and 398, floating point (half of it in stubs)
//! 239 and 261. A question of the bench takes 77 ns at -O0 (7.5 instructions between two of them) and 67 ns at -O2 (3.5
//! instructions); a snapshot at each adds 17 ns; a snapshot with its return takes 31 ns without writes.
//!
//! **Rejected.** `unsafe` in the interpreter: safe code is fast enough. A sketch with raw pointers was recorded at 426 and 382 million
//! instructions per second on similar programs (loop and quicksort at -O0); the two were not measured side by side.
//!
//! **Wall-clock limits.** [`Cpu::set_budget`] limits a slice; a caller that must keep a time limit runs slices of, say, a million
//! instructions (some milliseconds) and looks at the clock in between.
//!
//! **Hooks.** [`Code::hook`] discards translated code; install hooks before the first instruction runs.
//!
//! Not supported: code that modifies text (it faults; [`memory::Memory::set_executable`] allows trampolines elsewhere), signals,
//! segments other than fs, AVX-512.

#![deny(unsafe_code)]

mod cpu;
mod exec;
mod liveness;
pub mod memory;
mod registers;
mod run;
mod snapshot;
mod stop;
#[allow(unsafe_code)]
mod stub;
mod translate;

pub use cpu::Cpu;
pub use liveness::{Calls, Dead, Function, HostArguments, KnownCallee, Liveness};
pub use registers::{AF, CF, DF, OF, PF, Register, SF, STATUS, ZF};
pub use snapshot::{Snapshot, StateSince};
pub use stop::{Fence, Operation, Refusal, Stop};
pub use translate::{Code, Readings};
