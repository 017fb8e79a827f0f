//! Data of libraries.
//!
//! *Problem.* Library code that runs as guest code has variables: caches, flags of streams, counters of locales. If threads shared
//! them, every use of `std::cout` would be a race, and the number of classes would depend on the version of the library.
//!
//! *Idea.* Every thread has its own copy of the writable data of system libraries, and a new thread starts with the copies of its
//! creator. So library data is no communication between threads; only modelled functions synchronize. What a thread
//! starts with is part of its identity (`names`): threads that start with different data are different threads.
//!
//! *Not modelled.* A thread does not see what another one changed in a library after the thread was created: `setenv`,
//! `setlocale`, flags of standard streams.

use std::ops::Range;
use std::rc::Rc;

use raddle_cpu::memory::{PAGE, PageContents, Thread};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use super::NativeProgram;
use crate::load::Module;
use crate::process::Process;

/// Directories of system libraries.
const DIRECTORIES: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

/// Returns `true` if a shared object belongs to the system, not to the user.
fn is_system(module: &Module) -> bool {
    DIRECTORIES.iter().any(|directory| module.path().starts_with(directory))
}

/// The data with which threads start.
#[derive(Debug, Default)]
pub(crate) struct LibraryData {
    /// The data of all system libraries when the program starts.
    initial: PageContents,
    /// What was changed since, by number; `None` if only another process has seen it.
    changed: Vec<Option<Rc<PageContents>>>,
    /// The hash of what was changed, by number.
    hashes: Vec<u64>,
}

impl LibraryData {
    /// Gives every thread its own copy of the data of libraries.
    pub(super) fn new(process: &mut Process, library_memory: &[Range<u64>]) -> Self {
        let mut ranges = library_memory.to_vec();
        ranges.extend(writable_pages(process));
        process.memory_mut().set_copied(&ranges);
        let initial = process.memory_mut().copied_pages(Thread::MAIN);
        LibraryData { initial, ..LibraryData::default() }
    }

    /// The number of the data that a thread has now.
    fn number_of(&mut self, process: &mut Process, thread: Thread) -> u32 {
        let changed = Rc::new(process.memory_mut().changed_pages(thread, &self.initial));
        let hash = FxBuildHasher.hash_one(&changed);
        let known = self.hashes.iter().zip(&self.changed).position(|(&known, contents)| {
            known == hash && contents.as_ref().is_none_or(|contents| *contents == changed)
        });
        let number = known.unwrap_or(self.hashes.len());
        if known.is_none() {
            self.hashes.push(hash);
            self.changed.push(None);
        }
        self.changed[number] = Some(changed);
        number as u32
    }

    /// The hash of the data of each number.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Numbers data as another process does.
    pub(super) fn number(&mut self, hashes: &[u64]) {
        self.hashes = hashes.to_vec();
        self.changed = vec![None; hashes.len()];
    }

    /// Gives a new thread the data of this number.
    pub(super) fn give(&self, process: &mut Process, thread: Thread, number: u32) {
        process.memory_mut().give_pages(thread, &self.initial);
        if let Some(Some(changed)) = self.changed.get(number as usize) {
            process.memory_mut().give_pages(thread, changed);
        }
    }
}

/// The pages of all writable segments of system libraries.
fn writable_pages(process: &Process) -> Vec<Range<u64>> {
    let libraries = process.modules().iter().skip(1).filter(|module| is_system(module));
    let segments = libraries.flat_map(|module| {
        let writable = module.file.segments.iter().filter(|segment| segment.is_writable);
        writable.map(|segment| {
            let (start, end) = (module.base + segment.range.start, module.base + segment.range.end);
            start / PAGE * PAGE..end.next_multiple_of(PAGE)
        })
    });
    segments.collect()
}

impl NativeProgram {
    /// Returns `true` if an address is in a variable of a system library, or in memory that a library allocated before the program
    /// started.
    pub(crate) fn is_library_data(&self, address: u64) -> bool {
        let mut libraries = self.process.modules().iter().skip(1);
        libraries.any(|module| module.contains(address) && is_system(module))
            || self.table.is_library_memory(address)
    }

    /// Returns `true` if an address is in the code of a system library.
    pub(crate) fn is_system_code(&self, address: u64) -> bool {
        let module = self.process.modules().iter().skip(1).find(|module| module.contains(address));
        module.is_some_and(|module| is_system(module))
    }

    /// The number of the library data with which a thread starts that the current one spawns now.
    pub(crate) fn library_data(&mut self) -> u32 {
        let guest = self.thread().guest;
        self.library.number_of(&mut self.process, guest)
    }
}

/// The modules whose variables threads share: the program and its own shared objects.
pub(super) fn users_modules(process: &Process) -> Vec<std::sync::Arc<Module>> {
    let modules = process.modules().iter().enumerate();
    let users = modules.filter(|(index, module)| *index == 0 || !is_system(module));
    users.map(|(_, module)| module.clone()).collect()
}
