//! Memory of which every thread has its own copy at the same addresses.
//!
//! Data of libraries is not shared by the threads of a program that is explored: what a library keeps for itself is no
//! communication. A thread starts with the copies that its creator has at that moment.

use super::Memory;
use super::layout::PAGE;
use super::pages::SIZE;
use super::state::{State, Thread};
use std::ops::Range;

/// Contents of pages, by number.
pub type PageContents = Vec<(u64, Box<[u8]>)>;

impl Memory {
    /// Lets every thread have its own copy of whole pages, which only the main thread has used so far. Not logged.
    pub fn set_copied(&mut self, ranges: &[Range<u64>]) {
        let numbers = |range: &Range<u64>| range.start / PAGE..range.end.div_ceil(PAGE);
        self.pages.set_copied(ranges.iter().map(numbers).collect());
    }

    /// The contents of the copied pages of a thread.
    pub fn copied_pages(&mut self, thread: Thread) -> PageContents {
        self.select(thread);
        let numbers = self.pages.copied();
        numbers.map(|number| (number, self.pages.contents(number).into())).collect()
    }

    /// The copied pages of a thread whose contents differ from `base`, which has all of them.
    pub fn changed_pages(&mut self, thread: Thread, base: &PageContents) -> PageContents {
        self.select(thread);
        let pages = base.iter().map(|(number, old)| (*number, old, self.pages.contents(*number)));
        let changed = pages.filter(|(_, old, contents)| ***old != **contents);
        changed.map(|(number, _, contents)| (number, contents.into())).collect()
    }

    /// Gives a thread its copies: these contents, and the states that the bytes have for the main thread. Not logged.
    pub fn give_pages(&mut self, thread: Thread, contents: &PageContents) {
        let main = State::Private(Thread::MAIN).encode();
        let own = State::Private(thread).encode();
        for (number, bytes) in contents {
            self.select(Thread::MAIN);
            let states = self.states(number * PAGE..(number + 1) * PAGE);
            self.select(thread);
            for (start, len, code) in states {
                let from = (start % PAGE) as usize;
                let code = if code == main { own } else { code };
                self.pages.set_states(*number, from, from + len as usize, code, own);
            }
            let place = self.pages.contents_mut(*number, own);
            let len = bytes.len().min(SIZE);
            place[..len].copy_from_slice(&bytes[..len]);
            self.forget(*number);
        }
    }
}
