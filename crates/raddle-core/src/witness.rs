//! The answers of the checkers, with their evidence.

use crate::execution::EventId;

/// A step of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A thread performs its next event. Under SC a store also reaches memory here.
    Run(EventId),
    /// A store that waits in a store buffer reaches memory (TSO and PSO).
    Flush(EventId),
}

/// Evidence that a model allows an execution: all its events in an order in which the model's
/// machine can run them, every read observing one of its sources, with explicit memory updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The steps in order. All stores have reached memory at the end.
    pub steps: Vec<Step>,
}

/// Why one event comes before another in every run that the model allows. Under TSO and PSO, a
/// store *comes* where it reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The model preserves their program order; this includes spawn and join, and that initial
    /// writes come first.
    Program,
    /// The second reads from the first, the only source left to it, and not from its own store
    /// buffer.
    ReadsFrom,
    /// All sources left to the second come after the first or are it, and none of them could be
    /// found in its own store buffer.
    FirstSource,
    /// The first is the last store of its location before `read` in the same thread, and `read`
    /// reads from the second: what a thread stored itself must be in memory before, or it would
    /// be read instead.
    OwnStoreFirst {
        /// The read.
        read: EventId,
    },
    /// The first comes before `read`, which reads from the second: were the first after the
    /// second, it would hide it. (With several sources left, the second is the last of them.)
    BeforeSource {
        /// The read.
        read: EventId,
    },
    /// The first reads from `source` (the last source left to it), and the second overwrites it: it
    /// comes after `source`, so it comes after the read.
    BeforeOverwrite {
        /// The source.
        source: EventId,
    },
}

/// One event comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// Why.
    pub why: Why,
}

/// Why a read cannot have read from one of its possible sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotFrom {
    /// The source comes after the read (and is no store that the read could find in the store
    /// buffer of its own thread).
    Later,
    /// A write comes after the source and before the read.
    Hidden {
        /// That write.
        by: EventId,
    },
    /// The thread of the read stores to the location before the read, and that store comes after
    /// the source; the read observes it, in the buffer or in memory.
    OwnStore {
        /// That store.
        by: EventId,
    },
}

/// A fact that holds in every run that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// One event comes before another.
    Order(Edge),
    /// A read does not read from one of its possible sources.
    Excluded {
        /// The read.
        read: EventId,
        /// The source.
        source: EventId,
        /// Why not.
        why: NotFrom,
    },
}

/// Evidence that a model forbids an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A read observes a value that no write of its location has.
    UnwrittenValue {
        /// The read.
        read: EventId,
    },
    /// Events that must each come before the next, in a circle.
    Cycle {
        /// The circle: each edge ends where the next one starts, the last where the first starts.
        cycle: Vec<Edge>,
        /// What the edges follow from, in the order of inference. Every fact follows from program
        /// order, the sources, and facts before it; the edges of the cycle are among them or are
        /// program order.
        derivation: Vec<Fact>,
    },
    /// A read with several possible sources, none of which is left.
    NoSource {
        /// The read.
        read: EventId,
        /// As in [`Violation::Cycle`]; it excludes every source of the read.
        derivation: Vec<Fact>,
    },
    /// A part of the execution, closed under program order, sources, spawn and join, that the
    /// model forbids already, as an exhaustive search found.
    Core {
        /// How many events of each thread belong to it.
        lens: Vec<usize>,
        /// How small it is.
        size: CoreSize,
    },
}

/// What is known of the size of a forbidden part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreSize {
    /// Every part with fewer events is allowed.
    Smallest,
    /// Every part of this part is allowed.
    Minimal,
    /// Parts of it may be forbidden, too.
    Unknown,
}

/// The answer of a checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The model allows the execution.
    Consistent(Witness),
    /// The model forbids the execution.
    Inconsistent(Violation),
    /// The search was given up.
    Unknown {
        /// After this many steps.
        steps: u64,
    },
}
