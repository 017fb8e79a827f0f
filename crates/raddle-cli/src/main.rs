//! The `raddle` program.
//!
//! - `args`: the command line. It depends on no command.
//! - `commands`: one module per command. A command runs the analysis and returns the exit status.
//! - `child`: the processes that build and explore compiled programs.
//! - `results`: what commands pass to `render`.
//! - `render`: text for people and JSON for programs.

mod args;
mod child;
mod commands;
mod input;
mod internal_error;
mod output;
mod pool;
mod recorded;
mod render;
mod results;
mod signals;
mod status;

use std::process::ExitCode;

use output::{Output, print_error};
use status::Status;

fn main() -> ExitCode {
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
