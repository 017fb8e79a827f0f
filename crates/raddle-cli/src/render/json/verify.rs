//! Verdicts for programs: one JSON object on each line.

use raddle_consistency::explain::json::{
    ViolationJson, WitnessJson, violation as violation_json, witness as witness_json,
};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use serde::Serialize;

use crate::input::{Input, JsonError};
use crate::output::{Output, OutputError};
use crate::results::verify::Answer;

#[derive(Serialize)]
struct AnswerLine<'a> {
    history: &'a str,
    model: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    history: &'a str,
    error: JsonError,
}

/// A line of the file that `--witness` writes.
#[derive(Serialize)]
pub(crate) struct WitnessLine<'a> {
    history: &'a str,
    model: &'static str,
    witness: WitnessJson,
}

/// Prints the answers, and the error of every history that has none, in the order of the histories.
/// A history has as many answers as there are models.
pub(crate) fn print(
    inputs: &[Input],
    models: &[Model],
    answers: &[Answer<'_>],
    output: &mut Output,
) -> Result<(), OutputError> {
    let mut answers = answers.chunks(models.len());
    for input in inputs {
        match &input.content {
            Ok(_) => {
                for answer in answers.next().unwrap_or_default() {
                    output.json(&line(answer))?;
                }
            }
            Err(error) => {
                output.json(&ErrorLine { history: &input.name, error: error.json() })?;
            }
        }
    }
    Ok(())
}

fn line<'a>(answer: &Answer<'a>) -> AnswerLine<'a> {
    let Answer { history, execution, model, ref verdict, .. } = *answer;
    let line = AnswerLine {
        history,
        model: model.name(),
        verdict: verdict_name(verdict),
        witness: None,
        violation: None,
        steps: None,
    };
    match verdict {
        ConsistencyVerdict::Consistent(witness) => {
            AnswerLine { witness: Some(witness_json(execution, witness)), ..line }
        }
        ConsistencyVerdict::Inconsistent(violation) => {
            let violation = Some(violation_json(execution, model, violation));
            AnswerLine { violation, ..line }
        }
        ConsistencyVerdict::Unknown { steps } => AnswerLine { steps: Some(*steps), ..line },
    }
}

/// The line of `--witness` for an answer, if it has a witness.
pub(crate) fn witness<'a>(answer: &Answer<'a>) -> Option<WitnessLine<'a>> {
    let ConsistencyVerdict::Consistent(witness) = &answer.verdict else { return None };
    Some(WitnessLine {
        history: answer.history,
        model: answer.model.name(),
        witness: witness_json(answer.execution, witness),
    })
}

/// The name of a verdict in JSON. Whoever looks for races finds them by the kind of violation.
fn verdict_name(verdict: &ConsistencyVerdict) -> &'static str {
    match verdict {
        ConsistencyVerdict::Consistent(_) => "consistent",
        ConsistencyVerdict::Inconsistent(_) => "inconsistent",
        ConsistencyVerdict::Unknown { .. } => "unknown",
    }
}
