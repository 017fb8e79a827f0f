//! Random cases that depend on nothing but their number: `RADDLE_CASES` multiplies them,
//! `RADDLE_SEED` changes them.

use raddle_core::random::Random;

/// The value of a variable of the environment, 1 by default.
fn variable(name: &str) -> u64 {
    std::env::var(name).map_or(1, |value| value.parse().expect("RADDLE_* are numbers"))
}

/// Tries as many cases, times `RADDLE_CASES`.
pub fn for_cases(cases: u64, mut case: impl FnMut(&mut Random)) {
    let mut random = Random::new(variable("RADDLE_SEED"));
    for _ in 0..cases * variable("RADDLE_CASES") {
        case(&mut random);
    }
}
