//! Data structures as people write them, each right and with a bug.
//!
//! With `--cfg loom` they use loom's types, as crates that are tested with loom do. Otherwise these are the types of std, and
//! nothing is made for `cargo raddle`. Tests that are called `broken` fail in some execution.

mod arc_swap;
mod arena;
mod deque;
mod michael_scott;
mod mpsc_ring;
mod oneshot;
mod pool;
mod seqlock;
mod spin_lock;
mod spsc_ring;
mod sync;
mod treiber;
