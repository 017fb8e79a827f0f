//! What cannot be modelled is refused, with its place.

use std::fmt;

/// Why a program cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// File and line.
    pub place: String,
    /// What is there.
    pub what: String,
}

impl Refusal {
    pub(crate) fn new(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Refusal { place: place.to_string(), what: what.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Refusal {}
