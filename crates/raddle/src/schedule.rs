//! Schedules of Rust tests.
//!
//! A [`Schedule`] of a Rust test has an ending. Its settings are `events=N`, the limit on the events of a thread;
//! `tried`, if mutexes can be tried; `counted`, if owners of shared objects are counted; and `leaks`, if leaks are
//! sought. Its default model is C20.

use raddle_core::model::Model;
use raddle_core::schedule::{ReplaySetting, Schedule, ScheduleError};
use raddle_core::trace::{Ending, Trace};
use raddle_runtime::Settings;

/// The schedule of an execution that was explored with these settings.
pub(crate) fn schedule_of(
    settings: Settings,
    model: Model,
    ending: &Ending,
    trace: &Trace,
) -> Schedule {
    let schedule = Schedule::of_trace(trace).ending_as(ending, trace);
    let model = (model != DEFAULT_MODEL).then_some(model);
    Schedule { model, settings: to_replay_settings(settings), ..schedule }
}

/// The model of a schedule that names none.
pub(crate) const DEFAULT_MODEL: Model = Model::C20;

fn to_replay_settings(settings: Settings) -> Vec<ReplaySetting> {
    let events = (settings.max_events != Settings::default().max_events)
        .then_some(("events", Some(settings.max_events)));
    let tried = settings.mutexes_can_be_tried.then_some(("tried", None));
    let counted = settings.owners_are_counted.then_some(("counted", None));
    let leaks = settings.leaks_are_sought.then_some(("leaks", None));
    let used = [events, tried, counted, leaks].into_iter().flatten();
    used.map(|(name, value)| ReplaySetting { name: name.to_owned(), value }).collect()
}

/// The settings with which to replay a schedule.
pub(crate) fn from_replay_settings(all: &[ReplaySetting]) -> Result<Settings, ScheduleError> {
    let mut settings = Settings { joins_carry: true, ..Settings::default() };
    for setting in all {
        match (setting.name.as_str(), setting.value) {
            ("events", Some(events)) => settings.max_events = events,
            ("tried", None) => settings.mutexes_can_be_tried = true,
            ("counted", None) => settings.owners_are_counted = true,
            ("leaks", None) => settings.leaks_are_sought = true,
            _ => {
                let expected = "expected events=N, tried, counted or leaks";
                let message = format!("`{setting}` is not a setting of a Rust test: {expected}");
                return Err(ScheduleError::new(message));
            }
        }
    }
    Ok(settings)
}
