//! Names of histories and of events in them.

/// A history of one thread: a node of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryId(pub u32);

/// An event, identified by the history of its thread, independent of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The history whose last segment contains the event. A question belongs to the segment after its answer.
    pub node: HistoryId,
    /// The index in that segment: 0 is the question before it, 1 the first effect, and so on.
    pub index: u32,
}
