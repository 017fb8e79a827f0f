//! `raddle history`: commands on recorded executions that check nothing.

mod convert;
mod generate;
mod stats;

pub(crate) use convert::run as convert;
pub(crate) use generate::run as generate;
pub(crate) use stats::run as stats;
