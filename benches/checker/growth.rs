//! How the time grows with the number of events, where the search is as large as it can be.
//!
//! The measured exponent is the slope of log time over log n on the family of [`hard`](crate::hard),
//! without closure. The bound is k + 1 for all three: Theorem 1 of Agarwal et al., CAV 2021, with each
//! location written by one thread, and Theorems 3.1 and 3.2 of Bui et al., OOPSLA 2021, for TSO and
//! for PSO without fences. The number of states is of order n^k, and instructions per state are
//! constant here (callgrind); their time depends on caches and on who else uses the machine.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure};
use raddle_core::model::Model;

use crate::hard::hard;
use crate::report::Report;
use crate::table::{Cell, Table, row, seconds};
use crate::timing::{Answer, exponent, time};

const ROUNDS: usize = 5;

/// Measures all models and numbers of threads.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let mut table =
        Table::new(&["model", "threads", "events", "seconds", "exponent", "bound", "claim"]);
    for model in Model::STORE_BUFFERS {
        for threads in [2, 3, 4] {
            let points = measure(model, threads, quick);
            let measured = exponent(&points);
            let bound = threads + 1;
            let claim =
                format!("growth, {model}, k = {threads}: exponent {measured:.2} (bound: {bound})");
            let verdict = report.claim(measured <= bound as f64, claim);
            for (i, &(events, time)) in points.iter().enumerate() {
                let mut row = row![model.name(), threads, events as usize, seconds(time)];
                if i + 1 == points.len() {
                    let exponent = Cell::number(format!("{measured:.2}"), measured);
                    row.extend(row![exponent, bound, verdict]);
                }
                table.row(row);
            }
        }
    }
    report.table("Growth on the hard family, no closure", &table);
}

/// Numbers of events with seconds. The sizes take turns, so that a busy spell meets them all.
fn measure(model: Model, threads: usize, quick: bool) -> Vec<(f64, f64)> {
    let sizes: &[usize] = match threads {
        2 => &[150, 210, 300, 420, 600],
        3 => &[24, 30, 38, 48, 60],
        _ => &[10, 12, 15, 18, 22],
    };
    let options = CheckOptions {
        closure: UseClosure::Never,
        budget: u64::MAX,
        algorithm: SearchAlgorithm::Best,
        shrink: false,
    };
    let executions: Vec<_> = sizes.iter().map(|&writes| hard(model, threads, writes)).collect();
    let mut best = vec![f64::INFINITY; sizes.len()];
    for _ in 0..if quick { 2 } else { ROUNDS } {
        for (execution, best) in executions.iter().zip(&mut best) {
            let timed = time(execution, model, &options);
            assert_eq!(timed.answer, Answer::Inconsistent);
            *best = best.min(timed.seconds);
        }
    }
    let events = executions.iter().map(|execution| execution.event_count() as f64);
    events.zip(best).collect()
}
