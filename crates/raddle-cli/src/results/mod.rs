//! Results of commands, as they are passed to the renderers.

pub(crate) mod bmc;
pub(crate) mod check;
pub(crate) mod models;
pub(crate) mod verify;
