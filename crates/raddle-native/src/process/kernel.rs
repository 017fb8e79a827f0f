//! The state that system calls change, except for memory.

use super::files::{Files, Stream};
use super::mappings::Mappings;
use crate::load::Module;
use raddle_cpu::memory::{MapError, Memory, Thread, layout};
use std::path::Path;
use std::sync::Arc;

/// Seconds since 1970 at which the realtime clock starts.
const REALTIME: u64 = 1_700_000_000;
/// Seconds at which all other clocks start.
const MONOTONIC: u64 = 1_000;
/// Process identifier; threads have those that follow.
const PID: u64 = 1000;

/// Bytes that are collected of each standard stream.
const MAX_OUTPUT: usize = 64 << 20;

/// What a signal does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Disposition {
    #[default]
    Default,
    Ignored,
    Handled,
}

/// What the kernel keeps per thread. All of it depends only on the calls of the thread itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelThread {
    /// Readings of clocks so far, in microseconds: each one takes that long.
    time: u64,
    /// Words of random bytes handed out so far.
    random: u64,
    /// Where `set_tid_address` wants a zero when the thread ends.
    pub(crate) clear_tid: u64,
    /// Its descriptors in an exploration, since it has used one.
    files: Option<Arc<Files>>,
}

/// Bytes that the guest wrote to standard output and standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// The state that system calls change.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Absolute path of the executable.
    pub(crate) executable: Arc<str>,
    pub(crate) files: Files,
    pub(crate) mappings: Mappings,
    pub(crate) modules: Vec<Arc<Module>>,
    pub(crate) output: Output,
    pub(crate) signals: [Disposition; 65],
    /// Whether the dynamic linker has passed control to the program.
    pub(crate) is_started: bool,
    /// Whether threads run one by one, with answers from outside.
    pub(crate) is_explored: bool,
    threads: Vec<KernelThread>,
}

/// The state of the kernel at a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct SavedKernel {
    files: Files,
    mappings: Mappings,
    signals: [Disposition; 65],
    threads: Vec<KernelThread>,
    /// Lengths of what was written to the standard streams.
    written: [usize; 2],
    is_started: bool,
}

/// What a thread has got from the kernel.
#[derive(Clone, Debug)]
pub(crate) struct SavedThread {
    state: KernelThread,
    mapping_end: u64,
    /// Only the main thread may move the break.
    brk: u64,
    /// Only the main thread may change what signals do.
    signals: [Disposition; 65],
}

impl Kernel {
    pub(crate) fn save(&self) -> SavedKernel {
        SavedKernel {
            files: self.files.clone(),
            mappings: self.mappings.clone(),
            signals: self.signals,
            threads: self.threads.clone(),
            written: [self.output.stdout.len(), self.output.stderr.len()],
            is_started: self.is_started,
        }
    }

    /// Returns to a saved state. Shared objects stay mapped.
    pub(crate) fn restore(&mut self, saved: &SavedKernel) {
        self.files.clone_from(&saved.files);
        self.mappings.clone_from(&saved.mappings);
        self.signals = saved.signals;
        self.threads.clone_from(&saved.threads);
        self.output.stdout.truncate(saved.written[0]);
        self.output.stderr.truncate(saved.written[1]);
        self.is_started = saved.is_started;
    }

    pub(crate) fn new(executable: &Path, memory: &mut Memory) -> Result<Kernel, MapError> {
        let absolute = executable.canonicalize().unwrap_or_else(|_| executable.into());
        Ok(Kernel {
            executable: absolute.to_string_lossy().into(),
            files: Files::new(),
            mappings: Mappings::new(memory)?,
            modules: Vec::new(),
            output: Output::default(),
            signals: [Disposition::Default; 65],
            is_started: false,
            is_explored: false,
            threads: Vec::new(),
        })
    }

    pub(crate) fn thread(&mut self, thread: Thread) -> &mut KernelThread {
        let index = thread.index();
        if self.threads.len() <= index {
            self.threads.resize(index + 1, KernelThread::default());
        }
        &mut self.threads[index]
    }

    /// The descriptors that a thread uses.
    pub(crate) fn files(&mut self, thread: Thread) -> &mut Files {
        if !self.is_explored {
            return &mut self.files;
        }
        let own = match self.thread(thread).files.take() {
            Some(own) => own,
            None => Arc::new(self.files.of_thread(thread.index())),
        };
        Arc::make_mut(self.thread(thread).files.insert(own))
    }

    /// What a thread has got from the kernel, to go back to.
    pub(crate) fn save_thread(&mut self, thread: Thread) -> SavedThread {
        let (state, mapping_end) = (self.thread(thread).clone(), self.mappings.end(thread));
        SavedThread { state, mapping_end, brk: self.mappings.brk(), signals: self.signals }
    }

    /// Goes back to a saved state of a thread.
    pub(crate) fn restore_thread(&mut self, thread: Thread, saved: &SavedThread) {
        self.thread(thread).clone_from(&saved.state);
        self.mappings.set_end(thread, saved.mapping_end);
        if thread == Thread::MAIN {
            self.mappings.restore_brk(saved.brk);
            self.signals = saved.signals;
        }
    }

    /// Whether a thread has got from the kernel what it had at a saved state.
    pub(crate) fn is_at(&self, thread: Thread, saved: &SavedThread) -> bool {
        let state = self.threads.get(thread.index());
        state.map_or(saved.state == KernelThread::default(), |state| *state == saved.state)
            && self.mappings.end(thread) == saved.mapping_end
            && (thread != Thread::MAIN || self.signals == saved.signals)
    }

    /// Identifier of the process.
    pub(crate) fn pid(&self) -> u64 {
        PID
    }

    /// Identifier of a thread; that of the main thread is the one of the process.
    pub(crate) fn tid(&self, thread: Thread) -> u64 {
        PID + thread.index() as u64
    }

    /// Nanoseconds on a clock. Every reading is a microsecond after the thread's previous one.
    pub(crate) fn clock(&mut self, thread: Thread, is_realtime: bool) -> u64 {
        let base = if is_realtime { REALTIME } else { MONOTONIC };
        let state = self.thread(thread);
        state.time += 1;
        base * 1_000_000_000 + state.time * 1000
    }

    /// Lets time pass for a thread.
    pub(crate) fn advance_clock(&mut self, thread: Thread, nanoseconds: u64) {
        let state = self.thread(thread);
        state.time = state.time.saturating_add(nanoseconds / 1000);
    }

    /// Fills `bytes` with the thread's next pseudorandom bytes (SplitMix64).
    pub(crate) fn random(&mut self, thread: Thread, bytes: &mut [u8]) {
        let seed = thread.index() as u64;
        for chunk in bytes.chunks_mut(8) {
            let state = self.thread(thread);
            state.random += 1;
            let mut word =
                (seed << 32).wrapping_add(state.random).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(word ^ word >> 31).to_le_bytes()[..chunk.len()]);
        }
    }

    /// Appends to what the guest wrote. Returns whether there was room.
    pub(crate) fn write(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let output = match stream {
            Stream::Stdout => &mut self.output.stdout,
            Stream::Stderr => &mut self.output.stderr,
        };
        let has_room = output.len().saturating_add(bytes.len()) <= MAX_OUTPUT;
        if has_room {
            output.extend_from_slice(bytes);
        }
        has_room
    }

    /// Base of the next shared object.
    pub(crate) fn next_base(&self) -> u64 {
        layout::object(self.modules.len())
    }
}
