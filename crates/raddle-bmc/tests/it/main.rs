//! Integration tests of the bounded checker, in one binary.

mod arithmetic;
mod bounds;
mod corpus;
mod emitted;
mod language;
mod random_programs;
mod support;
mod threads;
