//! How executions end.

use crate::execution::ThreadId;
use crate::program::Failure;

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All threads finished.
    Complete,
    /// No thread can go on, because an assumption failed somewhere or a thread waits in a loop for a
    /// value that may still come. Of no interest.
    Blocked,
    /// No thread can go on, and these wait for locks, synchronization objects or each other.
    Deadlock(Vec<ThreadId>),
    /// These threads go on for ever without anybody making progress.
    Livelock(Vec<ThreadId>),
    /// A thread failed.
    Failed(ThreadId, Failure),
    /// Two accesses race: their positions in the trace.
    Race(usize, usize),
    /// A thread reached the limit of its events: what comes after it was not explored.
    Limit(ThreadId),
}

impl Ending {
    /// Whether something went wrong.
    #[must_use]
    pub fn is_bug(&self) -> bool {
        match self {
            Ending::Complete | Ending::Blocked | Ending::Limit(_) => false,
            Ending::Deadlock(_) | Ending::Livelock(_) | Ending::Failed(..) | Ending::Race(..) => {
                true
            }
        }
    }
}
