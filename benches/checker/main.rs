//! Measurements of the consistency checkers: `cargo bench -p raddle-benches -- [--quick] [NAME...]`.
//!
//! Names of experiments: `comparison`, `closure`, `growth`, `long`; without any, all of them. Each prints its
//! tables, and the end is a summary of what is claimed and whether it holds.

mod claims;
mod closure;
mod comparison;
mod growth;
mod hard;
mod instances;
mod long;
mod table;
mod timing;

use claims::Claims;

/// Runs an experiment, perhaps a short version of it.
type Experiment = fn(quick: bool, claims: &mut Claims);

const EXPERIMENTS: [(&str, Experiment); 4] = [
    ("comparison", comparison::run),
    ("closure", closure::run),
    ("growth", growth::run),
    ("long", long::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if arguments.first().is_some_and(|first| first == long::CHILD) {
        return long::child(&arguments[1..]);
    }
    if !has("--bench") || has("--test") {
        return println!("Not run by `cargo bench`: nothing to do.");
    }
    let is_chosen = |name: &str| has(name) || !EXPERIMENTS.iter().any(|(name, _)| has(name));
    let mut claims = Claims::default();
    for (name, experiment) in EXPERIMENTS {
        if is_chosen(name) {
            experiment(has("--quick"), &mut claims);
        }
    }
    claims.print();
}
