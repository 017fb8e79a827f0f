//! Threads and their names.
//!
//! The identity of a thread is its parent, how many threads the parent spawned before, its function, its argument,
//! the data of libraries that it starts with, and the blocks that the parent has allocated for it. This determines the initial state of the thread, so that it can run alone.

use raddle_core::execution::ThreadId;
use rustc_hash::FxHashMap;

/// How a thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Start {
    pub(crate) parent: ThreadId,
    /// How many threads the parent spawned before.
    pub(crate) number: u32,
    pub(crate) function: u64,
    pub(crate) argument: u64,
    /// The number of the library data with which it starts.
    pub(crate) library: u32,
    /// The number of the list of blocks that the parent has allocated for it, if the argument is in one ([`ThreadNames::blocks`]).
    pub(crate) blocks: u32,
}

/// The threads of a program. The first one is the main thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadNames {
    known: FxHashMap<Start, ThreadId>,
    pub(crate) starts: Vec<Start>,
    /// Lists of blocks that a thread has allocated since it spawned the thread before: starts and sizes, in order.
    pub(crate) lists: Vec<Vec<(u64, u64)>>,
}

impl ThreadNames {
    /// The thread with this start. Equal starts denote the same thread.
    pub(crate) fn thread(&mut self, start: Start) -> ThreadId {
        let next = ThreadId::new(self.starts.len() + 1);
        let thread = *self.known.entry(start).or_insert(next);
        if thread == next {
            self.starts.push(start);
        }
        thread
    }

    /// The number of a list of blocks; 0 if it is empty.
    pub(crate) fn list(&mut self, blocks: Vec<(u64, u64)>) -> u32 {
        if blocks.is_empty() {
            return 0;
        }
        let known = self.lists.iter().position(|list| *list == blocks);
        let number = known.unwrap_or(self.lists.len());
        if known.is_none() {
            self.lists.push(blocks);
        }
        number as u32 + 1
    }

    /// The blocks that the parent of a thread has allocated for it.
    pub(crate) fn blocks(&self, start: Start) -> &[(u64, u64)] {
        let list = (start.blocks as usize).checked_sub(1).and_then(|at| self.lists.get(at));
        list.map_or(&[], Vec::as_slice)
    }

    /// The start of a thread; `None` for the main thread.
    pub(crate) fn start(&self, thread: ThreadId) -> Option<Start> {
        self.starts.get(thread.index().checked_sub(1)?).copied()
    }

    /// The path of a thread: `main`, `main/0` for the first thread that main spawned, and so on.
    pub(crate) fn path(&self, thread: ThreadId) -> String {
        match self.start(thread) {
            None => String::from("main"),
            Some(Start { parent, number, .. }) => format!("{}/{number}", self.path(parent)),
        }
    }
}
