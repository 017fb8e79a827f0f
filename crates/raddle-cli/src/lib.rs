//! The `raddle` program, and what `cargo raddle` shares with it.
//!
//! - `args`: the command line. It depends on no command.
//! - `commands`: one module per command. A command runs the analysis and returns the exit status.
//! - `child`: the processes that build and explore compiled programs.
//! - `results`: what commands pass to `render`.
//! - `rust_tests`: tests of Rust, for `cargo raddle`.
//! - `render`: text for people and JSON for programs.

mod args;
mod child;
mod commands;
mod input;
mod internal_error;
mod output;
mod pool;
mod recorded;
mod recorded_litmus;
mod render;
mod results;
mod rust_tests;
mod signals;
mod status;

use std::process::ExitCode;

use output::{Output, print_error};
use status::Status;

pub use rust_tests::{Ignored, Selection, TestBinary, run_tests};

/// Runs `raddle` with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    internal_error::install_panic_hook();
    let command = args::parse(std::env::args_os());
    if matches!(command, args::Command::Child) {
        return child::serve();
    }
    let mut output = Output::standard();
    let result = commands::run(&command, &mut output);
    let status = result.and_then(|status| output.flush().map(|()| status));
    let status = status.unwrap_or_else(|error| {
        print_error(error);
        Status::Failed
    });
    status.into()
}

/// Serves the parent if this process is a child that builds or explores a program: a program that calls [`run_tests`] must call
/// this first.
#[must_use]
pub fn serve_parent() -> Option<ExitCode> {
    internal_error::install_panic_hook();
    let is_child = std::env::args_os().nth(1).is_some_and(|argument| argument == child::COMMAND);
    is_child.then(child::serve)
}
