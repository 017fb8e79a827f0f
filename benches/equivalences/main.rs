//! Equivalences side by side: how many classes there are, and how long they take.
//!
//! `cargo bench -p raddle-benches --bench equivalences -- [--model NAME] [--only NAME] [--seconds S]`
//!
//! Prints a table for every model with store buffers, and draws scatter plots of each equivalence against
//! the first one into the folder `target`: classes and times, both axes logarithmic. An exploration that
//! takes too long is left out; its row has a dash.

mod plot;
mod programs;
#[path = "../explore/programs.rs"]
#[allow(dead_code, reason = "the other bench uses the rest")]
mod shared;

use std::time::{Duration, Instant};

use plot::{Plot, Point};
use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_explore::dpor::optimal_dpor;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor, rf_part_smc, rvf_smc};
use raddle_testkit::script::ScriptProgram;

/// Explores a program under a model.
type Explore = for<'a> fn(
    &'a mut (dyn Program + 'a),
    Model,
    &'a Limits,
    &'a mut (dyn Visitor + 'a),
) -> Summary;

/// The equivalences. The others are compared with the first one.
const EQUIVALENCES: [(&str, Explore); 3] =
    [("rf", rf_part_smc::explore), ("rvf", rvf_smc::explore), ("trace", by_trace)];

/// Optimal-DPOR.
fn by_trace<'a>(
    program: &'a mut (dyn Program + 'a),
    model: Model,
    limits: &'a Limits,
    visitor: &'a mut (dyn Visitor + 'a),
) -> Summary {
    optimal_dpor::explore(program, model, limits, visitor)
}

/// What came of an exploration that came to its end.
#[derive(Clone, Copy)]
struct Explored {
    classes: u64,
    seconds: f64,
}

struct Arguments {
    models: Vec<Model>,
    only: String,
    limit: Duration,
}

fn arguments() -> Arguments {
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut arguments = Arguments {
        models: Model::STORE_BUFFERS.to_vec(),
        only: String::new(),
        limit: Duration::from_secs(2),
    };
    while let Some(argument) = given.next() {
        let value = given.next().unwrap_or_else(|| panic!("{argument} has no value"));
        match argument.as_str() {
            "--model" => arguments.models = vec![value.parse().expect("a model")],
            "--only" => arguments.only = value,
            "--seconds" => {
                arguments.limit = Duration::from_secs_f64(value.parse().expect("seconds"));
            }
            _ => panic!("{argument}: expected --model, --only or --seconds"),
        }
    }
    arguments
}

fn main() {
    let arguments = arguments();
    let mut rows = vec![];
    for &model in &arguments.models {
        println!("Classes, and seconds, under {model}");
        header();
        for program in programs::all().into_iter().filter(|it| it.name.starts_with(&arguments.only))
        {
            let row =
                EQUIVALENCES.map(|(_, explore)| best(&program.script, model, explore, &arguments));
            print_row(&program.name, &row);
            rows.push(row);
        }
        println!();
    }
    for (at, (name, _)) in EQUIVALENCES.iter().enumerate().skip(1) {
        draw(name, at, "classes", &rows, |explored| explored.classes as f64);
        draw(name, at, "seconds", &rows, |explored| explored.seconds);
    }
}

/// Explores a few times: the fastest counts.
fn best(
    script: &raddle_testkit::script::Script,
    model: Model,
    explore: Explore,
    arguments: &Arguments,
) -> Option<Explored> {
    let start = Instant::now();
    let mut best = run(script, model, explore, arguments.limit)?;
    for _ in 0..20 {
        if start.elapsed() > Duration::from_millis(200) {
            break;
        }
        let again = run(script, model, explore, arguments.limit)?;
        best.seconds = best.seconds.min(again.seconds);
    }
    Some(best)
}

fn run(
    script: &raddle_testkit::script::Script,
    model: Model,
    explore: Explore,
    limit: Duration,
) -> Option<Explored> {
    let start = Instant::now();
    let limits = Limits { deadline: Some(start + limit), ..Limits::default() };
    let mut program = ScriptProgram::new(script);
    let mut nothing = |_: &dyn Leaf| Control::Continue;
    let summary = explore(&mut program, model, &limits, &mut nothing);
    let seconds = start.elapsed().as_secs_f64();
    let classes = summary.classes + summary.blocked;
    (summary.extent == Extent::All).then_some(Explored { classes, seconds })
}

fn header() {
    print!("{:<24}", "program");
    EQUIVALENCES.iter().for_each(|(name, _)| print!(" {name:>10} {:>10}", "seconds"));
    println!(" {:>8} {:>8}", "classes", "time");
}

fn print_row(name: &str, row: &[Option<Explored>]) {
    print!("{name:<24}");
    for explored in row {
        match explored {
            Some(Explored { classes, seconds }) => print!(" {classes:>10} {seconds:>10.6}"),
            None => print!(" {:>10} {:>10}", "-", "-"),
        }
    }
    match (row[0], row[1]) {
        (Some(first), Some(second)) => println!(
            " {:>8.3} {:>8.3}",
            second.classes as f64 / first.classes as f64,
            second.seconds / first.seconds
        ),
        _ => println!(" {:>8} {:>8}", "-", "-"),
    }
}

/// Draws what is measured of one equivalence against the first one.
fn draw<const N: usize>(
    name: &str,
    at: usize,
    what: &'static str,
    rows: &[[Option<Explored>; N]],
    measure: impl Fn(Explored) -> f64,
) {
    let point = |row: &[Option<Explored>; N]| {
        Some(Point {
            x: measure(row[0]?),
            y: measure(row[at]?),
            fewer: row[at]?.classes < row[0]?.classes,
        })
    };
    let points: Vec<Point> = rows.iter().filter_map(point).collect();
    let plot = Plot { title: format!("{what}: {} and {name}", EQUIVALENCES[0].0), points };
    let folder = std::env::var("CARGO_TARGET_DIR")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../target").to_owned());
    let file = format!("{folder}/equivalences-{name}-{what}.svg");
    match std::fs::write(&file, plot.svg()) {
        Ok(()) => println!("{file}"),
        Err(error) => eprintln!("{file}: {error}"),
    }
}
