//! The results of `--recheck`.

use std::fmt;

use crate::results::verify::Recheck;

/// How many witnesses and violations were rechecked, by result.
#[derive(Default)]
pub(crate) struct RecheckCounts {
    confirmed: usize,
    proved: usize,
    too_large: usize,
    failed: usize,
}

impl<'a> FromIterator<&'a Recheck> for RecheckCounts {
    fn from_iter<I: IntoIterator<Item = &'a Recheck>>(all: I) -> Self {
        let mut counts = RecheckCounts::default();
        for one in all {
            match one {
                Recheck::Confirmed => counts.confirmed += 1,
                Recheck::Proved => counts.proved += 1,
                Recheck::TooLarge => counts.too_large += 1,
                Recheck::Failed(_) => counts.failed += 1,
                Recheck::Undecided => {}
            }
        }
        counts
    }
}

impl fmt::Display for RecheckCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecheckCounts { confirmed, proved, too_large, failed } = *self;
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
    fn each_result_is_counted() {
        let all = [Recheck::Confirmed, Recheck::Proved, Recheck::Undecided];
        let counts: RecheckCounts = all.iter().collect();
        let expected = "rechecked: 1 witness confirmed, 1 violation proved, 0 too large to recheck";
        assert_eq!(counts.to_string(), expected);
    }

    #[test]
    fn failures_are_in_capitals() {
        let counts: RecheckCounts = [Recheck::Failed(String::new())].iter().collect();
        assert!(counts.to_string().ends_with("0 too large to recheck, 1 WRONG"));
    }
}
