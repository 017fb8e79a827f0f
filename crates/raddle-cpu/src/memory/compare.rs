//! Comparing private memory with another state of its thread, by what the undo log says was overwritten since both.

use super::undo::Mark;
use super::{Memory, Thread};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Bytes of private memory that were written since some mark, with their contents.
pub type WrittenBytes = FxHashMap<u64, u8>;

impl Memory {
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

    /// Returns `true` if `thread` was the last one to run, and its private memory has the contents that it had when it had `written` these bytes
    /// since `mark`, apart from its own stack below `live` and from the bytes in `dead`, which ascend. May return `false` if the
    /// thread has changed many pages, states or heap blocks since. Costs the writes since.
    pub fn has_written_since(
        &self,
        thread: Thread,
        mark: Mark,
        written: &WrittenBytes,
        live: u64,
        dead: &[Range<u64>],
    ) -> bool {
        if self.view.thread != thread {
            return false;
        }
        let view = &self.view;
        let Some(writes) = view.log.writes_since(mark) else { return false };
        let below = view.log.stack_start..live.max(view.log.stack_start);
        let is_dead = |at: u64| {
            let before = dead.partition_point(|range| range.end <= at);
            below.contains(&at) || dead.get(before).is_some_and(|range| range.contains(&at))
        };
        // The first write to a byte since the mark has the contents that it had then.
        let mut seen = FxHashSet::default();
        for (address, size, old) in writes {
            let mut now = [0; 8];
            if self.read(address, &mut now[..size]).is_err() {
                return false;
            }
            for (index, (now, old)) in now.iter().zip(old.to_le_bytes()).take(size).enumerate() {
                let at = address + index as u64;
                let expected = written.get(&at).copied().unwrap_or(old);
                if seen.insert(at) && *now != expected && !is_dead(at) {
                    return false;
                }
            }
        }
        written.iter().all(|(&at, &expected)| {
            let mut now = [0];
            seen.contains(&at)
                || is_dead(at)
                || self.read(at, &mut now).is_ok() && now[0] == expected
        })
    }
}
