//! Threads and their names.
//!
//! A thread is named by who spawned it, as how many-th, with which function and argument. So a name
//! implies all that the thread depends on in the beginning, and a thread with this name can be run alone.

use raddle_core::execution::ThreadId;
use rustc_hash::FxHashMap;

/// How a thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Start {
    pub(crate) parent: ThreadId,
    /// How many threads the parent spawned before.
    pub(crate) number: u32,
    pub(crate) function: usize,
    pub(crate) argument: usize,
}

/// The threads of a program. The first one is the main thread.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: FxHashMap<Start, ThreadId>,
    pub(crate) starts: Vec<Start>,
}

impl Names {
    /// The thread that starts like this.
    pub(crate) fn thread(&mut self, start: Start) -> ThreadId {
        let next = ThreadId::new(self.starts.len() + 1);
        let thread = *self.known.entry(start).or_insert(next);
        if thread == next {
            self.starts.push(start);
        }
        thread
    }

    /// How a thread starts; the main thread does not.
    pub(crate) fn start(&self, thread: ThreadId) -> Option<Start> {
        self.starts.get(thread.index().checked_sub(1)?).copied()
    }

    /// Who spawned the thread: `main`, `main/0` for the first thread that main spawned, and so on.
    pub(crate) fn path(&self, thread: ThreadId) -> String {
        match self.start(thread) {
            None => String::from("main"),
            Some(Start { parent, number, .. }) => format!("{}/{number}", self.path(parent)),
        }
    }
}
