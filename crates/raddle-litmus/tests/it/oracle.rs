//! Tables of verdicts, and comparison with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_explore::plan::{Explorer, plan};
use raddle_litmus::{LitmusOptions, LitmusOutcome, LitmusTest, explore};

/// Known verdict of a test under a model.
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) model: Model,
    quantifier: String,
    satisfies: bool,
    does_not: bool,
    states: Option<usize>,
    race: bool,
}

/// Returns the rows of the table in a directory.
pub(crate) fn rows(directory: &Path) -> Vec<Row> {
    let table = fs::read_to_string(directory.join("oracle.tsv")).expect("there is a table");
    table.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split('\t').collect();
    let [file, model, quantifier, satisfies, does_not, states, note] = fields[..] else {
        panic!("a row has seven columns: {line}")
    };
    Row {
        file: file.to_owned(),
        model: model.parse().expect("a model"),
        quantifier: quantifier.to_owned(),
        satisfies: satisfies == "yes",
        does_not: does_not == "yes",
        states: states.parse().ok(),
        race: note == "race",
    }
}

/// Returns all tests below a directory, by path.
pub(crate) fn tests(directory: &Path) -> BTreeMap<String, LitmusTest> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).expect("a directory") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "litmus") {
                let name =
                    path.strip_prefix(directory).expect("it is inside").display().to_string();
                let bytes = fs::read(&path).expect("it can be read");
                let test =
                    LitmusTest::parse(&bytes).unwrap_or_else(|error| panic!("{name}:{error}"));
                found.insert(name, test);
            }
        }
    }
    found
}

/// Explores a test completely.
pub(crate) fn outcome(test: &LitmusTest, model: Model, explorer: Explorer) -> LitmusOutcome {
    let plan = plan(test.language, model, explorer).expect("the model goes with the test");
    let outcome = explore(test, plan, &LitmusOptions::default());
    assert!(outcome.finals.is_complete, "{}, {model}: {}", test.name, outcome.outcome);
    outcome
}

/// Returns the explorers that support a model.
pub(crate) fn explorers(model: Model) -> impl Iterator<Item = Explorer> {
    Explorer::ALL.into_iter().filter(move |explorer| explorer.supports(model))
}

/// Returns the differences from the row, for every explorer.
pub(crate) fn differences(test: &LitmusTest, row: &Row) -> Vec<String> {
    let mut all = vec![];
    for explorer in explorers(row.model) {
        let outcome = outcome(test, row.model, explorer);
        let yes = |is: bool| if is { "yes" } else { "no" };
        let mut compare = |what: &str, found: String, expected: String| {
            if found != expected {
                let (file, model, explorer) = (&row.file, row.model, explorer.name());
                all.push(format!("{file}, {model}, {explorer}: {what}: {found}, not {expected}"));
            }
        };
        compare("quantifier", test.quantifier.name().to_owned(), row.quantifier.clone());
        compare(
            "satisfies",
            yes(outcome.finals.positive > 0).to_owned(),
            yes(row.satisfies).to_owned(),
        );
        compare(
            "does not",
            yes(outcome.finals.negative > 0).to_owned(),
            yes(row.does_not).to_owned(),
        );
        if let Some(states) = row.states {
            compare("states", outcome.finals.states.len().to_string(), states.to_string());
        }
        compare("race", yes(outcome.has_race()).to_owned(), yes(row.race).to_owned());
    }
    all
}
