//! A virtual x86-64 CPU: checked guest memory, questions for shared accesses, snapshots, budgets.

pub mod memory;
