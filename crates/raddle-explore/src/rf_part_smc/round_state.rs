//! What a search and its nodes know about reads that are left out (`rounds`).

use super::PartExploration;
use super::thread_set::ThreadSet;
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{HistoryId, SegmentId};
use smallvec::SmallVec;

/// How many questions before the last one a history is compared with. A loop that never repeats a state would be compared with
/// all its rounds, each of which runs the program.
pub(super) const FARTHEST: usize = 16;

/// Locations that a part of a history stores.
pub(super) type StoredLocations = SmallVec<[LocationId; 4]>;

/// What a search knows about reads that are left out.
pub(super) struct RoundState<R> {
    /// Whether they are. Otherwise nothing in this file happens.
    pub(super) are_left_out: bool,
    /// Whether the program can compare states.
    pub(super) compares_states: bool,
    /// Whether updates that write what they read are silent.
    pub(super) updates_may_be_silent: bool,
    /// Whether something was left out, maybe in another part of the tree.
    pub(super) has_left_out: bool,
    /// Whether the current execution is blocked because all sources are left out.
    pub(super) is_stuck: bool,
    /// Whether a read that was left out accessed a quiet location.
    pub(super) has_left_out_quiet: bool,
    /// By quiet location, who accessed it.
    pub(super) accessors: Vec<Accessors<R>>,
    /// Histories that were ended because they repeat others but for private stores, with their former segments.
    pub(super) ended: Vec<(HistoryId, SegmentId)>,
}

/// Who accessed a quiet location, in all executions so far (`private_rounds`).
#[derive(Clone)]
pub(super) struct Accessors<R> {
    /// The only thread that did.
    only: Option<ThreadId>,
    all: ThreadSet<R>,
    /// Threads after whose access another one wrote the location.
    overwritten: ThreadSet<R>,
    /// Those of them that have accessed it after that: it had not the value that they left.
    returned: ThreadSet<R>,
    /// Threads whose stores of it were left out because it has the same value before and after.
    relying: ThreadSet<R>,
}

impl<R: EventSet> Default for Accessors<R> {
    fn default() -> Self {
        Accessors {
            only: None,
            all: ThreadSet::default(),
            overwritten: ThreadSet::default(),
            returned: ThreadSet::default(),
            relying: ThreadSet::default(),
        }
    }
}

impl<R: EventSet> Accessors<R> {
    /// Adds an access; `writer` wrote the location last. Returns `false` if the location must not be relied on, but is.
    #[inline]
    fn add(&mut self, thread: ThreadId, writes: bool, writer: Option<ThreadId>) -> bool {
        if self.only == Some(thread) {
            return true;
        }
        self.only = self.all.is_empty().then_some(thread);
        if self.overwritten.has(thread) && writer.is_some_and(|writer| writer != thread) {
            self.returned.insert(thread);
        }
        self.all.insert(thread);
        if writes && self.only.is_none() {
            for other in self.all.iter().filter(|&other| other != thread) {
                self.overwritten.insert(other);
            }
        }
        self.returned.and(&self.relying).is_empty()
    }
}

/// What was left out at a node.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeRounds {
    /// A source of the thread that is being tried.
    pub(super) left_out: bool,
    /// Whether the node has a child, or is only a part of a node.
    pub(super) has_child: bool,
}

impl<R: EventSet> RoundState<R> {
    pub(super) fn new(exploration: &PartExploration<'_>) -> Self {
        RoundState {
            are_left_out: exploration.leaves_out_rounds,
            compares_states: exploration.program.compares_states(),
            updates_may_be_silent: exploration.updates_may_be_silent,
            has_left_out: false,
            is_stuck: false,
            has_left_out_quiet: false,
            accessors: vec![],
            ended: vec![],
        }
    }

    /// Adds an access of a quiet location, which `writer` wrote last. Returns `false` if the location must not be relied
    /// on, but is.
    #[inline]
    pub(super) fn add_access(
        &mut self,
        location: LocationId,
        thread: ThreadId,
        writes: bool,
        writer: Option<ThreadId>,
    ) -> bool {
        self.accessors(location).add(thread, writes, writer)
    }

    /// Relies on that a location has the value that a thread left there. Returns `false` if it may have another one.
    pub(super) fn rely_on(&mut self, location: LocationId, thread: ThreadId) -> bool {
        let accessors = self.accessors(location);
        accessors.relying.insert(thread);
        !accessors.returned.has(thread)
    }

    #[inline]
    fn accessors(&mut self, location: LocationId) -> &mut Accessors<R> {
        if self.accessors.len() <= location.index() {
            self.accessors.resize(location.index() + 1, Accessors::default());
        }
        &mut self.accessors[location.index()]
    }
}
