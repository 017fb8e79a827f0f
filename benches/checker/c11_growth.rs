//! How the time of the C11 checkers grows with the number of events and of threads.
//!
//! Executions that the model allows ([`traffic`](crate::traffic)), so that all the work is done. The
//! bound is O(nk), for Relaxed O(n). Beyond a million events the tables fit into no cache, and doubling
//! the events should double the time. Every measurement is made in a process of its own, so that none
//! finds memory that another has touched before; the sizes that are compared take turns. A machine that
//! others use has faster and slower minutes, and a short run finds a fast moment more easily than a long
//! one. So growth is the median of the quotients of runs that followed each other, not the quotient of
//! the fastest; where it is too large, there are more rounds.
//!
//! Last, executions whose very last events break an axiom: finding and explaining that should cost
//! little more than the check of an execution that is allowed.

use raddle_consistency::check::CheckOptions;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::c11_memory;
use crate::report::Report;
use crate::table::{Table, or_dash, ratio, row, seconds, times};
use crate::timing::{Answer, time};
use crate::traffic::Traffic;

const MODELS: [Model; 4] = [Model::Wra, Model::Rc20, Model::Relaxed, Model::Sra];
const THREADS: [usize; 3] = [4, 8, 32];
/// How often the sizes are measured, at least and at most.
const ROUNDS: [usize; 2] = [3, 9];
/// How often an execution that breaks an axiom is measured.
const REPETITIONS: usize = 2;
/// From here on, doubling the events is compared.
const LARGE: usize = 1_000_000;
const MOST_GROWTH: f64 = 2.3;
/// Of Relaxed, from 4 to 32 threads.
const MOST_BY_THREADS: f64 = 1.5;
const MOST_EXPLAINING: f64 = 3.0;

/// Measures all models, sizes and numbers of threads.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let sizes: &[&[usize]] = match quick {
        true => &[&[10_000, 100_000], &[200_000, 400_000]],
        false => &[&[10_000, 100_000], &[1_000_000, 2_000_000, 4_000_000], &[10_000_000]],
    };
    for model in MODELS {
        let by_threads = THREADS.map(|threads| {
            let measured = sizes.iter().flat_map(|sizes| measure(model, threads, sizes));
            measured.collect::<Vec<Point>>()
        });
        print_growth(model, &by_threads, report);
        if model == Model::Relaxed {
            claim_threads(&by_threads, report);
        }
    }
    run_broken(if quick { 200_000 } else { LARGE }, report);
}

/// A number of events and what they took.
struct Point {
    events: usize,
    /// The fastest run.
    seconds: f64,
    /// By round, the quotient of this run and of the one before, of half as many events.
    growth: Vec<f64>,
}

impl Point {
    fn new(events: usize) -> Point {
        Point { events, seconds: f64::INFINITY, growth: vec![] }
    }

    /// The median growth, if half as many events were measured too.
    fn growth(&self) -> Option<f64> {
        let mut sorted = self.growth.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Whether the claim is about this many events.
    fn is_claimed(&self) -> bool {
        self.events > LARGE && !self.growth.is_empty()
    }
}

/// The measurements of one model.
fn print_growth(model: Model, by_threads: &[Vec<Point>], report: &mut Report) {
    let mut table =
        Table::new(&["model", "threads", "events", "seconds", "seconds per event", "doubling"]);
    for (&threads, points) in THREADS.iter().zip(by_threads) {
        for point in points {
            let (events, time, growth) = (point.events, point.seconds, point.growth());
            if let Some(growth) = growth.filter(|_| point.is_claimed()) {
                let (half, growth_text) = (events / 2, times(growth));
                let claim = format!(
                    "{model}, {threads} threads, from {half} to {events} events: {growth_text} the \
                     time (at most {MOST_GROWTH}x)"
                );
                report.claim(growth <= MOST_GROWTH, claim);
            }
            let each = seconds(time / events as f64);
            let growth = or_dash(growth, ratio);
            table.row(row![model.name(), threads, events, seconds(time), each, growth]);
        }
    }
    let without = if model == Model::Sra { ", without updates" } else { "" };
    report.table(&format!("C11: executions that {model} allows{without}"), &table);
}

/// The time of Relaxed does not depend on the number of threads.
fn claim_threads(by_threads: &[Vec<Point>], report: &mut Report) {
    let [few, .., many] = by_threads else { return };
    for (few, many) in few.iter().zip(many).filter(|(few, _)| few.events >= LARGE) {
        let [from, .., to] = THREADS;
        let (events, growth) = (few.events, many.seconds / few.seconds);
        let claim = format!(
            "relaxed, {events} events, from {from} to {to} threads: {} the time (at most \
             {MOST_BY_THREADS}x)",
            times(growth)
        );
        report.claim(growth <= MOST_BY_THREADS, claim);
    }
}

/// Measures the sizes in turns.
fn measure(model: Model, threads: usize, sizes: &[usize]) -> Vec<Point> {
    let mut points: Vec<Point> = sizes.iter().map(|&events| Point::new(events)).collect();
    let [least, most] = ROUNDS;
    for round in 0..most {
        // What is compared with nothing is measured once.
        if round >= if sizes.len() == 1 { 1 } else { least } && points.iter().all(grows_little) {
            break;
        }
        let mut before = (0, f64::INFINITY);
        for point in &mut points {
            let measured = c11_memory::measure(model, threads, point.events);
            let [time, _] = measured.expect("the execution is allowed");
            point.seconds = point.seconds.min(time);
            if point.events == 2 * before.0 {
                point.growth.push(time / before.1);
            }
            before = (point.events, time);
        }
    }
    points
}

/// Whether doubling the events takes no longer than claimed.
fn grows_little(point: &Point) -> bool {
    !point.is_claimed() || point.growth().is_some_and(|growth| growth <= MOST_GROWTH)
}

/// The executions take turns; the fastest time of each.
fn fastest(executions: &[Execution], model: Model, expected: &[Answer]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; executions.len()];
    for _ in 0..REPETITIONS {
        for (at, execution) in executions.iter().enumerate() {
            let timed = time(execution, model, &CheckOptions::default());
            assert_eq!(timed.answer, expected[at], "{model} answers otherwise");
            best[at] = best[at].min(timed.seconds);
        }
    }
    best
}

/// An execution that the model allows against one whose last events break an axiom.
fn run_broken(events: usize, report: &mut Report) {
    let mut table =
        Table::new(&["model", "threads", "events", "allowed", "forbidden", "ratio", "claim"]);
    for model in MODELS {
        let traffic = Traffic::new(model, 8, events);
        let executions = [traffic, Traffic { broken: true, ..traffic }].map(|t| t.generate(1));
        let answers = [Answer::Consistent, Answer::Inconsistent];
        let best = fastest(&executions, model, &answers);
        let quotient = best[1] / best[0];
        let claim = format!(
            "{model}, 8 threads, {events} events: explaining a violation takes {} the time of a \
             check (at most {MOST_EXPLAINING}x)",
            times(quotient)
        );
        let verdict = report.claim(quotient <= MOST_EXPLAINING, claim);
        table.row(row![
            model.name(),
            8,
            events,
            seconds(best[0]),
            seconds(best[1]),
            ratio(quotient),
            verdict
        ]);
    }
    report.table("C11: the last events break an axiom", &table);
}
