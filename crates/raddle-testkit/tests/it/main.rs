//! Scripts and the brute force over them.

mod programs;
mod programs_random;
mod script;
