//! Verdicts, formula sizes and durations on the programs of Tomasco et al., FMCAD 2016.
//!
//! `cargo bench -p raddle-bmc -- [table] [sizes] [safestack]`; the default is `table sizes`. `safestack` takes minutes.
//!
//! If the environment variable `RADDLE` names a `raddle` binary, the last column of the table shows the duration of
//! `raddle check` on the same file, without compilation.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use raddle_bmc::{Abstraction, BmcOptions, BmcReport, BmcStatistics, check};
use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Verdict};

/// A program of the table: file, flags, unwind, rounds, bits, and whether it has a bug under SC, TSO and PSO.
type TableRow = (&'static str, &'static str, usize, usize, Option<u8>, [bool; 3]);

const ROWS: &[TableRow] = &[
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

fn options(&(file, flags, unwind, rounds, bits, _): &TableRow, model: Model) -> BmcOptions {
    let mut options = BmcOptions::new(corpus().join(file));
    options.flags = flags.split_whitespace().map(String::from).collect();
    (options.model, options.unwind, options.rounds, options.bits) = (model, unwind, rounds, bits);
    options
}

fn run(options: &BmcOptions) -> BmcReport {
    check(options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns `true` if the check found a bug. Panics on a timeout.
fn is_bug(report: &BmcReport) -> bool {
    assert_ne!(report.outcome.bound, Some(Bound::Deadline));
    report.outcome.verdict == Verdict::Bug
}

fn table() {
    println!(
        "program                                   model  bug    variables  clauses     bmc    check"
    );
    for row in ROWS {
        for (model, expected) in MODELS.into_iter().zip(row.5) {
            let options = options(row, model);
            let report = run(&options);
            assert_eq!(is_bug(&report), expected, "{} {} {model:?}", row.0, row.1);
            let size = &report.statistics;
            let name = format!("{} {}", row.0, row.1);
            let checked = raddle_check_seconds(&options, expected);
            let checked = checked.map_or(String::from("-"), |seconds| format!("{seconds:.3}"));
            println!(
                "{name:40}  {:5}  {expected:5}  {:9}  {:7}  {:6.3}  {checked:>7}",
                model.name(),
                size.variables,
                size.clauses,
                report.outcome.counts.seconds
            );
        }
    }
}

/// The duration of `raddle check`, whose verdict must be the expected one. `None` after a minute.
fn raddle_check_seconds(options: &BmcOptions, expected: bool) -> Option<f64> {
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

/// Bounds on buffered stores.
const BOUNDS: [usize; 5] = [2, 4, 8, 16, 32];

/// Programs on which bounds are compared.
const BOUNDED: &[TableRow] = &[
    ("c/exclusion/dekker.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/peterson.c", "", 1, 2, None, [false, true, true]),
    ("c/exclusion/szymanski.c", "", 1, 3, None, [false, true, true]),
    ("bmc/spread.c", "-DLENGTH=8", 1, 2, None, [false, true, true]),
    ("bmc/spread.c", "-DLENGTH=24", 1, 2, None, [false, true, true]),
];

/// A line of the size table: its name, the encoding of store buffers, and a function from the bound to the number of
/// nodes `N` and the greatest time stamp `K`.
type BoundSeries = (&'static str, Abstraction, fn(usize) -> (usize, usize));

const MEASURED: [BoundSeries; 4] = [
    ("TSO-SMA, N", Abstraction::Simple, |bound| (bound, 7)),
    ("eTSO-SMA, N (K=7)", Abstraction::Etso, |bound| (bound, 7)),
    ("eTSO-SMA, K (N=2)", Abstraction::Etso, |bound| (2, bound)),
    ("stamps", Abstraction::Stamps, |bound| (bound, 7)),
];

/// For TSO and every bound: the number of clauses, the additional clauses per access compared with SC, and whether the
/// bug is found.
fn sizes() {
    println!("clauses, and additional clauses per access compared with SC, by bound; *: bug found");
    let heads = BOUNDS.map(|bound| format!("{bound:>13}  "));
    println!("{:30} {:18} {}", "program", "bound", heads.join(" "));
    for row in BOUNDED {
        let sc_clauses = run(&options(row, Model::Sc)).statistics.clauses;
        for (name, abstraction, bounds) in MEASURED {
            let size = |bound: usize| {
                let mut options = options(row, Model::Tso);
                (options.nodes, options.max_time) = bounds(bound);
                options.abstraction = abstraction;
                let report = run(&options);
                let found = if is_bug(&report) { '*' } else { ' ' };
                let BmcStatistics { clauses, accesses, .. } = report.statistics;
                let per_access = clauses.saturating_sub(sc_clauses) as f64 / accesses as f64;
                format!("{clauses:>7} {per_access:6.1}{found}")
            };
            let program = format!("{} {}", row.0, row.1);
            println!("{program:30} {name:18} {}", BOUNDS.map(size).join(" "));
        }
    }
}

/// Vyukov's stack, whose bug needs three threads, ten context switches and four rounds.
fn safestack() {
    println!("safestack, 3 bits      rounds  variables  clauses  seconds");
    for (model, rounds) in [(Model::Pso, 4), (Model::Tso, 4), (Model::Sc, 4), (Model::Pso, 3)] {
        let mut options = BmcOptions::new(corpus().join("bmc/safestack.c"));
        (options.model, options.unwind, options.rounds, options.bits) = (model, 1, rounds, Some(3));
        options.timeout = Some(Duration::from_secs(900));
        let BmcReport { outcome, statistics: size, .. } = run(&options);
        let verdict = match (outcome.verdict, &outcome.bound) {
            (Verdict::Bug, _) => "bug",
            (_, Some(Bound::Deadline)) => "timeout",
            (Verdict::Clean | Verdict::Incomplete, _) => "no bug",
        };
        println!(
            "{:5}  {verdict:10}  {rounds:10}  {:9}  {:7}  {:7.1}",
            model.name(),
            size.variables,
            size.clauses,
            outcome.counts.seconds
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
