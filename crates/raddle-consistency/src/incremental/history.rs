//! What each thread wrote to a location, and which of its writes a thread knew at any point.
//!
//! By coherence, every write that a thread knows at a location is modification-ordered before the write that it accessed
//! last (its own, or the one that it read). So what a thread knows at some point is one write per location, and what a
//! vector clock covers is one write per location and thread: the *frontier*. A galloping search finds it, starting where
//! the same observer searched last, because happens-before only grows. That start is a hint: undo may invalidate it, and
//! then the search starts from the beginning.

use super::ids::{INIT, Index};

/// An access: from this position on, the thread knows this write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeenWrite {
    position: u32,
    write: Index,
}

/// The accesses of one thread to one location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadAccesses {
    /// Its writes, in program order.
    pub(super) writes: Vec<Index>,
    /// The write accessed last, one entry for each change.
    pub(super) seen: Vec<SeenWrite>,
    /// By observing thread: the number of entries of `seen` that its last search found.
    hints: Vec<u32>,
}

impl ThreadAccesses {
    /// The write accessed last, if any.
    pub(super) fn last(&self) -> Option<Index> {
        self.seen.last().map(|seen| seen.write)
    }

    /// The write accessed last before a position. The hint of the observer speeds the search up.
    #[inline]
    fn last_before(&mut self, position: u32, observer: usize) -> Option<Index> {
        if position == 0 {
            return None;
        }
        let is_before = |at: usize| self.seen[at].position < position;
        let known = if self.seen.is_empty() || is_before(self.seen.len() - 1) {
            self.seen.len()
        } else {
            match self.hints.get(observer).map_or(0, |&hint| hint as usize) {
                hint if hint > 0 && hint < self.seen.len() && is_before(hint - 1) => {
                    self.gallop(hint, position)
                }
                _ => self.gallop(0, position),
            }
        };
        self.hint(observer, known);
        Some(self.seen[known.checked_sub(1)?].write)
    }

    /// The number of entries before a position, given that the first `low` are.
    fn gallop(&self, mut low: usize, position: u32) -> usize {
        let mut step = 1;
        while low + step <= self.seen.len() && self.seen[low + step - 1].position < position {
            low += step;
            step *= 2;
        }
        let high = self.seen.len().min(low + step - 1);
        low + self.seen[low..high].partition_point(|seen| seen.position < position)
    }

    fn hint(&mut self, observer: usize, known: usize) {
        if self.hints.len() <= observer {
            self.hints.resize(observer + 1, 0);
        }
        self.hints[observer] = known as u32;
    }

    pub(super) fn push_seen(&mut self, position: u32, write: Index) {
        self.seen.push(SeenWrite { position, write });
    }

    pub(super) fn pop_seen(&mut self) {
        self.seen.pop();
    }
}

/// The accesses to one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocationHistory {
    /// The last write of the chain of updates that starts at the initial write.
    pub(super) init_last: Index,
    /// By thread; threads that come later may be missing.
    pub(super) threads: Vec<ThreadAccesses>,
}

impl LocationHistory {
    pub(super) fn new() -> LocationHistory {
        LocationHistory { init_last: INIT, threads: vec![] }
    }

    /// Collects what a clock covers at this location: for each thread, the write accessed last.
    #[inline]
    pub(super) fn frontier(&mut self, clock: &[u32], observer: usize, out: &mut Vec<Index>) {
        out.clear();
        for (accesses, &position) in self.threads.iter_mut().zip(clock) {
            if let Some(known) = accesses.last_before(position, observer) {
                out.push(known);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadAccesses;

    #[test]
    fn the_search_finds_every_position_whatever_the_hint() {
        for len in 0..20 {
            let mut accesses = ThreadAccesses::default();
            for write in 0..len {
                accesses.push_seen(2 * write, write);
            }
            for position in 0..2 * len + 2 {
                let expected = (0..len).rfind(|write| 2 * write < position);
                for hint in 0..=len as usize + 1 {
                    accesses.hint(1, hint);
                    assert_eq!(accesses.last_before(position, 1), expected, "{position} of {len}");
                }
            }
        }
    }
}
