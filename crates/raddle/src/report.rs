//! Outcomes as text.

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Finding, FindingKind, Outcome, Place};
use raddle_core::trace::Counterexample;
use raddle_explore::counterexample::{self, Style};
use raddle_runtime::ops::GONE;

use crate::TestProgram;
use crate::schedule::schedule_of;
use crate::sync::condvar::CHOOSING;

/// The complete text of an outcome: each finding with the execution that shows it and the call that replays it,
/// then the bound and the counts. [`Checker::check`](crate::Checker::check) panics with this text.
#[must_use]
pub fn report(outcome: &Outcome) -> String {
    let mut text = String::new();
    for finding in &outcome.findings {
        text += &report_finding(finding);
    }
    if let Some(bound) = &outcome.bound {
        text += &format!("{bound}: ");
    }
    text + &outcome.counts_text()
}

/// The text of one finding in a [`report`].
#[must_use]
pub fn report_finding(finding: &Finding) -> String {
    let mut text = counterexample::report(finding, &Style::in_working_directory());
    if let Some(schedule) = &finding.schedule {
        text += &format!("to replay it: raddle::replay(\"{schedule}\", || ...)\n");
    }
    if let Some(sample) = &finding.sample {
        text += &format!("found in the run with the seed {}\n", sample.seed);
    }
    text
}

/// The finding that an execution of a test shows.
pub(crate) fn finding(program: &TestProgram<'_>, model: Model, found: Counterexample) -> Finding {
    let kind = match &found.not_robust {
        Some(_) => FindingKind::NotRobust,
        None => found.ending.finding_kind().unwrap_or(FindingKind::Misuse),
    };
    let Counterexample { ending, trace, .. } = &found;
    let schedule = schedule_of(program.settings(), model, ending, trace);
    let mut trace = found.named(program, model);
    trace.names.special_values = vec![(GONE, "dropped".into()), (CHOOSING, "waking".into())];
    let mut finding = counterexample::finding(kind, trace, &Style::in_working_directory());
    finding.place.get_or_insert_with(|| Place::new("the start"));
    finding.schedule = Some(schedule);
    finding
}

/// The outcome of one execution: its error, or why there is none.
pub(crate) fn outcome_of_one(
    program: &TestProgram<'_>,
    model: Model,
    found: Result<Counterexample, String>,
) -> Outcome {
    let (finding, bound) = match found {
        Ok(found) => (Some(finding(program, model, found)), None),
        Err(why) => (None, Some(Bound::Other(why))),
    };
    let counts = Counts { classes: 1, executions: program.executions(), ..Counts::default() };
    Outcome::new(finding.into_iter().collect(), counts, bound)
}
