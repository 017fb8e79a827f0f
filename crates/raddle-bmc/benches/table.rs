//! The table of Tomasco et al., FMCAD 2016, beside `raddle check` on the same files, and how large formulas are.
//!
//! `cargo bench -p raddle-bmc -- [table] [sizes] [safestack]`; without a word, the table and the sizes.
//!
//! `RADDLE` is the `raddle` program to compare with; without it that column is empty. Its time is without the compiler's. Safestack
//! takes minutes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use raddle_bmc::{Abstraction, Answer, Model, Options, Report, Statistics, check};

/// A program of the table: file, flags, unwind, rounds, bits, and whether it is wrong under SC, TSO and PSO.
type Row = (&'static str, &'static str, usize, usize, Option<u8>, [bool; 3]);

const ROWS: &[Row] = &[
    ("c/exclusion/dekker.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/dekker.c", "-DSC", 1, 2, None, [false, false, false]),
    ("c/exclusion/lamport.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/lamport.c", "-DSC", 1, 2, None, [false, false, false]),
    ("c/exclusion/peterson.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/peterson.c", "-DSC", 1, 2, None, [false, false, false]),
    ("c/exclusion/szymanski.c", "", 1, 3, None, [false, true, true]),
    ("c/exclusion/szymanski.c", "-DSC", 1, 3, None, [false, false, false]),
    ("bmc/fib_longer.c", "", 6, 6, Some(10), [true, true, true]),
    ("bmc/fib_longer.c", "-DSAFE", 6, 6, Some(10), [false, false, false]),
    ("bmc/parker.c", "", 1, 2, None, [false, true, true]),
    ("bmc/parker.c", "-DFENCED", 1, 2, None, [false, false, false]),
    ("bmc/stack_unsafe.c", "", 2, 2, None, [true, true, true]),
    ("bmc/stack_unsafe.c", "-DSAFE", 2, 2, None, [false, false, false]),
    ("c/litmus/sb.c", "", 1, 2, None, [false, true, true]),
    ("c/litmus/mp.c", "", 1, 2, None, [false, false, true]),
    ("c/litmus/iriw.c", "", 1, 2, None, [false, false, false]),
    ("c/litmus/wrc.c", "", 1, 2, None, [false, false, false]),
];

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

fn options(&(file, flags, unwind, rounds, bits, _): &Row, model: Model) -> Options {
    let mut options = Options::new(corpus().join(file));
    options.flags = flags.split_whitespace().map(String::from).collect();
    (options.model, options.unwind, options.rounds, options.bits) = (model, unwind, rounds, bits);
    options
}

fn run(options: &Options) -> Report {
    check(options).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Whether it goes wrong; a report that is neither is a mistake of the table.
fn is_wrong(report: &Report) -> bool {
    assert_ne!(report.answer, Answer::Timeout);
    matches!(report.answer, Answer::Bug(_))
}

fn table() {
    println!(
        "program                                   model  bug    variables  clauses     bmc    check"
    );
    for row in ROWS {
        for (model, expected) in MODELS.into_iter().zip(row.5) {
            let options = options(row, model);
            let report = run(&options);
            assert_eq!(is_wrong(&report), expected, "{} {} {model:?}", row.0, row.1);
            let size = &report.statistics;
            let name = format!("{} {}", row.0, row.1);
            let checked = explored(&options, expected);
            let checked = checked.map_or(String::from("-"), |seconds| format!("{seconds:.3}"));
            println!(
                "{name:40}  {:5}  {expected:5}  {:9}  {:7}  {:6.3}  {checked:>7}",
                model.name(),
                size.variables,
                size.clauses,
                size.seconds
            );
        }
    }
}

/// How long `raddle check` takes; at most a minute. It must come to the same verdict, if to any.
fn explored(options: &Options, expected: bool) -> Option<f64> {
    let raddle = std::env::var_os("RADDLE")?;
    let mut command = Command::new(raddle);
    command.arg("check").arg(&options.file).args(["--json", "--timeout", "60"]);
    command.args(["--model", options.model.name(), "--"]).args(&options.flags);
    let output = command.output().ok()?;
    match output.status.code() {
        Some(status @ (0 | 1)) => assert_eq!(status == 1, expected, "{command:?}"),
        _ => return None,
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, rest) = text.split_once("\"seconds\":")?;
    rest.split([',', '}']).next()?.parse().ok()
}

/// How many stores may wait.
const BOUNDS: [usize; 5] = [2, 4, 8, 16, 32];

/// Programs by which bounds are compared: file, unwind, rounds, bits.
const BOUNDED: &[Row] = &[
    ("c/exclusion/dekker.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/peterson.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/szymanski.c", "", 1, 3, None, [false, true, true]),
    ("bmc/spread.c", "-DLENGTH=8", 1, 2, None, [false, true, true]),
    ("bmc/spread.c", "-DLENGTH=24", 1, 2, None, [false, true, true]),
];

/// Which representation of buffers, and what the bound is there: nodes `N` and the greatest time stamp `K`.
type Measured = (&'static str, Abstraction, fn(usize) -> (usize, usize));

const MEASURED: [Measured; 4] = [
    ("TSO-SMA, N", Abstraction::Simple, |bound| (bound, 7)),
    ("eTSO-SMA, N (K=7)", Abstraction::Etso, |bound| (bound, 7)),
    ("eTSO-SMA, K (N=2)", Abstraction::Etso, |bound| (2, bound)),
    ("stamps", Abstraction::Stamps, |bound| (bound, 7)),
];

/// What store buffers add to the formula, for TSO, by the bound on what waits, and whether the bug is found with it.
fn sizes() {
    println!(
        "clauses, and how many more than for SC for each access, by bound; * the bug is found"
    );
    let heads = BOUNDS.map(|bound| format!("{bound:>13}  "));
    println!("{:30} {:18} {}", "program", "bound", heads.join(" "));
    for row in BOUNDED {
        let without = run(&options(row, Model::Sc)).statistics.clauses;
        for (name, abstraction, bounds) in MEASURED {
            let size = |bound: usize| {
                let mut options = options(row, Model::Tso);
                (options.nodes, options.max_time) = bounds(bound);
                options.abstraction = abstraction;
                let report = run(&options);
                let found = if is_wrong(&report) { '*' } else { ' ' };
                let Statistics { clauses, accesses, .. } = report.statistics;
                let each = clauses.saturating_sub(without) as f64 / accesses as f64;
                format!("{clauses:>7} {each:6.1}{found}")
            };
            let program = format!("{} {}", row.0, row.1);
            println!("{program:30} {name:18} {}", BOUNDS.map(size).join(" "));
        }
    }
}

/// Vyukov's stack, whose bug needs three threads and ten context switches: with three rounds there is none.
fn safestack() {
    println!("safestack, 3 bits      rounds  variables  clauses  seconds");
    for (model, rounds) in [(Model::Pso, 4), (Model::Tso, 4), (Model::Sc, 4), (Model::Pso, 3)] {
        let mut options = Options::new(corpus().join("bmc/safestack.c"));
        (options.model, options.unwind, options.rounds, options.bits) = (model, 1, rounds, Some(3));
        options.timeout = Some(Duration::from_secs(900));
        let Report { answer, statistics: size } = run(&options);
        let answer = match answer {
            Answer::Bug(_) => "bug",
            Answer::Safe | Answer::Bounded(_) => "no bug",
            Answer::Timeout => "time is up",
        };
        println!(
            "{:5}  {answer:10}  {rounds:10}  {:9}  {:7}  {:7.1}",
            model.name(),
            size.variables,
            size.clauses,
            size.seconds
        );
    }
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked = |word: &str| words.iter().any(|asked| asked == word);
    if words.is_empty() || asked("table") {
        table();
    }
    if words.is_empty() || asked("sizes") {
        sizes();
    }
    if asked("safestack") {
        safestack();
    }
}
