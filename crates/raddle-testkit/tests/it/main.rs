//! Scripts and the brute force over them.

mod outcomes;
mod programs;
mod programs_random;
mod script;
