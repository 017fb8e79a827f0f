//! The nodes of the search, and the steps between them (`nodes.rs`).

use super::execution::SearchThread;
use super::quiet_state::QuietStateMark;
use super::round_state::NodeRounds;
use super::thread_set::ThreadSet;
use crate::event_index::RfSource;
use crate::event_set::EventSet;
use crate::model::RfSources;
use raddle_core::execution::ThreadId;

/// A node of the search, with what is still to be tried there.
#[derive(Clone)]
pub(super) struct SearchNode<R> {
    pub(super) kind: NodeKind,
    /// The thread that is being tried.
    pub(super) thread: ThreadId,
    /// The threads to try after it.
    pub(super) rest: ThreadSet<R>,
    /// The sources of its read that were not tried yet.
    pub(super) left: RfSources<R>,
    /// The source whose spurious failure is tried next; [`RfSource::NONE`] if there is none.
    pub(super) failure: RfSource,
    /// Whether the other threads can be skipped if they do not matter to this one.
    pub(super) can_skip: bool,
    /// What was left out (`rounds.rs`).
    pub(super) rounds: NodeRounds,
    /// The number of floors that were raised before.
    pub(super) base: u32,
    /// When the thread was begun.
    pub(super) start: u64,
}

/// How the children of a node are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// By trying threads and their sources.
    Threads,
    /// A thread makes a choice.
    Choice { next: u32, options: u32 },
    /// The node is on the path to a subtree. It has one child: step `at` of the path.
    Route { at: u32, has_child: bool },
    /// The node is on the way of a probe, which takes one child.
    Probe { has_child: bool },
}

/// The step from a node to the child that is being explored.
pub(super) struct OpenChild<R> {
    pub(super) mark: SearchMark<R>,
    /// The source of its read; [`RfSource::NONE`] if it is a choice.
    pub(super) source: RfSource,
    /// Whether it is a compare-exchange that failed spuriously.
    pub(super) is_spurious: bool,
}

impl<R: EventSet> SearchNode<R> {
    #[inline]
    pub(super) fn new(kind: NodeKind, thread: ThreadId, base: usize) -> Self {
        SearchNode {
            kind,
            thread,
            rest: ThreadSet::default(),
            left: RfSources { writes: R::default(), initial: false },
            failure: RfSource::NONE,
            can_skip: false,
            rounds: NodeRounds::default(),
            base: base as u32,
            start: 0,
        }
    }

    /// Takes the next source. The initial write is tried first.
    #[inline]
    pub(super) fn next_source(&mut self) -> Option<RfSource> {
        if std::mem::take(&mut self.left.initial) {
            return Some(RfSource::INITIAL);
        }
        let write = self.left.writes.first()?;
        self.left.writes.remove(write);
        Some(write.into())
    }
}

/// State of the search before a step of a thread.
pub(super) struct SearchMark<R> {
    pub(super) undo: u32,
    pub(super) len: u32,
    pub(super) past: u32,
    pub(super) taken: R,
    pub(super) waiting: ThreadSet<R>,
    pub(super) special: ThreadSet<R>,
    pub(super) joined: ThreadSet<R>,
    pub(super) unfinished: u32,
    pub(super) ops: u32,
    pub(super) cut: Option<ThreadId>,
    pub(super) quiet: QuietStateMark,
    pub(super) thread: ThreadId,
    pub(super) saved: SearchThread,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_index::EventIndex;

    #[test]
    fn the_initial_write_is_the_first_source() {
        let mut node = SearchNode::<u64>::new(NodeKind::Threads, ThreadId::new(0), 0);
        node.left = RfSources { writes: 0b1010, initial: true };
        let sources: Vec<RfSource> = std::iter::from_fn(|| node.next_source()).collect();
        let event = |index| RfSource::from(EventIndex::new(index));
        assert_eq!(sources, [RfSource::INITIAL, event(1), event(3)]);
    }
}
