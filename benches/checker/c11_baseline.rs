//! RC20 against the cubic baseline of [`writes_before`](crate::writes_before).
//!
//! Sizes grow until the baseline takes longer than ten seconds. All accesses are acquire or release,
//! and a tenth are updates. First, both must give the same answers, on small executions of which about
//! half are allowed; and then on everything that is timed.

use std::time::Instant;

use raddle_consistency::check::CheckOptions;
use raddle_core::model::Model;

use crate::report::Report;
use crate::table::{Table, ratio, row, seconds, times};
use crate::timing::{Answer, race, time};
use crate::traffic::Traffic;
use crate::writes_before::allows;

const THREADS: usize = 8;
const MOST_SECONDS: f64 = 10.0;
const LEAST_RATIO: f64 = 100.0;
const SMALL_CASES: u64 = 2000;

/// Measures until the baseline takes too long.
pub(crate) fn run(quick: bool, report: &mut Report) {
    compare_answers();
    let limit = if quick { MOST_SECONDS / 10.0 } else { MOST_SECONDS };
    let mut table =
        Table::new(&["model", "threads", "events", "seconds", "baseline seconds", "ratio"]);
    let mut last = None;
    for step in 0.. {
        // Each half as large again.
        let events = (1000.0 * 1.5_f64.powi(step)) as usize;
        let execution = traffic(THREADS, events).generate(1);
        let start = Instant::now();
        let allowed = allows(&execution);
        let baseline = start.elapsed().as_secs_f64();
        let [ours] = race(&execution, Model::Rc20, [&CheckOptions::default()]);
        assert!(allowed && ours.answer == Answer::Consistent, "the answers differ");
        let quotient = baseline / ours.seconds;
        let (model, ours) = (Model::Rc20.name(), seconds(ours.seconds));
        table.row(row![model, THREADS, events, ours, seconds(baseline), ratio(quotient)]);
        if baseline > limit {
            break;
        }
        last = Some((events, quotient));
    }
    report.table("C11: RC20 against writes-before as a matrix", &table);
    let (events, quotient) = last.unwrap_or((0, 0.0));
    let claim = format!(
        "rc20 is {} as fast as the baseline at {events} events, the most that it does in {limit} s \
         (claimed: at least {LEAST_RATIO}x)",
        times(quotient)
    );
    report.claim(quotient >= LEAST_RATIO, claim);
}

fn traffic(threads: usize, events: usize) -> Traffic {
    let traffic = Traffic::new(Model::Rc20, threads, events);
    Traffic { updates: 0.1, fences: 0.0, acq_rel: true, ..traffic }
}

/// Baseline and checker agree on small executions, allowed and not.
fn compare_answers() {
    let mut allowed = 0;
    for seed in 0..SMALL_CASES {
        let small = Traffic { locations: 2, stray: 0.3, ..traffic(3, 20) };
        let execution = small.generate(seed);
        let expected = allows(&execution);
        allowed += u64::from(expected);
        let answer = time(&execution, Model::Rc20, &CheckOptions::default()).answer;
        assert_eq!(answer == Answer::Consistent, expected, "the answers differ, seed {seed}");
    }
    assert!((SMALL_CASES / 10..SMALL_CASES * 9 / 10).contains(&allowed), "{allowed} allowed");
}
