//! Functions of Rust's standard library that Raddle models, and what the rest of its code means.
//!
//! *Problem.* The code of a Rust program is compiled with hooks that tell memory orders, but the standard library is precompiled
//! without: its atomic accesses are plain and locked instructions.
//!
//! *Idea.* Generic and inline code of the library is compiled into the program and has hooks. What is left are slow paths and
//! bookkeeping. Some functions are modelled (the files of this module); all others run as guest code, and `program::std_code` gives
//! their accesses memory orders that are at least as strong as those in the source.
//!
//! Functions are found by the end of their demangled path. If one is missing, because it was inlined or the library is another
//! version, its code runs: the result is the same, with more executions.

mod backoff;
mod libtest;
mod locks;
mod scope;
mod test_options;
mod threads;

use raddle_core::outcome::FindingKind;
use rustc_hash::FxHashSet;

use super::{Names, nothing};
use crate::load::SymbolKind;
use crate::process::Process;
use crate::program::call::{Call, Suspend};
use crate::program::std_code::{is_rust, is_std, path};
pub(super) use locks::futex;
pub(super) use threads::take_guard;

/// Functions of the library, by the ends of their paths.
pub(super) const TABLE: Names = &[
    ("ThreadId::new", threads::new_id),
    ("guard::key::enable", threads::enable_guard),
    // There are no signals, so no stack for their handlers.
    ("stack_overflow::imp::make_handler", nothing),
    ("stack_overflow::imp::drop_handler", nothing),
    ("stack_overflow::thread_info::set_current_info", nothing),
    ("futex::Mutex::lock_contended", locks::lock_mutex),
    ("futex::RwLock::read_contended", locks::lock_for_reading),
    ("futex::RwLock::write_contended", locks::lock_for_writing),
    ("ScopeData::increment_num_running_threads", scope::increment),
    ("ScopeData::decrement_num_running_threads", scope::decrement),
    ("thread::functions::park", scope::park),
    ("Thread::park", scope::park_of_thread),
    ("mpmc::utils::Backoff::spin_light", nothing),
    ("mpmc::utils::Backoff::spin_heavy", nothing),
    // It would need the executable. The library prints it when a panic in a destructor aborts.
    ("BacktraceLock::print::DisplayBacktrace as core::fmt::Display::fmt", nothing),
];

/// Functions of other crates, by their paths.
pub(super) const OF_CRATES: Names = &[
    ("crossbeam_utils::backoff::Backoff::spin", nothing),
    ("crossbeam_utils::backoff::Backoff::snooze", backoff::snooze),
    ("raddle_test::hooks::assume", test_options::assume),
    ("raddle_test::hooks::any_of", test_options::any_of),
];

/// Functions of the C library that mean something else when the standard library calls them: their names, and those under which
/// they are intercepted.
const OF_LIBC: [(&str, &str); 2] =
    [("pthread_create", "rust pthread_create"), ("pthread_getattr_np", "rust pthread_getattr_np")];

/// What acts in place of [`OF_LIBC`].
pub(super) const LIBC_TABLE: Names = &[
    ("rust pthread_create", libtest::pthread_create),
    // The library asks where its stack ends, to tell an overflow from other faults. The answer is that it is not known.
    ("rust pthread_getattr_np", |_| Ok(EINVAL)),
];

const EINVAL: u64 = 22;

/// Makes modelled functions of a Rust program call the host.
pub(super) fn intercept(process: &mut Process) {
    if !is_rust(process) {
        return;
    }
    let Some(module) = process.modules().first().cloned() else { return };
    let paths = TABLE.iter().chain(OF_CRATES).map(|&(path, _)| path);
    let words: FxHashSet<&str> = paths.map(longest_word).collect();
    for symbol in module.symbols().iter().filter(|symbol| symbol.kind == SymbolKind::Function) {
        // Most symbols need not be demangled.
        if !words.iter().any(|word| symbol.name.contains(word)) {
            continue;
        }
        let name = path(&symbol.name);
        let is_in_std = |end: &str| name.strip_suffix(end).is_some_and(|it| it.ends_with("::"));
        let of_std = TABLE.iter().find(|(end, _)| is_std(&name) && is_in_std(end));
        let found = of_std.or_else(|| OF_CRATES.iter().find(|(path, _)| *path == name));
        if let Some((path, _)) = found {
            process.intercept_at(module.base + symbol.address, path);
        }
    }
    for (function, name) in OF_LIBC {
        if let Some(address) = process.address_of(function) {
            process.intercept_at(address, name);
        }
    }
}

fn longest_word(path: &str) -> &str {
    let words = path.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

/// The program, or a test, ends with a status that says that it failed.
pub(super) fn failed(call: &mut Call<'_>, status: i32) -> Suspend {
    /// The status of a program whose main thread panics, and of failed tests.
    const PANICKED: i32 = 101;
    match status {
        PANICKED => call.fail(FindingKind::Panic, "the test or the main thread fails"),
        _ => {
            call.fail(FindingKind::Failure, &format!("the program ends with exit status {status}"))
        }
    }
}
