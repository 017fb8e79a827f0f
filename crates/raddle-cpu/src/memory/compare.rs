//! Comparing private memory with an earlier snapshot, by what the undo log says was overwritten.

use super::undo::Mark;
use super::{Memory, Thread};
use rustc_hash::FxHashSet;
use std::ops::Range;

impl Memory {
    /// Returns `true` if `thread` was the last one to run, and its private memory has the contents that it had at `mark`, apart from its own stack below `live`
    /// and from the bytes in `dead`, which ascend. May return `false` if the thread has changed many pages, states or heap blocks since. Costs the writes since.
    pub fn is_unchanged_since(
        &self,
        thread: Thread,
        mark: Mark,
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
                if seen.insert(at) && *now != old && !is_dead(at) {
                    return false;
                }
            }
        }
        true
    }
}
