//! How Raddle runs native code: fibers, names that do not depend on schedules, and replay.
//!
//! A front end gives its users types that mirror those of the standard library; what they do are the
//! [`ops`] of this crate. [`Native`] is a [`Program`](raddle_core::program::Program): explorers ask it
//! what a thread does next, and it runs the code to find out.
//!
//! The module docs say how: `native`, `needed` and `rewind` how a history is followed, `ending` how a run ends,
//! `heap` and `state` how objects and pointers get names, `entry` and `atom` how an op is recorded,
//! `fiber`, `ask`, `trap` and `unwind` how threads are run and stopped, `spin` how loops are found that
//! only wait, `around` whether threads share memory without ops, `live` how a program runs once and remembers nothing.
//! `worker_process` forks processes that explore parts of a program.
//!
//! All state belongs to one thread of the system, so several of them can explore at the same time.

mod around;
mod ask;
mod atom;
mod ending;
mod entry;
mod fiber;
mod heap;
mod live;
mod names;
mod native;
mod needed;
pub mod ops;
mod owners;
mod panics;
mod rewind;
mod spin;
mod state;
mod trap;
mod unwind;
#[cfg(feature = "parallel")]
pub mod worker_process;

pub use fiber::on_large_stack;
pub use heap::Allocator;
pub use names::Kind;
pub use native::{Names, Native};
pub use state::{Caller, Settings, Tag};
#[cfg(feature = "parallel")]
pub use worker_process::WorkerUpdate;
