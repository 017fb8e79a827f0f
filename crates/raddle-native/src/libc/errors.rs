//! Error numbers that modelled functions return.

pub(super) const EPERM: i32 = 1;
pub(super) const EBADF: i32 = 9;
pub(super) const EAGAIN: i32 = 11;
pub(super) const ENOMEM: i32 = 12;
pub(super) const EBUSY: i32 = 16;
pub(super) const EINVAL: i32 = 22;
pub(super) const EDEADLK: i32 = 35;
pub(super) const ETIMEDOUT: i32 = 110;
