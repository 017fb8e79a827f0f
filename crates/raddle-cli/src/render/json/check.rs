//! Answers for programs: one JSON object on each line.

use raddle_explore::plan::Explorer;
use serde::Serialize;

use crate::output::{Output, OutputError};
use crate::results::check::{Answer, Bug, Facts, LoadError, Outcome, Size, Verdict};

#[derive(Serialize)]
struct AnswerLine<'a> {
    command: &'static str,
    program: &'a str,
    model: &'static str,
    by: &'static str,
    explorer: &'static str,
    verdict: Verdict,
    classes: u64,
    blocked: u64,
    executions: u64,
    seconds: f64,
    /// With random and pct: of the run with the bug, or of the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bug: Option<&'a Bug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    litmus: Option<&'a Facts>,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    command: &'static str,
    program: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    error: &'a LoadError,
}

/// Prints the answers, the models that do not go with a program, and the errors.
pub(crate) fn print(
    explorer: Explorer,
    outcomes: &[Outcome],
    output: &mut Output,
) -> Result<(), OutputError> {
    for Outcome { name, answers, refused } in outcomes {
        match answers {
            Err(error) => {
                output.json(&ErrorLine { command: "check", program: name, model: None, error })?;
            }
            Ok(answers) => {
                for answer in answers {
                    output.json(&line(explorer, answer))?;
                }
            }
        }
        for unsupported in refused {
            let error = &LoadError::new(unsupported.to_string());
            let model = Some(unsupported.model.name());
            output.json(&ErrorLine { command: "check", program: name, model, error })?;
        }
    }
    Ok(())
}

fn line(explorer: Explorer, answer: &Answer) -> AnswerLine<'_> {
    AnswerLine {
        command: "check",
        program: &answer.program,
        model: answer.model.name(),
        by: explorer.equivalence().name(),
        explorer: explorer.name(),
        verdict: answer.verdict,
        classes: answer.classes,
        blocked: answer.blocked,
        executions: answer.executions,
        seconds: answer.seconds,
        seed: explorer.sampling().map(|sampling| match answer.bug {
            Some(_) => sampling.seed_of((answer.classes + answer.blocked).saturating_sub(1)),
            None => sampling.seed,
        }),
        bug: answer.bug.as_ref(),
        bound: answer.bound.as_deref(),
        estimate: answer.estimate,
        litmus: answer.litmus.as_ref(),
    }
}
