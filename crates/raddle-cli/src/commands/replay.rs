//! `raddle replay`: runs a recorded counterexample again.
//!
//! The file that `raddle check --trace` writes for a C or C++ program records how the program was compiled and explored,
//! and the bug. Exploration is deterministic, so the same exploration finds the same bug. A different result means that
//! the program has changed, or its compiler. A trace may come from somebody else, so the compiler that it names is not run.

use std::fs;

use raddle_core::outcome::Finding;
use raddle_explore::counterexample::{self, Style};

use crate::args::ReplayArgs;
use crate::output::{Output, OutputError, print_error};
use crate::recorded::RecordedBug;
use crate::status::Status;

/// Runs the execution again and prints it.
pub(crate) fn run(args: &ReplayArgs, output: &mut Output) -> Result<Status, OutputError> {
    match replay(args) {
        Ok(text) => output.text(&text).map(|()| Status::Inconsistent),
        Err(error) => {
            print_error(format!("{}: {error}", args.trace.display()));
            Ok(Status::Failed)
        }
    }
}

fn replay(args: &ReplayArgs) -> Result<String, String> {
    let text = fs::read_to_string(&args.trace).map_err(|error| format!("cannot read: {error}"))?;
    if text.is_empty() {
        return Err(String::from(
            "the file is empty, because no bug was found when it was written",
        ));
    }
    let recorded: RecordedBug = serde_json::from_str(&text).map_err(|error| {
        format!("not a trace of a C or C++ program, as `raddle check --trace` writes it: {error}")
    })?;
    let outcome = raddle_native::check(&recorded.request(args.cc.clone())?)
        .map_err(|error| error.to_string())?;
    let report =
        |finding: &Finding| counterexample::report(finding, &Style::in_working_directory());
    match outcome.finding() {
        Some(finding) if recorded.matches(finding) => Ok(report(finding)),
        Some(finding) => Err(format!(
            "the program has changed since the trace was recorded. Its first error is now:\n{}",
            report(finding).trim_end()
        )),
        None => Err(String::from(
            "the program has changed since the trace was recorded. It has no error now",
        )),
    }
}
