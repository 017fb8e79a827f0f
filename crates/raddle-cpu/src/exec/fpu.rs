//! Instructions that load and store the state of x87 and SSE as a whole.

use super::masked::deny;
use super::system::{REASONS, UNMASKS, unload_float};
use crate::cpu::{CONTINUE, Cpu, Exit, Op, get};
use crate::memory::{FaultKind, Memory};
use crate::registers::{MXCSR, MXCSR_MASK};

/// Bytes of the area of `fxsave` that are defined.
const AREA: usize = 416;
/// Words of that area before the vector registers.
const HEADER: usize = 20;
/// Control word bits that mask exceptions.
const MASKS: u64 = 0x3f;
/// Bytes of the environment in its format of 32 bits.
const ENVIRONMENT: u8 = 28;

/// `fxsave`. Refused on shared memory.
pub(crate) fn save(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    if !address.is_multiple_of(16) {
        cpu.target = address;
        return cpu.stop(Exit::Misaligned { size: 16, write: true });
    }
    unload_float(cpu);
    let mut area = [0; AREA];
    let header = cpu.context.fpu[..HEADER].iter().copied();
    let vectors = cpu.context.vectors.iter().flat_map(|vector| [vector[0], vector[1]]);
    for (place, word) in area.chunks_exact_mut(8).zip(header.chain(vectors)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let mxcsr = u64::from(cpu.mxcsr) | MXCSR_MASK;
    area[24..32].copy_from_slice(&mxcsr.to_le_bytes());
    match memory.store_slow(address, &area) {
        Ok(()) => CONTINUE,
        Err(denied) => deny(cpu, address, denied),
    }
}

/// `fxrstor`. Refused on shared memory.
pub(crate) fn restore(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let address = cpu.address(op);
    if !address.is_multiple_of(16) {
        cpu.target = address;
        return cpu.stop(Exit::Misaligned { size: 16, write: false });
    }
    let mut area = [0; AREA];
    if let Err(denied) = memory.load_slow(address, &mut area) {
        return deny(cpu, address, denied);
    }
    let word = |index: usize| {
        area[index * 8..index * 8 + 8]
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let mxcsr = word(3) as u32;
    if mxcsr >> 16 != 0 {
        return cpu.stop(Exit::Fault(FaultKind::GeneralProtection));
    }
    if mxcsr & MXCSR != MXCSR || word(0) & MASKS != MASKS {
        return cpu.stop(Exit::Refused(REASONS[UNMASKS]));
    }
    unload_float(cpu);
    cpu.mxcsr = mxcsr;
    cpu.fpu_used = true;
    for index in 4..HEADER {
        // Registers have 80 bits.
        let mask = if index % 2 == 0 { u64::MAX } else { 0xffff };
        cpu.context.fpu[index] = word(index) & mask;
    }
    cpu.context.fpu[0] = normal_control(word(0)) | word(0) & 0xff_ffff_0000;
    for (index, vector) in cpu.context.vectors.iter_mut().enumerate() {
        [vector[0], vector[1]] = [word(HEADER + 2 * index), word(HEADER + 2 * index + 1)];
    }
    CONTINUE
}

/// `fnstenv`. Addresses of instructions and operands are zero, as on a processor on which no exception has occurred.
pub(crate) fn store_environment(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    let header = cpu.context.fpu[0];
    let (control, status) = (header & 0xffff, header >> 16 & 0xffff);
    let high = 0xffff_u64 << 16;
    let first = control | high | (status | high) << 32;
    let tags = tags(cpu) | high;
    cpu.context.scratch[..4].copy_from_slice(&[first, tags, 0, high]);
    get!(cpu.store_scratch(memory, cpu.address(op), ENVIRONMENT, true));
    CONTINUE
}

/// The tag word: two bits per physical register, 0 valid, 1 zero, 2 special, 3 empty.
fn tags(cpu: &Cpu) -> u64 {
    let header = cpu.context.fpu[0];
    let (top, used) = (header >> 27 & 7, header >> 32 & 0xff);
    (0..8).fold(0, |tags, physical| {
        let tag = if used & 1 << physical == 0 {
            3
        } else {
            let register = 4 + 2 * ((physical + 8 - top) % 8) as usize;
            let (mantissa, exponent) =
                (cpu.context.fpu[register], cpu.context.fpu[register + 1] & 0x7fff);
            match (mantissa, exponent) {
                (0, 0) => 1,
                (mantissa, 1..=0x7ffe) if mantissa >> 63 == 1 => 0,
                _ => 2,
            }
        };
        tags | tag << (2 * physical)
    })
}

/// `fldenv`.
pub(crate) fn load_environment(cpu: &mut Cpu, memory: &mut Memory, op: &Op) -> u32 {
    get!(cpu.load_scratch(memory, cpu.address(op), ENVIRONMENT));
    let [first, second] = [cpu.context.scratch[0], cpu.context.scratch[1]];
    if first & MASKS != MASKS {
        return cpu.stop(Exit::Refused(REASONS[UNMASKS]));
    }
    // With all exceptions masked none is pending.
    let (control, status) = (normal_control(first), first >> 32 & 0x7f7f);
    let used = (0..8)
        .fold(0, |used, physical| used | u64::from(second >> (2 * physical) & 3 != 3) << physical);
    cpu.fpu_used = true;
    // The area numbers registers from the top of the stack, which moves.
    let moved = (status >> 11).wrapping_sub(cpu.context.fpu[0] >> 27) % 8;
    cpu.context.fpu[4..HEADER].rotate_left(2 * moved as usize);
    cpu.context.fpu[0] = control | status << 16 | used << 32;
    CONTINUE
}

/// A control word as the processor stores it: reserved bits have fixed values.
fn normal_control(word: u64) -> u64 {
    word & 0x1f3f | 0x40
}
