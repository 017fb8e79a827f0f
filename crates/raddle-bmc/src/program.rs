//! A program as the sequentialization sees it: for each thread, a list of guarded visible statements.
//!
//! Visible are accesses to memory that another thread may access at the same time, fences, and what waits. Everything
//! else has become terms over what visible statements read.

use crate::term::{Term, TermStore};

/// A cell of shared memory, by number.
pub(crate) type CellId = usize;

/// A scalar in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) name: String,
    /// What it is when the first thread is created.
    pub(crate) initial: Term,
}

/// The cells that an access may be to, and when it is to each.
pub(crate) type Targets = Vec<(CellId, Term)>;

/// What a visible statement does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Reads; the variable is what it reads.
    Read { at: Targets, out: Term },
    /// Writes; if `releases`, behind all earlier writes.
    Write { at: Targets, value: Term, releases: bool },
    /// Reads and writes memory at once, if `writes`, with empty buffers; waits until `ready`, which is about what it
    /// reads. What it reads is nothing if nobody wants to know.
    Update { at: Targets, out: Option<Term>, new: Term, writes: Term, ready: Term },
    /// Empties the buffers.
    Fence,
    /// No later write overtakes an earlier one.
    StoreFence,
    /// Waits until one of these threads has ended.
    Join(Vec<(usize, Term)>),
}

/// A visible statement.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// When it is executed.
    pub(crate) guard: Term,
    pub(crate) action: Action,
    pub(crate) place: String,
    /// Whether it accesses a part of a structure that is copied.
    pub(crate) is_part: bool,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) name: String,
    /// Who creates it, behind how many visible statements, and when.
    pub(crate) created: Option<(usize, usize, Term)>,
    pub(crate) events: Vec<Event>,
    /// Where it waits for what never comes: behind how many visible statements, when, and the place.
    pub(crate) stuck: Vec<(usize, Term, String)>,
    /// When it comes to its end.
    pub(crate) end: Term,
}

/// Something that must not happen.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) thread: usize,
    /// Behind so many visible statements of the thread.
    pub(crate) after: usize,
    /// When it goes wrong.
    pub(crate) fails: Term,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) place: String,
}

/// A value from outside.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) thread: usize,
    pub(crate) after: usize,
    pub(crate) function: String,
    pub(crate) value: Term,
    pub(crate) guard: Term,
    pub(crate) signed: bool,
    pub(crate) place: String,
}

/// A program.
pub(crate) struct Program {
    pub(crate) terms: TermStore,
    pub(crate) cells: Vec<Cell>,
    pub(crate) threads: Vec<Thread>,
    /// What must not happen.
    pub(crate) checks: Vec<Check>,
    /// Where a bound cuts executions off.
    pub(crate) cuts: Vec<Check>,
    pub(crate) inputs: Vec<Input>,
}

impl Action {
    /// The cells that it may access.
    pub(crate) fn targets(&self) -> &[(CellId, Term)] {
        match self {
            Action::Read { at, .. } | Action::Write { at, .. } | Action::Update { at, .. } => at,
            Action::Fence | Action::StoreFence | Action::Join(_) => &[],
        }
    }

    /// The terms that it uses.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<Term> = self.targets().iter().map(|&(_, condition)| condition).collect();
        match self {
            Action::Write { value, .. } => terms.push(*value),
            Action::Update { new, writes, ready, .. } => terms.extend([*new, *writes, *ready]),
            Action::Join(threads) => terms.extend(threads.iter().map(|&(_, condition)| condition)),
            Action::Read { .. } | Action::Fence | Action::StoreFence => {}
        }
        terms
    }
}
