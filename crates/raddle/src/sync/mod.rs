//! Replacement for [`std::sync`].
//!
//! Locks, condition variables and owner counts are synchronization objects: atomic states whose updates are
//! totally ordered per object. Each update acquires and releases.

pub mod atomic;
pub(crate) mod condvar;
mod mutex;
mod poison;
mod rwlock;
mod shared;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use shared::{Arc, Weak};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
