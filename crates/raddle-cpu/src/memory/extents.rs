//! States of long ranges of untouched pages, so that a large block costs nothing until it is touched.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges of page numbers with the state of their untouched bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents(BTreeMap<u64, (u64, u8)>);

impl Extents {
    /// The state of an untouched page, if an extent contains it.
    pub(crate) fn get(&self, page: u64) -> Option<u8> {
        let (_, (end, code)) = self.0.range(..=page).next_back()?;
        (page < *end).then_some(*code)
    }

    /// Replaces what the range had before.
    pub(crate) fn set(&mut self, range: Range<u64>, code: u8) {
        let overlapping: Vec<(u64, u64, u8)> = self
            .0
            .range(..range.end)
            .rev()
            .take_while(|(_, (end, _))| *end > range.start)
            .map(|(start, (end, code))| (*start, *end, *code))
            .collect();
        for (start, end, old) in overlapping {
            self.0.remove(&start);
            if start < range.start {
                self.0.insert(start, (range.start, old));
            }
            if end > range.end {
                self.0.insert(range.end, (end, old));
            }
        }
        self.0.insert(range.start, (range.end, code));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_state_of_a_page_counts() {
        let mut extents = Extents::default();
        let mut expected = [None; 40];
        let ranges =
            [(0, 40, 1), (5, 10, 2), (8, 20, 3), (9, 10, 4), (0, 6, 5), (30, 40, 6), (4, 35, 7)];
        for (start, end, code) in ranges {
            extents.set(start..end, code);
            expected[start as usize..end as usize].fill(Some(code));
            for page in 0..40 {
                assert_eq!(extents.get(page), expected[page as usize]);
            }
            assert_eq!(extents.get(40), None);
        }
    }
}
