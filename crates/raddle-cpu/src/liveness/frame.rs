//! Where the stack pointer and the frame pointer are relative to the end of the frame, at each instruction of a function.
//!
//! The end of the frame is the address after the return address (the canonical frame address of DWARF). Prologues are recognised by what
//! they do, so no unwind tables are needed; a stack pointer that is computed in another way makes the function undecided.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashMap;

/// Distances from the end of the frame down to rsp, and to rbp if it is the frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) depth: i64,
    pub(super) pointer: Option<i64>,
}

/// At the first instruction, only the return address is on the stack.
const ENTRY: Frame = Frame { depth: 8, pointer: None };

/// The frame before each instruction, by position; `None` for instructions that are not reached. Fails if it depends on the path or on
/// values.
pub(super) fn frames(
    instructions: &[Instruction],
    positions: &FxHashMap<u64, usize>,
    entry: u64,
) -> Option<Vec<Option<Frame>>> {
    let mut frames: Vec<Option<Frame>> = vec![None; instructions.len()];
    let mut work = vec![(*positions.get(&entry)?, ENTRY)];
    while let Some((position, frame)) = work.pop() {
        match frames[position] {
            Some(known) if known == frame => continue,
            Some(_) => return None,
            None => frames[position] = Some(frame),
        }
        let instruction = &instructions[position];
        let after = step(instruction, frame)?;
        for target in successors(instruction) {
            // Jumps out of the function are tail calls.
            if let Some(next) = positions.get(&target) {
                work.push((*next, after));
            }
        }
    }
    Some(frames)
}

/// The addresses that may follow an instruction within its function.
pub(super) fn successors(instruction: &Instruction) -> Vec<u64> {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
            vec![instruction.next_ip()]
        }
        FlowControl::ConditionalBranch => {
            vec![instruction.next_ip(), instruction.near_branch_target()]
        }
        FlowControl::UnconditionalBranch => vec![instruction.near_branch_target()],
        _ => vec![],
    }
}

/// The frame after an instruction; `None` if it cannot be told.
fn step(instruction: &Instruction, frame: Frame) -> Option<Frame> {
    use Mnemonic as M;
    let Frame { depth, pointer } = frame;
    let is_register = |operand: u32, register: Register| {
        operand < instruction.op_count()
            && instruction.op_kind(operand) == OpKind::Register
            && instruction.op_register(operand).full_register() == register
    };
    let writes_rbp = is_register(0, Register::RBP)
        && !matches!(instruction.mnemonic(), M::Push | M::Cmp | M::Test);
    let kept = if writes_rbp { None } else { pointer };
    let moved = |depth| Some(Frame { depth, pointer: kept });
    match instruction.mnemonic() {
        M::Push | M::Pushfq => moved(depth - i64::from(instruction.stack_pointer_increment())),
        M::Pop if is_register(0, Register::RSP) => None,
        M::Pop | M::Popfq => moved(depth - i64::from(instruction.stack_pointer_increment())),
        M::Leave => Some(Frame { depth: pointer? - 8, pointer: None }),
        M::Call | M::Ret | M::Syscall => Some(frame),
        M::Enter => None,
        M::Mov if is_register(0, Register::RBP) && is_register(1, Register::RSP) => {
            Some(Frame { depth, pointer: Some(depth) })
        }
        M::Mov if is_register(0, Register::RSP) => {
            is_register(1, Register::RBP).then_some(())?;
            Some(Frame { depth: pointer?, pointer })
        }
        M::Sub | M::Add if is_register(0, Register::RSP) => {
            let value = instruction.try_immediate(1).ok()? as i64;
            moved(if instruction.mnemonic() == M::Sub { depth + value } else { depth - value })
        }
        M::Lea if is_register(0, Register::RSP) => {
            if instruction.memory_index() != Register::None {
                return None;
            }
            let displacement = instruction.memory_displacement64() as i64;
            match instruction.memory_base() {
                Register::RSP => moved(depth - displacement),
                Register::RBP => moved(pointer? - displacement),
                _ => None,
            }
        }
        M::Cmp | M::Test => Some(frame),
        _ if is_register(0, Register::RSP) || instruction.is_stack_instruction() => None,
        _ => moved(depth),
    }
}
