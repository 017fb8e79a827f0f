//! A guest process: start and end as the ABI has them, threads, system calls.
//!
//! [`Process::start`] maps the executable and its dynamic linker, writes the initial stack (arguments, environment,
//! auxiliary vector) and runs the linker until it passes control to the program. [`Process::run`] runs a thread until
//! something must be decided outside: an access to shared memory, a host function, a futex operation, the end.
//! Constructors, `main`, `atexit` handlers and destructors are guest code and run as natively.
//!
//! All that a process could learn from the world is fixed: addresses, stack canary, environment, time, random numbers,
//! identifiers. Two runs of a program are the same to the instruction.
//!
//! The linker sees variables that the program does not: `LD_BIND_NOW`, so that tables of functions are complete and
//! become read-only before the program starts (a table that is filled lazily would make every call an access to shared
//! memory), and `LD_PRELOAD` for functions that no object defines, and a tunable that keeps `memcpy` from using
//! non-temporal stores. They are the last ones of the environment and cut off before the program's first instruction.
//!
//! Not modelled, and refused when executed: files, sockets, processes, handlers of signals, code made at run time.

mod backtrace;
mod errno;
mod event;
mod files;
mod host;
mod kernel;
mod mappings;
mod refusal;
mod run;
mod snapshot;
pub(crate) mod snapshots;
mod stack;
mod start;
mod status;
mod strings;
mod syscalls;
mod threads;

pub use event::Event;
pub use files::{ReadableFile, Stream};
pub use host::HostFunction;
pub(crate) use host::HostFunctions;
pub use kernel::Output;
pub use refusal::Refused;
pub use run::Ending;
pub use snapshot::ProcessSnapshot;
pub use snapshots::ThreadSnapshot;
pub use start::{Options, StartError};
pub use status::Status;
pub use syscalls::FutexCall;
pub use threads::{ThreadError, ThreadStart};

use crate::load::{Module, Place};
use kernel::Kernel;
use raddle_cpu::memory::{Memory, Thread};
use raddle_cpu::{Code, Cpu};
use std::ops::Range;
use std::sync::Arc;

/// A guest process.
#[derive(Debug)]
pub struct Process {
    memory: Memory,
    code: Code,
    kernel: Kernel,
    hosts: HostFunctions,
    /// Threads by index; `None` for those that were not created.
    threads: Vec<Option<Cpu>>,
    /// Address of the program's own entry point.
    entry: u64,
    /// Address of the pointer to the first variable that only the dynamic linker sees.
    linker_variables: u64,
    /// Instructions that [`Process::run_with`] has run.
    instructions: u64,
    /// Number of modules whose functions were made host functions.
    intercepted: usize,
    /// Thread-local pointers to tables of `ctype.h`: offsets from the thread pointer, and values. `None` until the first thread
    /// is created.
    character_tables: Option<Vec<(u64, u64)>>,
    /// Resolvers of indirect functions in whose place the host acts once the program has started.
    resolvers: Vec<(u64, HostFunction)>,
}

impl Process {
    /// The memory of the process.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The memory of the process, for host functions and for answers to questions.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// The state of a thread that was created.
    pub fn cpu(&self, thread: Thread) -> Option<&Cpu> {
        self.threads.get(thread.index())?.as_ref()
    }

    /// The state of a thread that was created, for host functions and for answers to questions.
    pub fn cpu_mut(&mut self, thread: Thread) -> Option<&mut Cpu> {
        self.threads.get_mut(thread.index())?.as_mut()
    }

    /// Takes what the process wrote since it was last taken, to both streams in any order.
    pub(crate) fn take_output(&mut self) -> Option<Vec<u8>> {
        let Output { stdout, stderr } = &mut self.kernel.output;
        if stdout.is_empty() && stderr.is_empty() {
            return None;
        }
        let mut bytes = std::mem::take(stdout);
        bytes.append(stderr);
        Some(bytes)
    }

    /// Whether a thread other than `thread` has mapped an address, now or before it went back.
    pub(crate) fn is_mapping_of_other(&self, address: u64, thread: Thread) -> bool {
        self.kernel.mappings.owner(address).is_some_and(|owner| owner != thread.index())
    }

    /// From now on threads run one by one, with answers from outside, and go back.
    pub(crate) fn begin_exploration(&mut self) {
        self.kernel.is_explored = true;
        for cpu in self.threads.iter_mut().flatten() {
            cpu.report_locked();
        }
    }

    /// Stops threads that would begin another round of a loop of the program after so many.
    pub(crate) fn limit_rounds(&mut self, limit: u32) {
        let Some(program) = self.kernel.modules.first() else { return };
        let mut functions = program.functions();
        if functions.is_empty() {
            let segments = program.file.segments.iter().filter(|segment| segment.is_executable);
            let absolute =
                |range: &Range<u64>| program.base + range.start..program.base + range.end;
            functions = segments.map(|segment| absolute(&segment.range)).collect();
        }
        self.code.limit_rounds(functions, limit);
    }

    /// What the process wrote so far.
    pub fn output(&self) -> &Output {
        &self.kernel.output
    }

    /// The executable, the dynamic linker and the shared objects, in order of loading.
    pub fn modules(&self) -> &[Arc<Module>] {
        &self.kernel.modules
    }

    /// Instructions that [`Process::run_with`] has run, those of the dynamic linker included.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Module, symbol and source line of an address.
    pub fn place(&self, address: u64) -> Place {
        match strings::function_at(address) {
            Some((name, offset)) => Place {
                address,
                module: Some((strings::NAME.into(), offset)),
                symbol: Some((name.into(), offset)),
                line: None,
            },
            None => Place::find(&self.kernel.modules, address),
        }
    }

    /// The host function that acts in place of the function `name`, if [`Options::host_functions`] has it.
    pub fn host_function(&self, name: &str) -> Option<HostFunction> {
        self.hosts.by_name(name)
    }

    /// The address of an instruction that only returns; `None` if no library has one.
    pub(crate) fn return_instruction(&self) -> Option<u64> {
        const RETURN: u8 = 0xc3;
        let code = self.kernel.modules.iter().rev().flat_map(|module| {
            let segments = module.file.segments.iter().filter(|segment| segment.is_executable);
            segments.map(|it| module.base + it.range.start..module.base + it.range.end)
        });
        let is_return = |address: &u64| {
            let mut byte = [0];
            self.memory.read(*address, &mut byte).is_ok() && byte == [RETURN]
        };
        code.flatten().find(is_return)
    }

    /// The address of a function or variable: of the first module that defines it.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.kernel.modules.iter().find_map(|module| module.address_of(name))
    }
}
