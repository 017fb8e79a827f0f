//! Going back: states of single threads.

use super::Process;
use super::kernel::SavedThread;
use raddle_cpu::memory::{Comparison, Thread};
use raddle_cpu::{Dead, HostArguments, Liveness, Snapshot, StateSince};

/// The state of a thread to which it can return any number of times: registers, private memory, and what it got from the kernel.
#[derive(Clone, Debug)]
pub struct ThreadSnapshot {
    pub(crate) cpu: Snapshot,
    kernel: SavedThread,
}

/// The state of a thread in terms of an earlier snapshot.
pub(crate) struct ThreadState {
    cpu: StateSince,
    kernel: SavedThread,
}

impl Process {
    /// Takes a snapshot of a thread; `None` if it was not created.
    pub fn snapshot_thread(&mut self, thread: Thread) -> Option<ThreadSnapshot> {
        let cpu = self.threads.get_mut(thread.index())?.as_mut()?;
        let cpu = cpu.snapshot(&mut self.memory);
        Some(ThreadSnapshot { cpu, kernel: self.kernel.save_thread(thread) })
    }

    /// Returns a thread to one of its snapshots.
    pub fn restore_thread(&mut self, thread: Thread, snapshot: &ThreadSnapshot) {
        if let Some(Some(cpu)) = self.threads.get_mut(thread.index()) {
            cpu.restore(&mut self.memory, &snapshot.cpu);
            self.kernel.restore_thread(thread, &snapshot.kernel);
        }
    }

    /// Returns `true` if a thread is in the state of one of its snapshots, apart from what is dead and from memory below its stack.
    pub fn is_at(&self, thread: Thread, snapshot: &ThreadSnapshot, dead: &Dead) -> bool {
        self.cpu(thread).is_some_and(|cpu| cpu.is_at(&self.memory, &snapshot.cpu, dead))
            && self.kernel.is_at(thread, &snapshot.kernel)
    }

    /// The state of a thread, to be compared with states that it reaches in other ways from an earlier snapshot.
    pub(crate) fn state_since(
        &mut self,
        thread: Thread,
        since: &ThreadSnapshot,
    ) -> Option<ThreadState> {
        let cpu = self.threads.get_mut(thread.index())?.as_mut()?;
        let cpu = cpu.state_since(&mut self.memory, &since.cpu)?;
        Some(ThreadState { cpu, kernel: self.kernel.save_thread(thread) })
    }

    /// Compares the state of a thread with one that it had reached from the same snapshot, apart from what is dead.
    pub(crate) fn compare(&self, thread: Thread, state: &ThreadState, dead: &Dead) -> Comparison {
        match self.cpu(thread) {
            Some(cpu) if self.kernel.is_at(thread, &state.kernel) => {
                cpu.compare(&self.memory, &state.cpu, dead)
            }
            _ => Comparison::Differ,
        }
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
