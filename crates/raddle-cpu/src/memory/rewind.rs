//! Snapshots of what a thread may change, and going back to them.

use super::Memory;
use super::layout::{self, PAGE};
use super::state::{State, Thread};
use super::undo::{Extra, Mark, Undo};

impl Memory {
    /// Opens a snapshot of what `thread` may change. If `live` is in the thread's own stack, nothing in the stack below it is
    /// needed when the thread goes back; otherwise everything is.
    pub fn mark(&mut self, thread: Thread, live: u64) -> Mark {
        self.select(thread);
        let stack = self.view.log.stack_start..layout::stack_end(thread);
        let live = if stack.contains(&live) { live } else { stack.start };
        self.view.log.mark(live)
    }

    /// Undoes everything that `thread` changed since `mark`, and closes its later snapshots.
    pub fn rewind(&mut self, thread: Thread, mark: Mark) {
        self.select(thread);
        while let Some(undo) = self.view.log.pop(mark) {
            match undo {
                Undo::Write { address, size, old } => self.restore_word(address, size, old),
                Undo::Extra(extra) => self.restore_extra(extra),
            }
        }
    }

    fn restore_extra(&mut self, extra: Extra) {
        match extra {
            Extra::Page(number, contents) => self.restore_page(number, &contents),
            Extra::States(runs) => {
                for (start, len, code) in runs {
                    self.set_state(start..start + len, State::decode(code));
                }
            }
            Extra::Allocated(address, end) => self.restore_heap(address, end),
            Extra::Freed(address) => self.objects.set_freed(address, false),
        }
    }

    /// Writes back the bytes of a page that the running thread owns. Other bytes are other threads' or shared.
    fn restore_page(&mut self, number: u64, contents: &[u8]) {
        let default = self.default_state(number);
        for (start, len, code) in self.states(number * PAGE..(number + 1) * PAGE) {
            if code == self.view.own {
                let from = (start % PAGE) as usize;
                let range = from..from + len as usize;
                let place = &mut self.pages.contents_mut(number, default)[range.clone()];
                match contents.get(range) {
                    Some(old) => place.copy_from_slice(old),
                    None => place.fill(0),
                }
            }
        }
    }

    /// Closes all snapshots of `thread`: it cannot go back beyond this point.
    pub fn close_snapshots(&mut self, thread: Thread) {
        self.select(thread);
        self.view.log.clear();
    }

    /// Number of bytes that the undo log of `thread` occupies.
    pub fn undo_log_bytes(&mut self, thread: Thread) -> usize {
        self.select(thread);
        self.view.log.bytes()
    }
}
