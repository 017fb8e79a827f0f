//! Locks and queues with loops: `cargo bench -p raddle-benches --bench loops -- [--limit SECONDS] [--model MODEL] [NAME...]`.
//!
//! Programs of `corpus/c` that wait in loops or retry. "Exact" explores all classes (`raddle check --exact`); there a thread
//! waits only if a round of its loop repeats a state. "Default" also leaves out other reads without effect. A class is
//! `blocked` if some thread waits forever in it.
//!
//! Times include the start of the program up to `main`, a few milliseconds, but not its compilation; the best of some
//! rounds counts. An exploration that reaches the limit is marked with `>`, and its ratios are lower bounds.

mod programs;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use programs::{PROGRAMS, Program};
use raddle_core::model::Model;
use raddle_core::outcome::Verdict;
use raddle_native::{Object, Request, build, check_built};

/// How long an exploration is repeated.
const REPEATED: Duration = Duration::from_millis(300);

struct Arguments {
    limit: Duration,
    model: Model,
    names: Vec<String>,
}

impl Arguments {
    fn parse() -> Arguments {
        let mut parsed =
            Arguments { limit: Duration::from_secs(10), model: Model::C20, names: vec![] };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
            match argument.as_str() {
                "--limit" => parsed.limit = Duration::from_secs(value().parse().expect("seconds")),
                "--model" => parsed.model = value().parse().expect("a model"),
                _ => parsed.names.push(argument),
            }
        }
        parsed
    }

    fn wants(&self, program: &Program) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == program.name)
    }
}

/// What an exploration counts, and its duration in seconds.
#[derive(Clone, Copy)]
struct Measured {
    classes: u64,
    blocked: u64,
    seconds: f64,
    /// It did not end within the limit.
    is_cut: bool,
}

impl Measured {
    fn executions(&self) -> f64 {
        (self.classes + self.blocked) as f64
    }

    fn show(&self) -> String {
        let mark = if self.is_cut { ">" } else { "" };
        let of = |number: u64| format!("{mark}{number}");
        let time = format!("{mark}{:.1}", self.seconds * 1e3);
        format!("{:>10} {:>10} {time:>10}", of(self.classes), of(self.blocked))
    }
}

fn main() {
    let arguments = Arguments::parse();
    println!("{:<36} {:^32}   {:^32}", arguments.model.name(), "exact", "default");
    let columns = format!("{:>10} {:>10} {:>10}", "classes", "blocked", "ms");
    println!("{:<36} {columns}   {columns} {:>12} {:>8}", "program", "executions", "time");
    let (mut executions, mut times) = (vec![], vec![]);
    for program in PROGRAMS.iter().filter(|program| arguments.wants(program)) {
        let object = compile(program);
        let exact = best(&object, &arguments, true);
        let default = best(&object, &arguments, false);
        let fewer = exact.executions() / default.executions();
        let faster = exact.seconds / default.seconds;
        println!(
            "{:<36} {}   {} {:>12} {:>8}",
            program.title(),
            exact.show(),
            default.show(),
            ratio(fewer, exact.is_cut),
            ratio(faster, exact.is_cut)
        );
        executions.push(fewer);
        times.push(faster);
    }
    let mean = format!("geometric mean of {}", times.len());
    let [executions, times] =
        [executions, times].map(|ratios| ratio(geometric_mean(&ratios), false));
    println!("{mean:<101} {executions:>14} {times:>8}");
}

fn ratio(value: f64, is_bound: bool) -> String {
    format!("{}{value:.2}", if is_bound { ">" } else { "" })
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/c").join(file)
}

fn compile(program: &Program) -> Object {
    let mut source = Request::new(&[&corpus(program.file)]).source;
    source.flags = program.flags.iter().map(|flag| (*flag).to_owned()).collect();
    build(&source).unwrap_or_else(|error| panic!("{}: {error}", program.title()))
}

/// Explores a program, again and again if it is small.
fn best(object: &Object, arguments: &Arguments, exact: bool) -> Measured {
    let start = Instant::now();
    let mut best = explore(object, arguments, exact);
    while start.elapsed() < REPEATED {
        let again = explore(object, arguments, exact);
        best.seconds = best.seconds.min(again.seconds);
    }
    best
}

/// # Panics
/// If the program has a bug: these have none.
fn explore(object: &Object, arguments: &Arguments, exact: bool) -> Measured {
    let (model, timeout) = (arguments.model, Some(arguments.limit));
    let request = Request { model, timeout, exact, ..Request::new(&[]) };
    let start = Instant::now();
    let outcome = check_built(object, &request).expect("the programs can be loaded");
    let seconds = start.elapsed().as_secs_f64();
    assert_ne!(outcome.verdict, Verdict::Bug, "{outcome}");
    let is_cut = outcome.verdict == Verdict::Incomplete;
    Measured { classes: outcome.counts.classes, blocked: outcome.counts.blocked, seconds, is_cut }
}
