//! Names of histories and of events in them.

/// A history of one thread: a node of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryId(pub u32);

/// An event, named by the history of its thread: independent of what other threads do meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The history in whose segment the event is. A question is in the segment that follows its answer.
    pub node: HistoryId,
    /// Which event of that segment: 0 is the question that led here, 1 the first effect, and so on.
    pub index: u32,
}
