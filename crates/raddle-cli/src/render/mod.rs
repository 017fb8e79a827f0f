//! Results of commands as text for people and as JSON for programs.

pub(crate) mod execution;
pub(crate) mod herd;
pub(crate) mod json;
pub(crate) mod table;
pub(crate) mod text;
