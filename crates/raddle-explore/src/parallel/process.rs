//! Workers that are forks of this process.
//!
//! *Problem.* Native code cannot be loaded twice at the same addresses, and what a program has learned about its memory
//! is hard to hand over.
//!
//! *Idea.* When there is work for more than one worker, the first one forks the process in the middle of its
//! exploration: a worker process has the same program at the same addresses with everything that is known, and the
//! remembered histories. From then on it receives subtrees and sends reports. In the parent a thread per worker process
//! hands out subtrees. If a worker process dies, its subtree is explored by another worker.
//!
//! How a process is forked is up to the front ends; this file defines what is sent.

use std::io;
use std::sync::atomic::AtomicBool;

use crate::rf_part_smc::subtree::{Subtree, SubtreeReport};

/// A connection between two processes.
pub trait ProcessLink: Send {
    /// Sends a message.
    ///
    /// # Errors
    /// If the other process is gone.
    fn send(&mut self, message: &str) -> io::Result<()>;

    /// Waits for a message. Calls `continues` now and then to find out whether to wait any longer.
    ///
    /// # Errors
    /// If the other process is gone, or `continues` returned `false`.
    fn receive(&mut self, continues: &dyn Fn() -> bool) -> io::Result<String>;
}

/// Which process this is after a fork.
pub enum ForkSide {
    /// The parent, with links to the worker processes. Dropping a link ends the worker process.
    Parent(Vec<Box<dyn ProcessLink>>),
    /// A worker process, with a link to the parent.
    Worker(Box<dyn ProcessLink>),
}

/// How to make worker processes, and how they send what their visitors have seen.
pub struct WorkerProcesses<'a, V> {
    /// Forks this process into at most so many worker processes.
    pub fork: &'a (dyn Fn(usize) -> ForkSide + Sync),
    /// Ends a worker process at once.
    pub end: fn() -> !,
    /// Whether some worker waits for work. Shared by all processes.
    pub is_hungry: &'a AtomicBool,
    /// Serialises what a visitor has seen.
    pub pack: fn(&V) -> String,
    /// Makes a visitor that has seen that.
    pub unpack: fn(&str) -> V,
}

/// As [`ForkSide`], for workers.
pub(super) enum ForkedWorkers<'a, V> {
    Parent(Vec<RemoteWorker<'a, V>>),
    Worker(ParentLink<'a, V>),
}

impl<V> WorkerProcesses<'_, V> {
    pub(super) fn fork(&self, workers: usize) -> ForkedWorkers<'_, V> {
        match (self.fork)(workers) {
            ForkSide::Worker(link) => ForkedWorkers::Worker(ParentLink { link, processes: self }),
            ForkSide::Parent(links) => {
                let remote = |link| RemoteWorker { link, unpack: self.unpack };
                ForkedWorkers::Parent(links.into_iter().map(remote).collect())
            }
        }
    }
}

/// A worker process, as seen by the parent.
pub(super) struct RemoteWorker<'a, V> {
    link: Box<dyn ProcessLink + 'a>,
    unpack: fn(&str) -> V,
}

impl<V> RemoteWorker<'_, V> {
    /// Has a subtree explored. Returns `None` if the process is gone, or `continues` returned `false`.
    pub(super) fn explore(
        &mut self,
        subtree: &Subtree,
        budget: u64,
        continues: &dyn Fn() -> bool,
    ) -> Option<(SubtreeReport, V)> {
        let order = serde_json::to_string(&(subtree, budget)).ok()?;
        self.link.send(&order).ok()?;
        let answer = self.link.receive(continues).ok()?;
        let (report, visitor): (SubtreeReport, String) = serde_json::from_str(&answer).ok()?;
        Some((report, (self.unpack)(&visitor)))
    }
}

/// The parent, as seen by a worker process.
pub(super) struct ParentLink<'a, V> {
    link: Box<dyn ProcessLink>,
    processes: &'a WorkerProcesses<'a, V>,
}

impl<V> ParentLink<'_, V> {
    /// Waits for a subtree; ends the process if there are no more.
    pub(super) fn next(&mut self) -> (Subtree, u64) {
        let order = self.link.receive(&|| true).ok();
        order.and_then(|order| serde_json::from_str(&order).ok()).unwrap_or_else(|| self.end())
    }

    /// Sends the result of a subtree.
    pub(super) fn report(&mut self, report: &SubtreeReport, visitor: &V) {
        let sent = serde_json::to_string(&(report, (self.processes.pack)(visitor)))
            .map_err(io::Error::from)
            .and_then(|answer| self.link.send(&answer));
        if sent.is_err() {
            self.end();
        }
    }

    /// Ends the worker process.
    pub(super) fn end(&self) -> ! {
        (self.processes.end)()
    }
}
