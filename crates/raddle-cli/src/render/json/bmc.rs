//! What came of it, as one JSON object. Names are those of `raddle check --json`.

use raddle_bmc::BmcVerdict;
use serde::Serialize;

use crate::output::{Output, OutputError};
use crate::results::bmc::{Confirmation, Outcome};

#[derive(Serialize)]
struct Line<'a> {
    command: &'static str,
    program: String,
    model: &'static str,
    by: &'static str,
    explorer: &'static str,
    verdict: &'static str,
    rounds: usize,
    unwind: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<u8>,
    variables: usize,
    clauses: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bug: Option<BugLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<String>,
}

#[derive(Serialize)]
struct BugLine<'a> {
    kind: &'a str,
    message: String,
    place: &'a str,
    trace: String,
    inputs: Vec<InputLine<'a>>,
    /// Whether the compiled program has it: yes, no or unknown.
    confirmed: &'static str,
}

#[derive(Serialize)]
struct InputLine<'a> {
    thread: &'a str,
    function: &'a str,
    value: i128,
    place: &'a str,
}

/// Prints it.
pub(crate) fn print(outcome: &Outcome, output: &mut Output) -> Result<(), OutputError> {
    let Outcome { options, report, .. } = outcome;
    let (verdict, bound) = match &report.verdict {
        BmcVerdict::Bug(_) => ("bug", None),
        BmcVerdict::Safe => ("clean", None),
        BmcVerdict::Bounded(reasons) => ("incomplete", Some(reasons.join("; "))),
        BmcVerdict::Timeout => ("incomplete", Some(String::from("the time was up"))),
    };
    output.json(&Line {
        command: "bmc",
        program: outcome.program.display().to_string(),
        model: options.model.name(),
        by: "rounds",
        explorer: options.abstraction.name(),
        verdict,
        rounds: options.rounds,
        unwind: options.unwind,
        bits: options.bits,
        variables: report.statistics.variables,
        clauses: report.statistics.clauses,
        seconds: report.statistics.seconds,
        bug: bug(outcome),
        bound,
    })
}

fn bug(outcome: &Outcome) -> Option<BugLine<'_>> {
    let BmcVerdict::Bug(bug) = &outcome.report.verdict else { return None };
    let steps: Vec<String> =
        bug.steps.iter().map(|step| format!("{}: {}", step.thread, step.text)).collect();
    let (confirmed, trace) = match &outcome.confirmation {
        Some(Confirmation::Confirmed(_, native)) => {
            let schedule = native.schedule.as_ref().map(ToString::to_string);
            ("yes", schedule.unwrap_or_default())
        }
        Some(Confirmation::Contradicted) => ("no", steps.join("; ")),
        Some(Confirmation::Unknown(_)) | None => ("unknown", steps.join("; ")),
    };
    Some(BugLine {
        kind: &bug.kind,
        message: format!("thread {}: {}", bug.thread, bug.message),
        place: &bug.place,
        trace,
        inputs: bug
            .inputs
            .iter()
            .map(|input| InputLine {
                thread: &input.thread,
                function: &input.function,
                value: input.value,
                place: &input.place,
            })
            .collect(),
        confirmed,
    })
}
