//! Random states of a processor, and how they differ.

use crate::native::{DATA, DATA_SIZE, State};
use crate::random::Random;
use iced_x86::{Instruction, Mnemonic, OpKind, Register as R, RflagsBits};
use raddle_cpu::{AF, CF, DF, OF, PF, SF, STATUS, ZF};
use std::sync::LazyLock;

const SPECIAL: [u64; 14] = [
    0,
    1,
    u64::MAX,
    1 << 31,
    1 << 63,
    0x7fff_ffff,
    0x8000,
    0x7f,
    0x80,
    0xffff,
    0xffff_ffff,
    i64::MAX as u64,
    2,
    31,
];

fn value(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.next() & 0xff,
        1 => random.one_of(&SPECIAL),
        2 => random.next() as i32 as i64 as u64,
        _ => random.next(),
    }
}

fn float(random: &mut Random) -> u64 {
    let special = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, 1e300, 1e-310, -7.5];
    match random.below(6) {
        0 => random.next(),
        1 => random.one_of(&special).to_bits(),
        2 => {
            let low = (random.next() as i32 as f32 / 8.0).to_bits();
            u64::from(low) | u64::from((random.next() as f32).to_bits()) << 32
        }
        _ => (random.next() as i32 as f64 / 16.0).to_bits(),
    }
}

/// A random value of 80 bits.
fn extended(random: &mut Random) -> [u64; 2] {
    let mantissa = random.next() | 1 << 63;
    let sign = random.below(2) << 15;
    match random.below(8) {
        0 => [0, sign],
        1 => [1 << 63, sign | 0x7fff],
        2 => [mantissa | 1 << 62, sign | 0x7fff],
        3 => [random.next() >> 1, sign],
        4 => [random.next(), random.next() & 0xffff],
        5 => [1 << 63, sign | 0x3fff],
        _ => [mantissa, sign | (0x3fff + random.below(80) - 20)],
    }
}

pub(crate) fn random_state(random: &mut Random) -> (State, Vec<u8>) {
    let mut state = State {
        registers: [0; 16],
        flags: random.next() & STATUS | 0x202,
        padding: [0; 7],
        vectors: [[0; 4]; 16],
        fpu: [0; 64],
    };
    state.registers.fill_with(|| value(random));
    for vector in &mut state.vectors {
        let is_float = random.below(3) > 0;
        vector.fill_with(|| if is_float { float(random) } else { value(random) });
    }
    let control = 0x37f & !(random.next() & 0xc00) & !(random.next() & 0x300) | 0x40;
    let status = random.next() & 0x477f | random.below(8) << 11;
    let tags = if random.below(3) == 0 { random.next() & 0xff } else { 0xff };
    state.fpu[0] = control | (status & 0xffff) << 16 | tags << 32;
    state.fpu[3] = 0x1f80 | random.next() & 0x603f | 0xffff << 32;
    for register in 0..8 {
        let [mantissa, rest] = extended(random);
        [state.fpu[4 + 2 * register], state.fpu[5 + 2 * register]] = [mantissa, rest];
    }
    let pool = random_bytes();
    let start = 8 * random.below((pool.len() as u64 - DATA_SIZE) / 8) as usize;
    (state, pool[start..start + DATA_SIZE as usize].to_vec())
}

/// Integers and floating-point numbers, from which the contents of memory are taken.
fn random_bytes() -> &'static [u8] {
    static POOL: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut random = Random::new(7);
        let mut word =
            || if random.below(2) == 0 { value(&mut random) } else { float(&mut random) };
        (0..1 << 15).flat_map(|_| word().to_le_bytes()).collect()
    });
    &POOL
}

/// Makes the addresses of the instruction point into the data. Returns whether that is possible.
pub(crate) fn aim(random: &mut Random, instruction: &Instruction, state: &mut State) -> bool {
    use Mnemonic as M;
    let middle = DATA + 4096 + 64 * random.below(16);
    state.registers[4] = middle;
    let mnemonic = instruction.mnemonic();
    if mnemonic == M::Leave {
        state.registers[5] = middle + 128;
    }
    if mnemonic == M::Xlatb {
        state.registers[3] = middle;
    }
    if instruction.is_string_instruction() {
        state.registers[6] = middle - 512 + random.below(32);
        state.registers[7] = middle + 512 + random.below(32);
        state.registers[1] = random.below(20);
        if random.below(4) == 0 {
            state.flags |= DF;
        }
    }
    if instruction.op_kinds().any(|kind| kind == OpKind::MemorySegRDI) {
        state.registers[7] = middle + random.below(64);
    }
    let is_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    if !is_memory || mnemonic == M::Lea || mnemonic == M::Xlatb {
        return true;
    }
    let is_bit_string = matches!(mnemonic, M::Bt | M::Bts | M::Btr | M::Btc);
    if is_bit_string && instruction.op1_kind() == OpKind::Register {
        let index = instruction.op1_register().full_register().number();
        state.registers[index] = (random.below(4096) as i64 - 2048) as u64;
        if index == instruction.memory_base().full_register().number() {
            return false;
        }
    }
    if matches!(instruction.memory_base(), R::RIP | R::None) {
        return true;
    }
    let is_aligned = instruction.memory_size().size() >= 16 && random.below(8) > 0;
    let offset = if is_aligned { 0 } else { random.below(64) };
    let index = instruction.memory_index();
    let base = instruction.memory_base();
    if index.full_register() == base.full_register() {
        return false;
    }
    let scaled = match index {
        R::None => 0,
        index => {
            let scale = u64::from(instruction.memory_index_scale());
            state.registers[index.number()].wrapping_mul(scale)
        }
    };
    let target = middle + offset;
    state.registers[base.number()] =
        target.wrapping_sub(scaled).wrapping_sub(instruction.memory_displacement64());
    // The stack pointer must stay in the data, also for signals.
    base != R::RSP || (DATA..DATA + DATA_SIZE).contains(&state.registers[4])
}

/// Flags that the instruction leaves undefined.
pub(crate) fn undefined(instruction: &Instruction) -> u64 {
    let mut bits = instruction.rflags_undefined();
    if matches!(instruction.mnemonic(), Mnemonic::Rcl | Mnemonic::Rcr) {
        // Defined for a count of 1 only.
        bits |= RflagsBits::OF;
    }
    [
        (RflagsBits::OF, OF),
        (RflagsBits::SF, SF),
        (RflagsBits::ZF, ZF),
        (RflagsBits::AF, AF),
        (RflagsBits::CF, CF),
        (RflagsBits::PF, PF),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & bit != 0)
    .fold(0, |flags, (_, flag)| flags | flag)
}

/// What differs between two runs, if anything does.
pub(crate) fn difference(
    ours: &(State, Vec<u8>),
    real: &(State, Vec<u8>),
    ignored: u64,
) -> Option<String> {
    let (a, b) = (&ours.0, &real.0);
    let mut found = Vec::new();
    for index in 0..16 {
        if a.registers[index] != b.registers[index] {
            let (x, y) = (a.registers[index], b.registers[index]);
            found.push(format!("register {index}: {x:#x}, should be {y:#x}"));
        }
        if a.vectors[index] != b.vectors[index] {
            let (x, y) = (a.vectors[index], b.vectors[index]);
            found.push(format!("vector {index}: {x:x?}, should be {y:x?}"));
        }
    }
    if (a.flags ^ b.flags) & (STATUS | DF) & !ignored != 0 {
        found.push(format!("flags {:#x}, should be {:#x}", a.flags, b.flags & !ignored));
    }
    for (index, (x, y)) in a.fpu[..20].iter().zip(&b.fpu[..20]).enumerate() {
        // The addresses of instruction and operand depend on the host; registers have 80 bits.
        let mask = match index {
            0 => 0xff_ffff_ffff,
            1 | 2 => 0,
            3 => 0xffff_ffff,
            5 | 7 | 9 | 11 | 13 | 15 | 17 | 19 => 0xffff,
            _ => u64::MAX,
        };
        if (x ^ y) & mask != 0 {
            found.push(format!("x87 word {index}: {x:#x}, should be {y:#x}"));
        }
    }
    if ours.1 != real.1
        && let Some(place) = (0..ours.1.len()).find(|place| ours.1[*place] != real.1[*place])
    {
        found.push(format!("memory at {place:#x}"));
    }
    (!found.is_empty()).then(|| found.join("; "))
}
