//! Replaying one execution of a test.

use raddle_core::model::Model;
use raddle_core::outcome::{Finding, FindingKind};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending, NamedTrace, Trace};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::replay::{Mismatch, Replayed, is_allowed, replay as follow};
use raddle_explore::robustness;

use super::condition::Quantifier;
use super::run::kind_of_failure;
use super::{LitmusProgram, LitmusTest};

/// An execution of a test that was run again.
#[derive(Clone, Debug)]
pub struct LitmusReplay {
    /// The execution.
    pub trace: NamedTrace,
    /// The error that it shows; `None` if it only answers what the test asks.
    pub finding: Option<Finding>,
}

/// Runs one execution of a test. `kind` is the error that it is known to show; without one, it answers what the test asks: for
/// `forall` it does not satisfy the condition, otherwise it does.
///
/// # Errors
/// If the execution is none of this test under this model, or does not show this. The text says why.
pub fn replay(
    test: &LitmusTest,
    model: Model,
    unroll: u32,
    schedule: &Schedule,
    kind: Option<FindingKind>,
) -> Result<LitmusReplay, String> {
    let mut program = LitmusProgram::new(test, unroll);
    let differs = |Mismatch(how)| format!("the test does not match the schedule: {how}");
    let Replayed { ending, trace } = follow(&mut program, schedule).map_err(differs)?;
    if !is_allowed(&program, model, &trace) {
        return Err(format!("{model} does not allow the recorded execution"));
    }
    let shows_nothing = || String::from("the recorded execution does not show what was recorded");
    let found = match kind {
        Some(FindingKind::NotRobust) => robustness::compare(&program, model, ending, trace),
        None | Some(FindingKind::Condition) => answers(test, &program, &ending, &trace)
            .then(|| Counterexample::new(Ending::Complete, trace)),
        Some(_) => ending.is_bug().then(|| Counterexample::new(ending, trace)),
    };
    let trace = found.ok_or_else(shows_nothing)?.named(&program, model);
    let finding = match kind {
        None => None,
        Some(FindingKind::Condition) => {
            let message = format!("{} does not hold", test.condition_text());
            Some(Finding {
                trace: Some(trace.clone()),
                ..Finding::new(FindingKind::Condition, message)
            })
        }
        Some(kind) => Some(counterexample::finding(kind, trace.clone(), &Style::default())),
    };
    match (&finding, &trace.ending) {
        (Some(Finding { kind: FindingKind::Condition | FindingKind::NotRobust, .. }) | None, _) => {
        }
        (Some(found), Ending::Race(..)) if found.kind == FindingKind::Race => {}
        (Some(found), ending) if found.kind == kind_of_failure(ending) => {}
        _ => return Err(shows_nothing()),
    }
    Ok(LitmusReplay { trace, finding })
}

/// Returns `true` if an execution ends in a state that answers what the test asks.
fn answers(test: &LitmusTest, program: &LitmusProgram<'_>, ending: &Ending, trace: &Trace) -> bool {
    if *ending != Ending::Complete {
        return false;
    }
    let registers = program.final_registers(trace);
    let locations = test.final_locations();
    let memory = |location: usize| {
        let at = locations.binary_search(&location);
        registers[0][at.expect("thread 0 loads the location")]
    };
    let state = test.final_state(&registers[1..], &memory);
    state.is_some_and(|state| test.satisfies(&state) != (test.quantifier == Quantifier::Forall))
}
