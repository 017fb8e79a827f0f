//! Tests of the virtual CPU and of guest memory.

mod memory;
mod random;
