//! What a search and its nodes know about reads that are left out (`rounds`).

use rustc_hash::FxHashMap;

use super::PartExploration;
use super::thread_set::ThreadSet;
use crate::event_set::EventSet;
use raddle_core::execution::{LocationId, ThreadId};

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
    /// By quiet location: threads that read it in a read that was left out.
    pub(super) readers: FxHashMap<LocationId, ThreadSet<R>>,
    /// By quiet location: threads that existed when another one wrote it.
    pub(super) late: FxHashMap<LocationId, ThreadSet<R>>,
    /// By location: its last writer and how many threads had been started then, if `late` knows that.
    pub(super) last_writers: Vec<Option<(ThreadId, usize)>>,
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
            readers: FxHashMap::default(),
            late: FxHashMap::default(),
            last_writers: vec![],
        }
    }

    /// Returns `true` if a thread read the location in a read that was left out, and another one may write it then.
    pub(super) fn may_conflict(&self, location: LocationId) -> bool {
        match (self.readers.get(&location), self.late.get(&location)) {
            (Some(readers), Some(late)) => !readers.and(late).is_empty(),
            _ => false,
        }
    }
}
