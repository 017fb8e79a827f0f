//! `raddle replay`: one recorded counterexample again.
//!
//! What `raddle check --trace` writes for a C or C++ program is an object that says how the program was compiled and
//! explored, and what was found. Exploring is deterministic, so the same execution is found again as the same class; it
//! is compared with the recorded one, step by step. If the program has changed meanwhile, that is told.

use std::fs;

use raddle_core::outcome::Finding;
use raddle_explore::counterexample::{self, Style};

use crate::args::ReplayArgs;
use crate::output::{Output, OutputError, complain};
use crate::recorded::Recorded;
use crate::status::Status;

/// Runs the execution again and shows it.
pub(crate) fn run(args: &ReplayArgs, output: &mut Output) -> Result<Status, OutputError> {
    match replay(args) {
        Ok(text) => output.text(&text).map(|()| Status::Inconsistent),
        Err(error) => {
            complain(format!("{}: {error}", args.trace.display()));
            Ok(Status::Failed)
        }
    }
}

fn replay(args: &ReplayArgs) -> Result<String, String> {
    let text = fs::read_to_string(&args.trace).map_err(|error| format!("cannot read: {error}"))?;
    if text.is_empty() {
        return Err(String::from("the file is empty: no bug was found when it was written"));
    }
    let recorded: Recorded = serde_json::from_str(&text).map_err(|error| {
        format!("not what `raddle check --trace` writes for a C program: {error}")
    })?;
    let outcome = raddle_c::check(&recorded.request()?).map_err(|error| error.to_string())?;
    let report =
        |finding: &Finding| counterexample::report(finding, &Style::in_working_directory());
    match outcome.finding() {
        Some(finding) if recorded.is(finding) => Ok(report(finding)),
        Some(finding) => Err(format!(
            "the program is not the one of the trace: the first error is now\n{}",
            report(finding).trim_end()
        )),
        None => Err(String::from("the program is not the one of the trace: it has no error now")),
    }
}
