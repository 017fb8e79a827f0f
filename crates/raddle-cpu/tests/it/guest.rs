//! Guests for tests: C code compiled by gcc to a static executable at fixed addresses, or single instructions.

use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags};
use raddle_cpu::memory::{Memory, PAGE, RegionKind, State, Thread};
use raddle_cpu::{Code, Cpu, Readings, Register, Stop};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// A process with one thread.
pub(crate) struct Guest {
    pub(crate) memory: Memory,
    pub(crate) code: Code,
    pub(crate) cpu: Cpu,
    pub(crate) symbols: Vec<(String, u64, u64)>,
}

/// Number of the host function to which guest functions return.
pub(crate) const DONE: u32 = 0;

impl Guest {
    /// A process without code.
    pub(crate) fn empty() -> Guest {
        let mut memory = Memory::new();
        memory.add_thread(Thread::MAIN, 1 << 20).unwrap();
        let code = Code::new(Readings::Deterministic);
        Guest { memory, code, cpu: Cpu::new(Thread::MAIN), symbols: Vec::new() }
    }

    /// Compiles and loads a file. Its data is private to the thread.
    pub(crate) fn compile(source: &Path, options: &[&str]) -> Guest {
        Guest::load(&Guest::build(source, options))
    }

    fn build(source: &Path, options: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("guest");
        let status = Command::new("gcc")
            .args(["-static", "-nostdlib", "-no-pie", "-fno-stack-protector", "-Wl,-e,0", "-o"])
            .arg(&binary)
            .arg(source)
            .args(options)
            .status()
            .unwrap();
        assert!(status.success());
        std::fs::read(binary).unwrap()
    }

    /// The functions of `guest.s`.
    pub(crate) fn assembly() -> Guest {
        static BINARY: OnceLock<Vec<u8>> = OnceLock::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/guest.s");
        Guest::load(BINARY.get_or_init(|| Guest::build(&source, &[])))
    }

    fn load(bytes: &[u8]) -> Guest {
        let mut guest = Guest::empty();
        let file = object::File::parse(bytes).unwrap();
        for segment in file.segments() {
            let SegmentFlags::Elf { p_flags, .. } = segment.flags() else { continue };
            let start = segment.address() / PAGE * PAGE;
            let end = (segment.address() + segment.size()).next_multiple_of(PAGE);
            let (kind, state) = match p_flags.0 & 3 {
                1 => (RegionKind::Text, State::ReadOnly),
                0 => (RegionKind::ReadOnlyData, State::ReadOnly),
                _ => (RegionKind::Data, State::Private(Thread::MAIN)),
            };
            guest.memory.map(start..end, kind, state, "guest").unwrap();
            guest.memory.write_initial(segment.address(), segment.data().unwrap()).unwrap();
        }
        guest.symbols = file
            .symbols()
            .filter_map(|s| Some((s.name().ok()?.to_owned(), s.address(), s.size())))
            .collect();
        guest
    }

    /// Address of a symbol.
    pub(crate) fn symbol(&self, name: &str) -> u64 {
        self.symbols.iter().find(|symbol| symbol.0 == name).unwrap().1
    }

    /// Prepares a call with up to three arguments.
    pub(crate) fn call(&mut self, function: u64, arguments: &[u64]) {
        let stack = raddle_cpu::memory::layout::stack_end(Thread::MAIN) - 4096;
        let done = raddle_cpu::memory::layout::host_function(DONE);
        self.memory.store(Thread::MAIN, stack - 8, &done.to_le_bytes()).unwrap();
        self.cpu.set_register(Register::Rsp, stack - 8);
        for (register, value) in
            [Register::Rdi, Register::Rsi, Register::Rdx].into_iter().zip(arguments)
        {
            self.cpu.set_register(register, *value);
        }
        self.cpu.jump(function);
    }

    pub(crate) fn run(&mut self) -> Stop {
        self.cpu.run(&mut self.memory, &mut self.code)
    }
}
