//! Ops of threads, their answers, and the ends of segments.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::execution::{LocationId, MemoryOrder, ThreadId, Value};
use crate::finding_kind::FindingKind;

use super::{HistoryId, Origin};

/// The position of an op in its source, as a number that the program resolves ([`Naming::place`](super::Naming::place)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct PlaceId(pub u32);

/// One op of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Op {
    /// The operation.
    pub kind: OpKind,
    /// The position in the source.
    pub place: PlaceId,
}

/// The operation of an op. Effects first, then questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[allow(missing_docs, reason = "the fields are those of `Action`, or described with the variant")]
// Otherwise its tag, and that of every type that contains it, is as large as a value: it is written in two halves and read
// as a whole, which stalls store forwarding.
#[repr(u8)]
pub enum OpKind {
    /// Effect: states the initial value of a location, before the thread's first access to it. All
    /// threads of an execution that mention a location state the same value.
    Init { location: LocationId, value: Value },
    /// Effect: a store. If it `carries`, its value is a pointer to untracked memory, and the answer of a read names the
    /// event.
    Store { location: LocationId, value: Value, order: MemoryOrder, carries: bool },
    /// Effect: a fence.
    Fence { order: MemoryOrder },
    /// Effect: a store-store fence.
    StoreFence,
    /// Effect: releases a lock that the thread holds.
    Unlock { lock: LocationId },
    /// Effect: starts a thread. A thread that the program starts twice gets two ids.
    Spawn { thread: ThreadId },
    /// Effect: writes a cell, a unit of untracked memory. It may race.
    WriteCell { location: LocationId },
    /// Effect: begins, describes or ends a *joint access*: the accesses of locations in between happen at one moment.
    Joint(JointStep),

    /// Question: a load.
    Load { location: LocationId, order: MemoryOrder },
    /// Question: an atomic update. If it `is_blind`, the thread does not use the value that it reads.
    Rmw { location: LocationId, update: Update, order: MemoryOrder, is_blind: bool },
    /// Question: a compare-exchange. A `weak` one may also fail if the values are equal.
    CompareExchange {
        location: LocationId,
        expected: Value,
        desired: Value,
        /// `desired` is a pointer, as for a store that carries.
        carries: bool,
        success: MemoryOrder,
        failure: MemoryOrder,
        weak: bool,
    },
    /// Question: acquires a lock. Waits while it is held. Answered with the event that released it.
    Lock { lock: LocationId },
    /// Question: waits until the value of a synchronization object (a semaphore, say) satisfies the
    /// guard, and updates it. Such an object is accessed by these ops only; they acquire and release in
    /// every model. Answered with the event that it observed.
    Sync { location: LocationId, guard: Guard, update: Update },
    /// Question: waits for the end of a thread. Answered with the thread's last history, or with its result if the joiner
    /// observes only that.
    Join { thread: ThreadId },
    /// Question: a nondeterministic number below `options`.
    Choose { options: u32 },
    /// Question: reads a cell. It may race; otherwise it observes the last write that happens before it, and the answer
    /// names that write.
    ReadCell { location: LocationId },
}

/// A step of a joint access: an access of memory that consists of several locations, because it overlaps accesses of
/// other sizes. Its parts are ops of their own, between [`Begin`](JointStep::Begin) and [`End`](JointStep::End), and are
/// named in advance. Only programs that [say so](super::Program::has_joint_accesses) have them, and only models with store
/// buffers know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum JointStep {
    /// The access begins.
    Begin(JointKind),
    /// It accesses this location.
    Part {
        /// The location.
        location: LocationId,
    },
    /// The access ends.
    End,
}

/// What a joint access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum JointKind {
    /// It loads every part.
    Load(StoreForwarding),
    /// It stores every part, all with the same memory order.
    Store,
    /// It is an atomic update or a compare-exchange: it loads all parts but the last, updates the last one or fails to
    /// exchange it, and stores the others if the last one was written. If the others decide that a compare-exchange fails, it
    /// loads the last part, too.
    Update,
}

/// What a load observes that some store in its own thread's buffer overlaps, but does not cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum StoreForwarding {
    /// Each part is that of the newest store in the buffer, or that in memory.
    #[default]
    Combine,
    /// It waits until these stores are in memory.
    Wait,
}

/// The values that satisfy a wait for a synchronization object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Guard {
    /// Any value.
    Always,
    /// This value.
    Equal(Value),
    /// A value below this one.
    Below(Value),
    /// A value above this one.
    Above(Value),
    /// A value without any of these bits.
    NoBits(Value),
}

impl Guard {
    /// Returns `true` if the value satisfies the guard.
    #[inline]
    #[must_use]
    pub fn admits(self, value: Value) -> bool {
        match self {
            Guard::Always => true,
            Guard::Equal(expected) => value == expected,
            Guard::Below(bound) => value < bound,
            Guard::Above(bound) => value > bound,
            Guard::NoBits(bits) => value & bits == 0,
        }
    }
}

/// A pointer value is the base of its block plus an offset. Bases are multiples of this number, above all integers; offsets
/// are below it and have the low bits of the address.
pub const POINTER_BASE: Value = 1 << 64;

/// All pointers have this bit.
pub const POINTER: Value = 1 << 120;

/// Returns `true` if the value is a pointer to a block, not an integer.
#[inline]
#[must_use]
pub fn is_pointer(value: Value) -> bool {
    value >= POINTER
}

/// The function of an atomic update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Update {
    /// The operation.
    pub kind: UpdateKind,
    /// Its second operand.
    pub operand: Value,
    /// The width of the integer in bits, 1 to 64; the result wraps around. 0: no wrapping. 128: wraps around, and
    /// no value is a pointer.
    pub bits: u8,
    /// The integer is signed.
    pub signed: bool,
    /// The operand is a pointer, as for a store that carries.
    pub carries: bool,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[allow(missing_docs, reason = "the names say it")]
pub enum UpdateKind {
    Swap,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
}

impl Update {
    /// The value that is written if `read` was read. Arithmetic on a pointer ([`is_pointer`]) changes its offset only: the
    /// result points into the same block, and the offset wraps.
    #[inline]
    #[must_use]
    pub fn apply(&self, read: Value) -> Value {
        let arithmetic = !matches!(self.kind, UpdateKind::Swap | UpdateKind::Max | UpdateKind::Min);
        if arithmetic && is_pointer(read) && self.bits <= 64 {
            let low = POINTER_BASE - 1;
            return read & !low | self.apply(read & low) & low;
        }
        let operand = self.operand;
        self.wrap(match self.kind {
            UpdateKind::Swap => operand,
            UpdateKind::Add => read.wrapping_add(operand),
            UpdateKind::Sub => read.wrapping_sub(operand),
            UpdateKind::And => read & operand,
            UpdateKind::Nand => !(read & operand),
            UpdateKind::Or => read | operand,
            UpdateKind::Xor => read ^ operand,
            UpdateKind::Max => read.max(operand),
            UpdateKind::Min => read.min(operand),
        })
    }

    /// Returns `true` if two updates have the same result in either order, whatever the value before.
    #[must_use]
    pub fn commutes_with(&self, other: &Update) -> bool {
        let group = |update: &Update| match update.kind {
            UpdateKind::Swap | UpdateKind::Nand => None,
            UpdateKind::Add | UpdateKind::Sub => Some(UpdateKind::Add),
            kind => Some(kind),
        };
        group(self).is_some()
            && group(self) == group(other)
            && (self.bits, self.signed) == (other.bits, other.signed)
            && !self.carries
            && !other.carries
    }

    /// Wraps around at the width of the integer.
    fn wrap(&self, value: Value) -> Value {
        if self.bits == 0 || self.bits > 64 {
            return value;
        }
        let low = value & ((1 << self.bits) - 1);
        let negative = self.signed && low >> (self.bits - 1) & 1 == 1;
        if negative { low - (1 << self.bits) } else { low }
    }
}

impl OpKind {
    /// Returns `true` if the op is a question.
    #[must_use]
    pub fn is_question(&self) -> bool {
        match self {
            OpKind::Init { .. }
            | OpKind::Store { .. }
            | OpKind::Fence { .. }
            | OpKind::StoreFence
            | OpKind::Unlock { .. }
            | OpKind::Spawn { .. }
            | OpKind::WriteCell { .. }
            | OpKind::Joint(_) => false,
            OpKind::Load { .. }
            | OpKind::Rmw { .. }
            | OpKind::CompareExchange { .. }
            | OpKind::Lock { .. }
            | OpKind::Sync { .. }
            | OpKind::Join { .. }
            | OpKind::Choose { .. }
            | OpKind::ReadCell { .. } => true,
        }
    }

    /// The location, lock or cell that the op is about.
    #[must_use]
    pub fn location(&self) -> Option<LocationId> {
        match *self {
            OpKind::Init { location, .. }
            | OpKind::Store { location, .. }
            | OpKind::WriteCell { location }
            | OpKind::Load { location, .. }
            | OpKind::Rmw { location, .. }
            | OpKind::CompareExchange { location, .. }
            | OpKind::Sync { location, .. }
            | OpKind::ReadCell { location }
            | OpKind::Joint(JointStep::Part { location }) => Some(location),
            OpKind::Lock { lock } | OpKind::Unlock { lock } => Some(lock),
            OpKind::Fence { .. }
            | OpKind::StoreFence
            | OpKind::Spawn { .. }
            | OpKind::Join { .. }
            | OpKind::Choose { .. }
            | OpKind::Joint(_) => None,
        }
    }
}

impl Op {
    /// Returns `true` if the value that the op writes is a pointer to untracked memory.
    #[must_use]
    pub fn carries(&self) -> bool {
        match self.kind {
            OpKind::Store { carries, .. } | OpKind::CompareExchange { carries, .. } => carries,
            OpKind::Rmw { update, .. } => update.carries,
            _ => false,
        }
    }
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)] // As for `OpKind`.
pub enum Answer {
    /// A load, update or compare-exchange read this value.
    Value(Value),
    /// A weak compare-exchange read this value, which is the expected one, and failed.
    Spurious(Value),
    /// The thread observed this event: the write of a pointer, the release of a lock, the write of a cell, or the end of a
    /// joined thread.
    From(Origin),
    /// As [`Answer::From`], by a weak compare-exchange that failed spuriously.
    SpuriousFrom(Origin),
    /// The lock or the cell is in its initial state.
    Initial,
    /// This number was chosen.
    Choice(u32),
}

/// The end of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// With a question.
    Question(Op),
    /// The thread is finished.
    Finished,
    /// An assumption does not hold: the execution is discarded.
    Assume,
    /// The thread is in the same state as at the end of this earlier history, which ends with a question, and has only read
    /// since. Unless another thread writes, it repeats this forever.
    Repeats(HistoryId),
    /// The program has a bug.
    Failed(Failure),
    /// The thread has reached the limit of its events.
    Limit,
    /// The thread would begin more rounds of the loop at this place than it may.
    Unrolled(PlaceId),
}

/// A bug that a thread runs into on its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Failure {
    /// The kind of error.
    pub kind: FindingKind,
    /// One sentence for the report, without the name of the thread.
    pub message: String,
    /// The position in the source.
    pub place: PlaceId,
}
