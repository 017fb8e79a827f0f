//! recheck
