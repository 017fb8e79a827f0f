//! The result of `raddle bmc --json`: one JSON object, with the keys of `raddle check --json` where they apply.

use raddle_core::outcome::{FindingKind, Verdict};
use raddle_explore::counterexample::Style;
use raddle_explore::counterexample::data::{ExecutionData, data};
use serde::Serialize;

use super::check::VERSION;

use crate::output::{Output, OutputError};
use crate::results::bmc::{BmcResult, Confirmation};

#[derive(Serialize)]
struct BmcLine<'a> {
    version: u32,
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
    bug: Option<BmcBug<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<String>,
}

#[derive(Serialize)]
struct BmcBug<'a> {
    kind: FindingKind,
    message: &'a str,
    place: &'a str,
    /// The execution of the compiled program.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<ExecutionData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// The steps of the counterexample, if the compiled program does not show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<String>,
    inputs: Vec<BmcInput<'a>>,
    /// Whether the compiled program has the bug: `yes`, `no` or `unknown`. If `yes`, the other fields except `inputs`
    /// are those of the compiled program.
    confirmed: &'static str,
}

#[derive(Serialize)]
struct BmcInput<'a> {
    thread: &'a str,
    function: &'a str,
    value: i128,
    place: &'a str,
}

/// Prints the result.
pub(crate) fn print(result: &BmcResult, output: &mut Output) -> Result<(), OutputError> {
    let BmcResult { options, report, .. } = result;
    output.json(&BmcLine {
        version: VERSION,
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

/// The bug of the compiled program if there is one, otherwise that of the solver.
fn bug(result: &BmcResult) -> Option<BmcBug<'_>> {
    let finding = result.reported()?;
    let bug = result.report.counterexample.as_ref()?;
    let steps: Vec<String> =
        bug.steps.iter().map(|step| format!("{}: {}", step.thread, step.text)).collect();
    let (confirmed, steps) = match &result.confirmation {
        Some(Confirmation::Confirmed(..)) => ("yes", vec![]),
        Some(Confirmation::Contradicted) => ("no", steps),
        Some(Confirmation::Unknown(_) | Confirmation::Failed(_)) | None => ("unknown", steps),
    };
    let execution = |trace| data(trace, &Style::in_working_directory(), true);
    Some(BmcBug {
        kind: finding.kind,
        message: &finding.message,
        place: finding.place_text(),
        trace: finding.trace.as_ref().map(execution),
        schedule: finding.schedule.as_ref().map(ToString::to_string),
        steps,
        inputs: bug
            .inputs
            .iter()
            .map(|input| BmcInput {
                thread: &input.thread,
                function: &input.function,
                value: input.value,
                place: &input.place,
            })
            .collect(),
        confirmed,
    })
}
