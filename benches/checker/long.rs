//! Long realizable histories of two threads: seconds, and megabytes at the peak.
//!
//! Each is generated and checked, with closure, in a process of its own. The time is that of the
//! check. The memory is the peak of the whole process while generating and while checking; the
//! latter includes the history, and the limit is for both.

use std::process::Command;

use raddle_core::consistency::Options;
use raddle_core::model::Model;
use raddle_core::reference::generate::{Shape, Values, generate};

use crate::claims::Claims;
use crate::table::Table;
use crate::timing::{Answer, time};

const EVENTS: usize = 100_000;
const MOST_SECONDS: f64 = 1.0;
const MOST_MEGABYTES: f64 = 200.0;
const FAR_SECONDS: f64 = 10.0;

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
    fn shape(&self) -> Shape {
        Shape {
            model: self.model,
            threads: 2,
            locations: self.locations,
            locks: 0,
            events_per_thread: self.events / 2,
            values: Values::Distinct,
            rmw: self.rmw,
            cas: 0.0,
            fences: 0.0,
            store_fences: 0.0,
            lock_events: 0.0,
            name_sources: f64::from(u8::from(self.named)),
            ..Shape::default()
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
    let before = peak_megabytes();
    forget_peak();
    let options = Options { shrink: false, ..Options::default() };
    let timed = time(&execution, history.model, &options);
    assert_eq!(timed.answer, Answer::Consistent);
    println!("{} {before} {}", timed.seconds, peak_megabytes());
}

/// Lets the peak start again at what is resident now, where the system can do that.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The peak of resident memory so far.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// Measures all variants at the size of the claim, then larger ones.
pub(crate) fn run(quick: bool, claims: &mut Claims) {
    println!("Realizable histories of two threads, {EVENTS} events (best of 3)");
    let mut table = Table::new(&["history", "time", "generating", "checking", ""]);
    for history in variants(EVENTS) {
        let runs: Vec<[f64; 3]> = (0..3).filter_map(|_| history.measure()).collect();
        let best = runs.into_iter().min_by(|a, b| a[0].total_cmp(&b[0]));
        let [seconds, before, peak] = best.unwrap_or([f64::INFINITY; 3]);
        let holds = seconds <= MOST_SECONDS && before.max(peak) <= MOST_MEGABYTES;
        let claim = format!(
            "{EVENTS} events, {}: {seconds:.3} s, {:.0} MB (limits: {MOST_SECONDS} s, \
             {MOST_MEGABYTES} MB)",
            history.name(),
            before.max(peak)
        );
        let verdict = claims.add(holds, claim);
        table.row(cells(&history, seconds, before, peak, verdict));
    }
    table.print();
    how_far(if quick { &[300_000] } else { &[250_000, 500_000, 1_000_000, 2_000_000] });
}

/// Longer and longer histories until a check takes too long.
fn how_far(sizes: &[usize]) {
    println!("How far it goes in {FAR_SECONDS} s");
    let mut table = Table::new(&["history", "time", "generating", "checking", "events"]);
    for model in [Model::Sc, Model::Tso] {
        for &events in sizes {
            let history = History { model, events, locations: 8, rmw: 0.0, named: true };
            let [seconds, before, peak] = history.measure().unwrap_or([f64::INFINITY; 3]);
            table.row(cells(&history, seconds, before, peak, &events.to_string()));
            if 2.0 * seconds > FAR_SECONDS {
                break;
            }
        }
    }
    table.print();
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

fn cells(history: &History, seconds: f64, before: f64, peak: f64, last: &str) -> Vec<String> {
    vec![
        history.name(),
        format!("{seconds:.3} s"),
        format!("{before:.0} MB"),
        format!("{peak:.0} MB"),
        last.to_owned(),
    ]
}
