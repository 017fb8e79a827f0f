//! All C programs of `corpus/c`, with their expected verdicts under SC, TSO and PSO.
//!
//! No bug may be found in a correct program, whatever the bounds. The bug of an incorrect program must be found, except
//! in the programs of [`NOT_FOUND`]. The programs of [`UNSUPPORTED`] must be rejected.

use std::sync::Mutex;

use raddle_bmc::{Abstraction, BmcOptions, check};
use raddle_core::model::Model;
use raddle_core::outcome::Verdict;

use super::support::corpus;

/// A program, compiler flags and a model, with the expected verdict.
struct CorpusRow {
    program: String,
    flags: Vec<String>,
    model: Model,
    verdict: String,
}

fn rows() -> Vec<CorpusRow> {
    let text = std::fs::read_to_string(corpus("c/oracle.tsv")).expect("oracle.tsv is readable");
    let mut rows = vec![];
    for line in text.lines().skip(1) {
        let [program, flags, models, verdict, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("oracle.tsv: expected four columns or more: {line}");
        };
        for model in models.split(',') {
            let model = match model {
                "sc" => Model::Sc,
                "tso" => Model::Tso,
                "pso" => Model::Pso,
                _ => continue,
            };
            if program.ends_with(".c") {
                rows.push(CorpusRow {
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

/// Unsupported programs (optionally with a flag), each with a part of the error message.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("containers/publish.c", "strcpy"),
    ("errors/clock.c", "time.h"),
    ("errors/fork.c", "fork"),
    ("locks/futex_mutex.c", "linux/futex.h"),
    ("pthreads/c11threads.c", "threads.h"),
    ("pthreads/exit_thread.c", "atexit"),
    ("pthreads/foreign_stack.c -DCOPY", "memcpy"),
    ("pthreads/formats.c", "snprintf"),
    ("pthreads/keys.c", "pthread_key_t"),
    ("pthreads/scanned.c", "sscanf"),
    ("pthreads/timedlock.c", "time.h"),
    ("pthreads/timedwait.c", "time.h"),
];

impl CorpusRow {
    /// Returns `true` if the row matches `PROGRAM` or `PROGRAM FLAG`.
    fn matches(&self, pattern: &str) -> bool {
        let (program, flag) = pattern.split_once(' ').unwrap_or((pattern, ""));
        self.program == program && (flag.is_empty() || self.flags.iter().any(|it| it == flag))
    }
}

/// Programs with bugs of kinds that are not detected: livelock and stack overflow. They must not be called safe.
const NOT_FOUND: &[&str] =
    &["errors/livelock.c", "errors/stack_overflow.c", "locks/sense_barrier.c"];

/// Describes how the verdict deviates from the expected one, if it does.
fn mismatch(row: &CorpusRow, abstraction: Abstraction) -> Option<String> {
    let mut options = BmcOptions::new(corpus("c").join(&row.program));
    options.abstraction = abstraction;
    (options.flags, options.model) = (row.flags.clone(), row.model);
    // A consumer that is woken spuriously needs additional rounds until it blocks again.
    options.rounds = match abstraction {
        _ if row.verdict.ends_with("deadlock") => 5,
        // The other encodings take much longer, and two rounds suffice for a wrong deadlock.
        Abstraction::Simple | Abstraction::Etso if row.verdict == "clean" => 2,
        _ => 3,
    };
    let unsupported = UNSUPPORTED.iter().find(|(program, _)| row.matches(program));
    let report = match (check(&options), unsupported) {
        (Err(error), Some((_, reason))) if error.to_string().contains(reason) => return None,
        (Err(error), _) => return Some(format!("rejected: {error}")),
        (Ok(_), Some(_)) => {
            return Some(String::from("it is supported: remove it from UNSUPPORTED"));
        }
        (Ok(report), None) => report,
    };
    let expected = row.verdict.starts_with("bug") && !NOT_FOUND.contains(&row.program.as_str());
    match report.outcome.verdict {
        Verdict::Bug if !expected => Some(format!("{report:#?}")),
        Verdict::Clean if row.verdict.starts_with("bug") => {
            Some(String::from("it is called clean"))
        }
        Verdict::Clean | Verdict::Incomplete if expected => Some(report.outcome.to_string()),
        _ => None,
    }
}

/// Selects the rows to check. A program that is correct under PSO is correct under SC and TSO, too; to save time, only
/// every fourth such row is checked, unless `chosen` selects programs by name.
fn is_selected(number: usize, row: &CorpusRow, all: &[CorpusRow], chosen: &str) -> bool {
    let clean_under_pso = || {
        let same = |other: &&CorpusRow| other.program == row.program && other.flags == row.flags;
        let mut weak = all.iter().filter(same).filter(|other| other.model == Model::Pso);
        weak.any(|other| other.verdict == "clean")
    };
    let is_implied = row.model != Model::Pso && row.verdict == "clean";
    row.program.contains(chosen)
        && (!is_implied || !chosen.is_empty() || number.is_multiple_of(4) || !clean_under_pso())
}

/// Checks the rows with two threads and returns the mismatches.
fn mismatches(rows: &[(&CorpusRow, Abstraction)]) -> Vec<String> {
    let (next, failures) = (Mutex::new(rows.iter()), Mutex::new(vec![]));
    let next_row = || next.lock().expect("no other thread panicked").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(&(row, abstraction)) = next_row() {
                    let Some(mismatch) = mismatch(row, abstraction) else { continue };
                    let CorpusRow { program, flags, model, .. } = row;
                    let name = format!("{program} {flags:?} {model:?} {}", abstraction.name());
                    let mut failures = failures.lock().expect("no other thread panicked");
                    failures.push(format!("{name}: {mismatch}"));
                }
            });
        }
    });
    failures.into_inner().expect("no other thread panicked")
}

/// `RADDLE_CORPUS` selects programs by a part of their path.
fn chosen() -> String {
    std::env::var("RADDLE_CORPUS").unwrap_or_default()
}

#[test]
fn corpus_programs_have_the_expected_verdict() {
    let (all, chosen) = (rows(), chosen());
    let selected = |&(number, row): &(usize, &CorpusRow)| is_selected(number, row, &all, &chosen);
    let rows: Vec<(&CorpusRow, Abstraction)> = all
        .iter()
        .enumerate()
        .filter(selected)
        .map(|(_, row)| (row, Abstraction::Stamps))
        .collect();
    let failures = mismatches(&rows);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns `true` if the text of the program calls a function that may block.
fn has_locks(row: &CorpusRow) -> bool {
    let text = std::fs::read_to_string(corpus("c").join(&row.program)).expect("it is readable");
    let blocking = ["_lock(", "cond_wait(", "barrier_wait(", "sem_wait(", "call_once(", "_once("];
    blocking.iter().any(|function| text.contains(function))
}

/// Takes minutes.
const TOO_LARGE_FOR_ETSO: &[&str] = &["pthreads/bounded_buffer.c"];

/// Whether a lock is free at the end of an execution decides whether there is a deadlock.
#[test]
fn programs_with_locks_have_the_expected_verdict_with_every_encoding() {
    let (all, chosen) = (rows(), chosen());
    let selected = |row: &&CorpusRow| {
        row.model != Model::Sc && row.program.contains(&chosen) && has_locks(row)
    };
    let mut rows = vec![];
    for row in all.iter().filter(selected) {
        if !TOO_LARGE_FOR_ETSO.contains(&row.program.as_str()) {
            rows.push((row, Abstraction::Etso));
        }
        if row.model == Model::Tso {
            rows.push((row, Abstraction::Simple));
        }
    }
    let failures = mismatches(&rows);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
