//! Figure 14 of Bui et al., OOPSLA 2021 (appendix D.2): what the closure costs and what it saves.
//!
//! Our algorithms with and without it take turns on the instances of the comparison, and on larger
//! ones, and on the family of [`hard`](crate::hard), where the search is as long as it can be. Beyond
//! a million states a search gives up; such an instance counts with the time until then, so that the
//! ratio is too small if anything. That a search alone is so often faster is why the checker tries a
//! short one first; where the search is long, the closure decides.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure};
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::hard::hard;
use crate::instances::Kind;
use crate::report::Report;
use crate::table::{Cell, Table, or_dash, ratio, row, seconds, times};
use crate::timing::{Timed, geometric_mean, median, race};

const BUDGET: u64 = 1_000_000;

/// Runs the comparison.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let sizes: &[usize] = if quick { &[48, 240] } else { &[48, 240, 1200, 4800] };
    let mut table = Table::new(&[
        "model",
        "realizable",
        "threads",
        "events",
        "runs",
        "with",
        "without",
        "gave up without",
        "without/with",
    ]);
    for model in [Model::Tso, Model::Pso] {
        for realizable in [true, false] {
            for threads in [2, 3, 4] {
                for &events in sizes {
                    let kind = Kind { model, threads, fenced: false, realizable };
                    let pairs = measure(kind, events, if quick { 3 } else { 6 });
                    table.row(row(kind, events, &pairs));
                }
            }
        }
    }
    report.table("Figure 14: ours without closure over ours with closure", &table);
    run_hard(report);
}

/// The hard family, which is unrealizable.
fn run_hard(report: &mut Report) {
    let mut table =
        Table::new(&["model", "threads", "events", "with", "without", "without/with", "claim"]);
    for model in [Model::Tso, Model::Pso] {
        for (threads, writes) in [(2, 300), (3, 38), (4, 15)] {
            let execution = hard(model, threads, writes);
            let pair = compare(&execution, model);
            let quotient = pair[1].seconds / pair[0].seconds;
            let events = execution.event_count();
            let claim = format!(
                "closure pays on the hard family, {model}, k = {threads}, n = {events}: \
                 without/with is {}",
                times(quotient)
            );
            let verdict = report.claim(quotient > 1.0, claim);
            table.row(row![
                model.name(),
                threads,
                events,
                seconds(pair[0].seconds),
                seconds(pair[1].seconds),
                ratio(quotient),
                verdict,
            ]);
        }
    }
    report.table("Hard family: ours without closure over ours with closure", &table);
}

fn measure(kind: Kind, events: usize, count: usize) -> Vec<[Timed; 2]> {
    let instances = kind.instances(events, count);
    instances.iter().map(|execution| compare(execution, kind.model)).collect()
}

/// With and without.
fn compare(execution: &Execution, model: Model) -> [Timed; 2] {
    let [with, without] = [UseClosure::First, UseClosure::Never].map(|closure| CheckOptions {
        closure,
        budget: BUDGET,
        algorithm: SearchAlgorithm::Best,
        shrink: false,
    });
    race(execution, model, [&with, &without])
}

fn quotients(pairs: &[[Timed; 2]]) -> impl Iterator<Item = f64> {
    pairs.iter().map(|[with, without]| without.seconds / with.seconds)
}

fn row(kind: Kind, events: usize, pairs: &[[Timed; 2]]) -> Vec<Cell> {
    let each = |which: usize| pairs.iter().map(|pair| pair[which].seconds).collect::<Vec<_>>();
    let gave_up = pairs.iter().filter(|[_, without]| without.finished().is_none()).count();
    row![
        kind.model.name(),
        if kind.realizable { "yes" } else { "no" },
        kind.threads,
        events,
        pairs.len(),
        or_dash(median(&each(0)), seconds),
        or_dash(median(&each(1)), seconds),
        gave_up,
        or_dash(geometric_mean(&quotients(pairs).collect::<Vec<_>>()), ratio),
    ]
}
