//! The command line.

mod bmc;
mod check;
mod format;
mod former;
mod generate;
mod history;
mod litmus;
mod model_choice;
mod models;
mod replay;
mod seconds;
mod verify;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::child;

pub(crate) use bmc::BmcArgs;
pub(crate) use check::{CheckArgs, TestArgs, VolatileKind};
pub(crate) use format::Format;
pub(crate) use generate::GenerateArgs;
pub(crate) use history::{ConvertArgs, HistoryCommand, StatsArgs};
pub(crate) use litmus::LitmusArgs;
pub(crate) use models::ModelsArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use verify::VerifyArgs;

/// What `raddle --help` shows below the commands.
const EXAMPLES: &str = "\
Examples:
  raddle check examples/peterson.c --model tso
  raddle check examples/store-buffering.litmus
  raddle verify examples/store-buffering.txt --model sc --explain";

/// Stateless model checking of concurrent programs under memory models
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explore all behaviours of programs that memory models allow
    #[command(long_about = check::ABOUT, after_help = check::EXAMPLES)]
    Check(Box<CheckArgs>),

    /// Run a recorded execution again, and no other one
    Replay(ReplayArgs),

    /// Check a C program symbolically, for all inputs and within bounds
    #[command(after_help = bmc::EXAMPLES)]
    Bmc(Box<BmcArgs>),

    /// Check whether memory models allow recorded executions
    #[command(long_about = verify::ABOUT, after_help = verify::EXAMPLES)]
    Verify(VerifyArgs),

    /// Generate, convert and count recorded executions
    #[command(subcommand, after_help = history::EXAMPLES)]
    History(HistoryCommand),

    /// Generate litmus tests from cycles of relaxations, like diy
    #[command(after_help = litmus::EXAMPLES)]
    Litmus(LitmusArgs),

    /// Build or explore a program for another process of Raddle
    #[command(name = child::COMMAND, hide = true)]
    Child,

    /// Print the memory models, their axioms, the cost of checking, and the explorers
    Models(ModelsArgs),
}

/// Parses the command line. Prints help or an error and exits if there is no command to run.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Command {
    let Cli { command } = Cli::parse_from(former::translate(arguments));
    if let Some((path, problem)) = command.problem() {
        usage_error(path, problem);
    }
    command
}

impl Command {
    /// A combination of options that is an error but that clap cannot reject, and the path of the command.
    fn problem(&self) -> Option<(&'static [&'static str], &'static str)> {
        match self {
            Command::Verify(args) => Some((&["verify"], args.problem()?)),
            Command::History(HistoryCommand::Generate(args)) => {
                Some((&["history", "generate"], args.problem()?))
            }
            Command::History(HistoryCommand::Convert(args)) => {
                Some((&["history", "convert"], args.problem()?))
            }
            Command::History(HistoryCommand::Stats(args)) => {
                Some((&["history", "stats"], args.problem()?))
            }
            _ => None,
        }
    }
}

/// Prints a usage error of the command with this path, and exits.
fn usage_error(path: &[&str], problem: &str) -> ! {
    let mut raddle = Cli::command();
    raddle.build();
    let command = path.iter().fold(&mut raddle, |command, name| {
        command.find_subcommand_mut(name).expect("the path is one of a command")
    });
    command.error(ErrorKind::ArgumentConflict, problem).exit()
}
