//! Isolation: whatever the guest executes, nothing of the host changes and nothing crashes.
//!
//! The guest runs random bytes, random instructions, and libc from random offsets, with registers that point at the host's
//! memory, its stack and generated code. `RADDLE_LONG=1` makes a million runs.

use crate::random::Random;
use raddle_cpu::memory::{Memory, PAGE, RegionKind, State, Thread};
use raddle_cpu::{Code, Cpu, Readings, Register, Stop};

const TEXT: u64 = 0x5500_0000_0000;
const DATA: u64 = 0x6600_0000_0000;

fn runs() -> u64 {
    if std::env::var_os("RADDLE_LONG").is_some() { 1_000_000 } else { 6_000 }
}

/// Memory with `text` and some data.
fn memory(text: &[u8]) -> Memory {
    let mut memory = Memory::new();
    let end = TEXT + (text.len() as u64).next_multiple_of(PAGE);
    memory.map(TEXT..end, RegionKind::Text, State::ReadOnly, "text").unwrap();
    memory.write_initial(TEXT, text).unwrap();
    let own = State::Private(Thread::MAIN);
    memory.map(DATA..DATA + 16 * PAGE, RegionKind::Data, own, "data").unwrap();
    memory
        .map(DATA + 16 * PAGE..DATA + 17 * PAGE, RegionKind::Data, State::Shared, "shared")
        .unwrap();
    memory.add_thread(Thread::MAIN, 1 << 16).unwrap();
    memory
}

/// Bytes of the host that registers point at.
struct Canary(Box<[u64]>);

impl Canary {
    fn new() -> Canary {
        Canary((0..1 << 16).map(Canary::word).collect())
    }

    fn word(index: u64) -> u64 {
        index.wrapping_mul(0x0123_4567_89ab_cdef)
    }

    fn check(&self) {
        assert!((0..).zip(&self.0).all(|(index, word)| *word == Canary::word(index)));
    }

    /// A value for a register: addresses of the host and of the guest, and numbers.
    fn value(&self, random: &mut Random) -> u64 {
        let local = 0u64;
        match random.below(8) {
            0..=2 => self.0.as_ptr() as u64 + random.below(1 << 19),
            3 => &raw const local as u64 - random.below(4096),
            4 => Canary::check as *const () as u64 + random.below(4096),
            5 => DATA + random.below(17 * PAGE),
            6 => random.below(64),
            _ => random.next(),
        }
    }
}

/// Runs from `start` with random registers; questions get random answers.
fn run(memory: &mut Memory, code: &mut Code, random: &mut Random, canary: &Canary, start: u64) {
    let mut cpu = Cpu::new(Thread::MAIN);
    for register in Register::GENERAL {
        if register != Register::Rsp || random.below(2) == 0 {
            cpu.set_register(register, canary.value(random));
        }
    }
    for index in 0..16 {
        cpu.set_vector(index, [random.next(), canary.value(random), random.next(), random.next()]);
    }
    cpu.set_fs_base(canary.value(random));
    cpu.set_flags(random.next());
    cpu.jump(start);
    let snapshot = cpu.snapshot(memory);
    cpu.set_budget(200);
    for _ in 0..50 {
        match cpu.run(memory, code) {
            Stop::Load { .. } | Stop::Store { .. } | Stop::ReadModifyWrite { .. } => {
                cpu.answer(canary.value(random));
            }
            Stop::Fence(_) | Stop::Pause | Stop::Syscall => {}
            _ => break,
        }
    }
    cpu.restore(memory, &snapshot);
    memory.close_snapshots(Thread::MAIN);
}

#[test]
fn random_bytes_leave_the_host_intact() {
    let mut random = Random::new(21);
    let canary = Canary::new();
    for round in 0..runs() {
        let text: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
        let mut memory = memory(&text);
        let mut code = Code::new(Readings::Deterministic);
        let start = TEXT + random.below(32);
        run(&mut memory, &mut code, &mut random, &canary, start);
        if round % 1024 == 0 {
            canary.check();
        }
    }
    canary.check();
}

#[test]
fn random_instructions_leave_the_host_intact() {
    let mut random = Random::new(22);
    let canary = Canary::new();
    let forms = crate::forms::all();
    for round in 0..runs() {
        let mut text = Vec::new();
        while text.len() < 48 {
            let form = forms[random.below(forms.len() as u64) as usize];
            let ip = TEXT + text.len() as u64;
            if let Some(instruction) = form.build(&mut random, ip) {
                let mut encoder = iced_x86::Encoder::new(64);
                encoder.encode(&instruction, ip).unwrap();
                text.extend(encoder.take_buffer());
            }
        }
        let mut memory = memory(&text);
        let mut code = Code::new(Readings::Deterministic);
        if round % 2 == 0 {
            code.prefer_stubs();
        }
        run(&mut memory, &mut code, &mut random, &canary, TEXT);
        if round % 1024 == 0 {
            canary.check();
        }
    }
    canary.check();
}

/// The executable bytes of the C library that this process uses.
fn libc_text() -> Vec<u8> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains("r-xp") && line.contains("libc.so")).unwrap();
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (start, end) = fields[0].split_once('-').unwrap();
    let number = |text| u64::from_str_radix(text, 16).unwrap();
    let (len, offset) = (number(end) - number(start), number(fields[2]));
    let file = std::fs::read(fields[5]).unwrap();
    let end = (offset + len).min(file.len() as u64);
    file[offset as usize..end as usize].to_vec()
}

#[test]
fn libc_from_random_offsets_leaves_the_host_intact() {
    let mut random = Random::new(23);
    let canary = Canary::new();
    let text = libc_text();
    let mut memory = memory(&text);
    let mut code = Code::new(Readings::Deterministic);
    for round in 0..runs() {
        let start = TEXT + random.below(text.len() as u64 - 64);
        run(&mut memory, &mut code, &mut random, &canary, start);
        if round % 1024 == 0 {
            canary.check();
            // What is never executed again need not be kept.
            code = Code::new(Readings::Deterministic);
        }
    }
    canary.check();
}
