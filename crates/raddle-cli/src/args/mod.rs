//! The command line.

mod bmc;
mod check;
mod generate;
mod litmus;
mod model_choice;
mod models;
mod replay;
mod seconds;
mod verify;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

pub(crate) use bmc::BmcArgs;
pub(crate) use check::CheckArgs;
pub(crate) use litmus::LitmusArgs;
pub(crate) use models::ModelsArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use verify::{Mode, VerifyArgs};

/// What `raddle --help` shows below the commands.
const EXAMPLES: &str = "\
Examples: does a recorded execution fit sequential consistency, and why not? And what can a program do?
  raddle verify examples/store-buffering.txt --model sc --explain
  raddle check examples/store-buffering.litmus";

/// Raddle: what can concurrent programs do under a memory model?
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check whether memory models allow recorded executions
    #[command(long_about = verify::ABOUT, after_help = verify::EXAMPLES)]
    Verify(Box<VerifyArgs>),

    /// Explore programs: all behaviours that memory models allow
    #[command(long_about = check::ABOUT, after_help = check::EXAMPLES)]
    Check(Box<CheckArgs>),

    /// Check a C program within bounds, symbolically: inputs may be anything
    #[command(after_help = bmc::EXAMPLES)]
    Bmc(Box<BmcArgs>),

    /// Make litmus tests from cycles of relaxations, as diy does
    #[command(after_help = litmus::EXAMPLES)]
    Litmus(LitmusArgs),

    /// Run a counterexample of a C or C++ program again
    Replay(ReplayArgs),

    /// Print the memory models, their axioms, and what checking costs
    Models(ModelsArgs),
}

/// Says what is wrong with the command line and exits.
fn usage_error(problem: &str) -> ! {
    let mut raddle = Cli::command();
    raddle.build();
    let verify = raddle.find_subcommand_mut("verify").expect("there is a verify command");
    verify.error(ErrorKind::ArgumentConflict, problem).exit()
}
