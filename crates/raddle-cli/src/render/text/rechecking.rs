//! How many answers `--recheck` has checked.

use std::fmt;

use crate::results::verify::Rechecking;

/// How many answers were rechecked, and how it went.
#[derive(Default)]
pub(crate) struct Tally {
    confirmed: usize,
    proved: usize,
    too_large: usize,
    failed: usize,
}

impl<'a> FromIterator<&'a Rechecking> for Tally {
    fn from_iter<I: IntoIterator<Item = &'a Rechecking>>(all: I) -> Self {
        let mut tally = Tally::default();
        for one in all {
            match one {
                Rechecking::Confirmed => tally.confirmed += 1,
                Rechecking::Proved => tally.proved += 1,
                Rechecking::TooLarge => tally.too_large += 1,
                Rechecking::Failed(_) => tally.failed += 1,
                Rechecking::NoAnswer => {}
            }
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { confirmed, proved, too_large, failed } = *self;
        let witnesses = if confirmed == 1 { "witness" } else { "witnesses" };
        let violations = if proved == 1 { "violation" } else { "violations" };
        write!(
            f,
            "rechecked: {confirmed} {witnesses} confirmed, {proved} {violations} proved, \
             {too_large} too large to recheck"
        )?;
        if failed > 0 { write!(f, ", {failed} WRONG") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_counts_each_kind() {
        let all = [Rechecking::Confirmed, Rechecking::Proved, Rechecking::NoAnswer];
        let tally: Tally = all.iter().collect();
        let expected = "rechecked: 1 witness confirmed, 1 violation proved, 0 too large to recheck";
        assert_eq!(tally.to_string(), expected);
    }

    #[test]
    fn the_tally_shouts_about_failures() {
        let tally: Tally = [Rechecking::Failed(String::new())].iter().collect();
        assert!(tally.to_string().ends_with("0 too large to recheck, 1 WRONG"));
    }
}
