//! Whole programs as guests, compared with native runs, and what only a guest can show.

mod corpus;
mod harness;
mod host_functions;
mod loading;
mod places;
mod refusals;
mod threads;
