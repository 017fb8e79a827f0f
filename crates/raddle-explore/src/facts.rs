//! What explorations have learned about a program.

use std::collections::BTreeSet;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Facts about a program that determine the shape of the search tree. An exploration that learns one starts over.
///
/// Locations have *conflicting* accesses if neither of two accesses, one of which writes, happens before the other. All
/// other locations are assumed to be *quiet*. Locations are called by their
/// [names](raddle_core::program::Naming::location_name), which all workers and processes agree on. If several locations
/// have one name, all of them count as conflicting: that only costs time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ExplorationFacts {
    conflicting: BTreeSet<String>,
    #[cfg_attr(feature = "serde", serde(default))]
    bound: EventBound,
    /// Places of loops that do not seem to end.
    #[cfg_attr(feature = "serde", serde(default))]
    endless: BTreeSet<String>,
    /// Names of threads that are not symmetric.
    #[cfg_attr(feature = "serde", serde(default))]
    asymmetric: BTreeSet<String>,
}

/// After this many executions that exceed the final bound, loops that they were in have [`MOST_ROUNDS`].
pub(crate) const MOST_CUT_EXECUTIONS: u64 = 10;
/// A thread stops after this many rounds of a loop that does not seem to end. Two threads that react to each other have
/// exponentially many classes in the number of rounds: mutual back-off of two threads has 530 with 4 and about
/// six times as many with each more.
pub(crate) const MOST_ROUNDS: u32 = 4;

impl ExplorationFacts {
    /// Returns `true` if no location is known to have conflicting accesses.
    #[must_use]
    pub fn has_no_conflicts(&self) -> bool {
        self.conflicting.is_empty()
    }

    /// Returns `true` if the location with this name has conflicting accesses.
    #[must_use]
    pub fn is_conflicting(&self, name: &str) -> bool {
        self.conflicting.contains(name)
    }

    /// Returns `true` if the thread with this name is known not to be symmetric to others.
    #[must_use]
    pub fn is_asymmetric(&self, name: &str) -> bool {
        self.asymmetric.contains(name)
    }

    /// How many events an execution may have.
    #[must_use]
    pub fn bound(&self) -> EventBound {
        self.bound
    }

    /// Returns `true` if no loop is known that does not seem to end.
    pub(crate) fn all_loops_end(&self) -> bool {
        self.endless.is_empty()
    }

    /// Returns `true` if the loop at the place with this name does not seem to end.
    pub(crate) fn is_endless(&self, place: &str) -> bool {
        self.endless.contains(place)
    }

    /// Adds a fact.
    pub fn add(&mut self, fact: NewFact) {
        match fact {
            NewFact::Conflicts(names) => self.conflicting.extend(names),
            NewFact::Asymmetry(names) => self.asymmetric.extend(names),
            NewFact::LongExecution { conflicting } => self.bound = self.bound.after(conflicting),
            NewFact::EndlessLoop { place } => drop(self.endless.insert(place)),
        }
    }
}

/// A fact that an exploration has learned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum NewFact {
    /// These locations have conflicting accesses.
    Conflicts(Vec<String>),
    /// These threads look symmetric, and are not.
    Asymmetry(Vec<String>),
    /// An execution has more events than the bound.
    LongExecution {
        /// How many of them are accesses of locations with conflicting accesses.
        conflicting: usize,
    },
    /// A loop does not seem to end: many executions exceed the final bound, and a thread was mostly there.
    EndlessLoop {
        /// The name of the place.
        place: String,
    },
}

/// How many events an execution may have.
///
/// Some programs have long executions, and some have endless ones, and nobody can tell which. The bound begins with
/// [`FIRST`](EventBound::FIRST) and is doubled if an execution exceeds it, after that has shown which locations have
/// conflicting accesses: leaves come in the same order until then. If an execution exceeds [`LAST`](EventBound::LAST)
/// or has too many events about which something is to be decided, it is taken for endless. Then the bound is the first
/// one again, and is *final*: threads stop there, so that short executions are explored instead of long ones. If
/// more than a few executions exceed this bound, the loop that a thread is in then stops after a few rounds from then on: 1,000
/// events may have too many classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct EventBound {
    /// The number of events.
    pub events: u32,
    /// Whether executions are cut there; otherwise the exploration starts over with a larger bound.
    pub is_final: bool,
}

impl Default for EventBound {
    fn default() -> Self {
        EventBound { events: EventBound::FIRST, is_final: false }
    }
}

impl EventBound {
    /// The first bound.
    pub const FIRST: u32 = 1_000;
    /// The largest bound.
    pub const LAST: u32 = 1_000_000;
    /// An execution that exceeds a bound with more events than this about which something is to be decided is taken for
    /// endless: their cost grows with their number.
    const MANY: usize = 5_000;

    /// The bound that the user has chosen.
    #[must_use]
    pub fn fixed(events: u32) -> Self {
        EventBound { events, is_final: true }
    }

    /// The bound after an execution has exceeded this one.
    fn after(self, conflicting: usize) -> Self {
        if self.events >= EventBound::LAST || conflicting > EventBound::MANY {
            return EventBound { events: EventBound::FIRST, is_final: true };
        }
        EventBound { events: self.events.saturating_mul(2).min(EventBound::LAST), is_final: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_double_and_end_where_they_began() {
        let mut facts = ExplorationFacts::default();
        let mut bounds = vec![facts.bound().events];
        while !facts.bound().is_final {
            facts.add(NewFact::LongExecution { conflicting: 10 });
            bounds.push(facts.bound().events);
        }
        let doubled = (0..10).map(|power| 1_000 << power);
        assert!(bounds.into_iter().eq(doubled.chain([1_000_000, 1_000])));
    }

    #[test]
    fn many_undecided_events_end_the_doubling() {
        let mut facts = ExplorationFacts::default();
        facts.add(NewFact::LongExecution { conflicting: 5_001 });
        assert_eq!(facts.bound(), EventBound::fixed(1_000));
    }
}
