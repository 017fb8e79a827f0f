//! ELF files: reading, mapping into guest memory, symbols, source lines.
//!
//! **Problem.** A dynamic program needs its libraries found, mapped, relocated and bound, indirect functions resolved,
//! thread-local storage laid out, and the C library told about all of it in structures that are private to it.
//!
//! **Idea.** Do what a kernel does and no more: map the executable and the dynamic linker that it names, and run the
//! linker as guest code from its entry point ([`process`](crate::process)). It finds libraries, chooses versions,
//! relocates, resolves indirect functions (baseline ones, as the CPU reports no extensions), sets the thresholds of
//! `memcpy`, and runs constructors, exactly as natively, with 18 kinds of system calls. We need no knowledge of the C
//! library's internals, and programs that were built without us just work. Static executables, which relocate
//! themselves, need nothing else.
//!
//! **Cost** (glibc 2.36, mean processor time of 50 starts; everything is bound at the start). Half of it or more is
//! reading, mapping and translating 2 to 5 MB of libraries; the linker's instructions are interpreted at about 200
//! million per second.
//!
//! | program | instructions of the linker | start |
//! |---|---|---|
//! | C, `int main` only | 94,000 | 6 ms |
//! | C++ with iostream: 4 libraries of 5 MB, 2,879 relocations with names | 2,463,000 | 22 ms |
//! | Rust, release | 198,000 | 10 ms |
//! | C, static | 0, then 6,500 in all | 0.5 ms |
//!
//! A snapshot of the started process makes this a cost per program, not per execution: going back takes a microsecond
//! after 1,000 instructions, 10 after 50,000 and 100 after 2 million.
//!
//! **Rejected.** *A loader of our own instead of the dynamic linker*: a prototype (105 lines) ran library functions,
//! but had to act in place of `__tls_get_addr`, `_dl_find_object`, `pthread_once`, `__cxa_atexit` and `mem*`, patch the
//! thresholds of `memcpy` (left at zero they make it read out of bounds) by decoding its code, and call `__ctype_init`;
//! one of 83 resolvers faulted. Each glibc changes these internals. Its start was not faster: 29 ms of
//! processor time for the same libraries and a few calls, 20 of them in the kernel for reading and mapping. *Linking statically*: fastest, but a program that somebody else has
//! built stays dynamic, and not every library exists as an archive. Static programs run, they are not required.
//!
//! **Undefined symbols.** The linker refuses to start a program with undefined strong symbols, but a program under test
//! may call functions that only the host has. Then the linker runs a second time with a preloaded object, made in
//! memory, that defines them at addresses of host functions. A call of one that the host does not implement is refused
//! by name.

mod elf;
mod frames;
mod lines;
mod local_names;
mod locals;
pub(crate) mod missing;
mod module;
mod place;
mod scalars;
mod symbols;
mod types;

pub use elf::{Elf, HeaderTable, LoadError, Segment, TlsSegment};
pub(crate) use frames::Frame;
pub(crate) use lines::CodeFrame;
pub use lines::Line;
pub(crate) use local_names::FunctionLocals;
pub use module::Module;
pub(crate) use module::{COPIES, VOLATILES};
pub use place::Place;
pub(crate) use scalars::Scalar;
pub use symbols::{Symbol, SymbolKind, Symbols};
pub(crate) use types::{TypeId, Types};
