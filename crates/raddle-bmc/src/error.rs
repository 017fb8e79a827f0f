//! Errors: why a program cannot be checked.

use std::fmt;

/// The reason why a program cannot be checked: it cannot be read, or it uses an unsupported construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcError {
    /// `file:line`, or the file.
    pub place: String,
    /// The problem and, if there is one, the remedy.
    pub message: String,
}

impl BmcError {
    pub(crate) fn new(place: impl fmt::Display, message: impl Into<String>) -> Self {
        BmcError { place: place.to_string(), message: message.into() }
    }
}

impl fmt::Display for BmcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for BmcError {}
