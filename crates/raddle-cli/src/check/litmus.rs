//! Litmus tests.

use std::path::Path;

use serde::Serialize;

use super::front_end::{FrontEnd, LoadError};

/// What a litmus test came to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Facts {
    /// Its name.
    pub(crate) test: String,
    /// `exists`, `~exists` or `forall`.
    pub(crate) quantifier: &'static str,
    /// The final states, over what the condition and `locations` name, in herd's order.
    pub(crate) states: Vec<String>,
    /// How many classes satisfy the condition, and how many do not.
    pub(crate) positive: u64,
    pub(crate) negative: u64,
    /// Whether what the quantifier claims holds.
    pub(crate) ok: bool,
    /// Whether there is a data race.
    pub(crate) race: bool,
}

/// Reads a litmus test.
pub(super) fn load(_path: &Path) -> Result<Box<dyn FrontEnd>, LoadError> {
    Err(LoadError::new("litmus tests cannot be checked yet"))
}
