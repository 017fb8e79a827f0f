//! Backward data flow over the instructions of a function.

use super::escape::{Escapes, add_variable, callee, escapes};
use super::frame::{Frame, frames, successors};
use super::set::{ARGUMENTS, Set};
use super::{Callees, Calls, Function};
use crate::memory::{Memory, RegionKind};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register, UsedMemory,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known before an instruction.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) live: Set,
    pub(super) frame: Frame,
}

/// Largest function that is analysed, in bytes.
const MAX_FUNCTION: u64 = 1 << 16;

/// What is known about a function.
#[derive(Debug)]
pub(super) struct Analysis {
    /// Before each instruction, by its address.
    pub(super) instructions: FxHashMap<u64, Before>,
    /// During each call, by its return address: what the callee may read in this frame, and what is live after it.
    pub(super) calls: FxHashMap<u64, Before>,
    /// The locked instructions that write nothing to registers and flags which is live after them, by address.
    pub(super) dead: FxHashSet<u64>,
}

/// Analyses a function; `None` if it cannot be decided.
pub(super) fn analyse(
    memory: &Memory,
    function: &Function,
    callees: Option<&Callees>,
) -> Option<Analysis> {
    let instructions = decode(memory, function)?;
    let positions: FxHashMap<u64, usize> =
        instructions.iter().enumerate().map(|(position, i)| (i.ip(), position)).collect();
    let frames = frames(&instructions, &positions, function.range.start)?;
    let escapes = escapes(&instructions, &frames, function, callees);
    let effects: Vec<Effect> = effects(&instructions, &frames, function, callees, &escapes);
    let mut live = vec![Set::NONE; instructions.len()];
    let mut is_changing = true;
    while is_changing {
        is_changing = false;
        for (position, instruction) in instructions.iter().enumerate().rev() {
            let mut set = after(instruction, &positions, &live);
            let effect = &effects[position];
            set.remove(&effect.defines);
            set.join(&effect.uses);
            is_changing |= live[position].join(&set);
        }
    }
    let is_dead = |i: &&Instruction| writes_only_dead(i, &after(i, &positions, &live));
    let locked = instructions.iter().filter(|instruction| instruction.has_lock_prefix());
    let dead = locked.filter(is_dead).map(Instruction::ip).collect();
    let (known, calls) = (FxHashMap::default(), FxHashMap::default());
    let mut analysis = Analysis { instructions: known, calls, dead };
    for ((instruction, frame), live) in instructions.iter().zip(frames).zip(live) {
        let Some(frame) = frame else { continue };
        let before = Before { live, frame };
        if instruction.mnemonic() == Mnemonic::Call {
            analysis.calls.insert(instruction.next_ip(), before.clone());
        }
        analysis.instructions.insert(instruction.ip(), before);
    }
    Some(analysis)
}

/// Returns `true` if the function may execute the instruction that contains `address` again after it; `None` if that cannot be
/// decided.
pub(super) fn is_in_loop(memory: &Memory, function: &Function, address: u64) -> Option<bool> {
    let instructions = decode(memory, function)?;
    let contains = |i: &&Instruction| (i.ip()..i.next_ip()).contains(&address);
    let start = instructions.iter().find(contains)?;
    let by_address: FxHashMap<u64, &Instruction> =
        instructions.iter().map(|instruction| (instruction.ip(), instruction)).collect();
    let (mut seen, mut work) = (FxHashSet::default(), successors(start));
    while let Some(ip) = work.pop() {
        if let Some(instruction) = by_address.get(&ip)
            && seen.insert(ip)
        {
            work.extend(successors(instruction));
        }
    }
    Some(seen.contains(&start.ip()))
}

/// What is live after an instruction.
fn after(instruction: &Instruction, positions: &FxHashMap<u64, usize>, live: &[Set]) -> Set {
    let mut set = Set::NONE;
    for target in successors(instruction) {
        set.join(positions.get(&target).map_or(&Set::ALL, |next| &live[*next]));
    }
    set
}

/// Returns `true` if an instruction writes no general-purpose registers and flags that are live after it. It writes flags.
fn writes_only_dead(instruction: &Instruction, after: &Set) -> bool {
    let is_live = |register: Register| {
        register.is_gpr() && after.has_general(register.full_register().number())
    };
    let is_write = |access| {
        use OpAccess as A;
        matches!(access, A::Write | A::CondWrite | A::ReadWrite | A::ReadCondWrite)
    };
    !after.has_flags() && {
        let mut info = InstructionInfoFactory::new();
        let used = info.info(instruction).used_registers();
        !used.iter().any(|used| is_write(used.access()) && is_live(used.register()))
    }
}

/// The instructions that the function may reach, by address; `None` if it has indirect jumps or leaves its text.
fn decode(memory: &Memory, function: &Function) -> Option<Vec<Instruction>> {
    let range = &function.range;
    let is_text = memory.region(range.start).is_some_and(|r| r.kind == RegionKind::Text);
    if !is_text || range.end.checked_sub(range.start)? > MAX_FUNCTION || function.has_hidden_edges {
        return None;
    }
    let mut bytes = vec![0; (range.end - range.start) as usize];
    memory.read(range.start, &mut bytes).ok()?;
    let mut seen = FxHashSet::default();
    let mut work = vec![range.start];
    let mut instructions = Vec::new();
    while let Some(ip) = work.pop() {
        if !range.contains(&ip) || !seen.insert(ip) {
            continue;
        }
        let rest = &bytes[(ip - range.start) as usize..];
        let instruction = Decoder::with_ip(64, rest, ip, DecoderOptions::NONE).decode();
        if instruction.is_invalid() || instruction.flow_control() == FlowControl::IndirectBranch {
            return None;
        }
        work.extend(successors(&instruction));
        instructions.push(instruction);
    }
    instructions.sort_by_key(Instruction::ip);
    Some(instructions)
}

/// What an instruction needs and what it overwrites completely.
struct Effect {
    uses: Set,
    defines: Set,
}

fn effects(
    instructions: &[Instruction],
    frames: &[Option<Frame>],
    function: &Function,
    callees: Option<&Callees>,
    escapes: &Escapes,
) -> Vec<Effect> {
    let mut info = InstructionInfoFactory::new();
    // Bytes that may be arguments of calls: those that are written through the stack pointer.
    let mut outgoing = Set::NONE;
    for (instruction, frame) in instructions.iter().zip(frames) {
        for memory in info.info(instruction).used_memory() {
            if let (Register::RSP, Some(frame)) = (memory.base(), frame) {
                let offset = memory.displacement() as i64 - frame.depth;
                outgoing.add_slots(offset, memory.memory_size().size() as i64);
            }
        }
    }
    instructions
        .iter()
        .zip(frames)
        .enumerate()
        .map(|(position, (instruction, frame))| {
            let mut effect = Effect { uses: Set::NONE, defines: Set::NONE };
            let Some(frame) = frame else {
                effect.uses = Set::ALL;
                return effect;
            };
            registers(&mut info, instruction, &mut effect);
            for memory in info.info(instruction).used_memory() {
                slots(memory, *frame, &mut effect);
            }
            if has_index(instruction, *frame) {
                add_variable(instruction, *frame, &function.variables, &mut effect.uses);
            }
            control(instruction, function.calls, &outgoing, &mut effect);
            for (offset, size) in escapes.borrowed.get(&position).into_iter().flatten() {
                effect.uses.add_slots(*offset, *size);
            }
            let mut may_read = || match callees {
                Some(callees) => may_follow_pointers(&mut info, instruction, *frame, callees),
                None => true,
            };
            if escapes.escaped != Set::NONE && may_read() {
                effect.uses.join(&escapes.escaped);
            }
            effect
        })
        .collect()
}

/// Returns `true` if the instruction, or what it calls, may read memory whose address it got from elsewhere.
fn may_follow_pointers(
    info: &mut InstructionInfoFactory,
    instruction: &Instruction,
    frame: Frame,
    callees: &Callees,
) -> bool {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => {
            return callee(instruction, callees).is_none_or(|callee| !callee.pointers.is_empty());
        }
        FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {}
        // Nobody may read the frame after the function has returned.
        FlowControl::Return => return false,
        _ => return true,
    }
    info.info(instruction).used_memory().iter().any(|memory| {
        let is_own = match memory.base() {
            Register::RSP => true,
            Register::RBP => frame.pointer.is_some(),
            Register::None | Register::RIP | Register::EIP => true,
            _ => false,
        };
        let reads =
            !matches!(memory.access(), OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None);
        reads && !(is_own && memory.index() == Register::None)
    })
}

fn registers(info: &mut InstructionInfoFactory, instruction: &Instruction, effect: &mut Effect) {
    use Mnemonic as M;
    for used in info.info(instruction).used_registers() {
        let register = used.register();
        match used.access() {
            // Writes of less than 32 bits keep the rest.
            OpAccess::Write if !register.is_gpr() || register.size() >= 4 => {
                effect.defines.add_register(register);
            }
            OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
            _ => effect.uses.add_register(register),
        }
    }
    effect.uses.add_registers(&[Register::RSP]);
    if instruction.rflags_read() != 0 {
        effect.uses.add_flags();
    }
    // Others keep some flags, or all of them depending on values.
    if matches!(
        instruction.mnemonic(),
        M::Add
            | M::Sub
            | M::Cmp
            | M::Test
            | M::And
            | M::Or
            | M::Xor
            | M::Neg
            | M::Ucomisd
            | M::Comisd
            | M::Ucomiss
            | M::Comiss
    ) {
        effect.defines.add_flags();
    }
}

/// The accesses to the frame.
fn slots(memory: &UsedMemory, frame: Frame, effect: &mut Effect) {
    let end = match (memory.base(), frame.pointer) {
        (Register::RSP, _) => frame.depth,
        (Register::RBP, Some(pointer)) => pointer,
        _ => return,
    };
    let offset = (memory.displacement() as i64).wrapping_sub(end);
    let size = memory.memory_size().size() as i64;
    match memory.access() {
        OpAccess::Write if memory.index() == Register::None && size > 0 => {
            effect.defines.add_slots(offset, size);
        }
        OpAccess::NoMemAccess | OpAccess::None => {}
        _ if memory.index() == Register::None && size > 0 => effect.uses.add_slots(offset, size),
        // `has_index`, or of unknown size.
        _ if memory.index() != Register::None => {}
        _ => effect.uses.add_all_slots(),
    }
}

/// Returns `true` if an instruction accesses a part of the frame that depends on a register.
fn has_index(instruction: &Instruction, frame: Frame) -> bool {
    let is_frame = match instruction.memory_base() {
        Register::RSP => true,
        Register::RBP => frame.pointer.is_some(),
        _ => false,
    };
    is_frame && instruction.memory_index() != Register::None
}

const CALLER_SAVED: [Register; 9] = {
    use Register::*;
    [RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11]
};
const RETURNED: [Register; 10] = {
    use Register::*;
    [RAX, RDX, RBX, RBP, R12, R13, R14, R15, XMM0, XMM1]
};

/// What callees and callers need.
fn control(instruction: &Instruction, calls: Calls, outgoing: &Set, effect: &mut Effect) {
    match (instruction.flow_control(), calls) {
        (FlowControl::Call | FlowControl::IndirectCall, Calls::SystemV)
            if instruction.mnemonic() == Mnemonic::Call =>
        {
            effect.defines.add_registers(&CALLER_SAVED);
            for number in 0..16 {
                effect.defines.add_register(Register::XMM0 + number);
            }
            effect.defines.add_flags();
            effect.uses.add_registers(&ARGUMENTS);
            effect.uses.join(outgoing);
        }
        (FlowControl::Return, Calls::SystemV) => effect.uses.add_registers(&RETURNED),
        (
            FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch,
            _,
        ) => {}
        _ => effect.uses = Set::ALL,
    }
}
