//! Comparing private memory with another state of its thread, by what the undo log says was overwritten since both.

use super::undo::Mark;
use super::{Memory, Thread};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of private memory that were written since some mark, with their contents.
pub type WrittenBytes = FxHashMap<u64, u8>;

/// The result of a comparison of two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same.
    Same,
    /// They differ in the byte at this address.
    DifferAt(u64),
    /// They differ, or that was not decided.
    Differ,
}

/// A set of bytes: by word, one bit for each.
#[derive(Default)]
struct SeenBytes(FxHashMap<u64, u8>);

impl SeenBytes {
    /// Adds at most 8 bytes. Returns which of them are new, the first one as the lowest bit.
    fn insert(&mut self, address: u64, size: usize) -> u8 {
        let (word, offset) = (address / 8, address % 8);
        let [low, high] = (((1_u16 << size) - 1) << offset).to_le_bytes();
        let mut add = |word, bits: u8| {
            let seen = self.0.entry(word).or_default();
            let new = bits & !*seen;
            *seen |= bits;
            new
        };
        let low = add(word, low);
        let high = if high == 0 { 0 } else { add(word + 1, high) };
        (u16::from_le_bytes([low, high]) >> offset) as u8
    }

    fn contains(&self, address: u64) -> bool {
        self.0.get(&(address / 8)).is_some_and(|seen| seen >> (address % 8) & 1 == 1)
    }
}

impl Memory {
    /// Returns `true` if `thread` was the last one to run.
    pub fn is_selected(&self, thread: Thread) -> bool {
        self.view.thread == thread
    }

    /// What `thread`, which was the last one to run, has written since `mark`. `None` if it has changed many pages, states or heap
    /// blocks.
    pub fn written_since(&self, thread: Thread, mark: Mark) -> Option<WrittenBytes> {
        if self.view.thread != thread {
            return None;
        }
        let mut written = WrittenBytes::default();
        for (address, size, _) in self.view.log.writes_since(mark)? {
            let mut now = [0; 8];
            self.read(address, &mut now[..size]).ok()?;
            written.extend((address..).zip(now).take(size));
        }
        Some(written)
    }

    /// Compares the private memory of `thread`, which was the last one to run, with the contents that it had when it had `written` these bytes
    /// since `mark`, apart from its own stack below `live` and from the bytes in `dead`, which ascend. Not decided if the
    /// thread has changed many pages, states or heap blocks since. Costs the writes since.
    pub fn compare_since(
        &self,
        thread: Thread,
        mark: Mark,
        written: &WrittenBytes,
        live: u64,
        dead: &[Range<u64>],
    ) -> Comparison {
        if self.view.thread != thread {
            return Comparison::Differ;
        }
        let view = &self.view;
        let Some(writes) = view.log.writes_since(mark) else { return Comparison::Differ };
        let below = view.log.stack_start..live.max(view.log.stack_start);
        let is_dead = |at: u64| {
            let before = dead.partition_point(|range| range.end <= at);
            below.contains(&at) || dead.get(before).is_some_and(|range| range.contains(&at))
        };
        // The first write to a byte since the mark has the contents that it had then.
        let mut seen = SeenBytes::default();
        for (address, size, old) in writes {
            let new = seen.insert(address, size);
            if new == 0 {
                continue;
            }
            let mut now = [0; 8];
            if self.read(address, &mut now[..size]).is_err() {
                return Comparison::Differ;
            }
            for (index, (now, old)) in now.iter().zip(old.to_le_bytes()).take(size).enumerate() {
                let at = address + index as u64;
                let expected = if written.is_empty() { None } else { written.get(&at).copied() };
                if *now != expected.unwrap_or(old) && new >> index & 1 == 1 && !is_dead(at) {
                    return Comparison::DifferAt(at);
                }
            }
        }
        let is_as_written = |(&at, &expected): (&u64, &u8)| {
            let mut now = [0];
            seen.contains(at)
                || is_dead(at)
                || self.read(at, &mut now).is_ok() && now[0] == expected
        };
        match written.iter().find(|&written| !is_as_written(written)) {
            None => Comparison::Same,
            Some((&at, _)) => Comparison::DifferAt(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_new_once() {
        let mut seen = SeenBytes::default();
        assert_eq!(seen.insert(16, 8), 0xff);
        assert_eq!(seen.insert(12, 8), 0x0f, "the second half was seen");
        assert_eq!(seen.insert(23, 2), 0b10, "across the end of a word");
        assert_eq!(seen.insert(24, 1), 0);
        assert!(seen.contains(12) && seen.contains(24) && !seen.contains(25) && !seen.contains(11));
    }
}
