//! Verdicts for people: a table, and below it the reasons.

use raddle_core::model::Model;
use raddle_core::report::{self, Page};
use raddle_core::witness::Verdict;

use super::Answer;
use super::json::verdict_name;
use crate::output::{Output, OutputError};
use crate::table::table;

/// Prints the table and the reasons: one line each, or with `explain` at length.
pub(super) fn print(
    models: &[Model],
    answers: &[Answer<'_>],
    explain: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    if answers.is_empty() {
        return Ok(());
    }
    output.text(&table(&rows(models, answers)))?;
    if explain {
        for answer in answers {
            output.text(&format!("\n{}", explanation(answer)))?;
        }
        return Ok(());
    }
    let reasons: String = answers.iter().filter_map(reason).collect();
    if !reasons.is_empty() {
        output.text(&format!("\n{reasons}"))?;
    }
    Ok(())
}

/// A row for each history, a column for each model.
fn rows(models: &[Model], answers: &[Answer<'_>]) -> Vec<Vec<String>> {
    let names = models.iter().map(|model| model.name().to_owned());
    let mut rows = vec![["history".to_owned()].into_iter().chain(names).collect()];
    rows.extend(answers.chunks(models.len()).map(|answers| {
        let verdicts = answers.iter().map(|answer| verdict_name(&answer.verdict).to_owned());
        [answers[0].history.to_owned()].into_iter().chain(verdicts).collect()
    }));
    rows
}

/// Why an answer is not `consistent`, on one line.
fn reason(answer: &Answer<'_>) -> Option<String> {
    let Answer { history, execution, model, ref verdict, .. } = *answer;
    let why = match verdict {
        Verdict::Consistent(_) => return None,
        Verdict::Inconsistent(violation) => report::sentence(execution, model, violation),
        Verdict::Unknown { steps } => given_up(*steps),
    };
    Some(format!("{history}, {model}: {why}\n"))
}

fn given_up(steps: u64) -> String {
    let unit = if steps == 1 { "step" } else { "steps" };
    format!("given up after {steps} {unit}; a larger --budget may find the answer")
}

/// Why an answer is what it is, at length.
fn explanation(answer: &Answer<'_>) -> String {
    let Answer { history, execution, model, ref verdict, .. } = *answer;
    let page = Page::default();
    let body = match verdict {
        Verdict::Consistent(witness) => report::witness(execution, model, witness, page),
        Verdict::Inconsistent(violation) => report::violation(execution, model, violation, page),
        Verdict::Unknown { steps } => format!("{}\n", given_up(*steps)),
    };
    format!("{history}, {model}: {}\n{body}", verdict_name(verdict))
}
