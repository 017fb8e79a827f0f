//! Processes that build and explore compiled programs.
//!
//! A compiler may hang, and a program may run forever between two events or need all memory. So `raddle check`,
//! `raddle replay` and `raddle bmc`, where it confirms a counterexample, build and explore compiled programs in child
//! processes: this executable, with a hidden command.
//!
//! ```text
//! raddle check ──► calls ──► supervise ──── Task on standard input ───────► serve ──► compilers, worker processes
//!                            limits, signals ◄── Messages on standard output ──
//! ```
//!
//! A child is the leader of a process group of its own, to which its compilers and worker processes belong. The parent ends
//! the group with SIGKILL: at a limit, at a signal, and after the answer. A child dies with its parent.
//!
//! *Cost.* A child takes 1 to 2 ms. The parent polls limits and signals every 20 ms, and memory every 50 ms.

mod calls;
mod frames;
mod memory;
mod protocol;
mod serve;
mod supervise;

pub(crate) use calls::{Failure, Subject, build, estimate, explore, replay};
pub(crate) use memory::default_limit;
pub(crate) use protocol::{CheckpointFiles, ExploreTask, Task};
pub(crate) use serve::serve;
pub(crate) use supervise::Limits;

/// The hidden command that a child runs.
pub(crate) const COMMAND: &str = "child-process";
