//! Conditions on final states.

use std::fmt;

use raddle_core::execution::Value;

/// Item of a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateItem {
    /// Index of a thread, and index of one of its named registers.
    Register(usize, usize),
    /// Index of a location.
    Location(usize),
}

/// Proposition about a final state. `V` is the type of its atoms: an item and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition<V = (StateItem, Value)> {
    /// True or false.
    Constant(bool),
    /// An item has a value.
    Equal(V),
    /// Negation.
    Not(Box<Proposition<V>>),
    /// Conjunction.
    And(Vec<Proposition<V>>),
    /// Disjunction.
    Or(Vec<Proposition<V>>),
}

/// Claim about the final states of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Some final state satisfies the condition.
    Exists,
    /// No final state satisfies the condition.
    NotExists,
    /// All final states satisfy the condition.
    Forall,
}

impl Quantifier {
    /// Returns the keyword.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        }
    }

    /// Returns the kind of test in herd's output.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::Forall => "Required",
        }
    }

    /// Returns `true` if the claim holds when `positive` executions satisfy the condition and `negative` do not.
    #[must_use]
    pub fn holds(self, positive: u64, negative: u64) -> bool {
        match self {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::Forall => negative == 0,
        }
    }
}

impl<V> Proposition<V> {
    /// Evaluates the proposition; `test` evaluates an atom.
    pub fn holds(&self, test: &impl Fn(&V) -> bool) -> bool {
        match self {
            Proposition::Constant(truth) => *truth,
            Proposition::Equal(part) => test(part),
            Proposition::Not(inner) => !inner.holds(test),
            Proposition::And(all) => all.iter().all(|one| one.holds(test)),
            Proposition::Or(all) => all.iter().any(|one| one.holds(test)),
        }
    }

    /// Calls `visit` with every atom.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a V)) {
        match self {
            Proposition::Constant(_) => {}
            Proposition::Equal(part) => visit(part),
            Proposition::Not(inner) => inner.for_each(visit),
            Proposition::And(all) | Proposition::Or(all) => {
                all.iter().for_each(|one| one.for_each(visit));
            }
        }
    }

    /// Replaces the atoms.
    pub fn map<W>(&self, part: &impl Fn(&V) -> W) -> Proposition<W> {
        let all = |them: &[Self]| them.iter().map(|one| one.map(part)).collect();
        match self {
            Proposition::Constant(truth) => Proposition::Constant(*truth),
            Proposition::And(them) => Proposition::And(all(them)),
            Proposition::Or(them) => Proposition::Or(all(them)),
            Proposition::Equal(it) => Proposition::Equal(part(it)),
            Proposition::Not(inner) => Proposition::Not(Box::new(inner.map(part))),
        }
    }
}

/// Formats the proposition as herd does.
impl<V: fmt::Display> fmt::Display for Proposition<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proposition::Constant(truth) => write!(f, "{truth}"),
            Proposition::Equal(part) => part.fmt(f),
            Proposition::Not(inner) => write!(f, "not ({inner})"),
            Proposition::And(all) => joined(f, all, " /\\ ", |it| matches!(it, Proposition::Or(_))),
            Proposition::Or(all) => joined(f, all, " \\/ ", |_| false),
        }
    }
}

fn joined<V: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    all: &[Proposition<V>],
    with: &str,
    needs_parentheses: impl Fn(&Proposition<V>) -> bool,
) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        let with = if at == 0 { "" } else { with };
        if needs_parentheses(one) {
            write!(f, "{with}({one})")?;
        } else {
            write!(f, "{with}{one}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Proposition::{And, Constant, Equal, Not, Or};
    use super::*;

    #[test]
    fn propositions_are_written_with_few_parentheses() {
        let or = Or(vec![And(vec![Equal("a"), Equal("b")]), Equal("c")]);
        let all = And(vec![or.clone(), Not(Box::new(or)), Constant(true)]);
        let text = "(a /\\ b \\/ c) /\\ not (a /\\ b \\/ c) /\\ true";
        assert_eq!(all.to_string(), text);
    }

    #[test]
    fn quantifiers_hold_for_different_counts() {
        let claims = |positive, negative| {
            [Quantifier::Exists, Quantifier::NotExists, Quantifier::Forall]
                .map(|quantifier| quantifier.holds(positive, negative))
        };
        assert_eq!(claims(0, 3), [false, true, false]);
        assert_eq!(claims(2, 3), [true, false, false]);
        assert_eq!(claims(2, 0), [true, false, true]);
    }
}
