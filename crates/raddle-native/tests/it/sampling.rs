//! Random testing of the corpus: finds the known bugs within a number of runs, and no others.

use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Verdict};
use raddle_explore::plan::Explorer;
use raddle_explore::sampling::Sampling;
use raddle_native::{Request, build, check_built};

use crate::corpus::{built, directory};

/// A line of the corpus' table.
struct Row {
    program: String,
    flags: Vec<String>,
    models: Vec<Model>,
    is_bug: bool,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(directory().join("oracle.tsv")).expect("there is a table");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        Row {
            program: fields[0].to_owned(),
            flags: fields[1].split_whitespace().map(String::from).collect(),
            models: fields[2].split(',').map(|name| name.parse().expect("a model")).collect(),
            is_bug: fields[3].starts_with("bug"),
        }
    };
    text.lines().skip(1).map(row).filter(|row| !row.program.ends_with(".cpp")).collect()
}

/// The rows whose outcome is not as expected: a bug for rows with one, none for others.
fn differences(rows: &[Row], explorer: Explorer) -> Vec<String> {
    let mut differences = vec![];
    let mut most = 0;
    for row in rows {
        let mut request = Request { explorer, ..Request::new(&[]) };
        let object = built(&row.program, &row.flags, "gcc");
        for &model in &row.models {
            request.model = model;
            let outcome = check_built(&object, &request).expect("the corpus can be loaded");
            let kind = outcome.kind();
            let is_refused = kind == Some(FindingKind::Unsupported);
            let is_as_expected = match row.is_bug {
                true => outcome.verdict == Verdict::Bug || is_refused,
                false => outcome.verdict == Verdict::Incomplete && !is_refused,
            };
            if !is_as_expected {
                let (program, flags) = (&row.program, row.flags.join(" "));
                let runs = outcome.counts.classes + outcome.counts.blocked;
                differences.push(format!("{program} {flags} {model}: {kind:?} in {runs} runs"));
            } else if row.is_bug {
                most = most.max(outcome.counts.classes + outcome.counts.blocked);
            }
        }
    }
    println!("{}: at most {most} runs", explorer.name());
    differences
}

fn sampling(iterations: u64) -> Sampling {
    Sampling { iterations, seed: 1, ..Sampling::default() }
}

#[test]
fn bugs_of_the_corpus_are_found_by_random_runs() {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.is_bug).collect();
    let none: Vec<String> = vec![];
    assert_eq!(differences(&rows, Explorer::Random(sampling(10_000))), none);
}

#[test]
fn bugs_of_the_corpus_are_found_by_random_priorities() {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.is_bug).collect();
    let none: Vec<String> = vec![];
    assert_eq!(differences(&rows, Explorer::Pct(sampling(20_000))), none);
}

#[test]
fn correct_programs_have_no_findings() {
    let mut rows: Vec<Row> = rows().into_iter().filter(|row| !row.is_bug).collect();
    // A third of them, in order to be quick.
    let mut at = 0;
    rows.retain(|_| {
        at += 1;
        at % 3 == 0
    });
    let none: Vec<String> = vec![];
    assert_eq!(differences(&rows, Explorer::Random(sampling(20))), none);
    assert_eq!(differences(&rows, Explorer::Pct(sampling(20))), none);
}

/// Threads that wait for stores in each other's buffers are in no livelock: the stores reach memory in the end.
#[test]
fn threads_that_wait_for_buffered_stores_do_not_spin_forever() {
    let object = built("containers/spsc_cached.c", &[String::from("-DBROKEN")], "gcc");
    for seed in 0..8 {
        let explorer = Explorer::Random(Sampling { seed, ..sampling(1_000) });
        let request = Request { explorer, model: Model::Pso, ..Request::new(&[]) };
        let outcome = check_built(&object, &request).expect("it can be loaded");
        assert_eq!(outcome.kind(), Some(FindingKind::Assertion), "seed {seed}: {outcome}");
    }
}

/// The main thread goes round on a variable that is its own as long as the other one has not begun.
#[test]
fn a_loop_on_a_variable_of_a_later_thread_ends() {
    let directory = tempfile::tempdir().expect("there is room for a file");
    let file = directory.path().join("counter.c");
    let text = "#include <pthread.h>
        #include <stdatomic.h>
        atomic_int x;
        void *count(void *p) { for (int i = 0; i < 1000000000; i++) atomic_fetch_add(&x, 1); return p; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, count, 0);
            count(0);
            pthread_join(t, 0);
        }";
    std::fs::write(&file, text).expect("there is room for a file");
    for model in [Model::Sc, Model::C20] {
        let sampling = Sampling { max_events: 10_000, ..sampling(1) };
        let (explorer, timeout) = (Explorer::Random(sampling), Some(Duration::from_secs(20)));
        let max_events = u32::MAX;
        let request =
            Request { explorer, model, timeout, max_events, ..Request::new(&[file.as_path()]) };
        let object = build(&request.source).expect("it can be compiled");
        let outcome = check_built(&object, &request).expect("it can be loaded");
        // Otherwise there is no time for a single run.
        assert_eq!((outcome.counts.classes, outcome.findings.is_empty()), (1, true), "{outcome}");
    }
}

/// Under c20 the main thread never reads what makes `p` shared, but a run that leaves the order of sequentially consistent events
/// open does. What it learns must not be found out only when all runs are done.
#[test]
fn facts_of_impossible_runs_cost_no_second_pass() {
    let directory = tempfile::tempdir().expect("there is room for a file");
    let file = directory.path().join("again.c");
    let text = "#include <pthread.h>
        #include <stdatomic.h>
        atomic_int x, y; int r, s; int p[4];
        void *f(void *a) { p[1] = 7; atomic_store(&x, 1); r = atomic_load(&y); return a; }
        void *g(void *a) { atomic_store(&y, 1); s = atomic_load(&x); return a; }
        int main(void) {
            pthread_t t, u;
            pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
            pthread_join(t, 0); pthread_join(u, 0);
            return r == 0 && s == 0 ? p[1] : 0;
        }";
    std::fs::write(&file, text).expect("there is room for a file");
    let explorer = Explorer::Random(sampling(2_000));
    let request = Request { explorer, model: Model::C20, ..Request::new(&[file.as_path()]) };
    let object = build(&request.source).expect("it can be compiled");
    let outcome = check_built(&object, &request).expect("it can be loaded");
    assert_eq!((outcome.counts.classes, outcome.findings.is_empty()), (2_000, true), "{outcome}");
    assert!(outcome.counts.executions < 3 * 2_000 + 1_000, "{outcome}");
}
