//! Kinds of synchronization objects, and of numbers that modelled functions keep.

/// What a synchronization object is, for its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum ObjectKind {
    Mutex,
    Condition,
    ReadWriteLock,
    Semaphore,
    Barrier,
    Once,
    Futex,
    AtomicSection,
    Exit,
}

/// What a number is that a modelled function keeps for a thread; see [`Call::remember`](super::call::Call::remember).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// How often the thread has locked a recursive mutex again, by mutex.
    MutexAgain,
    /// How it holds a reader-writer lock, by lock.
    ReadWriteLockHeld,
    /// Nanoseconds that have passed on its clock.
    Clock,
    /// How often it has read its clock.
    ClockReadings,
    /// The number of keys that it has made.
    KeysMade,
    /// Its value for a key, by key.
    KeyValue,
    /// The number of destructors for its end.
    Destructors,
    /// Whether a destructor is that of a key, its function and its argument, by number.
    DestructorIsKey,
    DestructorFunction,
    DestructorArgument,
    /// The number of cleanup handlers under key 0, and their jump buffers by number.
    Handlers,
    /// The result with which it ends.
    ExitResult,
    /// The number of destructors of the executable that it has called.
    ExecutableDestructors,
    /// The state of its pseudorandom numbers.
    Random,
    /// The number of initialisations that it is in, and the object of each, by control variable.
    OnceDepth,
    OnceObject,
}
