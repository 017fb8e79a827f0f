//! Comparisons of explorers with brute force, shared by several test modules.

pub(crate) mod dpor;
pub(crate) mod driver;
pub(crate) mod rf_smc;
pub(crate) mod rvf_smc;
pub(crate) mod spinning;
