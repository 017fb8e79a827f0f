//! How the time of the C11 checkers grows with the number of events and of threads.
//!
//! Executions that the model allows ([`traffic`](crate::traffic)), so that all the work is done. The
//! bound is O(nk), for Relaxed O(n). Beyond a million events the tables fit into no cache, and doubling
//! the events should double the time. Every measurement is made in a process of its own, so that none
//! finds memory that another has touched before; the sizes that are compared take turns, and of several
//! repetitions the fastest counts. Where a comparison fails, there are more repetitions: a busy machine
//! makes a time longer, never shorter.
//!
//! Last, executions whose very last events break an axiom: finding and explaining that should cost
//! little more than the check of an execution that is allowed.

use raddle_core::consistency::Options;
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
const ROUNDS: [usize; 2] = [2, 5];
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

/// A number of events and the seconds they took.
type Point = (usize, f64);

/// The measurements of one model.
fn print_growth(model: Model, by_threads: &[Vec<Point>], report: &mut Report) {
    let mut table =
        Table::new(&["model", "threads", "events", "seconds", "seconds per event", "doubling"]);
    for (&threads, points) in THREADS.iter().zip(by_threads) {
        for &(events, time) in points {
            let half = points.iter().find(|point| 2 * point.0 == events);
            let growth = half.map(|half| time / half.1);
            if let Some(growth) = growth.filter(|_| events > LARGE) {
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
    for (&(events, few), &(_, many)) in few.iter().zip(many).filter(|point| point.0.0 >= LARGE) {
        let [from, .., to] = THREADS;
        let growth = many / few;
        let claim = format!(
            "relaxed, {events} events, from {from} to {to} threads: {} the time (at most \
             {MOST_BY_THREADS}x)",
            times(growth)
        );
        report.claim(growth <= MOST_BY_THREADS, claim);
    }
}

/// The fastest time of each size.
fn measure(model: Model, threads: usize, sizes: &[usize]) -> Vec<Point> {
    let mut best: Vec<Point> = sizes.iter().map(|&events| (events, f64::INFINITY)).collect();
    let [least, most] = ROUNDS;
    for round in 0..most {
        let settled = round >= least && best.windows(2).all(grows_little);
        // What is compared with nothing is measured once.
        if settled || (round > 0 && sizes.len() == 1) {
            break;
        }
        for (events, seconds) in &mut best {
            let measured = c11_memory::measure(model, threads, *events);
            let [time, _] = measured.expect("the execution is allowed");
            *seconds = seconds.min(time);
        }
    }
    best
}

/// Whether doubling the events takes no longer than claimed.
fn grows_little(points: &[Point]) -> bool {
    let &[(half, short), (events, long)] = points else { return true };
    events != 2 * half || half < LARGE || long <= MOST_GROWTH * short
}

/// The executions take turns; the fastest time of each.
fn fastest(executions: &[Execution], model: Model, expected: &[Answer]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; executions.len()];
    for _ in 0..ROUNDS[0] {
        for (at, execution) in executions.iter().enumerate() {
            let timed = time(execution, model, &Options::default());
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
