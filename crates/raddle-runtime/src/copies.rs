//! Copies of this process, which explore parts of the same program.
//!
//! A copy has one thread, the one that made it, with all its memory at the same addresses; it is ended as soon as
//! nobody needs it, and dies with the original. It must do nothing but explore and answer: no output, and no
//! locks that other threads of the original may have held.

use std::io::{self, Read, Write};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use raddle_explore::parallel::process::{Link, Side};
use serde::{Deserialize, Serialize};

use crate::state::{self, Settings};

/// What a program tells others who explore other parts of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct News {
    /// How often native code was run from its beginning since the last time.
    pub executions: u64,
    /// The settings with which the exploration must start again.
    pub wanted: Option<Settings>,
}

impl News {
    /// What a program has told.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).expect("numbers can be written")
    }
}

/// A flag that this process and its copies see. Without memory for that, each has one of its own: then copies report only
/// once in a while.
pub struct Flag(Result<NonNull<AtomicBool>, AtomicBool>);

impl Flag {
    /// A flag, not set.
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
            // SAFETY: the mapping lives as long as this, is filled with zeros in the beginning, and accessed as an atomic only.
            Ok(shared) => unsafe { shared.as_ref() },
            Err(own) => own,
        }
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        if let Ok(shared) = self.0 {
            // SAFETY: nobody in this process uses the mapping any more; copies have their own.
            unsafe { libc::munmap(shared.as_ptr().cast(), PAGE) };
        }
    }
}

/// As much as is mapped at least.
const PAGE: usize = 4096;

/// How often who waits for a copy is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(20);

/// One side of a connection: messages with their lengths.
struct Stream(UnixStream);

impl Stream {
    fn fill(&mut self, buffer: &mut [u8], goes_on: &dyn Fn() -> bool) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => filled += more,
                Err(error) if is_patient(&error) && goes_on() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether it is too early to give up.
fn is_patient(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

impl Link for Stream {
    fn send(&mut self, message: &str) -> io::Result<()> {
        let length = (message.len() as u64).to_le_bytes();
        self.0.write_all(&[&length[..], message.as_bytes()].concat())
    }

    fn receive(&mut self, goes_on: &dyn Fn() -> bool) -> io::Result<String> {
        let mut length = [0; 8];
        self.fill(&mut length, goes_on)?;
        let mut message = vec![0; u64::from_le_bytes(length) as usize];
        self.fill(&mut message, goes_on)?;
        String::from_utf8(message)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// A copy, as the original sees it. It ends when this is dropped.
struct Copied {
    process: libc::pid_t,
    stream: Stream,
}

impl Link for Copied {
    fn send(&mut self, message: &str) -> io::Result<()> {
        self.stream.send(message)
    }

    fn receive(&mut self, goes_on: &dyn Fn() -> bool) -> io::Result<String> {
        self.stream.receive(goes_on)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let process = self.process;
        // SAFETY: the process is our child, and nobody has waited for it yet.
        unsafe { libc::kill(process, libc::SIGKILL) };
        // It takes the system a while to take its memory back. Nobody else waits for it, so that need not be here.
        let wait = move || {
            // SAFETY: as above.
            unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
        };
        if std::thread::Builder::new().spawn(wait).is_err() {
            wait();
        }
    }
}

/// Makes at most so many copies of this process.
#[must_use]
pub fn fork(copies: usize) -> Side {
    let _outside = state::hold_outside();
    let mut links: Vec<Box<dyn Link>> = vec![];
    for _ in 0..copies {
        let Ok((ours, theirs)) = UnixStream::pair() else { break };
        if ours.set_read_timeout(Some(PATIENCE)).is_err() {
            break;
        }
        // SAFETY: reads the number of this process.
        let original = unsafe { libc::getpid() };
        // SAFETY: the copy only explores and answers, as the module says.
        match unsafe { libc::fork() } {
            -1 => break,
            0 => {
                // They are the original's.
                std::mem::forget((links, ours));
                die_with(original);
                return Side::Copy(Box::new(Stream(theirs)));
            }
            process => links.push(Box::new(Copied { process, stream: Stream(ours) })),
        }
    }
    Side::Original(links)
}

/// A copy dies when its original does.
fn die_with(original: libc::pid_t) {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call about this process only.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    // SAFETY: reads the number of the parent.
    if unsafe { libc::getppid() } != original {
        end();
    }
}

/// Ends a copy, at once.
pub fn end() -> ! {
    // SAFETY: nothing of this process is needed any more.
    unsafe { libc::_exit(0) }
}
