//! Answers for people: one in full, several in a table.

use raddle_core::model::Model;

use crate::output::{Output, OutputError, complain};
use crate::render::table::table;
use crate::results::check::{Answer, Bug, Outcome, Verdict};

/// Prints the answers; `full`: each at length, however many there are.
pub(crate) fn print(
    full: bool,
    outcomes: &[Outcome],
    output: &mut Output,
) -> Result<(), OutputError> {
    let answers: Vec<&Answer> =
        outcomes.iter().flat_map(|outcome| outcome.answers.iter().flatten()).collect();
    if full || answers.len() == 1 {
        for answer in &answers {
            output.text(&answer.text)?;
        }
        output.flush()?;
        for answer in answers {
            let Answer { program, model, bound, .. } = answer;
            if let Some(Bug { message, place, .. }) = answer.failure() {
                complain(format_args!("{program}, {model}: {message}, {place}"));
            }
            if let Some(bound) = bound {
                complain(format_args!("{program}, {model}: incomplete: {bound}"));
            }
        }
        return Ok(());
    }
    if answers.is_empty() {
        return Ok(());
    }
    output.text(&table(&rows(outcomes, &answers)))?;
    let notes = notes(outcomes, &answers);
    if notes.is_empty() { Ok(()) } else { output.text(&format!("\n{notes}")) }
}

/// A row for each program, a column for each model.
fn rows(outcomes: &[Outcome], answers: &[&Answer]) -> Vec<Vec<String>> {
    let used = |model: &Model| answers.iter().any(|answer| answer.model == *model);
    let models: Vec<Model> = Model::ALL.into_iter().filter(used).collect();
    let names = models.iter().map(|model| model.name().to_owned());
    let mut rows = vec![["program".to_owned()].into_iter().chain(names).collect()];
    for outcome in outcomes.iter().filter(|outcome| outcome.answers.is_ok()) {
        let word = |&model| outcome.answer(model).map_or("-".to_owned(), |it| it.word.clone());
        rows.push([outcome.name.clone()].into_iter().chain(models.iter().map(word)).collect());
    }
    rows
}

/// What the table does not say: bugs, bounds, and which models do not go with some program.
fn notes(outcomes: &[Outcome], answers: &[&Answer]) -> String {
    let mut notes = String::new();
    for answer in answers {
        let Answer { program, model, .. } = answer;
        if let (Verdict::Bug, Some(bug)) = (answer.verdict, &answer.bug) {
            notes += &format!("{program}, {model}: {}\n", bug.message);
        }
        if let Some(bound) = &answer.bound {
            notes += &format!("{program}, {model}: incomplete: {bound}\n");
        }
    }
    let mut reasons: Vec<String> = (outcomes.iter())
        .filter(|outcome| outcome.answers.as_ref().is_ok_and(|answers| !answers.is_empty()))
        .flat_map(|outcome| outcome.refused.iter().map(|unsupported| format!("-: {unsupported}\n")))
        .collect();
    reasons.sort();
    reasons.dedup();
    notes + &reasons.concat()
}
