//! Replays: one execution of a test once more.

use raddle_core::execution::ThreadId;
use raddle_core::outcome::{FindingKind, Outcome};
use raddle_core::program::{Failure, PlaceId};
use raddle_core::schedule::{Schedule, ScheduleError, ScheduledEnding};
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::replay::{Mismatch, Replayed};
use raddle_explore::robustness;
use raddle_runtime::{Caller, Names, Settings, ops};

use crate::report::outcome_of_one;
use crate::schedule::{DEFAULT_MODEL, from_replay_settings};
use crate::{Test, TestProgram};

/// Runs one execution of a test again, as the schedule in a report says. If it shows no error, or if the test no
/// longer matches the schedule, the verdict is `Incomplete`: other executions may show an error.
///
/// # Panics
/// If the text is not a schedule, or if this is called in a test that is being explored.
#[track_caller]
pub fn replay<F: Fn()>(schedule: &str, f: F) -> Outcome {
    assert!(!ops::is_running(), "raddle: a test that is being explored cannot replay another");
    follow_text(schedule, Test::of(&f))
}

#[track_caller]
fn follow_text(schedule: &str, test: Test<'_>) -> Outcome {
    let followed = schedule.parse().and_then(|schedule: Schedule| {
        let settings = from_replay_settings(&schedule.settings)?;
        raddle_runtime::on_large_stack(|| follow(&schedule, settings, test))
    });
    followed.unwrap_or_else(|error| panic!("{error}"))
}

fn follow(
    schedule: &Schedule,
    settings: Settings,
    test: Test<'_>,
) -> Result<Outcome, ScheduleError> {
    if schedule.ending.is_none() {
        return Err(ScheduleError::new("it does not say how the execution ended"));
    }
    let model = schedule.model.unwrap_or(DEFAULT_MODEL);
    let mut program = test.program(settings);
    let found = match raddle_explore::replay::replay(&mut program, schedule) {
        Ok(Replayed { ending, trace }) if ending.is_bug() => Ok(Counterexample::new(ending, trace)),
        Ok(replayed) => other_error(&mut program, schedule, replayed),
        Err(Mismatch(how)) => Err(format!("the test does not match the schedule: {how}")),
    };
    Ok(outcome_of_one(&program, model, found))
}

/// The error of an execution that ended without one: SC forbids it, or it has a leak.
fn other_error(
    program: &mut TestProgram<'_>,
    schedule: &Schedule,
    Replayed { ending, trace }: Replayed,
) -> Result<Counterexample, String> {
    if schedule.ending == Some(ScheduledEnding::NotRobust) {
        let model = schedule.model.unwrap_or(DEFAULT_MODEL);
        let compared = robustness::compare(program, model, ending, trace);
        return compared.ok_or_else(|| String::from("sc allows the scheduled execution"));
    }
    match leak(program) {
        Some(leak) => Ok(Counterexample::new(leak.ending(&program.names()), trace)),
        None => Err(String::from("the scheduled execution shows no error")),
    }
}

/// An object that still has owners when a run has ended.
pub(crate) struct Leak {
    owners: usize,
    made: Caller,
}

impl Leak {
    /// The leak as the ending of an execution.
    pub(crate) fn ending(&self, names: &Names) -> Ending {
        let Leak { owners, made } = *self;
        let have = if owners == 1 { "owner" } else { "owners" };
        let message =
            format!("leak: an Arc still has {owners} {have} when all threads have finished");
        let place = names.place(made);
        Ending::Failed(ThreadId::new(0), Failure { kind: FindingKind::Leak, message, place })
    }
}

/// The first leak of a run that has ended.
fn leak(program: &mut TestProgram<'_>) -> Option<Leak> {
    program.leaks().first().map(|&(owners, made)| Leak { owners, made })
}

/// Runs an execution of a test again and returns its leak, or another error if the test behaves differently.
pub(crate) fn leak_of(
    schedule: &Schedule,
    settings: Settings,
    test: Test<'_>,
    names: &Names,
) -> Option<Ending> {
    let settings = Settings { joins_carry: true, ..settings };
    let mut program = test.program(settings);
    match raddle_explore::replay::replay(&mut program, schedule) {
        Ok(Replayed { ending, .. }) if ending.is_bug() => Some(ending),
        Ok(_) => leak(&mut program).map(|leak| leak.ending(names)),
        Err(Mismatch(how)) => {
            let message = format!("the test behaves differently when it is run again: {how}");
            let (kind, place) = (FindingKind::Nondeterminism, PlaceId::default());
            Some(Ending::Failed(ThreadId::new(0), Failure { kind, message, place }))
        }
    }
}
