//! `raddle replay`: runs a recorded counterexample again.
//!
//! The file that `raddle check --trace` writes for a C or C++ program records how the program was compiled and explored,
//! and the bug. Exploration is deterministic, so the same exploration finds the same bug. A different result means that
//! the program has changed. The file may come from somebody else, so the compiler that it names is not run, and flags that could
//! make the compiler run programs or write files are refused.

use std::fs;

use raddle_core::outcome::{Bound, Finding, Outcome};
use raddle_explore::counterexample::{self, Style};
use raddle_native::Request;

use crate::args::ReplayArgs;
use crate::child::{self, ExploreTask, Failure, Limits, Subject, Task};
use crate::internal_error;
use crate::output::{Output, OutputError, print_error};
use crate::recorded::RecordedBug;
use crate::signals;
use crate::status::Status;

/// Runs the execution again and prints it.
pub(crate) fn run(args: &ReplayArgs, output: &mut Output) -> Result<Status, OutputError> {
    match replay(args) {
        Ok(text) => output.text(&text).map(|()| Status::Inconsistent),
        Err(failure) => Ok(print_failure(args, failure)),
    }
}

fn print_failure(args: &ReplayArgs, failure: Failure) -> Status {
    let trace = args.trace.display();
    match failure {
        Failure::Refused(error) => print_error(format_args!("{trace}: {error}")),
        Failure::Internal(what) => internal_error::report(&what),
        Failure::Stopped(bound, _) => {
            print_error(format_args!("{trace}: incomplete: {bound}"));
            let signal = signals::received().filter(|_| matches!(bound, Bound::Interrupted { .. }));
            return signal.map_or(Status::Unknown, Status::Interrupted);
        }
    }
    Status::Failed
}

/// The report on the recorded bug.
fn replay(args: &ReplayArgs) -> Result<String, Failure> {
    let recorded = read(args).map_err(Failure::Refused)?;
    if !args.trust_flags {
        recorded.check_flags().map_err(Failure::Refused)?;
    }
    let request = recorded.request(args.cc.clone()).map_err(Failure::Refused)?;
    let outcome = explore(&request, &args.trace.display().to_string())?;
    let report =
        |finding: &Finding| counterexample::report(finding, &Style::in_working_directory());
    let hint = recorded.compiler_hint(args.cc.as_deref());
    let changed = format!("the program has changed since the trace was recorded{hint}");
    match outcome.finding() {
        Some(finding) if recorded.matches(finding) => Ok(report(finding)),
        Some(finding) => Err(Failure::Refused(format!(
            "{changed}. Its first error is now:\n{}",
            report(finding).trim_end()
        ))),
        None => Err(Failure::Refused(format!("{changed}. It has no error now"))),
    }
}

fn read(args: &ReplayArgs) -> Result<RecordedBug, String> {
    let text = fs::read_to_string(&args.trace).map_err(|error| format!("cannot read: {error}"))?;
    if text.is_empty() {
        return Err(String::from(
            "the file is empty, because no bug was found when it was written",
        ));
    }
    serde_json::from_str(&text).map_err(|error| {
        format!("not a trace of a C or C++ program, as `raddle check --trace` writes it: {error}")
    })
}

fn explore(request: &Request, program: &str) -> Result<Outcome, Failure> {
    let signals = signals::catch();
    signals.map_err(|error| Failure::Refused(format!("signals cannot be handled: {error}")))?;
    let limits = Limits { deadline: None, memory: child::default_limit() };
    let object = child::build(&request.source, Subject { program, model: None }, limits)?;
    let task = Task::Explore(ExploreTask::new(object, request));
    let subject = Subject { program, model: Some(request.model) };
    child::explore(&task, subject, limits, &|_| ())
}
