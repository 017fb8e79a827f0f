//! Tests of the virtual CPU and of guest memory.

mod blocks;
mod differential;
mod faults;
mod fork;
mod forms;
mod guest;
mod isolation;
mod limits;
mod liveness;
mod memory;
mod native;
mod programs;
mod questions;
mod random;
mod results;
mod snapshots;
mod states;
mod threads;
mod virtual_cpu;
