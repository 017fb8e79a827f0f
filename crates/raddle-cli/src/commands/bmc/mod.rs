//! `raddle bmc`: bounded model checking of a C program, by lazy sequentialization and a SAT solver.
//!
//! A counterexample is confirmed before it is reported (`confirm`): the compiled program is explored with the inputs of the
//! counterexample, in child processes, and the report shows the bug that this exploration finds. If a signal arrives meanwhile,
//! the counterexample is reported without confirmation.

mod confirm;

use std::io::{IsTerminal, Write};

use raddle_bmc::{BmcOptions, BmcReport};
use raddle_core::outcome::{Bound, Verdict};

use crate::args::{BmcArgs, Format};
use crate::internal_error;
use crate::output::{Output, OutputError, print_error};
use crate::render::{self, json, reported, text};
use crate::results::bmc::{BmcResult, Confirmation};
use crate::signals;
use crate::status::Status;

/// Checks the program, confirms a counterexample and prints the result.
pub(crate) fn run(args: &BmcArgs, output: &mut Output) -> Result<Status, OutputError> {
    if let Some(option) = args.overwrites_program() {
        print_error(format_args!("{option} would overwrite the program: name another file"));
        return Ok(Status::Failed);
    }
    if args.format() == Format::Herd {
        print_error("--format herd is for litmus tests: use another format");
        return Ok(Status::Failed);
    }
    let options = args.options();
    let checked = if args.deepen {
        raddle_bmc::deepen(&options, progress)
    } else {
        raddle_bmc::check(&options).map(|report| (options, report))
    };
    let (options, report) = match checked {
        Ok(checked) => checked,
        Err(error) => {
            print_error(error);
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
    let format = args.format();
    output.redirect(args.output.file())?;
    if let Some(text) = render::common(format, &|| vec![reported::of_bmc(&result)]) {
        output.text(&text)?;
    } else if format == Format::Json {
        json::bmc::print(&result, output)?;
    } else {
        output.text(&text::bmc::text(&result))?;
    }
    Ok(status(&result))
}

fn status(result: &BmcResult) -> Status {
    let internal_error = match &result.confirmation {
        Some(Confirmation::Contradicted) => {
            Some("the compiled program contradicts the counterexample")
        }
        Some(Confirmation::Failed(what)) => Some(what.as_str()),
        _ => None,
    };
    if let Some(what) = internal_error {
        internal_error::report(what);
        return Status::Failed;
    }
    if let Some(signal) = signals::received() {
        return Status::Interrupted(signal);
    }
    match result.report.outcome.verdict {
        Verdict::Bug => Status::Inconsistent,
        Verdict::Clean => Status::Good,
        Verdict::Incomplete => Status::Unknown,
    }
}

/// Prints a progress line if standard error is a terminal.
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
