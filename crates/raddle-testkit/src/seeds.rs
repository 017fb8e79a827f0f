//! Reproducible random cases. The environment variable `RADDLE_CASES` multiplies their number, `RADDLE_SEED` sets the
//! seed.

use raddle_core::random::Random;

/// Returns the value of an environment variable, 1 by default.
fn variable(name: &str) -> u64 {
    std::env::var(name)
        .map_or(1, |value| value.parse().expect("RADDLE_CASES and RADDLE_SEED are numbers"))
}

/// Calls `case` `cases` times, multiplied by `RADDLE_CASES`.
pub fn for_cases(cases: u64, mut case: impl FnMut(&mut Random)) {
    let mut random = Random::new(variable("RADDLE_SEED"));
    for _ in 0..cases * variable("RADDLE_CASES") {
        case(&mut random);
    }
}
