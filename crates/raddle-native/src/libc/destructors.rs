//! Destructors for the end of a thread.

use super::Purpose;
use crate::program::call::Call;

/// A destructor that the end of a thread calls.
#[derive(Clone, Copy)]
pub(super) enum Destructor {
    /// Of a thread-local variable.
    Variable { function: u64, object: u64 },
    /// Of the value of a key, if it has one.
    Key { key: u64, function: u64 },
}

/// Adds a destructor for the end of the thread.
pub(super) fn add_destructor(call: &mut Call<'_>, destructor: Destructor) {
    let index = call.recall(Purpose::Destructors, 0);
    call.remember(Purpose::Destructors, 0, index + 1);
    let (is_key, function, argument) = match destructor {
        Destructor::Variable { function, object } => (0, function, object),
        Destructor::Key { key, function } => (1, function, key),
    };
    call.remember(Purpose::DestructorIsKey, index, is_key);
    call.remember(Purpose::DestructorFunction, index, function);
    call.remember(Purpose::DestructorArgument, index, argument);
}
