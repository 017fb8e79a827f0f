//! `raddle verify`: checks every history under every model.
//!
//! The checks are independent, so they run on several threads. The output does not depend on the number of threads.

mod recheck;
mod witness_file;

use raddle_consistency::check::CheckOptions;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::args::{Format, VerifyArgs};
use crate::input::{self, HistoryFile};
use crate::output::{Output, OutputError, print_error};
use crate::pool;
use crate::render::text::recheck::RecheckCounts;
use crate::render::{self, history_data, json, text};
use crate::results::verify::CheckedHistory;
use crate::status::Status;
use witness_file::WitnessFile;

/// Checks the histories and prints the verdicts.
pub(crate) fn run(args: &VerifyArgs, output: &mut Output) -> Result<Status, OutputError> {
    let witness_file = args.witness.as_deref().map(WitnessFile::open).transpose()?;
    let inputs = input::load_all(&args.histories, args.jobs());
    witness_file.as_ref().map_or(Ok(()), WitnessFile::clear)?;
    let status = print_errors(&inputs);
    let models = args.models();
    let checks = check_all(args, &models, &inputs);
    let format = args.format();
    output.redirect(args.output.file())?;
    if let Some(text) = render::common(format, &|| history_data::of_verify(&inputs, &checks)) {
        output.text(&text)?;
    } else if format == Format::Json {
        json::verify::print(&inputs, &models, &checks, output)?;
    } else {
        text::verify::print(&models, &checks, args.explain, output)?;
    }
    if let Some(file) = witness_file {
        file.write(&checks)?;
    }
    if args.recheck && !checks.is_empty() {
        print_recheck(&checks, format != Format::Text, output)?;
    }
    Ok(checks.iter().map(CheckedHistory::status).fold(status, Status::max))
}

/// Prints the errors of history files that cannot be used.
fn print_errors(inputs: &[HistoryFile]) -> Status {
    let mut status = Status::Good;
    for input in inputs {
        if let Err(error) = &input.content {
            print_error(error.message(&input.name));
            status = Status::Failed;
        }
    }
    status
}

/// Checks every history under every model. The results are in the order of the histories, then of the models.
fn check_all<'a>(
    args: &VerifyArgs,
    models: &[Model],
    inputs: &'a [HistoryFile],
) -> Vec<CheckedHistory<'a>> {
    let tasks: Vec<(&str, &Execution, Model)> = inputs
        .iter()
        .filter_map(|input| Some((input.name.as_str(), input.content.as_ref().ok()?)))
        .flat_map(|(name, execution)| models.iter().map(move |&model| (name, execution, model)))
        .collect();
    let options = args.options();
    pool::map(&tasks, args.jobs(), |&(history, execution, model)| {
        check(history, execution, model, &options, args.recheck)
    })
}

fn check<'a>(
    history: &'a str,
    execution: &'a Execution,
    model: Model,
    options: &CheckOptions,
    recheck: bool,
) -> CheckedHistory<'a> {
    let verdict = raddle_consistency::check(execution, model, options);
    let recheck = recheck.then(|| recheck::recheck(execution, model, &verdict));
    CheckedHistory { history, execution, model, verdict, recheck }
}

/// Prints the counts of `--recheck`; with `--json` to standard error, since standard output is for programs.
fn print_recheck(
    checks: &[CheckedHistory<'_>],
    json: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    let counts: RecheckCounts = checks.iter().filter_map(|check| check.recheck.as_ref()).collect();
    if json {
        print_error(&counts);
    } else {
        output.text(&format!("\n{counts}\n"))?;
    }
    output.flush()?;
    recheck::report_failures(checks);
    Ok(())
}
