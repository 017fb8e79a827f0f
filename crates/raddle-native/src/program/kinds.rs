//! Kinds of synchronization objects, and of numbers that modelled functions keep.

/// What a synchronization object is, for its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum ObjectKind {
    Mutex,
    /// Whether a thread has ended that holds a lock.
    Abandoned,
    /// Whether a spin lock was initialised or destroyed.
    Life,
    Condition,
    ReadWriteLock,
    Semaphore,
    Barrier,
    /// What a thread tells another one when it arrives at a barrier.
    Token {
        from: u32,
        to: u32,
    },
    Once,
    Futex,
    /// The count of an event descriptor.
    Counter,
    /// Whether a thread was asked to end.
    Cancel,
    AtomicSection,
    Exit,
}

/// What a number is that a modelled function keeps for a thread; see [`Call::remember`](super::call::Call::remember).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// How often the thread has locked a recursive mutex again, by mutex.
    MutexAgain,
    /// The kind of a mutex when the thread last used it, by mutex.
    MutexKind,
    /// How it holds a reader-writer lock, by lock.
    ReadWriteLockHeld,
    /// Whether its last attempt to take something from an object has failed, by object.
    FailedAttempt,
    /// Whether it has woken up spuriously from an object at a call since it was last woken there, by both.
    SpuriousWakeup,
    /// Nanoseconds that have passed on its clock.
    Clock,
    /// How often it has read its clock.
    ClockReadings,
    /// The number of keys that it has made.
    KeysMade,
    /// Its value for a key, by key.
    KeyValue,
    /// The number of keys whose values may have to be destroyed when it ends, and the keys by number.
    SetKeys,
    SetKey,
    /// How often the destructor of a key was called for it, by key.
    KeyDestroyed,
    /// Whether it has deleted a key, by key.
    KeyDeleted,
    /// The number of destructors of its thread-local variables.
    Destructors,
    /// The function and the argument of such a destructor, by number.
    DestructorFunction,
    DestructorArgument,
    /// The number of cleanup handlers under key 0, and their jump buffers by number.
    Handlers,
    /// The result with which it ends.
    ExitResult,
    /// The number of destructors of the executable that it has called.
    ExecutableDestructors,
    /// Whether it is not cancelled now, because it forbids that or is ending.
    CancelDisabled,
    /// The number of event descriptors that it has made.
    Counters,
    /// The state of its pseudorandom numbers.
    Random,
    /// The number of initialisations that it is in, and the object of each, by control variable.
    OnceDepth,
    OnceObject,
    /// The number of identifiers of Rust threads that it has made.
    RustThreadIds,
    /// The counters of the scopes of a Rust thread, by address.
    RustScope,
    /// The function that the thread-local variables of a Rust thread want to be called at its end.
    RustGuard,
    /// Whether libtest runs the test on the main thread.
    RustTest,
}
