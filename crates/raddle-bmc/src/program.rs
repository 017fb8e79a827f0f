//! Unrolled programs: for each thread, a sequence of guarded visible statements.
//!
//! Visible statements are accesses to memory that another thread may access concurrently, fences, and statements that
//! may block. All other code has become terms over the values that visible statements read.

use raddle_core::outcome::FindingKind;

use crate::term::{Term, TermStore};

/// Index of a [`SharedCell`].
pub(crate) type CellId = usize;

/// A scalar in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct SharedCell {
    pub(crate) name: String,
    /// The content when the first thread is created.
    pub(crate) initial: Term,
}

/// The cells that an access may address, each with the condition under which it does.
pub(crate) type CellTargets = Vec<(CellId, Term)>;

/// The effect of a visible statement.
#[derive(Clone, Debug)]
pub(crate) enum VisibleAction {
    /// Reads a cell. `out` is the value: a variable, or a sign-extended variable.
    Read { at: CellTargets, out: Term },
    /// Writes a cell. If `releases`, no earlier write of the thread reaches memory later.
    Write { at: CellTargets, value: Term, releases: bool },
    /// Atomically reads and, if `writes`, writes memory, with empty store buffers. Blocks until `ready`, a condition on
    /// the value that is read. `out` is that value, if it is used.
    Update { at: CellTargets, out: Option<Term>, new: Term, writes: Term, ready: Term },
    /// Flushes the store buffers.
    Fence,
    /// Store-store fence: no later write reaches memory before an earlier one.
    StoreFence,
    /// Blocks until the thread whose condition holds has ended.
    Join(Vec<(usize, Term)>),
}

/// A visible statement.
#[derive(Clone, Debug)]
pub(crate) struct VisibleStatement {
    /// The condition under which control flow reaches the statement.
    pub(crate) guard: Term,
    pub(crate) action: VisibleAction,
    /// `file:line`.
    pub(crate) place: String,
    /// Whether the statement accesses a part of a structure that is copied.
    pub(crate) is_part: bool,
}

/// Where and when a thread is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadCreation {
    pub(crate) parent: usize,
    /// The number of visible statements of the parent before the creation.
    pub(crate) after: usize,
    pub(crate) guard: Term,
}

/// A point at which a thread blocks forever, since no other thread accesses the memory that it waits for.
#[derive(Clone, Debug)]
pub(crate) struct BlockedForever {
    /// The number of visible statements of the thread before this point.
    pub(crate) after: usize,
    pub(crate) guard: Term,
    /// `file:line`.
    pub(crate) place: String,
}

/// A thread of an unrolled program.
#[derive(Clone, Debug)]
pub(crate) struct UnrolledThread {
    pub(crate) name: String,
    /// `None` for the main thread.
    pub(crate) creation: Option<ThreadCreation>,
    pub(crate) statements: Vec<VisibleStatement>,
    pub(crate) blocked_forever: Vec<BlockedForever>,
    /// The condition under which control flow reaches the end of the thread.
    pub(crate) end: Term,
    /// The condition under which the thread calls `pthread_exit`. If the main thread does, the program goes on without it.
    pub(crate) left: Term,
}

/// A condition at a point of a thread: a failure, or a bound that cuts the execution off.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) thread: usize,
    /// The number of visible statements of the thread before this point.
    pub(crate) after: usize,
    /// The condition under which the check fails.
    pub(crate) fails: Term,
    /// The kind of failure. `None` for a bound that cuts the execution off.
    pub(crate) kind: Option<FindingKind>,
    pub(crate) message: String,
    /// `file:line`.
    pub(crate) place: String,
}

/// A nondeterministic value from the environment (`__VERIFIER_nondet_*`).
#[derive(Clone, Debug)]
pub(crate) struct NondetInput {
    pub(crate) thread: usize,
    /// The number of visible statements of the thread before this point.
    pub(crate) after: usize,
    /// The function that returns the value.
    pub(crate) function: String,
    pub(crate) value: Term,
    pub(crate) guard: Term,
    pub(crate) signed: bool,
    /// `file:line`.
    pub(crate) place: String,
}

/// A program after symbolic execution within the bounds. Thread 0 is the main thread.
pub(crate) struct UnrolledProgram {
    pub(crate) terms: TermStore,
    pub(crate) cells: Vec<SharedCell>,
    pub(crate) threads: Vec<UnrolledThread>,
    /// Failures.
    pub(crate) checks: Vec<Check>,
    /// Points at which a bound cuts executions off.
    pub(crate) cuts: Vec<Check>,
    pub(crate) inputs: Vec<NondetInput>,
}

impl VisibleAction {
    /// The cells that the statement may access.
    pub(crate) fn targets(&self) -> &[(CellId, Term)] {
        use VisibleAction as A;
        match self {
            A::Read { at, .. } | A::Write { at, .. } | A::Update { at, .. } => at,
            A::Fence | A::StoreFence | A::Join(_) => &[],
        }
    }

    /// The term for the value that the statement reads, if that is used.
    pub(crate) fn out(&self) -> Option<Term> {
        match self {
            VisibleAction::Read { out, .. } => Some(*out),
            VisibleAction::Update { out, .. } => *out,
            _ => None,
        }
    }

    /// The terms that the statement depends on. The value that it reads is not among them.
    pub(crate) fn terms(&self) -> Vec<Term> {
        use VisibleAction as A;
        let mut terms: Vec<Term> = self.targets().iter().map(|&(_, condition)| condition).collect();
        match self {
            A::Write { value, .. } => terms.push(*value),
            A::Update { new, writes, ready, .. } => terms.extend([*new, *writes, *ready]),
            A::Join(threads) => terms.extend(threads.iter().map(|&(_, condition)| condition)),
            A::Read { .. } | A::Fence | A::StoreFence => {}
        }
        terms
    }
}
