//! What native execution costs: C programs of the corpus beside the same programs as scripts.
//!
//! `cargo bench -p raddle-native -- [NAME...]`
//!
//! For each: the classes, how often a thread was run from its beginning, how long that took without compiling,
//! classes and native runs in a second, and the same for the script, which runs nothing; then what it takes to
//! compile and load.

use std::path::Path;
use std::time::Instant;

use raddle_core::model::Model;
use raddle_core::outcome::{Outcome, Verdict};
use raddle_explore::{Control, Leaf, Limits, rf_part_smc};
use raddle_native::{Request, build, check_built};
use raddle_testkit::script::{Script, ScriptProgram};

/// A program of `corpus/c/tables`, its size, and the same as a script, from the size.
struct Pair {
    name: &'static str,
    size: usize,
    script: fn(usize) -> String,
}

/// Threads that all do the same, but for their number `I`.
fn alike(n: usize, body: &str) -> String {
    (0..n).map(|i| format!("thread t{i} {{ {} }}\n", body.replace('I', &i.to_string()))).collect()
}

/// A main thread that starts `n` threads, waits for them, and then does something.
fn joined(n: usize, then: &str) -> String {
    let all = |word: &str| (0..n).map(|i| format!("{word} t{i}; ")).collect::<String>();
    format!("thread main {{ {}{}{then} }}\n", all("spawn"), all("join"))
}

const PAIRS: [Pair; 10] = [
    Pair {
        name: "readers",
        size: 14,
        script: |n| format!("x = 0\nthread w {{ store x 1 }}\n{}", alike(n, "r = load x")),
    },
    Pair {
        name: "ra",
        size: 6,
        script: |n| format!("x = 0\n{}", alike(n, "r = load x; store x r + 1")),
    },
    Pair {
        name: "monabsex",
        size: 6,
        script: |n| format!("x = 0\n{}", alike(n, "store x 4; r = load x")),
    },
    Pair {
        name: "writer_reader",
        size: 9,
        script: |n| {
            format!(
                "x = 0\nthread a {{ repeat {n} {{ k = k + 1; store x k }} }}\nthread b {{ repeat {n} {{ r = load x }} }}"
            )
        },
    },
    Pair {
        name: "race_parametric",
        size: 5,
        script: |n| {
            format!("x = 0\n{}", alike(2, &format!("repeat {n} {{ store x I; r = load x }}")))
        },
    },
    Pair {
        name: "fib_bench",
        size: 5,
        script: |n| {
            let body = |mine: &str, other: &str| {
                format!("repeat {n} {{ r = load {other}; s = load {mine}; store {mine} s + r }}")
            };
            let threads =
                format!("thread t0 {{ {} }}\nthread t1 {{ {} }}", body("x", "y"), body("y", "x"));
            format!("x = 1; y = 1\n{}{threads}", joined(2, "r = load x; s = load y"))
        },
    },
    Pair {
        name: "pthread_datarace",
        size: 5,
        script: |n| {
            let body = format!("repeat {n} {{ r = load x; store x r + 1 }}");
            format!("x = 0\n{}{}", joined(2, "r = load x"), alike(2, &body))
        },
    },
    Pair {
        name: "account",
        size: 4,
        script: |n| {
            let threads = alike(n + 1, "r = load x; store x r + 100");
            format!("x = 1000\n{}{threads}", joined(n + 1, "r = load x"))
        },
    },
    Pair {
        name: "peterson",
        size: 3,
        script: |n| {
            let body = |mine: &str, other: &str, me: usize| {
                format!(
                    "repeat {n} {{ store {mine} 1; store turn {}; r = load {other}\n\
                     if r == 1 {{ t = load turn; if t != {me} {{ break }} }}; store {mine} 0 }}",
                    1 - me
                )
            };
            format!(
                "x = 0; y = 0; turn = 0\nthread a {{ {} }}\nthread b {{ {} }}",
                body("x", "y", 0),
                body("y", "x", 1)
            )
        },
    },
    Pair {
        name: "sssc12",
        size: 7,
        script: |n| {
            let cells = vec!["0"; n].join(", ");
            let body = "lock m; r = load next; store next r + 1; unlock m; store data[r] 1; s = load data[r]";
            format!("lock m\ndata = [{cells}]; next = 0\n{}", alike(n, body))
        },
    },
];

fn script(text: &str, model: Model) -> (u64, f64) {
    let script = Script::parse(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let mut program = ScriptProgram::new(&script);
    let start = Instant::now();
    let mut visitor = |_: &dyn Leaf| Control::Continue;
    let summary = rf_part_smc::explore(&mut program, model, &Limits::default(), &mut visitor);
    (summary.classes + summary.blocked, start.elapsed().as_secs_f64())
}

fn native(pair: &Pair, model: Model) -> (Outcome, f64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/tables");
    let file = root.join(pair.name).with_extension("c");
    let mut request = Request { model, ..Request::new(&[&file]) };
    request.source.flags = vec![format!("-DN={}", pair.size)];
    let start = Instant::now();
    let object = build(&request.source).unwrap_or_else(|error| panic!("{error}"));
    let compiling = start.elapsed().as_secs_f64();
    let outcome = check_built(&object, &request).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.verdict, Verdict::Clean, "{}: {outcome}", pair.name);
    (outcome, compiling)
}

fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!(
        "{:20} {:>8} {:>7} {:>8} {:>11} {:>11} {:>13} {:>6} {:>9}",
        "program, tso",
        "classes",
        "runs",
        "seconds",
        "classes/s",
        "runs/s",
        "script: /s",
        "ratio",
        "start-up"
    );
    for pair in
        PAIRS.iter().filter(|pair| chosen.is_empty() || chosen.iter().any(|it| it == pair.name))
    {
        let (outcome, compiling) = native(pair, Model::Tso);
        let (classes, seconds) = script(&(pair.script)(pair.size), Model::Tso);
        let found = outcome.counts.classes + outcome.counts.blocked;
        let exploring = outcome.counts.seconds - outcome.counts.start_up;
        let note = if found == classes { "" } else { "  another number of classes" };
        println!(
            "{:20} {found:8} {:7} {exploring:8.3} {:11.0} {:11.0} {:13.0} {:6.2} {:8.3}s{note}",
            format!("{} {}", pair.name, pair.size),
            outcome.counts.executions,
            found as f64 / exploring,
            outcome.counts.executions as f64 / exploring,
            classes as f64 / seconds,
            exploring / seconds,
            compiling + outcome.counts.start_up,
        );
    }
}
