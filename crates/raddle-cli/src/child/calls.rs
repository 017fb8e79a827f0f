//! Tasks as functions.

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Estimate, Outcome, Phase};
use raddle_native::{Object, Recording, Source};

use super::protocol::{Answer, ExploreTask, Task};
use super::supervise::{self, Limits, StopReason, Stopped};

/// What a child works on, for reports.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The program.
    pub(crate) program: &'a str,
    /// The model under which it is explored.
    pub(crate) model: Option<Model>,
}

/// Why a task has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input does not permit it, for this reason.
    Refused(String),
    /// A limit was reached, or a signal arrived, after so much was explored.
    Stopped(Bound, Counts),
    /// A bug in Raddle.
    Internal(String),
}

/// Compiles and links a program.
///
/// # Errors
/// If the compiler refuses the program, or see [`Failure`].
pub(crate) fn build(
    source: &Source,
    subject: Subject<'_>,
    limits: Limits,
) -> Result<Object, Failure> {
    match call(&Task::Build(source.into()), subject, limits, &|_| ())? {
        Answer::Built(object) => Ok(object),
        _ => Err(unexpected(subject, Phase::Building)),
    }
}

/// Explores a program, or estimates its size ([`Task`]).
///
/// # Errors
/// If a checkpoint cannot be used, or see [`Failure`].
pub(crate) fn explore(
    task: &Task,
    subject: Subject<'_>,
    limits: Limits,
    progress: &dyn Fn(Counts),
) -> Result<Outcome, Failure> {
    match call(task, subject, limits, progress)? {
        Answer::Explored(outcome) => Ok(outcome),
        _ => Err(unexpected(subject, task.phase())),
    }
}

/// Runs a recorded execution of a program. Returns the files that are not the recorded ones if the program has changed.
///
/// # Errors
/// See [`Failure`].
pub(crate) fn replay(
    task: ExploreTask,
    recording: Recording,
    subject: Subject<'_>,
    limits: Limits,
) -> Result<Result<Outcome, Vec<String>>, Failure> {
    match call(&Task::Replay(task, recording), subject, limits, &|_| ())? {
        Answer::Replayed(replayed) => Ok(replayed),
        _ => Err(unexpected(subject, Phase::Exploring)),
    }
}

/// Estimates the number of execution classes. Returns `None` if that is impossible.
pub(crate) fn estimate(
    task: ExploreTask,
    time: std::time::Duration,
    limits: Limits,
) -> Option<Estimate> {
    match supervise::run(&Task::Estimate(task, time), limits, &|_| ()) {
        Ok(Answer::Estimated(estimate)) => estimate,
        _ => None,
    }
}

fn call(
    task: &Task,
    subject: Subject<'_>,
    limits: Limits,
    progress: &dyn Fn(Counts),
) -> Result<Answer, Failure> {
    match supervise::run(task, limits, progress) {
        Ok(Answer::Refused(why)) => Err(Failure::Refused(why)),
        Ok(answer) => Ok(answer),
        Err(Stopped { reason: StopReason::Bound(bound), counts }) => {
            Err(Failure::Stopped(bound, counts))
        }
        Err(Stopped { reason: StopReason::Died(why), counts }) => {
            Err(internal(subject, task.phase(), counts, &why))
        }
    }
}

fn unexpected(subject: Subject<'_>, phase: Phase) -> Failure {
    internal(subject, phase, Counts::default(), "sent an answer to another question")
}

/// A bug in Raddle, with what the child was doing.
fn internal(subject: Subject<'_>, phase: Phase, counts: Counts, why: &str) -> Failure {
    let Subject { program, model } = subject;
    let model = model.map_or_else(String::new, |model| format!(", {model}"));
    let classes = match counts.classes {
        0 => String::new(),
        classes => format!(", {classes} execution classes so far"),
    };
    Failure::Internal(format!(
        "internal error while {phase} ({program}{model}{classes}): the child process {why}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_errors_tell_what_the_child_was_doing() {
        let text = |model, phase, classes| {
            let counts = Counts { classes, ..Counts::default() };
            let subject = Subject { program: "a.c", model };
            match internal(subject, phase, counts, "was killed by signal 6") {
                Failure::Internal(text) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            text(Some(Model::Tso), Phase::Exploring, 4096),
            "internal error while exploring (a.c, tso, 4096 execution classes so far): the child \
             process was killed by signal 6"
        );
        assert_eq!(
            text(None, Phase::Building, 0),
            "internal error while compiling the program (a.c): the child process was killed by signal 6"
        );
    }
}
