//! Compiled programs as guests of the virtual CPU.
//!
//! [`load`] reads executables and shared objects and maps them into guest memory; [`process`] starts a program as a kernel would, gives
//! its threads stacks and thread-local storage, and answers its system calls. [`program`] is what explorers run; [`libc`] has
//! the library functions that Raddle models. Everything else, from the dynamic linker to the last destructor, is guest code.

#![forbid(unsafe_code)]

pub mod libc;
pub mod load;
pub mod process;
pub mod program;
