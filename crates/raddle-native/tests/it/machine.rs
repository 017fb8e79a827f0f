//! What programs may do to a machine: memory, control flow, library functions, inline assembly.
//!
//! `tests/machine` has a program for each, and `expected.tsv` what its exploration shows: the number of classes, and of blocked ones (with renamed threads),
//! or the kind and a part of the message of the finding.

use std::path::{Path, PathBuf};
use std::thread;

use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};
use raddle_native::{Object, Request, Source, build, check_built};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine")
}

/// What an outcome is compared by.
fn shown(outcome: &Outcome) -> String {
    match (outcome.finding(), outcome.verdict) {
        (Some(finding), _) => format!("{}: {}", finding.kind.name(), finding.message),
        (None, Verdict::Clean) => {
            let counts = (outcome.counts.classes, outcome.counts.blocked);
            let renamed = outcome.symmetry.as_ref().map(|it| (it.classes, it.blocked));
            let (classes, blocked) = renamed.unwrap_or(counts);
            format!("clean {classes}+{blocked}")
        }
        (None, verdict) => String::from(verdict.name()),
    }
}

/// Explores a program under a model. Returns how it differs from what is expected.
fn difference(object: &Object, model: Model, expected: &str) -> Option<String> {
    let request = Request { model, ..Request::new(&[]) };
    let found = match check_built(object, &request) {
        Ok(outcome) => shown(&outcome),
        Err(error) => error.to_string(),
    };
    (!found.contains(expected)).then(|| format!("{model}: expected {expected:?}, found {found:?}"))
}

/// Explores a row of the table: program, flags, expected under sc and under c20.
fn differences(row: &str) -> Vec<String> {
    let fields: Vec<&str> = row.split('\t').collect();
    let [program, flags, sc, c20] = fields[..] else { return vec![format!("{row}: four fields")] };
    let flags = flags.split_whitespace().map(String::from).collect();
    let source = Source { files: vec![directory().join(program)], flags, compiler: None };
    let object = match build(&source) {
        Ok(object) => object,
        Err(error) => return vec![format!("{program}: {error}")],
    };
    let models = [(Model::Sc, sc), (Model::C20, c20)];
    let wrong = models.into_iter().filter_map(|(model, text)| difference(&object, model, text));
    wrong.map(|text| format!("{program}, {text}")).collect()
}

#[test]
fn every_program_shows_what_is_expected() {
    let table = std::fs::read_to_string(directory().join("expected.tsv")).expect("the table");
    let rows: Vec<&str> = table.lines().collect();
    let wrong: Vec<String> = thread::scope(|scope| {
        let halves: Vec<_> = rows
            .chunks(rows.len().div_ceil(2))
            .map(|half| scope.spawn(move || half.iter().flat_map(|row| differences(row)).collect()))
            .collect();
        let results = halves.into_iter().map(|half| half.join().expect("no panic"));
        results.flat_map(|wrong: Vec<String>| wrong).collect()
    });
    assert_eq!(wrong, Vec::<String>::new());
    let files = std::fs::read_dir(directory()).expect("the directory").count();
    assert_eq!(files, rows.len() + 1, "every program has a row");
}
