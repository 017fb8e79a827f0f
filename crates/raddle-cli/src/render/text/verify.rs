//! Verdicts for people: a table, and below it the reasons.

use raddle_consistency::explain::{self, Page};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::model::Model;

use crate::output::{Output, OutputError};
use crate::render::table::table;
use crate::results::verify::Answer;

/// A table of more models has short words, to fit on a line.
const MODELS_IN_FULL: usize = 4;

/// What the short words mean.
const LEGEND: &str = "yes: consistent, no: inconsistent, race: undefined because of a data race, \
                      ?: unknown\n";

/// Prints the table and the reasons: one line each, or with `explain` at length.
pub(crate) fn print(
    models: &[Model],
    answers: &[Answer<'_>],
    explain: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    if answers.is_empty() {
        return Ok(());
    }
    output.text(&table(&rows(models, answers)))?;
    if models.len() > MODELS_IN_FULL {
        output.text(LEGEND)?;
    }
    if explain {
        for answer in answers {
            output.text(&format!("\n{}", explanation(answer)))?;
        }
        return Ok(());
    }
    let reasons: String = answers.chunks(models.len()).map(reasons).collect();
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
        let word = if models.len() > MODELS_IN_FULL { short_word } else { word };
        let verdicts = answers.iter().map(|answer| word(&answer.verdict).to_owned());
        [answers[0].history.to_owned()].into_iter().chain(verdicts).collect()
    }));
    rows
}

/// A verdict in a table. A race is a verdict of its own for people: it says that the program is
/// wrong, not that the execution is impossible.
fn word(verdict: &ConsistencyVerdict) -> &'static str {
    match verdict {
        ConsistencyVerdict::Consistent(_) => "consistent",
        ConsistencyVerdict::Inconsistent(Violation::Race { .. }) => "race",
        ConsistencyVerdict::Inconsistent(_) => "inconsistent",
        ConsistencyVerdict::Unknown { .. } => "unknown",
    }
}

/// A verdict in a table with many columns.
fn short_word(verdict: &ConsistencyVerdict) -> &'static str {
    match word(verdict) {
        "consistent" => "yes",
        "inconsistent" => "no",
        "unknown" => "?",
        other => other,
    }
}

/// Why the answers about one history are not `consistent`, on a line for each reason; models with
/// the same reason share the line.
fn reasons(answers: &[Answer<'_>]) -> String {
    let mut lines: Vec<(String, String)> = vec![];
    for (answer, why) in answers.iter().filter_map(|answer| Some((answer, reason(answer)?))) {
        match lines.iter_mut().find(|(_, other)| *other == why) {
            Some((models, _)) => models.push_str(&format!(", {}", answer.model)),
            None => lines.push((format!("{}, {}", answer.history, answer.model), why)),
        }
    }
    lines.iter().map(|(of, why)| format!("{of}: {why}\n")).collect()
}

/// Why an answer is not `consistent`, in one sentence.
fn reason(answer: &Answer<'_>) -> Option<String> {
    let Answer { execution, model, ref verdict, .. } = *answer;
    match verdict {
        ConsistencyVerdict::Consistent(_) => None,
        ConsistencyVerdict::Inconsistent(violation) => {
            Some(explain::sentence(execution, model, violation))
        }
        ConsistencyVerdict::Unknown { steps } => Some(given_up(*steps)),
    }
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
        ConsistencyVerdict::Consistent(witness) => {
            explain::witness(execution, model, witness, page)
        }
        ConsistencyVerdict::Inconsistent(violation) => {
            explain::violation(execution, model, violation, page)
        }
        ConsistencyVerdict::Unknown { steps } => format!("{}\n", given_up(*steps)),
    };
    format!("{history}, {model}: {}\n{body}", word(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_consistency::history;
    use raddle_consistency::witness::{MachineRun, Witness};
    use raddle_core::execution::Coherence;
    use raddle_core::execution::Execution;

    fn answer<'a>(
        execution: &'a Execution,
        model: Model,
        verdict: &ConsistencyVerdict,
    ) -> Answer<'a> {
        let verdict = verdict.clone();
        Answer { history: "h.txt", execution, model, verdict, rechecking: None }
    }

    /// One verdict of each kind on two plain accesses.
    fn verdicts(execution: &Execution) -> [ConsistencyVerdict; 4] {
        let coherence = Coherence { rf: vec![], mo: vec![], fences: vec![] };
        let events: Vec<_> = execution.events().skip(1).collect();
        let (first, second) = (events[0], events[1]);
        [
            ConsistencyVerdict::Consistent(Witness::Run(MachineRun { steps: vec![] })),
            ConsistencyVerdict::Inconsistent(Violation::UnwrittenValue { read: second }),
            ConsistencyVerdict::Inconsistent(Violation::Race { first, second, coherence }),
            ConsistencyVerdict::Unknown { steps: 7 },
        ]
    }

    #[test]
    fn a_table_of_many_models_has_short_words() {
        let execution = history::parse(b"P0: W x 1\nP1: R x 1\n").expect("a good history");
        let verdicts = verdicts(&execution);
        let answers = |models: &[Model]| -> Vec<Answer<'_>> {
            let pairs = models.iter().zip(verdicts.iter().cycle());
            pairs.map(|(&model, verdict)| answer(&execution, model, verdict)).collect()
        };
        let four = &Model::ALL[..4];
        let expected = "history  sc          tso           pso   sra\n\
                        h.txt    consistent  inconsistent  race  unknown\n";
        assert_eq!(table(&rows(four, &answers(four))), expected);
        let five = &Model::ALL[..5];
        let expected = "history  sc   tso  pso   sra  ra\n\
                        h.txt    yes  no   race  ?    yes\n";
        assert_eq!(table(&rows(five, &answers(five))), expected);
    }

    #[test]
    fn models_with_the_same_reason_share_a_line() {
        let execution = history::parse(b"P0: W x 1\nP1: R x 1\n").expect("a good history");
        let [allowed, unwritten, race, _] = verdicts(&execution);
        let answers = [
            answer(&execution, Model::Ra, &race),
            answer(&execution, Model::Sc, &allowed),
            answer(&execution, Model::Wra, &unwritten),
            answer(&execution, Model::C20, &race),
        ];
        assert_eq!(
            reasons(&answers),
            "h.txt, ra, c20: P0.0 and P1.0 race on x: W x 1 and R x 1 are not ordered by \
             happens-before, and neither is atomic\n\
             h.txt, wra: P1.0 reads x = 1, a value that no other event writes there\n"
        );
    }
}
