//! The `raddle` program.
//!
//! `main` parses the command line and turns what a command reports into an exit status; every
//! command is a module of its own.

mod args;
mod bmc;
mod bug;
mod check;
mod convert;
mod cycles;
mod generate;
mod input;
mod models;
mod output;
mod pool;
mod replay;
mod stats;
mod status;
mod table;
mod verify;

use std::process::ExitCode;

use args::{Cli, Command, Mode};
use clap::Parser;
use output::{Output, complain};
use status::Status;

fn main() -> ExitCode {
    bug::install_panic_hook();
    let command = Cli::parse().command;
    let mut output = Output::standard();
    let result = match &command {
        Command::Models(args) => models::run(args, &mut output),
        Command::Check(args) => check::run(args, &mut output),
        Command::Bmc(args) => bmc::run(args, &mut output),
        Command::Replay(args) => replay::run(args, &mut output),
        Command::Litmus(args) => cycles::run(args, &mut output),
        Command::Verify(args) => match args.mode() {
            Mode::Check => verify::run(args, &mut output),
            Mode::Generate => generate::run(args, &mut output),
            Mode::Convert(format) => convert::run(args, format, &mut output),
            Mode::Stats => stats::run(args, &mut output),
        },
    };
    let status = result.and_then(|status| output.flush().map(|()| status));
    let status = status.unwrap_or_else(|error| {
        complain(error);
        Status::Failed
    });
    status.into()
}
