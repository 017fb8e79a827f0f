//! The verdicts of `raddle verify`: a table, followed by the reasons.

use raddle_consistency::explain::{self, Page};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::model::Model;

use crate::output::{Output, OutputError};
use crate::render::table::table;
use crate::results::verify::CheckedHistory;

/// Tables with more models use the short names of verdicts.
const MAX_LONG_COLUMNS: usize = 4;

/// The meaning of the short names.
const LEGEND: &str = "yes: consistent, no: inconsistent, race: undefined because of a data race, \
                      ?: unknown\n";

/// Prints the table, then the reasons: one line each, or an explanation with `explain`.
pub(crate) fn print(
    models: &[Model],
    checks: &[CheckedHistory<'_>],
    explain: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    if checks.is_empty() {
        return Ok(());
    }
    output.text(&table(&rows(models, checks)))?;
    if models.len() > MAX_LONG_COLUMNS {
        output.text(LEGEND)?;
    }
    if explain {
        for check in checks {
            output.text(&format!("\n{}", explanation(check)))?;
        }
        return Ok(());
    }
    let reasons: String = checks.chunks(models.len()).map(reasons).collect();
    if !reasons.is_empty() {
        output.text(&format!("\n{reasons}"))?;
    }
    Ok(())
}

/// One row per history, one column per model.
fn rows(models: &[Model], checks: &[CheckedHistory<'_>]) -> Vec<Vec<String>> {
    let names = models.iter().map(|model| model.name().to_owned());
    let mut rows = vec![["history".to_owned()].into_iter().chain(names).collect()];
    rows.extend(checks.chunks(models.len()).map(|checks| {
        let name = if models.len() > MAX_LONG_COLUMNS { short_name } else { name };
        let names = checks.iter().map(|check| name(&check.verdict).to_owned());
        [checks[0].history.to_owned()].into_iter().chain(names).collect()
    }));
    rows
}

/// The name of a verdict in a table. A race has its own name: it means that the program has undefined behaviour, not that
/// the execution is impossible.
fn name(verdict: &ConsistencyVerdict) -> &'static str {
    match verdict {
        ConsistencyVerdict::Consistent(_) => "consistent",
        ConsistencyVerdict::Inconsistent(Violation::Race { .. }) => "race",
        ConsistencyVerdict::Inconsistent(_) => "inconsistent",
        ConsistencyVerdict::Unknown { .. } => "unknown",
    }
}

/// The name of a verdict in a table with many columns.
fn short_name(verdict: &ConsistencyVerdict) -> &'static str {
    match name(verdict) {
        "consistent" => "yes",
        "inconsistent" => "no",
        "unknown" => "?",
        other => other,
    }
}

/// Why the verdicts on one history are not `consistent`, one line per reason. Models with the same reason share a line.
fn reasons(checks: &[CheckedHistory<'_>]) -> String {
    let mut lines: Vec<(String, String)> = vec![];
    for (check, why) in checks.iter().filter_map(|check| Some((check, reason(check)?))) {
        match lines.iter_mut().find(|(_, other)| *other == why) {
            Some((models, _)) => models.push_str(&format!(", {}", check.model)),
            None => lines.push((format!("{}, {}", check.history, check.model), why)),
        }
    }
    lines.iter().map(|(of, why)| format!("{of}: {why}\n")).collect()
}

/// Why a verdict is not `consistent`, in one sentence.
fn reason(check: &CheckedHistory<'_>) -> Option<String> {
    let CheckedHistory { execution, model, ref verdict, .. } = *check;
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
    format!("given up after {steps} {unit}: a larger --budget may decide it")
}

/// The explanation of a verdict.
fn explanation(check: &CheckedHistory<'_>) -> String {
    let CheckedHistory { history, execution, model, ref verdict, .. } = *check;
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
    format!("{history}, {model}: {}\n{body}", name(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_consistency::history;
    use raddle_consistency::witness::{MachineRun, Witness};
    use raddle_core::execution::Coherence;
    use raddle_core::execution::Execution;

    fn check<'a>(
        execution: &'a Execution,
        model: Model,
        verdict: &ConsistencyVerdict,
    ) -> CheckedHistory<'a> {
        let verdict = verdict.clone();
        CheckedHistory { history: "h.txt", execution, model, verdict, recheck: None }
    }

    /// One verdict of each kind, on two plain accesses.
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
    fn a_table_of_many_models_has_short_names() {
        let execution = history::parse(b"P0: W x 1\nP1: R x 1\n").expect("a good history");
        let verdicts = verdicts(&execution);
        let checks = |models: &[Model]| -> Vec<CheckedHistory<'_>> {
            let pairs = models.iter().zip(verdicts.iter().cycle());
            pairs.map(|(&model, verdict)| check(&execution, model, verdict)).collect()
        };
        let four = &Model::ALL[..4];
        let expected = "history  sc          tso           pso   sra\n\
                        h.txt    consistent  inconsistent  race  unknown\n";
        assert_eq!(table(&rows(four, &checks(four))), expected);
        let five = &Model::ALL[..5];
        let expected = "history  sc   tso  pso   sra  ra\n\
                        h.txt    yes  no   race  ?    yes\n";
        assert_eq!(table(&rows(five, &checks(five))), expected);
    }

    #[test]
    fn models_with_the_same_reason_share_a_line() {
        let execution = history::parse(b"P0: W x 1\nP1: R x 1\n").expect("a good history");
        let [allowed, unwritten, race, _] = verdicts(&execution);
        let checks = [
            check(&execution, Model::Ra, &race),
            check(&execution, Model::Sc, &allowed),
            check(&execution, Model::Wra, &unwritten),
            check(&execution, Model::C20, &race),
        ];
        assert_eq!(
            reasons(&checks),
            "h.txt, ra, c20: P0.0 and P1.0 race on x: W x 1 and R x 1 are not ordered by \
             happens-before, and neither is atomic\n\
             h.txt, wra: P1.0 reads x = 1, a value that no other event writes there\n"
        );
    }
}
