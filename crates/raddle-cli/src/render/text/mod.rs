//! Results for people.

pub(crate) mod bmc;
pub(crate) mod check;
pub(crate) mod expect;
pub(crate) mod models;
pub(crate) mod recheck;
pub(crate) mod units;
pub(crate) mod verify;
