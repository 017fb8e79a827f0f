//! Snapshots of a process: registers and memory of one thread, and the state that system calls change.
//!
//! Starting a program takes milliseconds, going back to a snapshot of the started program microseconds. Threads that were created
//! after a snapshot are forgotten with it.

use super::Process;
use super::kernel::SavedKernel;
use raddle_cpu::Snapshot;
use raddle_cpu::memory::Thread;

/// A state of a process to which it can return any number of times.
#[derive(Clone, Debug)]
pub struct ProcessSnapshot {
    thread: Thread,
    cpu: Snapshot,
    kernel: SavedKernel,
    threads: usize,
}

impl Process {
    /// Takes a snapshot of a process in which only `thread` has run since the previous snapshot. `None` if the thread
    /// was not created.
    pub fn snapshot(&mut self, thread: Thread) -> Option<ProcessSnapshot> {
        let cpu = self.threads.get_mut(thread.index())?.as_mut()?.snapshot(&mut self.memory);
        let threads = self.threads.len();
        Some(ProcessSnapshot { thread, cpu, kernel: self.kernel.save(), threads })
    }

    /// Returns to a snapshot of this process.
    pub fn restore(&mut self, snapshot: &ProcessSnapshot) {
        self.threads.truncate(snapshot.threads);
        self.kernel.restore(&snapshot.kernel);
        let index = snapshot.thread.index();
        if let Some(cpu) = self.threads.get_mut(index).and_then(Option::as_mut) {
            cpu.restore(&mut self.memory, &snapshot.cpu);
        }
    }
}
