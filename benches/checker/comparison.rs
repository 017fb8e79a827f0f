//! Figures 8 and 9 of Bui et al., OOPSLA 2021: our algorithms against the naive ones, with and without
//! the closure.
//!
//! All four checks of an instance take turns. A check gives up after a million states, ours too; a
//! ratio is the geometric mean over the instances that both finish. Sizes grow until the naive
//! algorithm gives up on half of the instances.
//!
//! On random instances our search is short. The other extreme is the family of
//! [`hard`](crate::hard): there ours is as long as it can be, while naive can do little wrong, since
//! a store has to wait until the one before it has been read. It is shown, but nothing is claimed.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure};
use raddle_core::model::Model;

use crate::hard::hard;
use crate::instances::Kind;
use crate::report::Report;
use crate::table::{Cell, Table, or_dash, ratio, row, seconds, times};
use crate::timing::{Answer, Timed, geometric_mean, median, race};

const BUDGET: u64 = 1_000_000;
const LEAST_RATIO: f64 = 10.0;

/// The checks of one instance.
struct Checks {
    /// Ours and naive, with the closure.
    closed: [Timed; 2],
    /// Ours and naive, without it.
    open: [Timed; 2],
}

/// The instances of one kind and size.
struct Group {
    kind: Kind,
    events: usize,
    checks: Vec<Checks>,
}

impl Group {
    fn measure(kind: Kind, events: usize, count: usize) -> Group {
        let options =
            |closure, algorithm| CheckOptions { closure, algorithm, budget: BUDGET, shrink: false };
        let [a, b] = [UseClosure::First, UseClosure::Never].map(|closure| {
            [options(closure, SearchAlgorithm::Best), options(closure, SearchAlgorithm::Naive)]
        });
        let check = |execution: &_| {
            let [a, b, c, d] = race(execution, kind.model, [&a[0], &a[1], &b[0], &b[1]]);
            let wrong = if kind.realizable { Answer::Inconsistent } else { Answer::Consistent };
            assert!([a, b, c, d].iter().all(|timed| timed.answer != wrong), "the answers differ");
            Checks { closed: [a, b], open: [c, d] }
        };
        let checks = kind.instances(events, count).iter().map(check).collect();
        Group { kind, events, checks }
    }

    fn count(&self, finished: impl Fn(&Checks) -> bool) -> usize {
        self.checks.iter().filter(|checks| finished(checks)).count()
    }

    fn label(&self) -> Vec<Cell> {
        let Kind { model, threads, fenced, realizable } = self.kind;
        row![
            model.name(),
            if realizable { "yes" } else { "no" },
            if fenced { "yes" } else { "no" },
            threads,
            self.events,
        ]
    }
}

/// The ratio of two times, if both checks finished.
fn quotient(slow: &Timed, fast: &Timed) -> Option<f64> {
    Some(slow.finished()? / fast.finished()?)
}

/// Runs the comparison.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let cells = measure(quick);
    for (figure, closure) in [("Figure 8: with closure", true), ("Figure 9: no closure", false)] {
        let title = format!("{figure}: ours against naive, {BUDGET} states at most");
        print_figure(
            report,
            &title,
            &cells,
            |checks| if closure { &checks.closed } else { &checks.open },
        );
    }
    claim_speedup(&cells, report);
    print_least_favourable(report, quick);
}

fn measure(quick: bool) -> Vec<Group> {
    let sizes: &[usize] = if quick { &[24, 48] } else { &[24, 36, 48, 72, 108] };
    let count = if quick { 3 } else { 6 };
    let mut cells = vec![];
    for model in [Model::Tso, Model::Pso] {
        for realizable in [true, false] {
            for fenced in [false, true] {
                for threads in [2, 3, 4] {
                    let kind = Kind { model, threads, fenced, realizable };
                    for &events in sizes {
                        let cell = Group::measure(kind, events, count);
                        let naive = cell.count(|checks| checks.open[1].finished().is_some());
                        cells.push(cell);
                        if 2 * naive < count {
                            break;
                        }
                    }
                }
            }
        }
    }
    cells
}

fn print_figure(
    report: &Report,
    title: &str,
    cells: &[Group],
    of: impl Fn(&Checks) -> &[Timed; 2],
) {
    let mut table = Table::new(&[
        "model",
        "realizable",
        "fenced",
        "threads",
        "events",
        "runs",
        "ours",
        "naive",
        "ours done",
        "naive done",
        "naive/ours",
    ]);
    let ratios = |cell: &Group| -> Vec<f64> {
        cell.checks.iter().filter_map(|checks| quotient(&of(checks)[1], &of(checks)[0])).collect()
    };
    for cell in cells {
        let each = |which: usize| -> Vec<f64> {
            cell.checks.iter().filter_map(|checks| of(checks)[which].finished()).collect()
        };
        let (ours, naive) = (each(0), each(1));
        let mut row = cell.label();
        row.extend(row![
            cell.checks.len(),
            or_dash(median(&ours), seconds),
            or_dash(median(&naive), seconds),
            ours.len(),
            naive.len(),
            or_dash(geometric_mean(&ratios(cell)), ratio),
        ]);
        table.row(row);
    }
    report.table(title, &table);
    for model in [Model::Tso, Model::Pso] {
        for realizable in [true, false] {
            let of_kind =
                |cell: &&Group| cell.kind.model == model && cell.kind.realizable == realizable;
            let all: Vec<f64> = cells.iter().filter(of_kind).flat_map(ratios).collect();
            let name = if realizable { "realizable" } else { "unrealizable" };
            let mean = geometric_mean(&all).map_or_else(|| "-".to_owned(), times);
            let count = all.len();
            report.say(&format!("  {model} {name}: naive/ours {mean} over {count} instances"));
        }
    }
    report.say("");
}

/// Without closure, on unrealizable instances, at the largest size all of which naive finishes.
fn claim_speedup(cells: &[Group], report: &mut Report) {
    let title = "Unrealizable, no closure, the largest size that naive finishes on all instances";
    let mut table = Table::new(&["model", "threads", "fenced", "events", "naive/ours", "claim"]);
    for model in [Model::Tso, Model::Pso] {
        for threads in [2, 3, 4] {
            for fenced in [false, true] {
                let kind = Kind { model, threads, fenced, realizable: false };
                let done = |cell: &&Group| {
                    let finished = |c: &Checks| c.open.iter().all(|t| t.finished().is_some());
                    cell.kind == kind
                        && !cell.checks.is_empty()
                        && cell.count(finished) == cell.checks.len()
                };
                let Some(cell) = cells.iter().filter(done).max_by_key(|cell| cell.events) else {
                    continue;
                };
                let ratios = cell.checks.iter().filter_map(|c| quotient(&c.open[1], &c.open[0]));
                let mean = geometric_mean(&ratios.collect::<Vec<_>>()).unwrap_or(0.0);
                let name = if fenced { "fenced" } else { "plain" };
                let claim = format!(
                    "unrealizable, no closure, {model}, k = {threads}, {name}: naive/ours is {} \
                     (claimed: at least {LEAST_RATIO}x) at n = {}",
                    times(mean),
                    cell.events
                );
                let verdict = report.claim(mean >= LEAST_RATIO, claim);
                table.row(row![
                    model.name(),
                    threads,
                    if fenced { "yes" } else { "no" },
                    cell.events,
                    ratio(mean),
                    verdict,
                ]);
            }
        }
    }
    report.table(title, &table);
}

/// The hard family, without closure, at the largest size that naive finishes.
fn print_least_favourable(report: &Report, quick: bool) {
    let title = "Least favourable: hard family, no closure, the largest size that naive finishes";
    let mut table = Table::new(&["model", "threads", "events", "ours", "naive", "naive/ours"]);
    let [best, naive] =
        [SearchAlgorithm::Best, SearchAlgorithm::Naive].map(|algorithm| CheckOptions {
            closure: UseClosure::Never,
            algorithm,
            budget: if quick { BUDGET / 10 } else { BUDGET },
            shrink: false,
        });
    for model in [Model::Tso, Model::Pso] {
        for threads in [2, 3, 4] {
            let mut last = None;
            for writes in 2.. {
                let execution = hard(model, threads, writes);
                let [ours, naive] = race(&execution, model, [&best, &naive]);
                match quotient(&naive, &ours) {
                    Some(quotient) => last = Some((execution.event_count(), ours, naive, quotient)),
                    None => break,
                }
            }
            let Some((events, ours, naive, quotient)) = last else { continue };
            table.row(row![
                model.name(),
                threads,
                events,
                seconds(ours.seconds),
                seconds(naive.seconds),
                ratio(quotient),
            ]);
        }
    }
    report.table(title, &table);
}
