//! Measurements of the consistency checkers:
//! `cargo bench -p raddle-benches -- [--quick] [--json] [NAME...]`.
//!
//! Names of experiments: `comparison`, `closure`, `growth`, `long` for SC, TSO and PSO, `c11-growth`,
//! `c11-memory`, `c11-baseline` for the C11 models; without any, all of them. Each prints its tables,
//! and the end is a summary of what is claimed and whether it holds. With `--json`, every row of a
//! table and every claim is a JSON object on a line of its own; times are in seconds.

mod c11_baseline;
mod c11_growth;
mod c11_memory;
mod closure;
mod comparison;
mod growth;
mod hard;
mod instances;
mod long;
mod memory;
mod report;
mod table;
mod timing;
mod traffic;
mod writes_before;

use report::Report;

/// Runs an experiment, perhaps a short version of it.
type Experiment = fn(quick: bool, report: &mut Report);

const EXPERIMENTS: [(&str, Experiment); 7] = [
    ("comparison", comparison::run),
    ("closure", closure::run),
    ("growth", growth::run),
    ("long", long::run),
    ("c11-growth", c11_growth::run),
    ("c11-memory", c11_memory::run),
    ("c11-baseline", c11_baseline::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    match arguments.split_first() {
        Some((first, rest)) if first == long::CHILD => return long::child(rest),
        Some((first, rest)) if first == c11_memory::CHILD => return c11_memory::child(rest),
        _ => {}
    }
    if !has("--bench") || has("--test") {
        return println!("Not run by `cargo bench`: nothing to do.");
    }
    let is_chosen = |name: &str| has(name) || !EXPERIMENTS.iter().any(|(name, _)| has(name));
    let mut report = Report::new(has("--json"));
    for (name, experiment) in EXPERIMENTS {
        if is_chosen(name) {
            report.start(name);
            experiment(has("--quick"), &mut report);
        }
    }
    report.finish();
}
