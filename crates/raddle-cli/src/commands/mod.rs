//! The commands.

mod bmc;
mod check;
mod history;
mod litmus;
mod models;
mod replay;
mod verify;

use crate::args::{Command, Mode};
use crate::output::{Output, OutputError};
use crate::status::Status;

/// Runs a command and returns the exit status.
pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Status, OutputError> {
    match command {
        Command::Models(args) => models::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Bmc(args) => bmc::run(args, output),
        Command::Replay(args) => replay::run(args, output),
        Command::Litmus(args) => litmus::run(args, output),
        Command::Verify(args) => match args.mode() {
            Mode::Check => verify::run(args, output),
            Mode::Generate => history::generate(args, output),
            Mode::Convert(format) => history::convert(args, format, output),
            Mode::Stats => history::stats(args, output),
        },
    }
}
