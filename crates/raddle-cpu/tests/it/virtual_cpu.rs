//! Runs code on the virtual CPU from a state of the real one.

use crate::native::{DATA, DATA_SIZE, State, TEXT, TEXT_SIZE};
use raddle_cpu::memory::{self, FaultKind, Memory, RegionKind, Thread};
use raddle_cpu::{Code, Cpu, Readings, Register, Stop};

/// How the virtual CPU runs an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Private memory, with the functions of micro-operations.
    Fast,
    /// Private memory, in a stub if possible.
    Stubs,
    /// Shared memory: every access is answered by the test.
    Shared,
}

/// The virtual CPU and what it runs on.
pub(crate) struct Virtual {
    memory: Memory,
    mode: Mode,
}

/// How a run of the virtual CPU ended.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    Done,
    Fault(FaultKind),
    /// Not modelled, or without a result to compare.
    Skipped(String),
}

impl Virtual {
    pub(crate) fn new(mode: Mode) -> Virtual {
        let mut memory = Memory::new();
        let (read_only, text) = (memory::State::ReadOnly, TEXT..TEXT + TEXT_SIZE);
        memory.map(text, RegionKind::Text, read_only, "text").unwrap();
        let state = match mode {
            Mode::Shared => memory::State::Shared,
            _ => memory::State::Private(Thread::MAIN),
        };
        memory.map(DATA..DATA + DATA_SIZE, RegionKind::Data, state, "data").unwrap();
        Virtual { memory, mode }
    }

    /// Runs `code`, which is followed by `ud2`.
    pub(crate) fn run(&mut self, code: &[u8], state: &mut State, data: &mut [u8]) -> End {
        self.memory.write_initial(TEXT, code).unwrap();
        self.memory.write_initial(TEXT + code.len() as u64, &[0x0f, 0x0b]).unwrap();
        self.memory.write_initial(DATA, data).unwrap();
        let mut translated = Code::new(Readings::Deterministic);
        if self.mode == Mode::Stubs {
            translated.prefer_stubs();
        }
        let mut cpu = Cpu::new(Thread::MAIN);
        for (register, value) in Register::GENERAL.into_iter().zip(state.registers) {
            cpu.set_register(register, value);
        }
        cpu.set_flags(state.flags);
        for (index, vector) in state.vectors.iter().enumerate() {
            cpu.set_vector(index, *vector);
        }
        cpu.set_float_state(&state.fpu[..20].try_into().unwrap());
        cpu.jump(TEXT);
        cpu.set_budget(1 << 20);
        let end = loop {
            match cpu.run(&mut self.memory, &mut translated) {
                Stop::Fault(fault) if fault.address == TEXT + code.len() as u64 => break End::Done,
                Stop::Fault(fault) => break End::Fault(fault.kind),
                Stop::Load { address, size } => {
                    let place = (address - DATA) as usize;
                    cpu.answer(word(&data[place..place + usize::from(size)]) as u64);
                }
                Stop::Store { address, size, value } => {
                    let place = (address - DATA) as usize;
                    let bytes = &value.to_le_bytes()[..size.into()];
                    data[place..place + usize::from(size)].copy_from_slice(bytes);
                    cpu.answer(0);
                }
                Stop::ReadModifyWrite { address, size, operation } => {
                    let place = (address - DATA) as usize;
                    let bytes = &mut data[place..place + usize::from(size)];
                    let old = word(bytes);
                    let new = operation.apply(old, size);
                    bytes.copy_from_slice(&new.to_le_bytes()[..size.into()]);
                    cpu.answer_wide(old);
                }
                Stop::Fence(_) | Stop::Pause => {}
                Stop::Refused(refusal) => break End::Skipped(refusal.reason.to_owned()),
                stop => break End::Skipped(format!("{stop:?}")),
            }
        };
        for (place, register) in state.registers.iter_mut().zip(Register::GENERAL) {
            *place = cpu.register(register);
        }
        state.flags = cpu.flags();
        for (index, vector) in state.vectors.iter_mut().enumerate() {
            *vector = cpu.vector(index);
        }
        state.fpu[..20].copy_from_slice(&cpu.float_state());
        if self.mode != Mode::Shared {
            self.memory.read(DATA, data).unwrap();
        }
        end
    }
}

fn word(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
}
