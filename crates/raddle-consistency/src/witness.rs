//! Verdicts of the checkers, with their evidence.

use raddle_core::execution::{Coherence, EventId};

pub use raddle_core::model::Axiom;

/// A step of a run of the store-buffer machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineStep {
    /// A thread performs its next event. Under SC a store also reaches memory here.
    Run(EventId),
    /// A store that waits in a store buffer reaches memory (TSO and PSO).
    Flush(EventId),
}

/// A run of the store-buffer machine with all events of an execution, in which every read observes one of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRun {
    /// The steps in order. All stores have reached memory at the end.
    pub steps: Vec<MachineStep>,
}

/// Evidence that a model allows an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// Under a store-buffer model.
    Run(MachineRun),
    /// Under a C11-style model.
    Coherence(Coherence),
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
    /// The first is the last store of its location before `read` in the same thread, and `read` reads from the second: the
    /// own store must have reached memory before, or it would be read instead.
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
pub struct OrderEdge {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// The reason.
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
    Order(OrderEdge),
    /// A read does not read from one of its possible sources.
    Excluded {
        /// The read.
        read: EventId,
        /// The source.
        source: EventId,
        /// The reason.
        why: NotFrom,
    },
}

/// A relation between two events, in the notation of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Program order; an initial write comes before every event.
    Po,
    /// The second observes the first.
    Rf,
    /// The first observes the second.
    RfInverse,
    /// The second comes later in the modification order.
    Mo,
    /// The first observes a write that comes before the second in the modification order.
    Fr,
    /// Happens before.
    Hb,
    /// The first starts the thread of the second, or the second waits for the end of the thread
    /// whose last event (or, if it has none, whose start) is the first.
    Asw,
}

/// Two events of a cycle and their relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CycleLink {
    /// The first event.
    pub from: EventId,
    /// The second event.
    pub to: EventId,
    /// Their relation.
    pub relation: Relation,
}

/// Why a write comes before another in every modification order that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyMo {
    /// It, or a read that observes it, happens before the other.
    HappensBefore,
    /// The other is an update that observes it.
    Update,
    /// It, or a read that observes it, happens before `read`, which observes the other: were it
    /// later than the other, the read would observe what was overwritten before.
    Read {
        /// The read or update.
        read: EventId,
    },
    /// A write of its chain comes before a write of the other's chain, by an earlier fact. A chain
    /// is a write, the update that observes it, the update that observes that, and so on: no other
    /// write comes between them.
    Chains,
}

/// A write comes before another in every modification order that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MoFact {
    /// The earlier write.
    pub from: EventId,
    /// The later write.
    pub to: EventId,
    /// The reason.
    pub why: WhyMo,
}

/// Evidence that a model forbids an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A cycle that an axiom of a C11-style model forbids, each link ending where the
    /// next one starts and the last where the first starts. ([`Axiom::WeakAtomicity`]
    /// has no cycle: its two links lead from the write to the updates that observe it.)
    Axiom {
        /// The axiom.
        axiom: Axiom,
        /// The cycle.
        cycle: Vec<CycleLink>,
        /// The facts behind the `mo` and `fr` links, in the order of inference: every fact follows from
        /// the execution and facts before it, and a link from the facts together.
        derivation: Vec<MoFact>,
    },
    /// Two accesses of one location, at least one of them a write and at least one non-atomic,
    /// neither of which happens before the other. Under the C11 models the behaviour of the program
    /// is then undefined.
    Race {
        /// The one that stands first in the execution.
        first: EventId,
        /// The other.
        second: EventId,
        /// Evidence that the execution is one that the axioms allow.
        coherence: Coherence,
    },
    /// A read observes a value that no write of its location has.
    UnwrittenValue {
        /// The read.
        read: EventId,
    },
    /// Events that must each come before the next, in a cycle.
    Cycle {
        /// The cycle: each edge ends where the next one starts, the last where the first starts.
        cycle: Vec<OrderEdge>,
        /// The facts behind the edges, in the order of inference. Every fact follows from program
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

/// How small a forbidden part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreSize {
    /// Every part with fewer events is allowed.
    Smallest,
    /// Every part of this part is allowed.
    Minimal,
    /// Some smaller part may be forbidden, too.
    Unknown,
}

/// The verdict of a checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsistencyVerdict {
    /// The model allows the execution.
    Consistent(Witness),
    /// The model forbids the execution.
    Inconsistent(Violation),
    /// The budget is exhausted.
    Unknown {
        /// After this many steps.
        steps: u64,
    },
}
