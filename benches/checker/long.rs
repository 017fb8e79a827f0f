//! Long realizable histories of two threads: seconds, and megabytes at the peak.
//!
//! Each is generated and checked, with closure, in a process of its own. The time is that of the
//! check. The memory is the peak of the whole process while generating and while checking; the
//! latter includes the history, and the limit is for both.

use std::process::Command;

use raddle_consistency::check::CheckOptions;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate};
use raddle_core::model::Model;

use crate::memory::{forget_peak, peak};
use crate::report::Report;
use crate::table::{Cell, Table, row, seconds};
use crate::timing::{Answer, time};

const EVENTS: usize = 100_000;
const MOST_SECONDS: f64 = 1.0;
const MOST_MEGABYTES: f64 = 200.0;
const FAR_SECONDS: f64 = 10.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The argument that makes this program measure one history.
pub(crate) const CHILD: &str = "--long-history";

/// A kind of long histories.
#[derive(Clone, Copy)]
struct History {
    model: Model,
    events: usize,
    locations: usize,
    rmw: f64,
    named: bool,
}

impl History {
    fn shape(&self) -> HistoryShape {
        HistoryShape {
            model: self.model,
            threads: 2,
            locations: self.locations,
            locks: 0,
            events_per_thread: self.events / 2,
            values: ValueChoice::Distinct,
            rmw: self.rmw,
            cas: 0.0,
            fences: 0.0,
            store_fences: 0.0,
            lock_events: 0.0,
            name_sources: f64::from(u8::from(self.named)),
            ..HistoryShape::default()
        }
    }

    fn arguments(&self) -> [String; 6] {
        let History { model, events, locations, rmw, named } = self;
        let [events, locations] = [events, locations].map(ToString::to_string);
        [CHILD.to_owned(), model.to_string(), events, locations, rmw.to_string(), named.to_string()]
    }

    fn parse(arguments: &[String]) -> Option<History> {
        let [model, events, locations, rmw, named] = arguments else { return None };
        Some(History {
            model: model.parse().ok()?,
            events: events.parse().ok()?,
            locations: locations.parse().ok()?,
            rmw: rmw.parse().ok()?,
            named: named.parse().ok()?,
        })
    }

    /// Lets a child measure: seconds, megabytes before the check, megabytes at the end.
    fn measure(&self) -> Option<[f64; 3]> {
        let program = std::env::current_exe().ok()?;
        let output = Command::new(program).args(self.arguments()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        numbers.try_into().ok()
    }

    fn name(&self) -> String {
        let History { model, locations, rmw, named, .. } = self;
        let named = if *named { "named" } else { "unnamed" };
        format!("{model}, {locations} locations, {:.0}% RMW, {named}", rmw * 100.0)
    }
}

/// Measures the history that the arguments describe and prints the numbers.
pub(crate) fn child(arguments: &[String]) {
    let history = History::parse(arguments).expect("the parent writes these arguments");
    let execution = generate(&history.shape(), 1);
    let before = peak() / MEGABYTE;
    forget_peak();
    let options = CheckOptions { shrink: false, ..CheckOptions::default() };
    let timed = time(&execution, history.model, &options);
    assert_eq!(timed.answer, Answer::Consistent);
    println!("{} {before} {}", timed.seconds, peak() / MEGABYTE);
}

/// Measures all variants at the size of the claim, then larger ones.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let mut table = Table::new(&["history", "seconds", "megabytes before", "megabytes", "claim"]);
    for history in variants(EVENTS) {
        let runs: Vec<[f64; 3]> = (0..3).filter_map(|_| history.measure()).collect();
        let best = runs.into_iter().min_by(|a, b| a[0].total_cmp(&b[0]));
        let [time, before, peak] = best.unwrap_or([f64::INFINITY; 3]);
        let holds = time <= MOST_SECONDS && before.max(peak) <= MOST_MEGABYTES;
        let claim = format!(
            "{EVENTS} events, {}: {time:.3} s, {:.0} MB (limits: {MOST_SECONDS} s, \
             {MOST_MEGABYTES} MB)",
            history.name(),
            before.max(peak)
        );
        let verdict = report.claim(holds, claim);
        table.row(cells(&history, [time, before, peak], verdict.into()));
    }
    let title = format!("Realizable histories of two threads, {EVENTS} events (best of 3)");
    report.table(&title, &table);
    how_far(report, if quick { &[300_000] } else { &[250_000, 500_000, 1_000_000, 2_000_000] });
}

/// Longer and longer histories until a check takes too long.
fn how_far(report: &Report, sizes: &[usize]) {
    let mut table = Table::new(&["history", "seconds", "megabytes before", "megabytes", "events"]);
    for model in [Model::Sc, Model::Tso] {
        for &events in sizes {
            let history = History { model, events, locations: 8, rmw: 0.0, named: true };
            let measured = history.measure().unwrap_or([f64::INFINITY; 3]);
            table.row(cells(&history, measured, events.into()));
            if 2.0 * measured[0] > FAR_SECONDS {
                break;
            }
        }
    }
    report.table(&format!("How far it goes in {FAR_SECONDS} s"), &table);
}

fn variants(events: usize) -> Vec<History> {
    let mut variants = vec![];
    for model in [Model::Sc, Model::Tso] {
        let plain = History { model, events, locations: 8, rmw: 0.0, named: true };
        variants.extend([
            plain,
            History { locations: 2, ..plain },
            History { locations: 100, ..plain },
            History { rmw: 0.1, ..plain },
            History { named: false, ..plain },
            History { named: false, locations: 2, rmw: 0.1, ..plain },
        ]);
    }
    variants
}

fn cells(history: &History, [time, before, peak]: [f64; 3], last: Cell) -> Vec<Cell> {
    let megabytes = |number: f64| Cell::number(format!("{number:.0} MB"), number);
    row![history.name(), seconds(time), megabytes(before), megabytes(peak), last]
}
