//! Every form of instruction in random states: the virtual CPU against the real one.
//!
//! The fast functions, the stubs, and the path through questions are compared apart. `RADDLE_LONG=1` runs 10,000 states per form.

use crate::forms::{self, Form};
use crate::native::{DATA, DATA_SIZE, Native, State, TEXT, TEXT_SIZE};
use crate::random::Random;
use iced_x86::{
    Encoder, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register as R,
    RflagsBits,
};
use raddle_cpu::memory::{self, FaultKind, Memory, RegionKind, Thread};
use raddle_cpu::{AF, CF, Code, Cpu, DF, OF, PF, Readings, Register, SF, STATUS, Stop, ZF};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// How the virtual CPU runs an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Private memory, with the functions of micro-operations.
    Fast,
    /// Private memory, in a stub if possible.
    Stubs,
    /// Shared memory: every access is answered by the test.
    Shared,
}

/// The virtual CPU and what it runs on.
struct Virtual {
    memory: Memory,
    mode: Mode,
}

/// How a run of the virtual CPU ended.
#[derive(Debug, PartialEq)]
enum End {
    Done,
    Fault(FaultKind),
    /// Not modelled, or without a result to compare.
    Skipped(String),
}

impl Virtual {
    fn new(mode: Mode) -> Virtual {
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
    fn run(&mut self, code: &[u8], state: &mut State, data: &mut [u8]) -> End {
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

fn random_state(random: &mut Random) -> (State, Vec<u8>) {
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
fn aim(random: &mut Random, instruction: &Instruction, state: &mut State) -> bool {
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
fn undefined(instruction: &Instruction) -> u64 {
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

/// The signal that a fault is on the real processor.
fn signal(fault: FaultKind) -> i32 {
    match fault {
        FaultKind::Divide => libc::SIGFPE,
        FaultKind::InvalidInstruction => libc::SIGILL,
        FaultKind::Breakpoint => libc::SIGTRAP,
        _ => libc::SIGSEGV,
    }
}

fn bytes(instruction: &Instruction, ip: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, ip).unwrap();
    encoder.take_buffer()
}

/// What differs between two runs, if anything does.
fn difference(ours: &(State, Vec<u8>), real: &(State, Vec<u8>), ignored: u64) -> Option<String> {
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
    if let Some(place) = (0..ours.1.len()).find(|place| ours.1[*place] != real.1[*place]) {
        found.push(format!("memory at {place:#x}"));
    }
    (!found.is_empty()).then(|| found.join("; "))
}

/// Whether the result depends on the host or is set by the system.
fn is_not_comparable(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Cpuid
            | M::Rdtsc
            | M::Rdtscp
            | M::Rdrand
            | M::Rdseed
            | M::Popfq
            | M::Syscall
            | M::Fxrstor
            | M::Fxrstor64
            | M::Fldcw
            | M::Fldenv
            | M::Ldmxcsr
            | M::Fxsave
            | M::Fxsave64
    )
}

#[derive(Default)]
struct Tally {
    compared: u64,
    forms: u64,
    faults: u64,
    refused: BTreeMap<String, Vec<String>>,
    wrong: Vec<String>,
}

fn states_per_form() -> u64 {
    if std::env::var_os("RADDLE_LONG").is_some() { 10_000 } else { 20 }
}

fn compare_forms(mode: Mode, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut native = Native::get();
    let mut tally = Tally::default();
    let mut cpu = Virtual::new(mode);
    for form in forms::all() {
        let before = tally.compared;
        for _ in 0..states_per_form() {
            compare_form(&mut cpu, &mut native, &mut random, form, &mut tally);
        }
        tally.forms += u64::from(tally.compared > before);
    }
    tally
}

fn compare_form(
    cpu: &mut Virtual,
    native: &mut Native,
    random: &mut Random,
    form: Form,
    tally: &mut Tally,
) {
    let Some(instruction) = form.build(random, TEXT) else { return };
    if is_not_comparable(instruction.mnemonic()) {
        return;
    }
    let (mut state, data) = random_state(random);
    if !aim(random, &instruction, &mut state) {
        return;
    }
    let mut ours = (state.clone(), data.clone());
    let mut real = (state, data);
    let code = bytes(&instruction, TEXT);
    let end = cpu.run(&code, &mut ours.0, &mut ours.1);
    let expected = match end {
        End::Done => 0,
        End::Fault(FaultKind::Unmapped(_) | FaultKind::ReadOnly | FaultKind::Jump) => return,
        End::Fault(kind) => signal(kind),
        End::Skipped(reason) => {
            let forms = tally.refused.entry(reason).or_default();
            let name = format!("{:?}", form.code);
            if forms.last() != Some(&name) {
                forms.push(name);
            }
            return;
        }
    };
    let found = native.run(&code, &mut real.0, &mut real.1);
    tally.compared += 1;
    tally.faults += u64::from(expected != 0);
    let difference = if found != expected {
        Some(format!("signal {expected}, should be {found}"))
    } else {
        let ignored = if found == 0 { undefined(&instruction) } else { 0 };
        difference(&ours, &real, ignored)
    };
    if let Some(difference) = difference
        && tally.wrong.len() < 40
    {
        tally
            .wrong
            .push(format!("{instruction} ({:?}, {:?}): {difference}", form.code, form.prefix));
    }
}

fn assert_equal(tally: &Tally, forms: u64) {
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(tally.forms >= forms, "only {} forms", tally.forms);
}

#[test]
fn every_form_agrees_with_the_real_processor() {
    let tally = compare_forms(Mode::Fast, 11);
    println!("{} forms, {} cases, {} faults", tally.forms, tally.compared, tally.faults);
    println!("not compared: {:#?}", tally.refused);
    assert_equal(&tally, 1500);
    assert_ne!(tally.faults, 0);
}

#[test]
fn every_form_agrees_in_stubs() {
    assert_equal(&compare_forms(Mode::Stubs, 12), 1500);
}

#[test]
fn every_form_agrees_on_shared_memory() {
    assert_equal(&compare_forms(Mode::Shared, 13), 1500);
}

/// A few instructions, then a conditional jump over one more.
fn random_block(random: &mut Random, forms: &[Form]) -> Option<(Vec<u8>, Vec<Instruction>)> {
    let mut code = Vec::new();
    let mut instructions = Vec::new();
    let add = |random: &mut Random, code: &mut Vec<u8>, form: Form| {
        let ip = TEXT + code.len() as u64;
        let instruction = form.build(random, ip)?;
        code.extend(bytes(&instruction, ip));
        Some(instruction)
    };
    for _ in 0..1 + random.below(4) {
        let form = random_form(random, forms);
        instructions.push(add(random, &mut code, form)?);
    }
    let mut skipped = Vec::new();
    let form = random_form(random, forms);
    let last = add(random, &mut skipped, form)?;
    // jcc over the last instruction, which is position-independent.
    if last.is_ip_rel_memory_operand() {
        return None;
    }
    code.extend([0x70 + random.below(16) as u8, skipped.len() as u8]);
    code.extend(skipped);
    instructions.push(last);
    Some((code, instructions))
}

fn random_form(random: &mut Random, forms: &[Form]) -> Form {
    forms[random.below(forms.len() as u64) as usize]
}

/// Integer instructions whose only register operands are not those of addresses, so that each address stays valid.
fn is_block_form(form: &Form) -> bool {
    use Mnemonic as M;
    let mnemonic = form.code.mnemonic();
    let is_plain = matches!(
        mnemonic,
        M::Add
            | M::Sub
            | M::Cmp
            | M::Test
            | M::And
            | M::Or
            | M::Xor
            | M::Adc
            | M::Sbb
            | M::Inc
            | M::Dec
            | M::Neg
            | M::Not
            | M::Mov
            | M::Movzx
            | M::Movsx
            | M::Movsxd
            | M::Shl
            | M::Shr
            | M::Sar
            | M::Rol
            | M::Ror
            | M::Imul
            | M::Bt
            | M::Sete
            | M::Setl
            | M::Setb
            | M::Cmovb
            | M::Cmovle
            | M::Cmove
            | M::Xchg
            | M::Xadd
            | M::Clc
            | M::Stc
            | M::Cmc
            | M::Lahf
            | M::Sahf
            | M::Cdqe
    );
    is_plain && form.prefix == forms::Prefix::None && !format!("{:?}", form.code).contains("Sreg")
}

/// Registers that hold addresses in blocks are written by no instruction of the block.
fn block_addresses(instructions: &[Instruction], state: &mut State) -> bool {
    let mut info = InstructionInfoFactory::new();
    let mut written = 0u32;
    for instruction in instructions {
        for used in info.info(instruction).used_registers() {
            if used.register().is_gpr() && used.access() != OpAccess::Read {
                written |= 1 << used.register().full_register().number();
            }
        }
    }
    let in_memory = |i: &&Instruction| i.op_kinds().any(|kind| kind == OpKind::Memory);
    let mut used = 0u32;
    for instruction in instructions.iter().filter(in_memory) {
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if base == R::RIP {
            continue;
        }
        let bits = if index == R::None { 0 } else { 1 << index.number() } | 1 << base.number();
        // Each register belongs to one address.
        if bits & (written | used) != 0 || (index != R::None && index == base) {
            return false;
        }
        used |= bits;
        let scaled = match index {
            R::None => 0,
            _ => {
                state.registers[index.number()] = 16;
                16 * u64::from(instruction.memory_index_scale())
            }
        };
        let place = (DATA + 4096).wrapping_sub(instruction.memory_displacement64());
        state.registers[base.number()] = place.wrapping_sub(scaled);
        let is_bit_string =
            instruction.mnemonic() == Mnemonic::Bt && instruction.op1_kind() == OpKind::Register;
        if is_bit_string {
            return false;
        }
    }
    written & 1 << 4 == 0 && (used & 1 << 4 == 0 || state.registers[4] >> 40 == 0x12)
}

#[test]
fn blocks_with_dead_flags_and_fused_comparisons_agree() {
    let forms: Vec<Form> = forms::all().into_iter().filter(is_block_form).collect();
    let comparisons: Vec<Form> = forms
        .iter()
        .copied()
        .filter(|form| matches!(form.code.mnemonic(), Mnemonic::Cmp | Mnemonic::Test))
        .collect();
    let mut random = Random::new(14);
    let mut native = Native::get();
    let mut compared = 0u64;
    let mut cpu = [Virtual::new(Mode::Fast), Virtual::new(Mode::Shared)];
    for round in 0..1500 * states_per_form() {
        // Half of the blocks are a comparison and a jump.
        let chosen = if round % 2 == 0 { &forms } else { &comparisons };
        let Some((code, instructions)) = random_block(&mut random, chosen) else { continue };
        let (mut state, data) = random_state(&mut random);
        state.registers[4] = DATA + 4096;
        if !block_addresses(&instructions, &mut state) {
            continue;
        }
        let mut ours = (state.clone(), data.clone());
        let mut real = (state, data);
        let cpu = &mut cpu[(round / 2 % 2) as usize];
        let end = cpu.run(&code, &mut ours.0, &mut ours.1);
        let ignored = instructions.iter().fold(0, |flags, i| flags | undefined(i));
        // A jump or a later instruction may depend on a flag that is undefined.
        if end != End::Done || ignored != 0 {
            continue;
        }
        assert_eq!(native.run(&code, &mut real.0, &mut real.1), 0);
        compared += 1;
        let difference = difference(&ours, &real, 0);
        let text: Vec<String> = instructions.iter().map(ToString::to_string).collect();
        assert_eq!(difference, None, "{text:?} {code:x?}");
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn control_words_and_environments_agree() {
    let mut random = Random::new(15);
    let mut native = Native::get();
    let mut cpu = Virtual::new(Mode::Fast);
    // fldcw, ldmxcsr, fldenv, fnstenv, fxsave64, fxrstor64 [rsi]
    let codes: [&[u8]; 6] = [
        &[0xd9, 0x2e],
        &[0x0f, 0xae, 0x16],
        &[0xd9, 0x26],
        &[0xd9, 0x36],
        &[0x48, 0x0f, 0xae, 0x06],
        &[0x48, 0x0f, 0xae, 0x0e],
    ];
    let mut compared = [0; 6];
    for round in 0..600 {
        let code = codes[round % 6];
        let (mut state, mut data) = random_state(&mut random);
        state.registers[6] = DATA + 1024;
        let place = &mut data[1024..];
        place[0] |= 0x3f;
        if round % 6 == 1 {
            place[..4].copy_from_slice(&(0x1f80 | random.next() as u32 & 0xe07f).to_le_bytes());
        }
        if round % 6 == 2 {
            // No exception is pending.
            place[4..6].copy_from_slice(&(random.next() as u16 & 0x7f7f).to_le_bytes());
        }
        if round % 6 == 5 {
            place[2] = 0;
            place[3] &= 0x7f;
            place[5..24].fill(0);
            place[24..28].copy_from_slice(&(0x1f80 | random.next() as u32 & 0xe07f).to_le_bytes());
        }
        let mut ours = (state.clone(), data.clone());
        let mut real = (state, data);
        assert_eq!(cpu.run(code, &mut ours.0, &mut ours.1), End::Done, "{code:x?}");
        assert_eq!(native.run(code, &mut real.0, &mut real.1), 0);
        // Addresses of instructions and operands depend on the host.
        if round % 6 == 3 {
            ours.1[1024 + 12..1024 + 28].copy_from_slice(&real.1[1024 + 12..1024 + 28]);
        }
        if round % 6 == 4 {
            ours.1[1024 + 6..1024 + 24].copy_from_slice(&real.1[1024 + 6..1024 + 24]);
            // Our processor has no bits of mxcsr beyond SSE2.
            real.1[1024 + 28..1024 + 32].copy_from_slice(&[0xff, 0xff, 0, 0]);
        }
        assert_eq!(difference(&ours, &real, 0), None, "{code:x?}");
        compared[round % 6] += 1;
    }
    assert_eq!(compared, [100; 6]);
}
