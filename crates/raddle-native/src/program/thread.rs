//! One guest thread as the explorer sees it: where it stands, and the questions to which it can go back.

use std::rc::Rc;

use raddle_core::execution::Value;
use raddle_core::program::{HistoryId, Op};
use raddle_cpu::Stop;
use raddle_cpu::memory::Thread;
use smallvec::SmallVec;

use super::bookkeeping::Bookkeeping;
use super::loops::PrivateSteps;
use crate::process::{FutexCall, HostFunction, ThreadSnapshot};

/// What a thread does that needs more than its CPU: an access to shared memory, or a modelled function.
///
/// An activity is a function of the state in which it starts and of the replies to its questions. When it asks, its changes
/// are undone; with one more reply it runs again from its start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Activity {
    /// A load, store or read-modify-write operation of the CPU.
    Access(Stop),
    /// A call of a modelled function.
    Function(HostFunction),
    /// The system call `futex`.
    Futex(FutexCall),
    /// The end of the thread's function.
    Return,
    /// The end of the process, with a status.
    Exit(i32),
}

/// The reply to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The value that was read, or the number that was chosen.
    pub(crate) value: Value,
    /// A weak compare-exchange failed although it read the expected value.
    pub(crate) is_spurious: bool,
}

/// An activity that waits for a reply, or runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Active {
    pub(crate) activity: Activity,
    /// The replies to its questions so far.
    pub(crate) replies: SmallVec<[Reply; 1]>,
    /// The number of its effects that the thread has already performed.
    pub(crate) effects: usize,
}

impl Active {
    pub(crate) fn new(activity: Activity) -> Self {
        Active { activity, replies: SmallVec::new(), effects: 0 }
    }
}

/// A question to which a thread can go back.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The history that ends with the question.
    pub(crate) node: HistoryId,
    pub(crate) question: Op,
    pub(crate) snapshot: ThreadSnapshot,
    pub(crate) active: Active,
    pub(crate) own: Rc<Bookkeeping>,
    pub(crate) events: u32,
    /// Index of the first point since which the thread has only read.
    pub(crate) reads_since: usize,
}

/// A thread that has started.
#[derive(Debug)]
pub(crate) struct GuestThread {
    pub(crate) guest: Thread,
    /// The history at whose end the thread stands with a question.
    pub(crate) at: Option<HistoryId>,
    pub(crate) question: Option<Op>,
    pub(crate) active: Option<Active>,
    /// The value that answered its last question.
    pub(crate) last_value: Value,
    pub(crate) own: Rc<Bookkeeping>,
    /// The number of its ops.
    pub(crate) events: u32,
    /// The questions on the path to its current history, oldest first; their histories ascend.
    pub(crate) points: Vec<Point>,
    /// Index of the first point since which the thread has only read.
    pub(crate) reads_since: usize,
    /// The state at its start.
    pub(crate) start: ThreadSnapshot,
    /// What it printed since its last question.
    pub(crate) printed: String,
    /// What it did since its last question.
    pub(crate) private: PrivateSteps,
}

impl GuestThread {
    /// What modelled functions keep, for changes.
    pub(crate) fn own_mut(&mut self) -> &mut Bookkeeping {
        Rc::make_mut(&mut self.own)
    }

    /// The thread has done more than read: it does not repeat earlier questions.
    pub(crate) fn note_change(&mut self) {
        self.reads_since = self.points.len();
    }
}
