//! Comparing private memory with an earlier snapshot, by what the undo log says was overwritten.

use super::undo::Mark;
use super::{Memory, Thread};
use rustc_hash::FxHashSet;

impl Memory {
    /// Returns `true` if the private memory of `thread` has the contents that it had at `mark`, apart from its own stack below `live`.
    /// May return `false` if the thread has changed many pages, states or heap blocks since. Costs the writes since.
    pub fn is_unchanged_since(&self, thread: Thread, mark: Mark, live: u64) -> bool {
        let view = if self.view.thread == thread {
            &self.view
        } else {
            match self.parked.get(thread.index()) {
                Some(Some(view)) => view,
                _ => return true,
            }
        };
        let Some(writes) = view.log.writes_since(mark) else { return false };
        let dead = view.log.stack_start..live.max(view.log.stack_start);
        // The first write to a byte since the mark has the contents that it had then.
        let mut seen = FxHashSet::default();
        for (address, size, old) in writes {
            let mut now = [0; 8];
            if self.read(address, &mut now[..size]).is_err() {
                return false;
            }
            for (index, (now, old)) in now.iter().zip(old.to_le_bytes()).take(size).enumerate() {
                let at = address + index as u64;
                if !dead.contains(&at) && seen.insert(at) && *now != old {
                    return false;
                }
            }
        }
        true
    }
}
