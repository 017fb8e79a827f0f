//! The modelled functions of a process, as the engine calls them. The front end that knows the library fills the table.

use std::ops::Range;

use raddle_cpu::{HostArguments, KnownCallee};
use rustc_hash::{FxHashMap, FxHashSet};

use super::NativeProgram;
use super::call::{Call, Step, Suspend};
use super::std_code::StdCode;
use crate::process::{FutexCall, HostFunction};

/// A modelled function: returns the result register.
pub(crate) type Modelled = fn(&mut Call<'_>) -> Step<u64>;

/// The modelled functions of a process.
pub struct Table {
    pub(crate) functions: FxHashMap<HostFunction, Modelled>,
    /// The argument registers of some functions; others may use all.
    pub(crate) arguments: FxHashMap<HostFunction, HostArguments>,
    /// Hooks of atomic operations that the program calls, by address.
    pub(crate) callees: Vec<(u64, KnownCallee)>,
    /// Functions that change nothing before a question, so that nothing must be undone when they ask.
    pub(crate) asking_first: FxHashSet<HostFunction>,
    /// The system call `futex`: returns its result.
    pub(crate) futex: fn(&mut Call<'_>, FutexCall) -> Step<u64>,
    /// The function of a thread has returned this result.
    pub(crate) end_thread: fn(&mut Call<'_>, u64) -> Suspend,
    /// The process ends with this status.
    pub(crate) end_process: fn(&mut Call<'_>, i32) -> Suspend,
    /// Pages that libraries allocated before the program started, by address.
    pub(crate) library_memory: Vec<Range<u64>>,
    /// Memory in which modelled functions keep what threads may share.
    pub(crate) bookkeeping: Range<u64>,
    /// Where modelled functions keep something for each thread: bases and distances.
    pub(crate) thread_areas: [(u64, u64); 2],
    /// The name of such memory.
    pub(crate) bookkeeping_name: fn(&NativeProgram, u64) -> Option<String>,
    /// The code of the standard library of a Rust program.
    pub(crate) rust: Option<StdCode>,
    /// The destructors of all keys, by key.
    pub(crate) key_destructors: FxHashMap<u64, u64>,
}

impl Table {
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
