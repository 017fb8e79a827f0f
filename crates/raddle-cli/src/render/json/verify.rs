//! The verdicts of `raddle verify --json`.

use raddle_consistency::explain::json::{
    ViolationJson, WitnessJson, violation as violation_json, witness as witness_json,
};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use serde::Serialize;

use super::check::VERSION;
use crate::input::{ErrorObject, HistoryFile};
use crate::output::{Output, OutputError};
use crate::results::verify::CheckedHistory;

#[derive(Serialize)]
struct VerdictLine<'a> {
    version: u32,
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
struct HistoryErrorLine<'a> {
    version: u32,
    history: &'a str,
    error: ErrorObject,
}

/// A line of the file that `--witness` writes.
#[derive(Serialize)]
pub(crate) struct WitnessLine<'a> {
    history: &'a str,
    model: &'static str,
    witness: WitnessJson,
}

/// Prints the verdicts and the errors in the order of the history files. A readable history has one verdict per model.
pub(crate) fn print(
    inputs: &[HistoryFile],
    models: &[Model],
    checks: &[CheckedHistory<'_>],
    output: &mut Output,
) -> Result<(), OutputError> {
    let mut checks = checks.chunks(models.len());
    for input in inputs {
        match &input.content {
            Ok(_) => {
                for check in checks.next().unwrap_or_default() {
                    output.json(&line(check))?;
                }
            }
            Err(error) => {
                output.json(&HistoryErrorLine {
                    version: VERSION,
                    history: &input.name,
                    error: error.json(),
                })?;
            }
        }
    }
    Ok(())
}

fn line<'a>(check: &CheckedHistory<'a>) -> VerdictLine<'a> {
    let CheckedHistory { history, execution, model, ref verdict, .. } = *check;
    let line = VerdictLine {
        version: VERSION,
        history,
        model: model.name(),
        verdict: verdict_name(verdict),
        witness: None,
        violation: None,
        steps: None,
    };
    match verdict {
        ConsistencyVerdict::Consistent(witness) => {
            VerdictLine { witness: Some(witness_json(execution, witness)), ..line }
        }
        ConsistencyVerdict::Inconsistent(violation) => {
            let violation = Some(violation_json(execution, model, violation));
            VerdictLine { violation, ..line }
        }
        ConsistencyVerdict::Unknown { steps } => VerdictLine { steps: Some(*steps), ..line },
    }
}

/// The line of `--witness`, if the verdict has a witness.
pub(crate) fn witness<'a>(check: &CheckedHistory<'a>) -> Option<WitnessLine<'a>> {
    let ConsistencyVerdict::Consistent(witness) = &check.verdict else { return None };
    Some(WitnessLine {
        history: check.history,
        model: check.model.name(),
        witness: witness_json(check.execution, witness),
    })
}

/// The name of a verdict in JSON. A race is a kind of violation.
fn verdict_name(verdict: &ConsistencyVerdict) -> &'static str {
    match verdict {
        ConsistencyVerdict::Consistent(_) => "consistent",
        ConsistencyVerdict::Inconsistent(_) => "inconsistent",
        ConsistencyVerdict::Unknown { .. } => "unknown",
    }
}
