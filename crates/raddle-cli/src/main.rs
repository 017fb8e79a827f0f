//! The `raddle` program.
fn main() {}
