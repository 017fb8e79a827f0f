//! Workers that are copies of this process.
//!
//! *Problem.* Native code cannot be loaded twice at the same addresses, and what a program has learned about its memory is
//! hard to hand over.
//!
//! *Idea.* When there is work for more than one, the first worker has the process copied (`fork`), in the middle of its
//! exploration: a copy has the same program at the same addresses with all that is known, and the remembered
//! histories. From then on it gets subtrees and sends reports. In the original a thread for each copy hands out
//! subtrees. A copy that dies is no loss: what it had is explored by another.
//!
//! How a process is copied is for front ends to say; here is only what is sent.

use std::io;
use std::sync::atomic::AtomicBool;

use crate::rf_part_smc::subtree::{Report, Subtree};

/// A connection between two processes.
pub trait Link: Send {
    /// Sends a message.
    ///
    /// # Errors
    /// If the other side is gone.
    fn send(&mut self, message: &str) -> io::Result<()>;

    /// Waits for a message. Asks once in a while whether to wait any longer.
    ///
    /// # Errors
    /// If the other side is gone, or it is not waited for.
    fn receive(&mut self, goes_on: &dyn Fn() -> bool) -> io::Result<String>;
}

/// Which process this is after it was copied.
pub enum Side {
    /// The original, with links to the copies. A copy ends when its link is dropped.
    Original(Vec<Box<dyn Link>>),
    /// A copy, with a link to the original.
    Copy(Box<dyn Link>),
}

/// Copies of this process, and how they tell what their visitors have seen.
pub struct Processes<'a, V> {
    /// Makes at most so many copies of this process.
    pub fork: &'a (dyn Fn(usize) -> Side + Sync),
    /// Ends a copy at once.
    pub end: fn() -> !,
    /// Is seen by all copies.
    pub is_hungry: &'a AtomicBool,
    /// What a visitor of a copy has seen.
    pub pack: fn(&V) -> String,
    /// A visitor that has seen that.
    pub unpack: fn(&str) -> V,
}

/// As [`Side`], for workers.
pub(super) enum Forked<'a, V> {
    Original(Vec<Remote<'a, V>>),
    Copy(Upward<'a, V>),
}

impl<V> Processes<'_, V> {
    pub(super) fn fork(&self, copies: usize) -> Forked<'_, V> {
        match (self.fork)(copies) {
            Side::Copy(link) => Forked::Copy(Upward { link, processes: self }),
            Side::Original(links) => {
                let remote = |link| Remote { link, unpack: self.unpack };
                Forked::Original(links.into_iter().map(remote).collect())
            }
        }
    }
}

/// A copy, as the original sees it.
pub(super) struct Remote<'a, V> {
    link: Box<dyn Link + 'a>,
    unpack: fn(&str) -> V,
}

impl<V> Remote<'_, V> {
    /// Has a subtree explored. None: the copy is gone, or it is not waited for.
    pub(super) fn explore(
        &mut self,
        subtree: &Subtree,
        budget: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<(Report, V)> {
        let order = serde_json::to_string(&(subtree, budget)).ok()?;
        self.link.send(&order).ok()?;
        let answer = self.link.receive(goes_on).ok()?;
        let (report, visitor): (Report, String) = serde_json::from_str(&answer).ok()?;
        Some((report, (self.unpack)(&visitor)))
    }
}

/// The original, as a copy sees it.
pub(super) struct Upward<'a, V> {
    link: Box<dyn Link>,
    processes: &'a Processes<'a, V>,
}

impl<V> Upward<'_, V> {
    /// Waits for a subtree; ends the copy if there are no more.
    pub(super) fn next(&mut self) -> (Subtree, u64) {
        let order = self.link.receive(&|| true).ok();
        order.and_then(|order| serde_json::from_str(&order).ok()).unwrap_or_else(|| self.end())
    }

    /// Tells what came of a subtree.
    pub(super) fn report(&mut self, report: &Report, visitor: &V) {
        let sent = serde_json::to_string(&(report, (self.processes.pack)(visitor)))
            .map_err(io::Error::from)
            .and_then(|answer| self.link.send(&answer));
        if sent.is_err() {
            self.end();
        }
    }

    /// Ends the copy.
    pub(super) fn end(&self) -> ! {
        (self.processes.end)()
    }
}
