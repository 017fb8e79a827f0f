//! `raddle replay`: runs a recorded execution again, and no other one.
//!
//! The file that `raddle check --trace` writes records how the program was compiled and explored, and the execution with the bug. The
//! file may come from somebody else, so the compiler that it names is not run, and flags that could make the compiler run programs or
//! write files are refused. If the program is not the recorded one, the command says what has changed.

use std::fs;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Outcome};
use raddle_explore::counterexample;
use raddle_litmus::LitmusReplay;

use crate::args::ReplayArgs;
use crate::child::{self, ExploreTask, Failure, Limits, Subject};
use crate::internal_error;
use crate::output::{Output, OutputError, print_error};
use crate::recorded::RecordedBug;
use crate::recorded_litmus::RecordedLitmus;
use crate::render::style::style;
use crate::signals;
use crate::status::Status;

/// Runs the execution again and prints it.
pub(crate) fn run(args: &ReplayArgs, output: &mut Output) -> Result<Status, OutputError> {
    match replay(args) {
        Ok((text, status)) => output.text(&text).map(|()| status),
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

/// The report on the recorded execution.
fn replay(args: &ReplayArgs) -> Result<(String, Status), Failure> {
    let text = read(args).map_err(Failure::Refused)?;
    if let Some(recorded) = RecordedLitmus::parse(&text) {
        return recorded.and_then(|recorded| litmus(&recorded)).map_err(Failure::Refused);
    }
    let recorded = RecordedBug::parse(&text).map_err(Failure::Refused)?;
    if !args.trust_flags {
        recorded.check_flags().map_err(Failure::Refused)?;
    }
    let outcome = run_program(&recorded, args)?;
    let shows_nothing = |what: &str| {
        Failure::Refused(format!("the execution does not show the recorded error: {what}"))
    };
    let style = style(false);
    match (outcome.finding(), &outcome.bound) {
        (Some(finding), _) if finding.kind == recorded.kind() => {
            Ok((counterexample::report(finding, &style), Status::Inconsistent))
        }
        (Some(finding), _) => Err(shows_nothing(&finding.to_string())),
        (None, Some(bound)) => Err(shows_nothing(&bound.to_string())),
        (None, None) => Err(shows_nothing("it has no error")),
    }
}

fn read(args: &ReplayArgs) -> Result<String, String> {
    let text = fs::read_to_string(&args.trace).map_err(|error| format!("cannot read: {error}"))?;
    if text.is_empty() {
        return Err(String::from(
            "the file is empty, because no bug was found when it was written",
        ));
    }
    Ok(text)
}

/// Runs the recorded execution of a program.
fn run_program(recorded: &RecordedBug, args: &ReplayArgs) -> Result<Outcome, Failure> {
    let request = recorded.request(args.cc.clone()).map_err(Failure::Refused)?;
    let program = args.trace.display().to_string();
    let signals = signals::catch();
    signals.map_err(|error| Failure::Refused(format!("signals cannot be handled: {error}")))?;
    let limits = Limits { deadline: None, memory: child::default_limit() };
    let subject = Subject { program: &program, model: None };
    let object = child::build(&request.source, subject, limits)?;
    let compiled_by = object.compiler().to_owned();
    let subject = Subject { program: &program, model: Some(request.model) };
    let task = ExploreTask::new(object, &request);
    match child::replay(task, recorded.recording(), subject, limits)? {
        Ok(outcome) => Ok(outcome),
        Err(files) => Err(Failure::Refused(recorded.changes(&files, &compiled_by))),
    }
}

/// The report on an execution of a litmus test.
fn litmus(recorded: &RecordedLitmus) -> Result<(String, Status), String> {
    let test = recorded.read_test()?;
    let RecordedLitmus { unroll, kind, schedule, .. } = recorded;
    let model = recorded.model.parse::<Model>().map_err(|error| error.to_string())?;
    let LitmusReplay { trace, finding } =
        raddle_litmus::replay(&test, model, *unroll, schedule, *kind)?;
    let style = style(false);
    match finding {
        Some(finding) => Ok((counterexample::report(&finding, &style), Status::Inconsistent)),
        None => {
            let execution = counterexample::execution(&trace, &style);
            let condition = test.condition_text();
            Ok((
                format!("{model} allows this execution of {condition}\n\n{execution}\n"),
                Status::Good,
            ))
        }
    }
}
