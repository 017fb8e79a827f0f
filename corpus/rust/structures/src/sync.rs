//! The types of std, or of loom.

#[cfg(not(loom))]
pub(crate) use std::{hint, sync::atomic, sync::mpsc, sync::Arc, sync::Mutex, thread};

#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, hint, sync::atomic, sync::mpsc, sync::Arc, sync::Mutex, thread};

/// As loom's.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Runs a test: with loom, many times.
pub(crate) fn model(f: impl Fn() + Send + Sync + 'static) {
    #[cfg(loom)]
    loom::model(f);
    #[cfg(not(loom))]
    f();
}
