//! Whole programs as guests, compared with native runs, and what only a guest can show.

mod binaries;
mod corpus;
mod corpus_pairs;
mod estimate;
mod explored;
mod explorers;
mod harness;
mod host_functions;
mod libc;
mod library;
mod loading;
mod long;
mod machine;
mod places;
mod polls;
mod random;
mod refusals;
mod rounds;
mod rust_guests;
mod sampling;
mod semantics;
mod sequential;
mod symmetry;
mod thread_state;
mod threads;
mod unroll;
