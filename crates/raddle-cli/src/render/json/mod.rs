//! Results for programs: one JSON object per line.

pub(crate) mod bmc;
pub(crate) mod check;
pub(crate) mod verify;
