//! What the guest's C library is replaced by.

pub(crate) mod strings;
