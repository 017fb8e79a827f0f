//! How executions end.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::execution::ThreadId;
use crate::finding_kind::FindingKind;
use crate::program::Failure;

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Ending {
    /// All threads finished.
    Complete,
    /// No thread can continue, because an assumption failed or a thread waits in a loop for a value that may still
    /// come. Not an error.
    Blocked,
    /// No thread can continue, and these wait for locks, synchronization objects or each other.
    Deadlock(Vec<ThreadId>),
    /// These threads continue forever, and no thread makes progress.
    Livelock(Vec<ThreadId>),
    /// A thread failed.
    Failed(ThreadId, Failure),
    /// Two accesses race: their indices in the trace.
    Race(usize, usize),
    /// A thread reached its limit of events; the rest was not explored.
    Limit(ThreadId),
}

impl Ending {
    /// Returns `true` if the ending is an error.
    #[must_use]
    pub fn is_bug(&self) -> bool {
        self.finding_kind().is_some()
    }

    /// The kind of error, if the ending is one.
    #[must_use]
    pub fn finding_kind(&self) -> Option<FindingKind> {
        match self {
            Ending::Complete | Ending::Blocked | Ending::Limit(_) => None,
            Ending::Deadlock(_) => Some(FindingKind::Deadlock),
            Ending::Livelock(_) => Some(FindingKind::Livelock),
            Ending::Race(..) => Some(FindingKind::Race),
            Ending::Failed(_, failure) => Some(failure.kind),
        }
    }
}
