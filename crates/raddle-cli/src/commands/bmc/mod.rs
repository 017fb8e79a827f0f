//! `raddle bmc`: a C program within bounds, by lazy sequentialization and a SAT solver.
//!
//! What is found is not believed: the program is compiled and explored with the inputs of the counterexample (`confirm`),
//! and what is shown is what that finds.

mod confirm;

use std::io::{IsTerminal, Write};

use raddle_bmc::{BmcOptions, BmcReport, BmcVerdict};

use crate::args::BmcArgs;
use crate::internal_error;
use crate::output::{Output, OutputError, complain};
use crate::render::{json, text};
use crate::results::bmc::{Confirmation, Outcome};
use crate::status::Status;

/// Checks the program and prints what came of it.
pub(crate) fn run(args: &BmcArgs, output: &mut Output) -> Result<Status, OutputError> {
    let options = args.options();
    let checked = if args.deepen {
        raddle_bmc::deepen(&options, progress)
    } else {
        raddle_bmc::check(&options).map(|report| (options, report))
    };
    let (options, report) = match checked {
        Ok(checked) => checked,
        Err(error) => {
            complain(error);
            return Ok(Status::Failed);
        }
    };
    let confirmation = match &report.verdict {
        BmcVerdict::Bug(bug) if !args.no_replay => Some(confirm::confirm(&options, bug, args)),
        _ => None,
    };
    let outcome = Outcome { program: args.program.clone(), options, report, confirmation };
    if let Some(path) = &args.trace {
        let text =
            outcome.confirmation.as_ref().and_then(Confirmation::recorded).unwrap_or_default();
        std::fs::write(path, text).map_err(|error| OutputError::file(path, error))?;
    }
    if args.json {
        json::bmc::print(&outcome, output)?;
    } else {
        output.text(&text::bmc::text(&outcome))?;
    }
    Ok(status(&outcome))
}

fn status(outcome: &Outcome) -> Status {
    if let Some(Confirmation::Contradicted) = outcome.confirmation {
        internal_error::report("the compiled program does not do what the counterexample says");
        return Status::Failed;
    }
    match outcome.report.verdict {
        BmcVerdict::Bug(_) => Status::Inconsistent,
        BmcVerdict::Safe => Status::Good,
        BmcVerdict::Bounded(_) | BmcVerdict::Timeout => Status::Unknown,
    }
}

/// One line on a terminal, none in a pipe.
fn progress(options: &BmcOptions, report: &BmcReport) {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let size = &report.statistics;
        let _ = write!(
            stderr,
            "\rrounds {}, unwind {}: {} clauses, {:.1} s ",
            options.rounds, options.unwind, size.clauses, size.seconds
        );
        if !matches!(report.verdict, BmcVerdict::Bounded(_)) {
            let _ = writeln!(stderr);
        }
    }
}
