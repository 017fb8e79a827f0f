//! Whole programs as guests, compared with native runs, and what only a guest can show.

mod corpus;
mod explored;
mod harness;
mod host_functions;
mod libc;
mod loading;
mod places;
mod refusals;
mod threads;
