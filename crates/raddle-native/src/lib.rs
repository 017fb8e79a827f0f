//! Compiled programs as guests of the virtual CPU.
//!
//! [`build`] turns C and C++ files into an executable, [`check`] explores it and returns an
//! [`Outcome`](raddle_core::outcome::Outcome).
//!
//! [`load`] reads executables and shared objects and maps them into guest memory; [`process`] starts a program as a kernel would, gives
//! its threads stacks and thread-local storage, and answers its system calls. [`program`] is what explorers run; [`libc`] has
//! the library functions that Raddle models. Everything else, from the dynamic linker to the last destructor, is guest code.

#![forbid(unsafe_code)]

mod build;
mod check;
mod environment;
pub mod libc;
pub mod load;
mod openmp;
pub mod process;
pub mod program;
mod sv_comp;

pub use build::{Error, MemoryOrders, Object, Source, build, first_harmful_flag, rust_hooks};
pub use check::{
    Checkpoint, ModuleHash, ParallelOptions, Progress, Recording, Request, RustTest, check,
    check_built, check_parallel, content_hash, estimate, is_clean_with, replay_built, rust_tests,
    suggest,
};
pub use environment::Environment;
pub use program::{Guide, KnownRead};
pub use sv_comp::{Property, TaskDefinition};
