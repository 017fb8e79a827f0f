//! Guest threads: stack, thread-local storage, thread control block.
//!
//! Whoever models `pthread_create` asks for a thread here. The dynamic linker has laid out the static thread-local
//! storage for the main thread, and the layout is read from there. The vector of its blocks (dtv) and the head of the
//! thread control block are fixed by the ABI between compilers, the dynamic linker and the C library.
//!
//! | offset from the thread pointer | contents |
//! |---|---|
//! | negative | static thread-local storage of all modules |
//! | 0, 16 | the thread pointer itself |
//! | 8 | address of the vector: two words per module, the first one is the address of its block |
//! | 24 | whether there is more than one thread |
//! | 40, 48 | stack canary, pointer guard |
//!
//! Rejected: calling the dynamic linker's `_dl_allocate_tls` as guest code. It takes locks and allocates in memory that
//! belongs to the main thread, so it would be part of what the explorer sees.

use super::Process;
use super::host::HostFunctions;
use raddle_cpu::memory::{Denied, MapError, Memory, PAGE, RegionKind, State, Thread, layout};
use raddle_cpu::{Cpu, Register};
use std::fmt;

/// The function of the C library that runs destructors of a thread's thread-local objects.
const RUN_DESTRUCTORS: &str = "__call_tls_dtors";
/// Bytes for the thread control block; that of glibc has about 2300.
const CONTROL_BLOCK: u64 = 4096;
/// Static thread-local storage is never larger; more means that the vector was misread.
const MAX_STATIC: u64 = 1 << 24;
/// Most modules with thread-local storage.
const MAX_MODULES: u64 = 4096;
/// Functions that return the address of a thread-local pointer to a table of `ctype.h`. The C library sets these pointers when it
/// starts a thread.
const CHARACTER_TABLES: [&str; 3] = ["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"];

/// How to start a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStart {
    /// Address of the function that it runs.
    pub function: u64,
    /// The function's first argument.
    pub argument: u64,
    /// Size of the stack in bytes.
    pub stack_size: u64,
}

/// Why a thread cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadError {
    /// There is no room for its stack or its thread-local storage.
    Map(MapError),
    /// The main thread has no thread-local storage that could be read: the C library is unknown or has not started.
    Layout,
    /// A thread of this number exists.
    Exists,
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadError::Map(error) => write!(f, "no room for a thread: {error}"),
            ThreadError::Layout => {
                f.write_str("thread-local storage of the main thread is not set up")
            }
            ThreadError::Exists => f.write_str("the thread exists"),
        }
    }
}

impl std::error::Error for ThreadError {}

/// The layout of static thread-local storage, read from the main thread.
struct TlsLayout {
    /// The thread pointer of the main thread.
    main: u64,
    /// The vector of the main thread from its length on, in words.
    vector: Vec<u64>,
    /// Bytes below the thread pointer.
    size: u64,
}

impl Process {
    /// Creates a thread with a stack and thread-local storage of its own, both private to it. It runs when
    /// [`Process::run`] is called for it; when its function returns, [`Process::has_returned`] holds for the event.
    pub fn create_thread(&mut self, thread: Thread, start: ThreadStart) -> Result<(), ThreadError> {
        if self.cpu(thread).is_some() {
            return Err(ThreadError::Exists);
        }
        let tls = self.tls_layout().ok_or(ThreadError::Layout)?;
        self.map_thread(thread, &tls, start.stack_size).map_err(ThreadError::Map)?;
        let pointer = self.write_tls(thread, &tls).ok_or(ThreadError::Layout)?;
        let mut cpu = Cpu::new(thread);
        cpu.set_fs_base(pointer);
        if self.kernel.is_explored {
            cpu.report_locked();
        }
        let stack = layout::stack_end(thread) - 72;
        let address = HostFunctions::RETURN.address();
        self.memory
            .write_initial(stack, &address.to_le_bytes())
            .map_err(|_| ThreadError::Layout)?;
        cpu.set_register(Register::Rsp, stack);
        cpu.set_register(Register::Rdi, start.argument);
        cpu.jump(start.function);
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, || None);
        }
        self.threads[thread.index()] = Some(cpu);
        Ok(())
    }

    /// Removes all threads but the main one. Their stacks must be as they were when the threads were created.
    pub(crate) fn forget_threads(&mut self) {
        self.threads.truncate(1);
    }

    /// Prepares a thread whose function has returned to run the destructors of its thread-local objects. When they have run,
    /// [`Process::has_returned`] holds again. Returns whether the C library has any to run.
    pub fn begin_destructors(&mut self, thread: Thread) -> Result<bool, Denied> {
        match self.address_of(RUN_DESTRUCTORS) {
            Some(function) => self.begin_call(thread, function, &[]).map(|()| true),
            None => Ok(false),
        }
    }

    /// Maps stack and thread-local storage, unless an earlier execution did.
    fn map_thread(&mut self, thread: Thread, tls: &TlsLayout, stack: u64) -> Result<(), MapError> {
        let start = layout::tls(thread);
        if self.memory.region(start).is_some() {
            return Ok(());
        }
        let stack = self.memory.add_thread(thread, stack)?;
        if self.modules().first().is_some_and(|program| program.file.has_executable_stack) {
            self.memory.set_executable(stack);
        }
        let vector = tls.vector.len() as u64 * 8;
        let size = tls.size.next_multiple_of(PAGE) + CONTROL_BLOCK + vector;
        let name = format!("thread-local storage of {thread}");
        let range = start..start + size.next_multiple_of(PAGE);
        self.memory.map(range, RegionKind::Tls, State::Private(thread), &name)
    }

    fn tls_layout(&self) -> Option<TlsLayout> {
        let main = self.cpu(Thread::MAIN)?.register(Register::FsBase);
        let vector_at = word(&self.memory, main.checked_add(8)?)?;
        let len = word(&self.memory, vector_at.checked_sub(16)?)?;
        if len > MAX_MODULES {
            return None;
        }
        let words = 0..2 * (len + 2);
        let vector: Option<Vec<u64>> =
            words.map(|index| word(&self.memory, vector_at - 16 + index * 8)).collect();
        let vector = vector?;
        let blocks = vector.iter().skip(4).step_by(2);
        let offsets = blocks.map(|block| main.wrapping_sub(*block)).filter(|o| *o < MAX_STATIC);
        Some(TlsLayout { main, size: offsets.max().unwrap_or(0), vector })
    }

    /// Writes initial thread-local storage. Returns the thread pointer.
    fn write_tls(&mut self, thread: Thread, tls: &TlsLayout) -> Option<u64> {
        let pointer = layout::tls(thread) + tls.size.next_multiple_of(PAGE);
        let mut vector = tls.vector.clone();
        let with_tls = self.kernel.modules.clone().into_iter().filter(|m| m.file.tls.is_some());
        for (entry, module) in vector.chunks_mut(2).skip(2).zip(with_tls) {
            let offset = tls.main.wrapping_sub(entry[0]);
            if offset >= MAX_STATIC {
                // Not static: allocated when the thread first uses it.
                entry[0] = u64::MAX;
                continue;
            }
            entry[0] = pointer - offset;
            let segment = module.file.tls.as_ref()?;
            let mut image = vec![0; segment.file_size as usize];
            self.memory.read(module.base + segment.address, &mut image).ok()?;
            image.resize(segment.size as usize, 0);
            self.memory.write_initial(entry[0], &image).ok()?;
        }
        self.copy_character_tables(pointer, tls.main);
        let vector_at = pointer + CONTROL_BLOCK;
        for (index, value) in vector.iter().enumerate() {
            self.write_word(vector_at + index as u64 * 8, *value)?;
        }
        self.write_control_block(thread, pointer, vector_at + 16, tls.main)?;
        Some(pointer)
    }

    /// Copies the main thread's pointers to tables of `ctype.h`, as far as the program has them.
    fn copy_character_tables(&mut self, pointer: u64, main: u64) {
        if self.character_tables.is_none() {
            self.character_tables = Some(self.find_character_tables(main));
        }
        for (offset, table) in self.character_tables.clone().unwrap_or_default() {
            let _ = self.write_word(pointer.wrapping_add(offset), table);
        }
    }

    /// Where the main thread has pointers to tables of `ctype.h`, relative to its thread pointer, and the pointers.
    fn find_character_tables(&mut self, main: u64) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for name in CHARACTER_TABLES {
            let Some(function) = self.address_of(name) else { continue };
            let Ok(at) = self.call(Thread::MAIN, function, &[]) else { continue };
            found.extend(word(&self.memory, at).map(|table| (at.wrapping_sub(main), table)));
        }
        found
    }

    fn write_control_block(
        &mut self,
        thread: Thread,
        at: u64,
        vector: u64,
        main: u64,
    ) -> Option<()> {
        self.memory.write_initial(at, &[0; CONTROL_BLOCK as usize]).ok()?;
        let (canary, guard) = (word(&self.memory, main + 40)?, word(&self.memory, main + 48)?);
        for (offset, value) in [(0, at), (8, vector), (16, at), (24, 1), (40, canary), (48, guard)]
        {
            self.write_word(at + offset, value)?;
        }
        // The main thread told the kernel where its identifier is.
        let offset = self.kernel.thread(Thread::MAIN).clear_tid.wrapping_sub(main);
        if offset < CONTROL_BLOCK - 4 {
            let tid = self.kernel.tid(thread) as u32;
            self.memory.write_initial(at + offset, &tid.to_le_bytes()).ok()?;
        }
        Some(())
    }

    fn write_word(&mut self, address: u64, value: u64) -> Option<()> {
        self.memory.write_initial(address, &value.to_le_bytes()).ok()
    }
}

fn word(memory: &Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}
