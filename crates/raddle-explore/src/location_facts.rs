//! What explorations have learned about locations.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The locations that have *conflicting* accesses: two accesses of which one writes and neither happens before the
/// other. All other locations are assumed to be *quiet*, until an exploration finds such accesses and starts over.
///
/// Locations are called by their [names](raddle_core::program::Naming::location_name), which all workers and processes
/// agree on. If several locations have one name, all of them count as conflicting: that only costs time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationFacts {
    conflicting: BTreeSet<String>,
}

impl LocationFacts {
    /// Returns `true` if nothing is known: all locations are assumed to be quiet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conflicting.is_empty()
    }

    /// Returns `true` if the location with this name has conflicting accesses.
    #[must_use]
    pub fn is_conflicting(&self, name: &str) -> bool {
        self.conflicting.contains(name)
    }

    /// Adds locations with conflicting accesses.
    pub fn add(&mut self, names: impl IntoIterator<Item = String>) {
        self.conflicting.extend(names);
    }
}
