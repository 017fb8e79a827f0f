//! The JSON of `raddle bmc`: one object, with the keys of `raddle check --json`.

use raddle_core::outcome::{FindingKind, Verdict};
use serde::Serialize;

use crate::output::{Output, OutputError};
use crate::results::bmc::{BmcResult, Confirmation};

#[derive(Serialize)]
struct Line<'a> {
    command: &'static str,
    program: String,
    model: &'static str,
    by: &'static str,
    explorer: &'static str,
    verdict: Verdict,
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
    kind: FindingKind,
    message: &'a str,
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

/// Prints the result.
pub(crate) fn print(result: &BmcResult, output: &mut Output) -> Result<(), OutputError> {
    let BmcResult { options, report, .. } = result;
    output.json(&Line {
        command: "bmc",
        program: result.program.display().to_string(),
        model: options.model.name(),
        by: "rounds",
        explorer: options.abstraction.name(),
        verdict: report.outcome.verdict,
        rounds: options.rounds,
        unwind: options.unwind,
        bits: options.bits,
        variables: report.statistics.variables,
        clauses: report.statistics.clauses,
        seconds: report.outcome.counts.seconds,
        bug: bug(result),
        bound: report.outcome.bound.as_ref().map(ToString::to_string),
    })
}

fn bug(result: &BmcResult) -> Option<BugLine<'_>> {
    let finding = result.report.outcome.finding()?;
    let bug = result.report.counterexample.as_ref()?;
    let steps: Vec<String> =
        bug.steps.iter().map(|step| format!("{}: {}", step.thread, step.text)).collect();
    let (confirmed, trace) = match &result.confirmation {
        Some(Confirmation::Confirmed(_, native)) => {
            let schedule = native.schedule.as_ref().map(ToString::to_string);
            ("yes", schedule.unwrap_or_default())
        }
        Some(Confirmation::Contradicted) => ("no", steps.join("; ")),
        Some(Confirmation::Unknown(_)) | None => ("unknown", steps.join("; ")),
    };
    Some(BugLine {
        kind: finding.kind,
        message: &finding.message,
        place: finding.place_text(),
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
