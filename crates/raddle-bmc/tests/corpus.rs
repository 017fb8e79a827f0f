//! The corpus: every C program of `corpus/c` that is modelled, with what is expected of it under SC, TSO and PSO.
//!
//! A program without a bug must have none here, whatever the bounds. One with a bug must show it, but for those that need
//! more than the bounds, which are named with the reason; so are the programs that are refused.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use raddle_bmc::{Answer, Model, Options, check};

struct Row {
    program: String,
    flags: Vec<String>,
    model: Model,
    verdict: String,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c")
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(directory().join("oracle.tsv")).expect("there is a table");
    let mut rows = vec![];
    for line in text.lines().skip(1) {
        let [program, flags, models, verdict, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a line of the table: {line}");
        };
        for model in models.split(',') {
            let model = match model {
                "sc" => Model::Sc,
                "tso" => Model::Tso,
                "pso" => Model::Pso,
                _ => continue,
            };
            if program.ends_with(".c") {
                rows.push(Row {
                    program: program.to_owned(),
                    flags: flags.split_whitespace().map(String::from).collect(),
                    model,
                    verdict: verdict.to_owned(),
                });
            }
        }
    }
    rows
}

/// What is refused, with a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("containers/publish.c", "strcpy"),
    ("errors/clock.c", "time.h"),
    ("errors/fork.c", "fork"),
    ("pthreads/c11threads.c", "threads.h"),
    ("pthreads/exit_thread.c", "atexit"),
    ("pthreads/foreign_stack.c -DCOPY", "memcpy"),
    ("pthreads/formats.c", "snprintf"),
    ("pthreads/keys.c", "pthread_key_t"),
    ("pthreads/scanned.c", "sscanf"),
    ("pthreads/timedlock.c", "time.h"),
    ("pthreads/timedwait.c", "time.h"),
];

impl Row {
    /// Whether it is about a program, or about one with a flag.
    fn is(&self, what: &str) -> bool {
        let (program, flag) = what.split_once(' ').unwrap_or((what, ""));
        self.program == program && (flag.is_empty() || self.flags.iter().any(|it| it == flag))
    }
}

/// Bugs that are not found, nor is the program called safe: threads that loop for ever, and a stack that overflows.
const NOT_FOUND: &[&str] = &["errors/livelock.c", "errors/stack_overflow.c"];

/// What is wrong with an answer.
fn wrong(row: &Row) -> Option<String> {
    let mut options = Options::new(directory().join(&row.program));
    (options.flags, options.model) = (row.flags.clone(), row.model);
    // A consumer that was woken for nothing needs one more round for its waiting to be seen.
    options.rounds = if row.verdict.ends_with("deadlock") { 5 } else { 3 };
    let refused = REFUSED.iter().find(|(what, _)| row.is(what));
    let answer = match (check(&options), refused) {
        (Err(refusal), Some((_, reason))) if refusal.to_string().contains(reason) => return None,
        (Err(refusal), _) => return Some(format!("refused: {refusal}")),
        (Ok(_), Some(_)) => return Some(String::from("it is not refused any more")),
        (Ok(report), None) => report.answer,
    };
    let expected = row.verdict.starts_with("bug") && !NOT_FOUND.contains(&row.program.as_str());
    match answer {
        Answer::Bug(bug) if !expected => Some(format!("{bug:#?}")),
        Answer::Safe if row.verdict.starts_with("bug") => Some(String::from("it is called safe")),
        Answer::Safe | Answer::Bounded(_) | Answer::Timeout if expected => {
            Some(format!("{answer:?}"))
        }
        _ => None,
    }
}

/// A program without a bug under PSO has none under SC and TSO. So only one in four of these is checked there, too, unless
/// they are asked for.
fn is_tried(number: usize, row: &Row, all: &[Row], chosen: &str) -> bool {
    let clean_under_pso = || {
        let same = |other: &&Row| other.program == row.program && other.flags == row.flags;
        let mut weak = all.iter().filter(same).filter(|other| other.model == Model::Pso);
        weak.any(|other| other.verdict == "clean")
    };
    let is_implied = row.model != Model::Pso && row.verdict == "clean";
    row.program.contains(chosen)
        && (!is_implied || !chosen.is_empty() || number.is_multiple_of(4) || !clean_under_pso())
}

#[test]
fn every_program_has_the_expected_verdict() {
    let chosen = std::env::var("RADDLE_CORPUS").unwrap_or_default();
    let all = rows();
    let tried = |&(number, row): &(usize, &Row)| is_tried(number, row, &all, &chosen);
    let rows: Vec<&Row> = all.iter().enumerate().filter(tried).map(|(_, row)| row).collect();
    let (next, failures) = (Mutex::new(rows.iter()), Mutex::new(vec![]));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(row) = next.lock().expect("no panics").next() else { break };
                    if let Some(wrong) = wrong(row) {
                        let name = format!("{} {:?} {:?}", row.program, row.flags, row.model);
                        failures.lock().expect("no panics").push(format!("{name}: {wrong}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panics");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
