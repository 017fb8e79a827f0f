//! The commands.

mod bmc;
pub(crate) mod check;
mod history;
mod litmus;
mod models;
mod replay;
mod verify;

use crate::args::{Command, HistoryCommand};
use crate::output::{Output, OutputError};
use crate::status::Status;

/// Runs a command and returns the exit status.
pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Status, OutputError> {
    match command {
        // `main` has run it: its standard output is for its parent only.
        Command::Child => Ok(Status::Failed),
        Command::Models(args) => models::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Bmc(args) => bmc::run(args, output),
        Command::Replay(args) => replay::run(args, output),
        Command::Litmus(args) => litmus::run(args, output),
        Command::Verify(args) => verify::run(args, output),
        Command::History(HistoryCommand::Generate(args)) => history::generate(args, output),
        Command::History(HistoryCommand::Convert(args)) => history::convert(args, output),
        Command::History(HistoryCommand::Stats(args)) => history::stats(args, output),
    }
}
