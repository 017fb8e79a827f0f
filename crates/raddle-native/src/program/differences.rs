//! Bytes that tell states of a thread apart.
//!
//! *Problem.* To compare two states, the program runs to both. A loop that counts its rounds is never in the same state again, so
//! every history with so many reads is compared with many others in vain.
//!
//! *Idea.* Two states that differ mostly do so in the same byte as two others before, that of a counter. So the first few
//! addresses of such bytes are remembered for each thread, and for each history the contents of these. If they differ, and
//! the byte is not dead, nothing needs to run.

use raddle_core::execution::ThreadId;
use raddle_core::program::HistoryId;
use raddle_cpu::Dead;

use super::NativeProgram;

/// The number of addresses for each thread.
const MOST: usize = 4;

/// What is remembered for the comparison of states.
#[derive(Default)]
pub(super) struct Differences {
    /// By thread.
    addresses: Vec<Vec<u64>>,
    /// By history: the contents of the bytes of its thread, as far as they were known when the thread was there.
    contents: Vec<[Option<u8>; MOST]>,
}

impl Differences {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Differences::default();
    }

    /// Forgets the histories from this one on.
    pub(super) fn truncate(&mut self, history: HistoryId) {
        self.contents.truncate(history.0 as usize);
    }

    /// Adds the address of a byte, if there is room.
    pub(super) fn add(&mut self, thread: ThreadId, address: u64) {
        if self.addresses.len() <= thread.index() {
            self.addresses.resize(thread.index() + 1, vec![]);
        }
        let addresses = &mut self.addresses[thread.index()];
        if addresses.len() < MOST && !addresses.contains(&address) {
            addresses.push(address);
        }
    }

    fn of(&self, thread: ThreadId) -> &[u64] {
        self.addresses.get(thread.index()).map_or(&[], Vec::as_slice)
    }
}

impl NativeProgram {
    /// Records the contents of the bytes that tell states of the current thread apart. It is at the end of this history.
    pub(super) fn note_contents(&mut self, history: HistoryId) {
        let addresses = self.differences.of(self.current);
        if addresses.is_empty() {
            return;
        }
        let mut contents = [None; MOST];
        for (content, &address) in contents.iter_mut().zip(addresses) {
            *content = self.byte(address);
        }
        let index = history.0 as usize;
        if self.differences.contents.len() <= index {
            self.differences.contents.resize(index + 1, [None; MOST]);
        }
        self.differences.contents[index] = contents;
    }

    /// Returns `true` if the current thread is known to be in another state than at the end of a history, as a byte differs that
    /// is not `dead` now.
    pub(super) fn differs_from(&self, history: HistoryId, dead: &Dead) -> bool {
        let Some(contents) = self.differences.contents.get(history.0 as usize) else {
            return false;
        };
        let lowest = self.cpu().lowest_live();
        let is_live = |address: u64| {
            address >= lowest && !dead.stack.iter().any(|range| range.contains(&address))
        };
        self.differences.of(self.current).iter().zip(contents).any(|(&address, &content)| {
            content.is_some() && content != self.byte(address) && is_live(address)
        })
    }

    fn byte(&self, address: u64) -> Option<u8> {
        let mut byte = [0];
        self.process.memory().read(address, &mut byte).ok()?;
        Some(byte[0])
    }
}
