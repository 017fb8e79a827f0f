//! Sets of events of executions of any length.

/// A set of events of one execution.
#[derive(Clone, Debug)]
pub(super) struct PastSet(Vec<u64>);

impl PastSet {
    /// The empty set, for an execution with this many events.
    pub(super) fn empty(events: usize) -> PastSet {
        PastSet(vec![0; events.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, event: usize) {
        self.0[event / 64] |= 1 << (event % 64);
    }

    pub(super) fn contains(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 == 1
    }

    /// Adds another set.
    pub(super) fn unite(&mut self, other: &PastSet) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// The events, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * self.0.len()).filter(|&event| self.contains(event))
    }
}
