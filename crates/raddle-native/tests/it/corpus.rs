//! The corpus: every program of `corpus/c`, with what is expected of it.
//!
//! `oracle.tsv` has a line for each program, flags and models: the verdict (`clean`, `incomplete`, or `bug` with a
//! part of its message), the number of classes (those that did not end behind a `+`) if it is known, and from where: a
//! table of the literature, a formula that has the numbers of the tables, two explorers in Rust, or the same program as
//! a script, whose classes are counted here by brute force.
//!
//! The counts are those of exact explorations. Without reads that have no effect, the verdict is the same, and there are not
//! more classes. A program with `infinite` classes is explored only without these reads: a weak compare-exchange may fail
//! any number of times, and each failed attempt stores.
//!
//! Each program is also explored in small parts, by one, two and three workers, under one model: the same in every word. With
//! `RADDLE_LONG=1`, three workers also find the counts of exact explorations.
//!
//! clang is asked too where it is installed. `RADDLE_CORPUS` chooses the programs whose names contain it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::outcome::{Counts, Outcome, Verdict};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::parallel::Budget;
use raddle_native::{Object, ParallelOptions, Request, build, check_built, check_parallel};
use raddle_testkit::programs::classes;
use raddle_testkit::script::Script;

use crate::harness::is_installed;

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    line: usize,
    pub(crate) program: String,
    pub(crate) flags: Vec<String>,
    pub(crate) models: Vec<Model>,
    verdict: String,
    classes: Option<(u64, u64)>,
    /// An exact exploration does not end.
    pub(crate) is_infinite: bool,
    source: String,
}

impl Row {
    /// An error is expected.
    pub(crate) fn is_bug(&self) -> bool {
        self.verdict.starts_with("bug")
    }

    /// Executions are cut off.
    pub(crate) fn is_endless(&self) -> bool {
        self.verdict == "incomplete"
    }
}

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c")
}

pub(crate) fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(directory().join("oracle.tsv")).expect("there is a table");
    text.lines().enumerate().skip(1).map(|(at, line)| row(at + 1, line)).collect()
}

fn row(line: usize, text: &str) -> Row {
    let fields: Vec<&str> = text.split('\t').collect();
    let [program, flags, models, verdict, classes, source] = fields[..] else {
        panic!("oracle.tsv:{line}: {} columns, expected 6", fields.len());
    };
    let number =
        |text: &str| text.parse().unwrap_or_else(|_| panic!("oracle.tsv:{line}: '{text}'"));
    let is_infinite = classes == "infinite";
    let is_known = !is_infinite && !classes.is_empty();
    let classes = is_known.then(|| match classes.split_once('+') {
        Some((ended, blocked)) => (number(ended), number(blocked)),
        None => (number(classes), 0),
    });
    let model =
        |name: &str| name.parse().unwrap_or_else(|error| panic!("oracle.tsv:{line}: {error}"));
    Row {
        line,
        program: program.to_owned(),
        flags: flags.split_whitespace().map(String::from).collect(),
        models: models.split(',').map(model).collect(),
        verdict: verdict.to_owned(),
        classes,
        is_infinite,
        source: source.to_owned(),
    }
}

/// The usual compiler of a program.
pub(crate) fn compiler(program: &str) -> &'static str {
    if program.ends_with(".cpp") { "g++" } else { "gcc" }
}

/// A program of the corpus, compiled. Several tests explore the same programs; each is compiled once.
///
/// # Panics
/// If it cannot be compiled.
pub(crate) fn built(program: &str, flags: &[String], compiler: &str) -> Arc<Object> {
    type Key = (String, Vec<String>, String);
    static BUILT: Mutex<BTreeMap<Key, Arc<OnceLock<Arc<Object>>>>> = Mutex::new(BTreeMap::new());
    let key = (program.to_owned(), flags.to_vec(), compiler.to_owned());
    let slot = BUILT.lock().expect("no panic").entry(key).or_default().clone();
    let build = || {
        let mut source = Request::new(&[&directory().join(program)]).source;
        (source.flags, source.compiler) = (flags.to_vec(), Some(compiler.to_owned()));
        let object = build(&source);
        Arc::new(object.unwrap_or_else(|error| panic!("{program} {flags:?}: {error}")))
    };
    slot.get_or_init(build).clone()
}

/// What a row expects and an exploration says.
fn difference(row: &Row, outcome: &Outcome) -> Option<String> {
    let mut found = match outcome.verdict {
        Verdict::Clean => String::from("clean"),
        Verdict::Incomplete => String::from("incomplete"),
        Verdict::Bug => String::from("bug"),
    };
    if let Some(bug) = outcome.finding() {
        let _ = write!(found, ": {}: {}", bug.kind.name(), bug.message);
    }
    let expected = row.verdict.strip_prefix("bug: ").unwrap_or(&row.verdict);
    let is_bug = row.verdict.starts_with("bug") == outcome.finding().is_some();
    let counts = (outcome.counts.classes, outcome.counts.blocked);
    let same_counts = row.classes.is_none_or(|classes| classes == counts);
    (!is_bug || !found.contains(expected) || !same_counts)
        .then(|| format!("{found}, {}+{} classes", outcome.counts.classes, outcome.counts.blocked))
}

/// What is different if all classes are explored.
fn difference_of_exact(object: &Object, request: &Request, row: &Row) -> Option<String> {
    if row.is_infinite {
        return None;
    }
    match check_built(object, request) {
        Ok(outcome) => difference(row, &outcome),
        Err(error) => Some(error.to_string()),
    }
}

/// What is different if reads without effect are left out.
fn difference_of_reduced(object: &Object, request: &Request, row: &Row) -> Option<String> {
    let request = Request { exact: false, ..request.clone() };
    let any_count = Row { classes: None, ..row.clone() };
    let outcome = match check_built(object, &request) {
        Ok(outcome) => outcome,
        Err(error) => return Some(format!("reduced: {error}")),
    };
    let Counts { classes, blocked, .. } = outcome.counts;
    let has_more = row
        .classes
        .is_some_and(|(all, stopped)| classes > all || classes + blocked > all + stopped);
    let what = difference(&any_count, &outcome);
    let what = what.or_else(|| has_more.then(|| format!("{classes}+{blocked} classes")));
    what.map(|what| format!("reduced: {what}"))
}

/// What is different if the program is explored in parts, and by several workers, without reads that have no effect.
fn differences_of_parts(object: &Object, request: &Request, row: &Row) -> Option<String> {
    let request = &Request { exact: false, ..request.clone() };
    let row = &Row { classes: None, ..row.clone() };
    let mut one = None;
    for jobs in [1, 2, 3] {
        let jobs = NonZero::new(jobs)?;
        let budget = Budget { first: 3, next: 40, alone: Duration::ZERO };
        let parts = ParallelOptions { jobs, budget, ..ParallelOptions::default() };
        let outcome = match check_parallel(object, request, parts) {
            Ok(outcome) => outcome,
            Err(error) => return Some(error.to_string()),
        };
        if let Some(what) = difference(row, &outcome) {
            return Some(format!("{jobs} workers: {what}"));
        }
        let words = words(&outcome);
        if *one.get_or_insert_with(|| words.clone()) != words {
            return Some(format!(
                "{jobs} workers: {words}\none worker: {}",
                one.unwrap_or_default()
            ));
        }
    }
    None
}

/// What is different if all classes are explored in parts by three workers.
fn difference_of_exact_parts(object: &Object, request: &Request, row: &Row) -> Option<String> {
    let budget = Budget { first: 3, next: 0, alone: Duration::ZERO };
    let parts = ParallelOptions { jobs: NonZero::new(3)?, budget, ..ParallelOptions::default() };
    let what = match check_parallel(object, request, parts) {
        Ok(outcome) => difference(row, &outcome),
        Err(error) => Some(error.to_string()),
    };
    what.map(|what| format!("all classes by three workers: {what}"))
}

/// The text of everything that must not depend on the number of workers.
fn words(outcome: &Outcome) -> String {
    let Outcome { verdict, counts: Counts { classes, blocked, .. }, bound, .. } = outcome;
    let mut words = format!("{verdict:?}, {classes}+{blocked}, {bound:?}\n");
    if let Some(bug) = outcome.finding() {
        let report = counterexample::report(bug, &Style::in_working_directory());
        let _ = writeln!(words, "{}: {report}\n{:?}", bug.kind, bug.schedule);
    }
    // Where memory is depends on who else explores in this process.
    let is_same = |a: &char, b: &char| a.is_ascii_digit() == b.is_ascii_digit();
    let characters: Vec<char> = words.chars().collect();
    let told = |run: &[char]| {
        let is_address = run.len() > 12 && run[0].is_ascii_digit();
        if is_address { String::from("an address") } else { run.iter().collect() }
    };
    characters.chunk_by(is_same).map(told).collect()
}

/// Explores a program under the models of its rows. Returns what is different.
fn explore(rows: &[Row], compilers: [&str; 2]) -> Vec<(usize, String)> {
    let Row { program, flags, .. } = &rows[0];
    let compiler = compilers[usize::from(program.ends_with(".cpp"))];
    let file = directory().join(program);
    let timeout = Some(Duration::from_secs(60));
    let mut request = Request { timeout, exact: true, ..Request::new(&[&file]) };
    request.source.flags = flags.clone();
    request.source.compiler = Some(compiler.to_owned());
    let object = built(program, flags, compiler);
    let mut differences = vec![];
    for row in rows {
        for &model in &row.models {
            request.model = model;
            let what = difference_of_exact(&object, &request, row);
            let what = what.or_else(|| difference_of_reduced(&object, &request, row));
            let is_first = model == row.models[0] && !compiler.starts_with("clang");
            let is_divided = is_first && what.is_none();
            let in_parts = || {
                let reduced = differences_of_parts(&object, &request, row);
                let is_long = std::env::var_os("RADDLE_LONG").is_some();
                let exact = || difference_of_exact_parts(&object, &request, row);
                reduced.or_else(|| is_long.then(exact).flatten())
            };
            let what = if is_divided { in_parts() } else { what };
            let Row { line, verdict, classes, .. } = row;
            let told = |what| {
                let about = format!("oracle.tsv:{line}: {program} {flags:?} {model}, {compiler}");
                (*line, format!("{about}: {what}; expected {verdict}, {classes:?}\n"))
            };
            differences.extend(what.map(told));
        }
    }
    differences
}

/// Explores all programs of the table on two threads. Returns what is different.
///
/// Programs with endless executions come last: they leave a heap of gigabytes behind, whose page tables every later fork of a
/// worker process would copy.
fn explore_all(compilers: [&str; 2]) -> String {
    let chosen = std::env::var("RADDLE_CORPUS").unwrap_or_default();
    let mut programs: BTreeMap<(String, Vec<String>), Vec<Row>> = BTreeMap::new();
    for row in rows().into_iter().filter(|row| row.program.contains(&chosen)) {
        programs.entry((row.program.clone(), row.flags.clone())).or_default().push(row);
    }
    let mut programs: Vec<Vec<Row>> = programs.into_values().collect();
    programs.sort_by_key(|rows| rows.iter().any(Row::is_endless));
    let (next, differences) = (Mutex::new(programs.iter()), Mutex::new(BTreeSet::new()));
    let run = || {
        while let Some(rows) = { next.lock().expect("no panic").next() } {
            let found = explore(rows, compilers);
            differences.lock().expect("no panic").extend(found);
        }
    };
    thread::scope(|scope| {
        scope.spawn(run);
        scope.spawn(run);
    });
    differences.into_inner().expect("no panic").into_iter().map(|(_, text)| text).collect()
}

#[test]
fn every_program_is_as_expected() {
    let differences = explore_all(["gcc", "g++"]);
    assert!(differences.is_empty(), "\n{differences}");
}

#[test]
fn clang_gives_the_same() {
    if !is_installed("clang") {
        eprintln!("clang is not installed: not compared");
        return;
    }
    let differences = explore_all(["clang", "clang++"]);
    let (known, other): (Vec<&str>, Vec<&str>) =
        differences.lines().partition(|line| line.contains("tables/inc_cas.c"));
    // gcc passes the address of the expected value to a hook, so a retry never repeats a state; clang passes the value.
    assert!(known.iter().all(|line| line.contains("36")), "\n{known:#?}");
    assert!(other.is_empty(), "\n{other:#?}");
}

/// The counts in the table that are said to be those of a script are, by brute force.
#[test]
fn counts_are_those_of_scripts() {
    let mut known = BTreeMap::new();
    for row in rows() {
        let Some(name) = row.source.strip_prefix("script ") else { continue };
        let path = directory().join("scripts").join(name).with_extension("script");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for model in row.models {
            let count = *known.entry((name.to_owned(), model)).or_insert_with(|| {
                classes(&script, model, 1_000_000).expect("the script is small").len() as u64
            });
            let (ended, blocked) = row.classes.expect("a script has a number of classes");
            assert_eq!(ended + blocked, count, "oracle.tsv:{}, {name}, {model}", row.line);
        }
    }
    assert!(known.len() > 15 * 10, "only {} counts", known.len());
}

/// Nothing in the corpus is left out of the table.
#[test]
fn every_program_is_in_the_table() {
    let rows = rows();
    let mut missing = vec![];
    for directory in std::fs::read_dir(directory()).expect("there is a corpus").flatten() {
        let Ok(files) = std::fs::read_dir(directory.path()) else { continue };
        for file in files.flatten() {
            let name = format!(
                "{}/{}",
                directory.file_name().to_string_lossy(),
                file.file_name().to_string_lossy()
            );
            let is_program = name.ends_with(".c") || name.ends_with(".cpp");
            if is_program && !rows.iter().any(|row| row.program == name) {
                missing.push(name);
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
