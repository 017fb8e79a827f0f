//! Starting a program: what the kernel does, then what the dynamic linker does.

use super::files::ReadableFile;
use super::host::{HostFunction, HostFunctions, Role};
use super::kernel::Kernel;
use super::run::Ending;
use super::stack::{self, StartInfo};
use super::strings;
use super::{Event, Process};
use crate::load::{Elf, LoadError, Module, SymbolKind, missing};
use raddle_cpu::memory::{MapError, Memory, State, Thread, layout};
use raddle_cpu::{Code, Cpu, Readings, Register};
use rustc_hash::FxHashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Path of the object that defines what no library defines; it exists for the guest only.
const MISSING: &str = "/guest/missing.so";
/// Binds all functions before the program starts.
const BIND_NOW: &str = "LD_BIND_NOW=1";
/// Keeps `memcpy` from storing around the caches: such stores are not modelled on shared memory.
const NO_STREAMING: &str = "GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=0x0fffffffffffffff";
/// Prefix of the functions that compilers call before accesses and for atomic operations.
const COMPILER_HOOKS: &str = "__tsan_";
/// Functions whose code in the C library is that of another function in whose place the host may act: the address does not tell
/// which one is called. They are treated as if no object defined them.
const ALIASES: [&str; 1] = ["pthread_spin_init"];
/// Instructions that the dynamic linker may take.
const LINKER_BUDGET: u64 = 1 << 32;

/// How to start a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// Arguments after the name of the program.
    pub args: Vec<String>,
    /// The environment, as `name=value`.
    pub variables: Vec<String>,
    /// Size of the main thread's stack in bytes.
    pub stack_size: u64,
    /// Library functions in whose place the host acts: those of shared objects and static executables, and those that no
    /// object defines. A dynamic executable's own functions of these names stay its own.
    pub host_functions: Vec<String>,
    /// Files that the program may read.
    pub readable: Vec<ReadableFile>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            args: Vec::new(),
            variables: Vec::new(),
            stack_size: 8 << 20,
            host_functions: Vec::new(),
            readable: Vec::new(),
        }
    }
}

/// Why a program did not start.
#[derive(Debug)]
pub enum StartError {
    /// A file cannot be loaded.
    Load(LoadError),
    /// Guest memory has no room.
    Map(MapError),
    /// The dynamic linker gave up; its message.
    Linker(String),
    /// A constructor of a library, or the dynamic linker, was stopped.
    Stopped(Box<Event>),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Load(error) => error.fmt(f),
            StartError::Map(error) => error.fmt(f),
            StartError::Linker(message) => {
                write!(f, "the dynamic linker says: {}", message.trim_end())
            }
            StartError::Stopped(event) => write!(f, "stopped before the program started: {event}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<LoadError> for StartError {
    fn from(error: LoadError) -> StartError {
        StartError::Load(error)
    }
}

impl From<MapError> for StartError {
    fn from(error: MapError) -> StartError {
        StartError::Map(error)
    }
}

impl Process {
    /// Loads an executable and everything that it needs, and runs the dynamic linker until it passes control to the program.
    /// Constructors of shared objects have run then; those of the executable, and `main`, have not. Host functions that
    /// constructors call end the start: see [`Process::start_with`].
    pub fn start(executable: &Path, options: &Options) -> Result<Process, StartError> {
        Process::start_with(executable, options, &mut |_, _| false)
    }

    /// The same with host functions: `call` acts in place of a function that the main thread has called, and returns
    /// whether it did.
    pub fn start_with(
        executable: &Path,
        options: &Options,
        call: &mut dyn FnMut(&mut Process, HostFunction) -> bool,
    ) -> Result<Process, StartError> {
        Process::start_file(&Elf::read(executable)?, options, call)
    }

    /// The same with an executable in memory; its name is that of the program.
    pub fn start_file(
        file: &Elf,
        options: &Options,
        call: &mut dyn FnMut(&mut Process, HostFunction) -> bool,
    ) -> Result<Process, StartError> {
        let mut process = Process::load(file, options, &[])?;
        let is_complete = process.run_linker(call)? == Linked::Complete;
        if !is_complete || process.needs_aliases() {
            let missing = process.undefined();
            process = Process::load(file, options, &missing)?;
            process.run_linker(call)?;
        }
        process.enter();
        Ok(process)
    }

    /// Maps the executable and the dynamic linker, and writes the initial stack.
    fn load(file: &Elf, options: &Options, missing: &[Arc<str>]) -> Result<Process, StartError> {
        let mut memory = Memory::new();
        let mut kernel = Kernel::new(Path::new(&*file.name), &mut memory)?;
        strings::map(&mut memory)?;
        let mut hosts = HostFunctions::new(&options.host_functions);
        let mut linker_variables = Vec::new();
        if file.interpreter.is_some() {
            linker_variables.extend([BIND_NOW, NO_STREAMING].map(String::from));
        }
        for file in &options.readable {
            kernel.files.provide(&file.path, Arc::clone(&file.contents));
        }
        if !missing.is_empty() {
            let symbols: Vec<(Arc<str>, u64)> = missing
                .iter()
                .map(|name| (name.clone(), hosts.for_missing(name).address()))
                .collect();
            kernel
                .files
                .provide(MISSING, Arc::new(missing::object_with_symbols("missing.so", &symbols)));
            linker_variables.push(format!("LD_PRELOAD={MISSING}"));
        }
        let base = if file.is_relocatable { layout::EXECUTABLE } else { 0 };
        let program = Module::map(file.clone(), base, &mut memory)?;
        let linker = match &file.interpreter {
            Some(path) => {
                let linker = Elf::read(Path::new(path))?;
                Some(Module::map(linker, layout::object(1), &mut memory)?)
            }
            None => None,
        };
        let stack = memory.add_thread(Thread::MAIN, options.stack_size)?;
        if file.has_executable_stack {
            memory.set_executable(stack.clone());
        }
        let mut args = vec![file.name.to_string()];
        args.extend(options.args.iter().cloned());
        let entry = program.base + program.file.entry;
        let info = StartInfo {
            executable: &program,
            linker_base: linker.as_ref().map_or(0, |linker| linker.base),
            entry: if linker.is_some() { HostFunctions::ENTRY.address() } else { entry },
            args: &args,
            variables: &options.variables,
            linker_variables: &linker_variables,
        };
        let initial = stack::write(&mut memory, stack.end, &info)
            .map_err(|address| StartError::Map(MapError::OutOfRange(address..stack.end)))?;
        let mut cpu = Cpu::new(Thread::MAIN);
        cpu.set_register(Register::Rsp, initial.pointer);
        cpu.jump(linker.as_ref().map_or(entry, |linker| linker.base + linker.file.entry));
        kernel.modules.extend([Some(program), linker].into_iter().flatten().map(Arc::new));
        let mut process = Process {
            memory,
            code: Code::new(Readings::Deterministic),
            kernel,
            hosts,
            threads: vec![Some(cpu)],
            entry,
            linker_variables: initial.linker_variables,
            instructions: 0,
            intercepted: 0,
            character_tables: None,
            resolvers: Vec::new(),
        };
        process.intercept_new_modules();
        Ok(process)
    }

    /// Runs the dynamic linker, if there is one, until it passes control to the program.
    fn run_linker(
        &mut self,
        call: &mut dyn FnMut(&mut Process, HostFunction) -> bool,
    ) -> Result<Linked, StartError> {
        if self.is_static() {
            return Ok(Linked::Complete);
        }
        match self.run_with(LINKER_BUDGET, call) {
            Ending::Stopped(event) if *event == Event::HostCall(HostFunctions::ENTRY) => {
                Ok(Linked::Complete)
            }
            Ending::Stopped(event) => Err(StartError::Stopped(event)),
            Ending::Exited(_) if !self.has_missing_object() && !self.undefined().is_empty() => {
                Ok(Linked::Incomplete)
            }
            Ending::Exited(_) => {
                let message = String::from_utf8_lossy(&self.kernel.output.stderr).into_owned();
                Err(StartError::Linker(message))
            }
        }
    }

    fn is_static(&self) -> bool {
        self.kernel.modules.first().is_none_or(|module| module.file.interpreter.is_none())
    }

    fn has_missing_object(&self) -> bool {
        self.kernel.modules.iter().any(|module| &**module.path() == MISSING)
    }

    /// Passes control to the program: from now on it sees only its own environment.
    fn enter(&mut self) {
        self.kernel.is_started = true;
        if self.is_static() {
            return;
        }
        let thread = Thread::MAIN;
        // The variables of the dynamic linker are the last ones.
        let _ = self.memory.store(thread, self.linker_variables, &[0; 8]);
        let entry = self.entry;
        if let Some(cpu) = self.cpu_mut(thread) {
            cpu.jump(entry);
        }
        self.freeze_jump_tables();
        self.intercept_implementations();
    }

    /// Makes `.got.plt` of all modules read-only: everything is bound, and calls through it are no accesses to shared memory.
    fn freeze_jump_tables(&mut self) {
        for module in self.kernel.modules.clone() {
            if let Some(range) = module.jump_table() {
                self.memory.set_state(range, State::ReadOnly);
            }
        }
    }

    /// Returns `true` if the executable needs a function of [`ALIASES`] in whose place the host acts.
    fn needs_aliases(&self) -> bool {
        let executable = self.kernel.modules.first();
        let mut needed = executable.into_iter().flat_map(|module| module.symbols().undefined());
        needed.any(|name| self.is_alias(name))
    }

    fn is_alias(&self, name: &str) -> bool {
        ALIASES.contains(&name) && self.hosts.by_name(name).is_some()
    }

    /// Strong symbols that some module needs and none defines, and functions of [`ALIASES`].
    fn undefined(&self) -> Vec<Arc<str>> {
        let modules = &self.kernel.modules;
        let mut seen = FxHashSet::default();
        let needed = modules.iter().flat_map(|module| module.symbols().undefined());
        needed
            .filter(|name| seen.insert((*name).clone()))
            .filter(|name| {
                self.is_alias(name) || !modules.iter().any(|module| module.symbols().exports(name))
            })
            .cloned()
            .collect()
    }

    /// Makes functions of modules that were loaded since the last call host functions, and replaces string functions.
    pub(super) fn intercept_new_modules(&mut self) {
        while let Some(module) = self.kernel.modules.get(self.intercepted).cloned() {
            let is_executable = self.intercepted == 0;
            self.intercepted += 1;
            let is_users = is_executable && !self.is_static();
            let names: Vec<_> = self.hosts.names().map(|(name, id)| (name.clone(), id)).collect();
            for (name, id) in names {
                // A dynamic executable defines the hooks of its compiler itself, so that it can be linked.
                let is_possible = !is_users || name.starts_with(COMPILER_HOOKS);
                if is_possible && !ALIASES.contains(&&*name) {
                    self.intercept(&module, &name, id);
                }
            }
            if is_users {
                continue;
            }
            let is_libc = module.short_name().starts_with("libc.so");
            for (name, address) in strings::replacements() {
                if is_libc || is_executable {
                    self.replace(&module, name, address, is_libc);
                }
            }
        }
    }

    /// Makes the host act in place of the function at an address, as function `name` of [`Options::host_functions`]. Only before
    /// the program has started.
    pub(crate) fn intercept_at(&mut self, address: u64, name: &str) {
        if let Some(id) = self.hosts.by_name(name) {
            self.code.hook(address, id.0);
        }
    }

    fn intercept(&mut self, module: &Module, name: &str, id: HostFunction) {
        let Some(symbol) = module.symbols().by_name(name) else { return };
        let address = module.base + symbol.address;
        match symbol.kind {
            SymbolKind::Function => self.code.hook(address, id.0),
            SymbolKind::IndirectFunction if self.is_static() => {
                let resolver = self.hosts.add(Role::Resolver(id.address()));
                self.code.hook(address, resolver.0);
            }
            SymbolKind::IndirectFunction => self.resolvers.push((address, id)),
            _ => {}
        }
    }

    /// Makes the chosen implementations of indirect functions host functions. Before the program starts they are the library's own.
    fn intercept_implementations(&mut self) {
        for (resolver, id) in std::mem::take(&mut self.resolvers) {
            if let Ok(implementation) = self.call(Thread::MAIN, resolver, &[]) {
                self.code.hook(implementation, id.0);
            }
        }
    }

    /// Replaces a library function by guest code at `address`, unless the host acts in its place. A static program's
    /// own functions, which are not indirect, stay its own.
    fn replace(&mut self, module: &Module, name: &str, address: u64, is_libc: bool) {
        if self.hosts.by_name(name).is_some() {
            return;
        }
        let Some(symbol) = module.symbols().by_name(name) else { return };
        let role = match symbol.kind {
            SymbolKind::IndirectFunction => Role::Resolver(address),
            SymbolKind::Function if is_libc => Role::Jump(address),
            _ => return,
        };
        let id = self.hosts.add(role);
        self.code.hook(module.base + symbol.address, id.0);
    }
}

/// How far the dynamic linker got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linked {
    /// It passed control to the program.
    Complete,
    /// It gave up, and symbols are undefined.
    Incomplete,
}
