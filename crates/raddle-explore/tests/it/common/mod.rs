//! Comparisons of explorers with brute force, shared by several test modules.

pub(crate) mod dpor;
pub(crate) mod rf_smc;
pub(crate) mod rvf_smc;
pub(crate) mod side_by_side;
pub(crate) mod spinning;
