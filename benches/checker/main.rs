//! Measurements of the consistency checkers: `cargo bench -p raddle-benches [-- --quick] [NAME...]`.
//!
//! Names of experiments: `comparison`, `growth`, `long`; without any, all of them.

mod claims;
mod comparison;
mod instances;
mod table;
mod timing;

use claims::Claims;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if !has("--bench") || has("--test") {
        return println!("Not run as a benchmark: nothing to do.");
    }
    let quick = has("--quick");
    let mut claims = Claims::default();
    comparison::run(quick, &mut claims);
    claims.print();
}
