//! Going back: states of single threads.

use super::Process;
use raddle_cpu::memory::Thread;
use raddle_cpu::{Dead, HostArguments, Liveness, Snapshot};

impl Process {
    /// Takes a snapshot of a thread; `None` if it was not created.
    pub fn snapshot_thread(&mut self, thread: Thread) -> Option<Snapshot> {
        let cpu = self.threads.get_mut(thread.index())?.as_mut()?;
        Some(cpu.snapshot(&mut self.memory))
    }

    /// Returns a thread to one of its snapshots.
    pub fn restore_thread(&mut self, thread: Thread, snapshot: &Snapshot) {
        if let Some(Some(cpu)) = self.threads.get_mut(thread.index()) {
            cpu.restore(&mut self.memory, snapshot);
        }
    }

    /// Returns `true` if a thread is in the state of one of its snapshots, apart from what is dead and from memory below its stack.
    pub fn is_at(&self, thread: Thread, snapshot: &Snapshot, dead: &Dead) -> bool {
        self.cpu(thread).is_some_and(|cpu| cpu.is_at(&self.memory, snapshot, dead))
    }

    /// Overwrites what a thread will not read again.
    pub(crate) fn poison_thread(
        &mut self,
        thread: Thread,
        liveness: &mut Liveness,
        arguments: HostArguments,
    ) {
        if let Some(Some(cpu)) = self.threads.get_mut(thread.index()) {
            liveness.poison(&mut self.memory, cpu, arguments);
        }
    }
}
