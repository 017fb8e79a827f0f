//! Interned segments: the ops of a thread between two questions.
//!
//! Threads often perform the same ops in different histories: `lastzero(14)` has 49,257 histories and fewer than 200
//! segments. So histories refer to segments by number, and analyses visit each segment once.
//!
//! *Cost.* Hashing a segment, about 100 instructions. *Rejected:* a segment for each history, which takes more than 200
//! additional bytes; `lastzero(14)` spent a quarter of its time on page faults for them.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::Segment;

/// A segment, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentId(pub u32);

/// The interned segments.
#[derive(Default)]
pub(super) struct Segments {
    segments: Vec<Segment>,
    /// The numbers, hashed by the segment.
    ids: HashTable<SegmentId>,
}

impl Segments {
    /// The number of segments.
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    /// The segment with a number.
    #[inline]
    pub(super) fn get(&self, id: SegmentId) -> &Segment {
        &self.segments[id.0 as usize]
    }

    /// Interns a segment.
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
