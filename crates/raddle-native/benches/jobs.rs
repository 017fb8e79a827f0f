//! One worker and two: how much faster two are on large programs, and how much slower at most on small ones.
//!
//! `cargo bench -p raddle-native --bench jobs -- [NAME...]`: all programs, or those with these names.
//!
//! Both are measured in turn, and the median of the ratios of neighbours counts, as a machine that others use has faster
//! and slower moments. (The best of each was rejected: one worker has more good moments than two at once.) Two cores are not always twice
//! as fast as one: beside the ratio stands what two processes reach that explore the whole program each, at the same
//! time, and have nothing to do with each other.

use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use raddle_core::model::Model;
use raddle_core::outcome::Verdict;
use raddle_native::{Object, ParallelOptions, Request, build, check_parallel};

/// Programs of `corpus/c/tables` and their sizes, which are explored in some seconds, in 10 to 100 ms, and in less.
const LARGE: [(&str, usize); 6] = [
    ("readers", 20),
    ("lastzero", 15),
    ("writer_reader", 10),
    ("airline", 7),
    ("ra", 8),
    ("monabsex", 8),
];
const MEDIUM: [(&str, usize); 6] = [
    ("readers", 16),
    ("lastzero", 11),
    ("writer_reader", 8),
    ("airline", 6),
    ("ra", 7),
    ("monabsex", 7),
];
const SMALL: [(&str, usize); 6] = [
    ("readers", 10),
    ("lastzero", 8),
    ("writer_reader", 7),
    ("airline", 5),
    ("ra", 6),
    ("monabsex", 6),
];

/// For how long they are measured.
const TIME: Duration = Duration::from_secs(15);

/// What is claimed: so many times as fast on large programs, and on others. (The first 10 ms are one worker's.)
const CLAIMS: [f64; 3] = [1.7, 0.9, 0.9];

/// How a process of this program is told to explore alone.
const ALONE: &str = "--alone";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == ALONE) {
        let size = args[at + 2].parse().expect("a size");
        let (object, request) = built(&args[at + 1], size);
        return println!("{}", explored(&object, &request, 1).1);
    }
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>6} {:>12}",
        "program, sc", "classes", "1 job", "2 jobs", "ratio", "two at once"
    );
    let is_wanted = |name: &str| {
        let is_named = |name: &str| args.iter().any(|arg| arg == name);
        is_named(name) || !LARGE.iter().any(|(other, _)| is_named(other))
    };
    for (programs, claim) in [LARGE, MEDIUM, SMALL].into_iter().zip(CLAIMS) {
        let (mut met, mut all) = (0, 0);
        for (name, size) in programs.into_iter().filter(|(name, _)| is_wanted(name)) {
            let (object, request) = built(name, size);
            let Measured { classes, one, two, ratio, limit } =
                compare(name, size, &object, &request);
            let name = format!("{name}({size})");
            println!("{name:<20} {classes:>9} {one:>8.4}s {two:>8.4}s {ratio:>6.2} {limit:>12.2}");
            met += u32::from(ratio >= claim);
            all += 1;
        }
        println!("At least {claim} times as fast: {met} of {all}.\n");
    }
}

/// A program, compiled, and how to explore it.
fn built(name: &str, size: usize) -> (Object, Request) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/tables");
    let mut request = Request::new(&[&corpus.join(name).with_extension("c")]);
    request.model = Model::Sc;
    request.source.flags = vec![format!("-DN={size}")];
    let object = build(&request.source).expect("it can be compiled");
    (object, request)
}

/// The classes, and how long they take, without compiling and loading.
fn explored(object: &Object, request: &Request, workers: usize) -> (u64, f64) {
    let jobs = NonZero::new(workers).expect("at least one works");
    let parts = ParallelOptions { jobs, ..ParallelOptions::default() };
    let outcome = check_parallel(object, request, parts).expect("it can be loaded");
    assert_eq!(outcome.verdict, Verdict::Clean);
    (outcome.counts.classes, outcome.counts.seconds - outcome.counts.start_up)
}

/// Medians.
struct Measured {
    classes: u64,
    /// How long it takes one worker, and two.
    one: f64,
    two: f64,
    /// How many times as fast two are.
    ratio: f64,
    /// The same of two processes at the same time.
    limit: f64,
}

fn compare(name: &str, size: usize, object: &Object, request: &Request) -> Measured {
    let (mut classes, mut ones, mut twos, mut ratios, mut limits) =
        (0, vec![], vec![], vec![], vec![]);
    let start = Instant::now();
    while start.elapsed() < TIME {
        let (all, one) = explored(object, request, 1);
        let (again, two) = explored(object, request, 2);
        assert_eq!(all, again);
        classes = all;
        ones.push(one);
        twos.push(two);
        ratios.push(one / two);
        limits.push(2.0 * one / at_once(name, size));
    }
    let [one, two, ratio, limit] = [ones, twos, ratios, limits].map(median);
    Measured { classes, one, two, ratio, limit }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// How long two processes take at once, on average.
fn at_once(name: &str, size: usize) -> f64 {
    let start = || {
        let program = std::env::current_exe().expect("it is there");
        let mut command = Command::new(program);
        command.args([ALONE, name, &size.to_string()]).stdout(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let seconds = [start(), start()].map(|process| {
        let output = process.wait_with_output().expect("it ends").stdout;
        let seconds: f64 = String::from_utf8_lossy(&output).trim().parse().expect("a number");
        seconds
    });
    f64::midpoint(seconds[0], seconds[1])
}
