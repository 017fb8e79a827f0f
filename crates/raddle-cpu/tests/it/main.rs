//! Tests of the virtual CPU and of guest memory.

mod differential;
mod forms;
mod memory;
mod native;
mod random;
