//! `--expect`: a table of expected results.
//!
//! Columns are separated by tabs. The first line names them: `file` (relative to the directory of the table), `model`,
//! `quantifier`, `some_final_state_satisfies`, `some_final_state_does_not`, `final_states` (may be empty) and `note` (`race`
//! if there is a data race). A result without a row is an error.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use raddle_litmus::{FinalStates, LitmusTest};

use crate::results::check::{CheckResult, Comparison, Difference, ProgramResults};
use crate::status::Status;

const COLUMNS: [&str; 7] = [
    "file",
    "model",
    "quantifier",
    "some_final_state_satisfies",
    "some_final_state_does_not",
    "final_states",
    "note",
];

/// The expected result of one file under one model.
#[derive(Debug, PartialEq, Eq)]
struct ExpectedRow {
    quantifier: String,
    satisfies: bool,
    does_not: bool,
    states: Option<usize>,
    race: bool,
}

/// A table of expected results.
pub(super) struct Expectations {
    /// The directory of the table, to which the names of files are relative.
    directory: PathBuf,
    rows: HashMap<(String, String), ExpectedRow>,
}

impl Expectations {
    /// Reads a table.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text =
            fs::read_to_string(path).map_err(|error| format!("{name}: cannot read: {error}"))?;
        let rows = parse(&text).map_err(|(line, error)| format!("{name}:{line}:1: {error}"))?;
        let directory = path.parent().map_or(PathBuf::new(), Path::to_path_buf);
        Ok(Expectations { directory, rows })
    }

    /// Compares all results with the table.
    pub(super) fn compare(&self, programs: &[ProgramResults]) -> Comparison {
        let mut comparison = Comparison { agree: 0, differences: vec![] };
        for program in programs {
            for result in program.results.iter().flatten() {
                match self.difference(&program.name, result) {
                    None => comparison.agree += 1,
                    Some(difference) => comparison.differences.push(difference),
                }
            }
        }
        comparison
    }

    fn difference(&self, program: &str, result: &CheckResult) -> Option<Difference> {
        let model = result.model();
        let key = (self.key(Path::new(program)), model.name().to_owned());
        let (status, message) = match self.rows.get(&key) {
            None => {
                (Status::Failed, format!("the table has no row for '{}' and this model", key.0))
            }
            Some(row) => difference(row, result)?,
        };
        Some(Difference { program: program.to_owned(), model, status, message })
    }

    /// The name of a file in the table.
    fn key(&self, file: &Path) -> String {
        let absolute = |path: &Path| path.canonicalize().ok();
        let directory =
            if self.directory.as_os_str().is_empty() { Path::new(".") } else { &self.directory };
        let (whole, base) = (absolute(file), absolute(directory));
        let inside =
            whole.as_deref().zip(base.as_deref()).and_then(|(w, b)| w.strip_prefix(b).ok());
        inside.unwrap_or(file).display().to_string()
    }
}

fn parse(text: &str) -> Result<HashMap<(String, String), ExpectedRow>, (usize, String)> {
    let mut lines = text.lines().enumerate();
    let head = lines.next().map_or("", |(_, line)| line);
    if head.split('\t').ne(COLUMNS) {
        return Err((1, format!("expected the columns {}", COLUMNS.join(", "))));
    }
    let mut rows = HashMap::new();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let (key, row) = parse_row(line).map_err(|error| (at + 1, error))?;
        if rows.insert(key, row).is_some() {
            return Err((at + 1, "there is already a row for this file and model".to_owned()));
        }
    }
    Ok(rows)
}

fn parse_row(line: &str) -> Result<((String, String), ExpectedRow), String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [file, model, quantifier, satisfies, does_not, states, note] = fields[..] else {
        return Err(format!("{} columns: expected {}", fields.len(), COLUMNS.len()));
    };
    let yes = |word: &str| match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("found '{word}': expected yes or no")),
    };
    let number = |_| format!("found '{states}': expected a number of final states, or nothing");
    let states = if states.is_empty() { None } else { Some(states.parse().map_err(number)?) };
    let (satisfies, does_not) = (yes(satisfies)?, yes(does_not)?);
    let race = note == "race";
    let row = ExpectedRow { quantifier: quantifier.to_owned(), satisfies, does_not, states, race };
    Ok(((file.to_owned(), model.to_owned()), row))
}

/// How a result differs from its row, if it does, and how bad that is. An incomplete result cannot be compared.
fn difference(row: &ExpectedRow, result: &CheckResult) -> Option<(Status, String)> {
    let Some((test, finals)) = result.finals() else {
        return Some((Status::Failed, "it is not a litmus test".to_owned()));
    };
    if let Some(failure) = result.failure() {
        return Some((Status::Inconsistent, failure.message.clone()));
    }
    if let Some(bound) = &result.outcome.bound {
        return Some((Status::Unknown, format!("incomplete: {bound}")));
    }
    let has_race = raddle_litmus::has_race(&result.outcome);
    disagreement(row, test, finals, has_race).map(|found| (Status::Inconsistent, found))
}

fn disagreement(
    row: &ExpectedRow,
    test: &LitmusTest,
    finals: &FinalStates,
    has_race: bool,
) -> Option<String> {
    let FinalStates { positive, negative, .. } = *finals;
    let compare = |what: &str, found: &str, expected: &str| {
        (found != expected).then(|| format!("{what}: {found}, expected {expected}"))
    };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let states = finals.states.len().to_string();
    compare("quantifier", test.quantifier.name(), &row.quantifier)
        .or_else(|| compare("some final state satisfies", yes(positive > 0), yes(row.satisfies)))
        .or_else(|| compare("some final state does not", yes(negative > 0), yes(row.does_not)))
        .or_else(|| compare("final states", &states, &row.states?.to_string()))
        .or_else(|| compare("race", yes(has_race), yes(row.race)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &str) -> Result<usize, (usize, String)> {
        parse(&format!("{}\n{rows}", COLUMNS.join("\t"))).map(|rows| rows.len())
    }

    #[test]
    fn tables_are_read() {
        assert_eq!(table("a\tsc\texists\tyes\tno\t\t\nb\ttso\tforall\tno\tyes\t3\trace\n"), Ok(2));
        let (_, row) = parse_row("b\ttso\tforall\tno\tyes\t3\trace").unwrap();
        let quantifier = "forall".to_owned();
        let states = Some(3);
        assert_eq!(
            row,
            ExpectedRow { quantifier, satisfies: false, does_not: true, states, race: true }
        );
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        assert_eq!(parse("file\tmodel").unwrap_err().0, 1);
        let error = |rows: &str| table(rows).unwrap_err();
        assert_eq!(error("a\tsc"), (2, "2 columns: expected 7".to_owned()));
        let expected = "found 'maybe': expected yes or no".to_owned();
        assert_eq!(error("\na\tsc\texists\tmaybe\tno\t\t"), (3, expected));
        let expected = "found '-1': expected a number of final states, or nothing".to_owned();
        assert_eq!(error("a\tsc\texists\tyes\tno\t-1\t"), (2, expected));
        let twice = "a\tsc\texists\tyes\tno\t\t\n".repeat(2);
        assert_eq!(error(&twice), (3, "there is already a row for this file and model".to_owned()));
    }
}
