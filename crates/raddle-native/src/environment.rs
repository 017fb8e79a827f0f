//! What the environment of a program may do, and what counts as an error.

use raddle_core::outcome::{FindingKind, KindSet};
use raddle_core::program::StoreForwarding;
use serde::{Deserialize, Serialize};

/// What the environment of a program may do, and what counts as an error. All of it changes the exploration, so it belongs to
/// checkpoints and recorded traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Kinds that are no errors. A thread that runs into one ends the program.
    pub ignored: KindSet,
    /// Threads that wait for condition variables and futexes may wake up without being woken.
    pub spurious: bool,
    /// Allocations may fail.
    pub malloc_may_fail: bool,
    /// It is an error if a thread was not joined when `main` returns.
    pub require_join: bool,
    /// The first and the last value of nondeterministic numbers; `None` for a few small ones.
    pub nondet: Option<(i64, i64)>,
    /// What a load observes that a store in the buffer of its thread overlaps, but does not cover.
    pub forwarding: StoreForwarding,
    /// Volatile accesses are relaxed atomic ones.
    pub volatile_relaxed: bool,
    /// Data races are errors under models with store buffers, too.
    pub races: bool,
}

impl Environment {
    /// Returns `true` if plain accesses do not race: they are relaxed atomic ones.
    #[must_use]
    pub fn ignores_races(&self) -> bool {
        self.ignored.contains(FindingKind::Race)
    }
}
