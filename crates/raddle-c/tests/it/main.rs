//! The C and C++ front end: the corpus, library functions, refusals and random programs.

mod compiled;
mod core;
mod corpus;
mod corpus_pairs;
mod estimate;
mod explorers;
mod online;
mod random;
mod rewind;
mod shims;
