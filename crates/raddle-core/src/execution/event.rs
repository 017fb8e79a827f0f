//! Actions of events.

use super::{LocationId, ThreadId};

/// A value in memory. Wide enough for every signed and unsigned 64-bit integer.
pub type Value = i128;

/// The action of an event, with the values it read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The initial write of a location: before all threads, and in memory from the start.
    Init {
        /// The location.
        location: LocationId,
        /// Its initial value; 0 for a lock, which is initially free.
        value: Value,
    },
    /// A load.
    Read {
        /// The location read.
        location: LocationId,
        /// The value observed.
        value: Value,
    },
    /// A store. Under TSO and PSO it happens in two phases: it enters the store buffer here and
    /// reaches memory later, unless its order is SeqCst ([`Execution::is_buffered`]).
    ///
    /// [`Execution::is_buffered`]: super::Execution::is_buffered
    Write {
        /// The location written.
        location: LocationId,
        /// The value written.
        value: Value,
    },
    /// An atomic read-modify-write. It waits for an empty store buffer and writes memory at once.
    Rmw {
        /// The location updated.
        location: LocationId,
        /// The value observed.
        read: Value,
        /// The value written.
        written: Value,
    },
    /// A compare-exchange. A failed one only reads, but waits for an empty store buffer like every read-modify-write.
    Cas {
        /// The location.
        location: LocationId,
        /// The value it compared with.
        expected: Value,
        /// The value to write if it succeeds.
        desired: Value,
        /// The value observed; `expected` if it succeeded. A weak compare-exchange may also fail
        /// with this value.
        read: Value,
        /// Whether `desired` was written.
        succeeded: bool,
    },
    /// A fence. A full one, with the order SeqCst, waits for an empty store buffer.
    Fence,
    /// A store-store fence: stores after it reach memory after stores before it.
    StoreFence,
    /// Acquires a lock. Reads the release (or the initial state) that it took the lock from.
    Lock {
        /// The lock.
        lock: LocationId,
    },
    /// Releases a lock held by the thread.
    Unlock {
        /// The lock.
        lock: LocationId,
    },
    /// Starts a thread.
    Spawn {
        /// The thread started.
        thread: ThreadId,
    },
    /// Waits until a thread has finished and its store buffer is empty.
    Join {
        /// The thread waited for.
        thread: ThreadId,
    },
}

impl Action {
    /// The location or lock that the event accesses.
    #[must_use]
    pub fn location(&self) -> Option<LocationId> {
        match *self {
            Action::Init { location, .. }
            | Action::Read { location, .. }
            | Action::Write { location, .. }
            | Action::Rmw { location, .. }
            | Action::Cas { location, .. } => Some(location),
            Action::Lock { lock } | Action::Unlock { lock } => Some(lock),
            Action::Fence | Action::StoreFence | Action::Spawn { .. } | Action::Join { .. } => None,
        }
    }

    /// The value observed, if the event reads memory. Locks have no values.
    #[must_use]
    pub fn read_value(&self) -> Option<Value> {
        match *self {
            Action::Read { value, .. } => Some(value),
            Action::Rmw { read, .. } | Action::Cas { read, .. } => Some(read),
            _ => None,
        }
    }

    /// The value left in memory, if the event writes memory. Locks have no values.
    #[must_use]
    pub fn written_value(&self) -> Option<Value> {
        match *self {
            Action::Init { value, .. } | Action::Write { value, .. } => Some(value),
            Action::Rmw { written, .. } => Some(written),
            Action::Cas { desired, succeeded: true, .. } => Some(desired),
            _ => None,
        }
    }

    /// Returns `true` if the event observes a source: a load, a read-modify-write, a compare-exchange or an
    /// acquire. (A release takes the lock from its own thread's acquire, which needs no naming.)
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.read_value().is_some() || matches!(self, Action::Lock { .. })
    }

    /// Returns `true` if an event with a source may observe this one: a write that stays in memory, or the
    /// release of a lock.
    #[must_use]
    pub fn is_source(&self) -> bool {
        self.written_value().is_some() || matches!(self, Action::Unlock { .. })
    }

    /// Returns `true` if the event reads and writes atomically, so that no two of them share a source.
    #[must_use]
    pub fn is_atomic_update(&self) -> bool {
        matches!(
            self,
            Action::Rmw { .. } | Action::Cas { succeeded: true, .. } | Action::Lock { .. }
        )
    }
}
