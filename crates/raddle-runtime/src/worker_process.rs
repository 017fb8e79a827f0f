//! Worker processes: forks of this process that explore parts of the same program.
//!
//! A worker process has one thread, the one that forked it, with all its memory at the same addresses. It is ended as
//! soon as it is not needed any more, and dies with its parent. It must do nothing but explore and answer: no output,
//! and no locks that other threads of the parent may have held.

use std::io::{self, Read, Write};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use raddle_explore::parallel::process::{ForkSide, ProcessLink};
use serde::{Deserialize, Serialize};

use crate::state::{self, Settings};

/// What the program of a worker reports after each subtree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkerUpdate {
    /// How often native code was run from its beginning since the last update.
    pub executions: u64,
    /// The settings with which the exploration must restart, if it must.
    pub wanted: Option<Settings>,
}

impl WorkerUpdate {
    /// Parses an update; an invalid one reports nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).expect("numbers can be written")
    }
}

/// A flag that this process and its worker processes share. If there is no memory for that, each has one of its own:
/// then worker processes report less often.
pub struct Flag(Result<NonNull<AtomicBool>, AtomicBool>);

impl Flag {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: makes a new mapping.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, -1, 0) };
        let memory = if memory == libc::MAP_FAILED { None } else { NonNull::new(memory.cast()) };
        Flag(memory.ok_or(AtomicBool::new(false)))
    }
}

impl Default for Flag {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Flag {
    type Target = AtomicBool;

    fn deref(&self) -> &AtomicBool {
        match &self.0 {
            // SAFETY: the mapping lives as long as this, is filled with zeros in the beginning, and accessed as an
            // atomic only.
            Ok(shared) => unsafe { shared.as_ref() },
            Err(own) => own,
        }
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        if let Ok(shared) = self.0 {
            // SAFETY: this process does not use the mapping any more; worker processes have their own.
            unsafe { libc::munmap(shared.as_ptr().cast(), PAGE) };
        }
    }
}

/// Size of the mapping: the smallest possible.
const PAGE: usize = 4096;

/// How often it is checked whether to wait any longer for a worker process.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// One end of a connection. Every message is preceded by its length.
struct Stream(UnixStream);

impl Stream {
    fn fill(&mut self, buffer: &mut [u8], continues: &dyn Fn() -> bool) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => filled += more,
                Err(error) if is_temporary(&error) && continues() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns `true` if the read may succeed later.
fn is_temporary(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

impl ProcessLink for Stream {
    fn send(&mut self, message: &str) -> io::Result<()> {
        let length = (message.len() as u64).to_le_bytes();
        self.0.write_all(&[&length[..], message.as_bytes()].concat())
    }

    fn receive(&mut self, continues: &dyn Fn() -> bool) -> io::Result<String> {
        let mut length = [0; 8];
        self.fill(&mut length, continues)?;
        let mut message = vec![0; u64::from_le_bytes(length) as usize];
        self.fill(&mut message, continues)?;
        String::from_utf8(message)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// A worker process, as seen by its parent. It ends when this is dropped.
struct WorkerProcess {
    process: libc::pid_t,
    stream: Stream,
}

impl ProcessLink for WorkerProcess {
    fn send(&mut self, message: &str) -> io::Result<()> {
        self.stream.send(message)
    }

    fn receive(&mut self, continues: &dyn Fn() -> bool) -> io::Result<String> {
        self.stream.receive(continues)
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let process = self.process;
        // SAFETY: the process is our child, and nobody has waited for it yet.
        unsafe { libc::kill(process, libc::SIGKILL) };
        // The system takes a while to free its memory, so another thread waits for that.
        let wait = move || {
            // SAFETY: as above.
            unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
        };
        if std::thread::Builder::new().spawn(wait).is_err() {
            wait();
        }
    }
}

/// Forks this process into at most `workers` worker processes.
#[must_use]
pub fn fork(workers: usize) -> ForkSide {
    let _outside = state::hold_outside();
    let mut links: Vec<Box<dyn ProcessLink>> = vec![];
    for _ in 0..workers {
        let Ok((ours, theirs)) = UnixStream::pair() else { break };
        if ours.set_read_timeout(Some(POLL_INTERVAL)).is_err() {
            break;
        }
        // SAFETY: reads the number of this process.
        let parent = unsafe { libc::getpid() };
        // SAFETY: the worker process only explores and answers, as the module says.
        match unsafe { libc::fork() } {
            -1 => break,
            0 => {
                // These belong to the parent.
                std::mem::forget((links, ours));
                die_with(parent);
                return ForkSide::Worker(Box::new(Stream(theirs)));
            }
            process => links.push(Box::new(WorkerProcess { process, stream: Stream(ours) })),
        }
    }
    ForkSide::Parent(links)
}

/// Lets this worker process die when its parent does.
fn die_with(parent: libc::pid_t) {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call about this process only.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    // SAFETY: reads the number of the parent.
    if unsafe { libc::getppid() } != parent {
        end();
    }
}

/// Ends a worker process at once.
pub fn end() -> ! {
    // SAFETY: nothing of this process is needed any more.
    unsafe { libc::_exit(0) }
}
