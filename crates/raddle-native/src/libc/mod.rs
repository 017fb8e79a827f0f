//! Functions of the C library and of compilers' runtime libraries that Raddle models.
//!
//! Each file has the functions of one kind and a table of their names. All other library functions run as guest code.

mod area;
mod arguments;
mod atomics;
mod barrier;
mod blocks;
mod c11;
pub(crate) mod call;
mod clock;
mod condition;
mod ending;
mod errors;
mod failures;
mod format;
mod futex;
mod keys;
mod memory;
mod mutex;
mod once;
mod output;
mod prepare;
mod random;
mod rwlock;
mod semaphore;
pub(crate) mod strings;
mod threads;
mod verifier;
mod waiters;

use std::ops::Range;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::process::{HostFunction, Options, Process, StartError};
use crate::program::NativeProgram;
use call::{Call, Step};
pub use ending::has_exited;
pub(crate) use prepare::library_memory;
use prepare::run_library_code;

/// A modelled function: returns the result register.
pub(crate) type Modelled = fn(&mut Call<'_>) -> Step<u64>;

/// Names with their functions.
pub(crate) type Names = &'static [(&'static str, Modelled)];

/// What a synchronization object is, for its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum ObjectKind {
    Mutex,
    Condition,
    ReadWriteLock,
    Semaphore,
    Barrier,
    Once,
    Futex,
    AtomicSection,
    Exit,
}

/// What a number is that a modelled function keeps for a thread; see [`Call::remember`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// How often the thread has locked a recursive mutex again, by mutex.
    MutexAgain,
    /// How it holds a reader-writer lock, by lock.
    ReadWriteLockHeld,
    /// Nanoseconds that have passed on its clock.
    Clock,
    /// The number of keys that it has made.
    KeysMade,
    /// Its value for a key, by key.
    KeyValue,
    /// The number of destructors for its end.
    Destructors,
    /// Whether a destructor is that of a key, its function and its argument, by number.
    DestructorIsKey,
    DestructorFunction,
    DestructorArgument,
    /// The number of destructors of the executable that it has called.
    ExecutableDestructors,
    /// The state of its pseudorandom numbers.
    Random,
    /// The number of initialisations that it is in, and the object of each, by control variable.
    OnceDepth,
    OnceObject,
}

/// The result of a function that has failed and set `errno`.
const FAILED: u64 = -1_i64 as u64;

/// A function without an effect that matters.
fn nothing(_: &mut Call<'_>) -> Step<u64> {
    Ok(0)
}

/// The tables of all files.
const TABLES: &[Names] = &[
    atomics::TABLE,
    barrier::TABLE,
    blocks::TABLE,
    c11::TABLE,
    clock::TABLE,
    condition::TABLE,
    ending::TABLE,
    failures::TABLE,
    format::TABLE,
    keys::TABLE,
    memory::TABLE,
    mutex::TABLE,
    once::TABLE,
    output::TABLE,
    random::TABLE,
    rwlock::TABLE,
    semaphore::TABLE,
    threads::REFUSED,
    threads::TABLE,
    verifier::TABLE,
];

fn all() -> impl Iterator<Item = &'static (&'static str, Modelled)> {
    TABLES.iter().flat_map(|names| names.iter())
}

/// The names of all modelled functions, for [`Options::host_functions`](crate::process::Options::host_functions).
#[must_use]
pub fn names() -> Vec<String> {
    all().map(|(name, _)| String::from(*name)).collect()
}

/// Starts a program with all modelled functions. Constructors of libraries, which run before the program, call the library's own
/// functions instead.
///
/// # Errors
///
/// If the program cannot be loaded, or is stopped before it starts.
pub fn start(executable: &Path, options: &Options) -> Result<Process, StartError> {
    let options = Options { host_functions: names(), ..options.clone() };
    let mut process = Process::start_with(executable, &options, &mut |process, _| {
        run_library_code(process);
        true
    })?;
    prepare::prepare(&mut process);
    Ok(process)
}

/// The modelled functions of a process.
pub struct Table {
    functions: FxHashMap<HostFunction, Modelled>,
    /// Pages that libraries allocated before the program started, by address.
    library_memory: Vec<Range<u64>>,
    /// The destructors of all keys, by key.
    destructors: FxHashMap<u64, u64>,
}

impl Table {
    /// The functions of a process that was started with [`names`].
    #[must_use]
    pub fn new(process: &Process) -> Self {
        let known =
            all().filter_map(|&(name, function)| Some((process.host_function(name)?, function)));
        Table {
            functions: known.collect(),
            library_memory: prepare::library_memory(process),
            destructors: FxHashMap::default(),
        }
    }

    /// Returns `true` if libraries allocated the memory at an address before the program started.
    pub(crate) fn is_library_memory(&self, address: u64) -> bool {
        let before = self.library_memory.partition_point(|range| range.start <= address);
        before > 0 && address < self.library_memory[before - 1].end
    }

    pub(crate) fn function(&self, function: HostFunction) -> Modelled {
        self.functions.get(&function).copied().unwrap_or(unknown)
    }
}

fn unknown(call: &mut Call<'_>) -> Step<u64> {
    Err(call.refuse("calls a function that Raddle does not model"))
}

impl NativeProgram {
    /// Returns `true` if an address is in the dynamic linker.
    pub(crate) fn is_dynamic_linker(&self, address: u64) -> bool {
        let modules = self.process.modules();
        let linker = modules.first().and_then(|program| program.file.interpreter.as_ref());
        linker.is_some_and(|linker| {
            modules.iter().any(|module| module.contains(address) && **module.path() == **linker)
        })
    }
}
