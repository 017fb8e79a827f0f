//! What threads do between two questions, every different piece once.
//!
//! A thread that reads something else than before often does the same nevertheless, or what it did in another
//! history: `lastzero(14)` has 49,257 histories and fewer than 200 segments. So histories refer to segments by their
//! numbers, and whoever looks at what threads do looks at each segment once.
//!
//! Cost: hashing a segment, some 100 instructions. *Rejected:* a segment for each history, more than
//! 200 bytes more; a quarter of the time of `lastzero(14)` went to the kernel, which made pages for them.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::Segment;

/// The number of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentId(pub u32);

/// Segments by their numbers.
#[derive(Default)]
pub(super) struct Segments {
    segments: Vec<Segment>,
    /// The numbers, by what has them.
    ids: HashTable<SegmentId>,
}

impl Segments {
    /// How many segments there are.
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    /// The segment with a number.
    #[inline]
    pub(super) fn get(&self, id: SegmentId) -> &Segment {
        &self.segments[id.0 as usize]
    }

    /// The number of a segment.
    pub(super) fn id(&mut self, segment: Segment) -> SegmentId {
        let hash = |segment: &Segment| FxBuildHasher.hash_one(segment);
        let is_it = |id: &SegmentId| *self.get(*id) == segment;
        let hashed = hash(&segment);
        if let Some(&id) = self.ids.find(hashed, is_it) {
            return id;
        }
        let new = SegmentId(self.segments.len() as u32);
        self.segments.push(segment);
        let segments = &self.segments;
        self.ids.insert_unique(hashed, new, |id| hash(&segments[id.0 as usize]));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;

    #[test]
    fn equal_segments_have_one_number() {
        let end =
            |node| Segment { effects: vec![], end: End::Repeats(super::super::HistoryId(node)) };
        let mut segments = Segments::default();
        let ids: Vec<u32> = [0, 1, 0, 2, 1].map(|node| segments.id(end(node)).0).to_vec();
        assert_eq!(ids, [0, 1, 0, 2, 1]);
        assert_eq!(segments.len(), 3);
        assert_eq!(*segments.get(SegmentId(2)), end(2));
    }
}
