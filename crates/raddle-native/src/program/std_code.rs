//! Which code was compiled with hooks.
//!
//! A function without calls of hooks was precompiled, or has no access that another thread could observe. In the standard library
//! a plain load of an atomic variable may be a sequentially consistent one, a plain store a releasing one (a sequentially
//! consistent store is an exchange), and a locked instruction a sequentially consistent update: these are the orders that its
//! accesses get. Which variables are atomic is learned: those that hooks, locked instructions or futexes access.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::load::SymbolKind;
use crate::process::Process;

/// A symbol of programs whose own code has hooks (`build::rust`).
pub(crate) const MARKER: &str = "raddle_rust_hooks";

/// Where an instruction of the program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Code with hooks, or of a shared object: a plain access is not atomic.
    Instrumented,
    /// Precompiled code of the standard library.
    Std,
    /// Other code without hooks.
    Foreign,
}

/// The code of a Rust program.
#[derive(Debug)]
pub(crate) struct StdCode {
    hooks: FxHashSet<u64>,
    /// What `guard::key::enable` lets threads call at their end.
    pub(crate) guard: Option<u64>,
    /// `ScopeData::increment_num_running_threads`.
    pub(crate) scope_increment: Option<u64>,
    /// By the start of the function.
    known: RefCell<FxHashMap<u64, Origin>>,
}

/// Crates that are precompiled.
const CRATES: [&str; 12] = [
    "std",
    "core",
    "alloc",
    "test",
    "panic_unwind",
    "unwind",
    "compiler_builtins",
    "hashbrown",
    "gimli",
    "addr2line",
    "rustc_demangle",
    "miniz_oxide",
];

/// The crate of a demangled path.
pub(crate) fn crate_of(path: &str) -> &str {
    let start = path.trim_start_matches(['<', '&', '*', '(', '[', ' ']);
    let start = start.trim_start_matches("mut ").trim_start_matches("dyn ");
    let end = start.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(start.len());
    match &start[..end] {
        "core" | "alloc" | "__rust_begin_short_backtrace" => "std",
        other => other,
    }
}

impl StdCode {
    /// `None` if the program is none in Rust.
    pub(crate) fn new(process: &Process) -> Option<Self> {
        if !is_rust(process) {
            return None;
        }
        let module = process.modules().first()?;
        let symbols = module.symbols().iter();
        let hooks = symbols.filter(|symbol| {
            symbol.kind == SymbolKind::Function && symbol.name.starts_with("__tsan_")
        });
        let hooks = hooks.map(|symbol| module.base + symbol.address).collect();
        let address = |end: &str| {
            let last = end.rsplit("::").next().unwrap_or(end);
            let mut symbols = module.symbols().iter();
            let is_it = |name: &str| name.contains(last) && path(name).ends_with(end);
            let symbol = symbols.find(|symbol| is_it(&symbol.name))?;
            Some(module.base + symbol.address)
        };
        let guard = address("guard::key::enable::run");
        let scope_increment = address("ScopeData::increment_num_running_threads");
        Some(StdCode { hooks, guard, scope_increment, known: RefCell::default() })
    }

    /// Where the instruction at an address comes from.
    pub(crate) fn origin(&self, process: &Process, address: u64) -> Origin {
        let module = process.modules().first().filter(|module| module.contains(address));
        let Some(module) = module else { return Origin::Instrumented };
        let Some(symbol) = module.symbols().at(address - module.base) else {
            return Origin::Foreign;
        };
        let start = module.base + symbol.address;
        if let Some(&origin) = self.known.borrow().get(&start) {
            return origin;
        }
        let origin = match () {
            () if self.calls_hook(process, start..start + symbol.size) => Origin::Instrumented,
            () if is_precompiled(&symbol.name) => Origin::Std,
            () => Origin::Foreign,
        };
        self.known.borrow_mut().insert(start, origin);
        origin
    }

    /// Returns `true` if a function calls a hook, or jumps to one at its end. Hooks are called directly; that other bytes look like
    /// such a call is improbable.
    fn calls_hook(&self, process: &Process, code: Range<u64>) -> bool {
        const CALL: u8 = 0xe8;
        const JUMP: u8 = 0xe9;
        let mut bytes = vec![0; (code.end - code.start) as usize];
        if process.memory().read(code.start, &mut bytes).is_err() {
            return false;
        }
        let calls = bytes
            .windows(5)
            .zip(code.start..)
            .filter(|(bytes, _)| [CALL, JUMP].contains(&bytes[0]));
        let mut targets = calls.map(|(bytes, at)| {
            let offset = i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
            (at + 5).wrapping_add_signed(offset.into())
        });
        targets.any(|target| self.hooks.contains(&target))
    }
}

fn is_precompiled(symbol: &str) -> bool {
    CRATES.contains(&crate_of(&path(symbol)))
        || symbol.starts_with("__rust")
        || symbol == "rust_panic"
}

/// Returns `true` if the executable of a process is a Rust program with hooks.
pub(crate) fn is_rust(process: &Process) -> bool {
    let executable = process.modules().first();
    executable.is_some_and(|module| module.symbols().by_name(MARKER).is_some())
}

/// Returns `true` if a demangled path is one of the standard library.
pub(crate) fn is_std(path: &str) -> bool {
    crate_of(path) == "std"
}

/// The demangled path of a function, without the brackets around types.
pub(crate) fn path(symbol: &str) -> String {
    let name = addr2line::demangle_auto(symbol.into(), None);
    name.replace(['<', '>'], "")
}
