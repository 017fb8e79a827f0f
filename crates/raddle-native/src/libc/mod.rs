//! Functions of the C library and of compilers' runtime libraries that Raddle models.
//!
//! Each file has the functions of one kind and a table of their names. All other library functions run as guest code.

mod area;
mod arguments;
mod atomics;
mod awaits;
mod barrier;
mod blocks;
mod c11;
mod cancel;
mod cleanup;
mod clock;
mod condition;
mod ending;
mod errors;
mod eventfd;
mod failures;
mod format;
mod futex;
mod keys;
mod life;
mod memory;
mod mutex;
mod once;
mod output;
mod prepare;
mod random;
mod rust_std;
mod rwlock;
mod semaphore;
mod sleep;
mod threads;
mod verifier;
mod waiters;

use std::path::Path;

use raddle_cpu::{HostArguments, KnownCallee};
use rustc_hash::FxHashMap;

use crate::load::{Elf, Module, SymbolKind};
use crate::process::{Options, Process, StartError};
use crate::program::call::{Call, Step};
use crate::program::kinds::{ObjectKind, Purpose};
use crate::program::std_code::StdCode;
use crate::program::table::Modelled;
use crate::program::{NativeProgram, Table};
pub(crate) use barrier::{barrier_arrivals, has_token};
pub use cancel::misses_request;
pub use ending::has_exited;
use prepare::run_library_code;
pub(crate) use semaphore::semaphore_units;
pub(crate) use waiters::waiting_threads;

/// Names with their functions.
pub(crate) type Names = &'static [(&'static str, Modelled)];

/// The result of a function that has failed and set `errno`.
const FAILED: u64 = -1_i64 as u64;

/// A function without an effect that matters.
fn nothing(_: &mut Call<'_>) -> Step<u64> {
    Ok(0)
}

/// The tables of all files.
const TABLES: &[Names] = &[
    atomics::TABLE,
    awaits::TABLE,
    barrier::TABLE,
    blocks::TABLE,
    c11::TABLE,
    cancel::TABLE,
    cleanup::TABLE,
    clock::TABLE,
    condition::TABLE,
    ending::TABLE,
    eventfd::TABLE,
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
    sleep::TABLE,
    threads::REFUSED,
    threads::TABLE,
    verifier::TABLE,
    rust_std::LIBC_TABLE,
    rust_std::OF_CRATES,
    rust_std::TABLE,
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
    start_file(&Elf::read(executable)?, options)
}

/// As [`start`], of an executable in memory.
///
/// # Errors
///
/// As [`start`].
pub fn start_file(executable: &Elf, options: &Options) -> Result<Process, StartError> {
    let options = Options { host_functions: names(), ..options.clone() };
    let mut process = Process::start_file(executable, &options, &mut |process, _| {
        run_library_code(process);
        true
    })?;
    prepare::prepare(&mut process);
    rust_std::intercept(&mut process);
    Ok(process)
}

/// The modelled functions of a process that [`start`] has started.
#[must_use]
pub fn table(process: &Process) -> Table {
    let known =
        all().filter_map(|&(name, function)| Some((process.host_function(name)?, function)));
    let arguments = all().filter_map(|&(name, _)| {
        Some((process.host_function(name)?, HostArguments::Integers(argument_count(name)?)))
    });
    Table {
        functions: known.collect(),
        arguments: arguments.collect(),
        callees: process.modules().first().map_or(vec![], |program| callees(program)),
        asking_first: atomics::hooks().filter_map(|name| process.host_function(name)).collect(),
        futex: futex::perform,
        end_thread: ending::end_thread,
        end_process: ending::end_process,
        library_memory: prepare::library_memory(process),
        bookkeeping: area::BOOKKEEPING,
        thread_areas: area::THREAD_AREAS,
        bookkeeping_name: area::name,
        rust: StdCode::new(process),
        key_destructors: FxHashMap::default(),
    }
}

/// The hooks of atomic operations that a program calls, by address.
fn callees(program: &Module) -> Vec<(u64, KnownCallee)> {
    let address = |name: &str| {
        let symbol = program.symbols().by_name(name)?;
        (symbol.kind == SymbolKind::Function).then_some(program.base + symbol.address)
    };
    let callee = |name| {
        let (integers, pointers) = (argument_count(name)?, atomics::pointers(name)?);
        Some((address(name)?, KnownCallee { integers, pointers }))
    };
    atomics::hooks().filter_map(callee).collect()
}

/// The number of integer arguments of a function that programs call in loops that wait; `None` for others.
fn argument_count(name: &str) -> Option<usize> {
    Some(match name {
        "sched_yield" | "pthread_yield" | "thrd_yield" => 0,
        "pthread_mutex_lock"
        | "pthread_mutex_trylock"
        | "pthread_mutex_unlock"
        | "mtx_lock"
        | "mtx_trylock"
        | "mtx_unlock"
        | "pthread_spin_lock"
        | "pthread_spin_trylock"
        | "pthread_spin_unlock"
        | "pthread_rwlock_rdlock"
        | "pthread_rwlock_tryrdlock"
        | "pthread_rwlock_trywrlock"
        | "pthread_rwlock_unlock"
        | "pthread_rwlock_wrlock"
        | "sem_wait"
        | "sem_trywait"
        | "sem_post"
        | "usleep"
        | "sleep" => 1,
        "pthread_cond_wait" | "cnd_wait" | "nanosleep" | "thrd_sleep" => 2,
        _ => return atomics::argument_count(name),
    })
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
