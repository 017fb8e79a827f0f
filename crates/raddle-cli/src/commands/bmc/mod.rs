//! `raddle bmc`: a C program within bounds, by lazy sequentialization and a SAT solver.
//!
//! What is found is not believed: the program is compiled and explored with the inputs of the counterexample (`confirm`),
//! and what is shown is what that finds.

mod confirm;

use std::io::{IsTerminal, Write};

use raddle_bmc::{BmcOptions, BmcReport};
use raddle_core::outcome::{Bound, Verdict};

use crate::args::BmcArgs;
use crate::internal_error;
use crate::output::{Output, OutputError, complain};
use crate::render::{json, text};
use crate::results::bmc::{BmcResult, Confirmation};
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
    let found = report.outcome.kind().zip(report.counterexample.as_ref());
    let confirmation = found
        .filter(|_| !args.no_replay)
        .map(|(kind, bug)| confirm::confirm(&options, kind, bug, args));
    let result = BmcResult { program: args.program.clone(), options, report, confirmation };
    if let Some(path) = &args.trace {
        let text =
            result.confirmation.as_ref().and_then(Confirmation::recorded).unwrap_or_default();
        std::fs::write(path, text).map_err(|error| OutputError::file(path, error))?;
    }
    if args.json {
        json::bmc::print(&result, output)?;
    } else {
        output.text(&text::bmc::text(&result))?;
    }
    Ok(status(&result))
}

fn status(result: &BmcResult) -> Status {
    if let Some(Confirmation::Contradicted) = result.confirmation {
        internal_error::report("the compiled program does not do what the counterexample says");
        return Status::Failed;
    }
    match result.report.outcome.verdict {
        Verdict::Bug => Status::Inconsistent,
        Verdict::Clean => Status::Good,
        Verdict::Incomplete => Status::Unknown,
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
            options.rounds, options.unwind, size.clauses, report.outcome.counts.seconds
        );
        if !matches!(report.outcome.bound, Some(Bound::Excluded(_))) {
            let _ = writeln!(stderr);
        }
    }
}
