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
//! Not supported: self-modifying code (writes to text fault), signals, segments other than fs, AVX-512.

mod cpu;
mod exec;
mod liveness;
pub mod memory;
mod registers;
mod run;
mod snapshot;
mod stop;
mod stub;
mod translate;

pub use cpu::Cpu;
pub use liveness::{Calls, Dead, Function, Liveness};
pub use registers::{AF, CF, DF, OF, PF, Register, SF, STATUS, ZF};
pub use snapshot::Snapshot;
pub use stop::{Fence, Operation, Refusal, Stop};
pub use translate::{Code, Readings};
