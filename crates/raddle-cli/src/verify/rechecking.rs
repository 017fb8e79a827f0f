//! `--recheck`: every witness and every violation once more, by independent code.

use std::fmt;

use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::witness::Verdict;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use super::Answer;
use crate::bug;

/// How much work to spend on one violation before it counts as too large.
const BUDGET: usize = 2_000_000;

/// What rechecking an answer came to.
pub(super) enum Rechecking {
    /// The witness is one: the machine of the model ran it, or it fits the axioms.
    Confirmed,
    /// The violation is one.
    Proved,
    /// The violation was too large to recheck.
    TooLarge,
    /// The checker gave no answer that could be rechecked.
    NoAnswer,
    /// The answer is wrong: a flaw of Raddle.
    Failed(String),
}

/// Rechecks a verdict.
pub(super) fn recheck(execution: &Execution, model: Model, verdict: &Verdict) -> Rechecking {
    match verdict {
        Verdict::Consistent(witness) => match recheck_witness(execution, model, witness) {
            Ok(Rechecked::Proved) => Rechecking::Confirmed,
            Ok(Rechecked::TooLarge) => Rechecking::TooLarge,
            Err(error) => Rechecking::Failed(format!("the witness is wrong: {error}")),
        },
        Verdict::Inconsistent(violation) => {
            match recheck_violation(execution, model, violation, BUDGET) {
                Ok(Rechecked::Proved) => Rechecking::Proved,
                Ok(Rechecked::TooLarge) => Rechecking::TooLarge,
                Err(error) => Rechecking::Failed(format!("the violation is wrong: {error}")),
            }
        }
        Verdict::Unknown { .. } => Rechecking::NoAnswer,
    }
}

/// Reports every answer that rechecking found wrong as a bug in Raddle.
pub(super) fn complain_about_failures(answers: &[Answer<'_>]) {
    for answer in answers {
        if let Some(Rechecking::Failed(why)) = &answer.rechecking {
            bug::report(&format!("{}, {}: {why}", answer.history, answer.model));
        }
    }
}

/// How many answers were rechecked, and how it went.
#[derive(Default)]
pub(super) struct Tally {
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
