//! Contents of a lock with its poison flag.
//!
//! The flag is set when a guard with write access is dropped by a panic that began while the lock was held.

use std::sync::{LockResult, PoisonError};

pub(super) struct Guarded<T: ?Sized> {
    pub(super) poisoned: bool,
    pub(super) value: T,
}

impl<T> Guarded<T> {
    pub(super) const fn new(value: T) -> Self {
        Guarded { poisoned: false, value }
    }

    pub(super) fn into_inner(self) -> LockResult<T> {
        if self.poisoned { Err(PoisonError::new(self.value)) } else { Ok(self.value) }
    }
}

impl<T: ?Sized> Guarded<T> {
    pub(super) fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poisoned;
        let value = &mut self.value;
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}
