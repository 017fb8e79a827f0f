//! Addresses of the frame that leave the registers rsp and rbp.
//!
//! **Problem.** Once the address of a variable is stored or passed on, any access through a pointer may read the frame. **Idea.** A
//! call of a known host function ends the life of an address that was computed for it: the host reads and writes a known
//! number of bytes there and keeps no pointer. gcc passes the expected value of a compare-exchange so. Such a *borrowed*
//! address makes only these bytes live, and only at the call. Every other address lets its variable *escape*, or the whole frame
//! if it is not that of a known variable.

use super::frame::Frame;
use super::set::{ARGUMENTS, Set};
use super::{Callees, Calls, Function, KnownCallee};
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Where addresses of a frame go.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    /// The bytes of the frame that any access through a pointer may read.
    pub(super) escaped: Set,
    /// Bytes of the frame, as offset from its end and size, that the host accesses in a call, by position of the call.
    pub(super) borrowed: FxHashMap<usize, Vec<(i64, i64)>>,
}

/// Follows the addresses of the frame through a function. Instructions ascend by address.
pub(super) fn escapes(
    instructions: &[Instruction],
    frames: &[Option<Frame>],
    function: &Function,
    callees: Option<&Callees>,
) -> Escapes {
    let mut info = InstructionInfoFactory::new();
    let mut escapes = Escapes::default();
    for (position, frame) in frames.iter().enumerate() {
        let Some(frame) = *frame else { continue };
        let instruction = &instructions[position];
        if !takes_address(instruction, frame) {
            continue;
        }
        let followed = callees.filter(|_| function.calls == Calls::SystemV);
        let loan = followed
            .and_then(|callees| borrowed(&mut info, &instructions[position..], frame, callees));
        match loan {
            Some(loan) => {
                escapes.borrowed.entry(position + loan.call).or_default().push(loan.bytes);
            }
            None => add_variable(instruction, frame, &function.variables, &mut escapes.escaped),
        }
    }
    escapes
}

/// Adds the bytes that an address leads to which an instruction computes: those of its variable, or the whole frame.
pub(super) fn add_variable(
    instruction: &Instruction,
    frame: Frame,
    variables: &[Range<i64>],
    bytes: &mut Set,
) {
    let is_frame = |register| matches!(register, Register::RSP | Register::RBP);
    let holds_frame = is_frame(instruction.memory_index())
        || (0..instruction.op_count()).any(|operand| {
            instruction.op_kind(operand) == OpKind::Register
                && is_frame(instruction.op_register(operand).full_register())
        });
    let offset = frame_offset(instruction, frame).filter(|_| !holds_frame);
    match offset.and_then(|at| variables.iter().find(|variable| variable.contains(&at))) {
        Some(Range { start, end }) => bytes.add_slots(*start, end - start),
        None => bytes.add_all_slots(),
    }
}

/// The offset from the end of the frame of the memory operand of an instruction, without its index.
fn frame_offset(instruction: &Instruction, frame: Frame) -> Option<i64> {
    let end = match instruction.memory_base() {
        Register::RSP => frame.depth,
        Register::RBP => frame.pointer?,
        _ => return None,
    };
    Some((instruction.memory_displacement64() as i64).wrapping_sub(end))
}

/// An address that only a host function gets.
struct Loan {
    /// Instructions from the one that computes the address to the call.
    call: usize,
    /// Offset from the end of the frame, and size.
    bytes: (i64, i64),
}

/// Follows the address that the first instruction computes to a call of a host function. Returns `None` if it goes elsewhere.
fn borrowed(
    info: &mut InstructionInfoFactory,
    instructions: &[Instruction],
    frame: Frame,
    callees: &Callees,
) -> Option<Loan> {
    let first = instructions[0];
    let offset = address_offset(&first, frame)?;
    let mut holders = vec![first.op0_register()];
    for (call, pair) in (1..).zip(instructions.windows(2)) {
        let [previous, instruction] = pair else { return None };
        if instruction.ip() != previous.next_ip() {
            return None;
        }
        if instruction.mnemonic() == Mnemonic::Call {
            let size = lent_size(&holders, callee(instruction, callees)?)?;
            return Some(Loan { call, bytes: (offset, size as i64) });
        }
        if instruction.flow_control() != FlowControl::Next {
            return None;
        }
        follow(info, instruction, &mut holders)?;
        if holders.is_empty() {
            return Some(Loan { call, bytes: (offset, 0) });
        }
    }
    None
}

/// The offset of the byte whose address an instruction computes, if that is all it does.
fn address_offset(instruction: &Instruction, frame: Frame) -> Option<i64> {
    let offset = frame_offset(instruction, frame)?;
    let is_plain = instruction.mnemonic() == Mnemonic::Lea
        && instruction.memory_index() == Register::None
        && instruction.op0_register().size() == 8
        && instruction.op0_register() != Register::RBP;
    is_plain.then_some(offset)
}

/// Updates the registers that hold an address. Returns `None` if the instruction uses it other than to copy it to a register.
fn follow(
    info: &mut InstructionInfoFactory,
    instruction: &Instruction,
    holders: &mut Vec<Register>,
) -> Option<()> {
    let is_copy = instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register().size() == 8
        && holders.contains(&instruction.op1_register());
    if is_copy {
        let to = instruction.op0_register();
        if matches!(to, Register::RSP | Register::RBP) {
            return None;
        }
        if !holders.contains(&to) {
            holders.push(to);
        }
        return Some(());
    }
    for used in info.info(instruction).used_registers() {
        let full = used.register().full_register();
        if !holders.contains(&full) {
            continue;
        }
        match used.access() {
            // Writes of 32 bits clear the rest.
            OpAccess::Write if used.register().size() >= 4 => {
                holders.retain(|holder| *holder != full);
            }
            _ => return None,
        }
    }
    Some(())
}

/// The host function that an instruction calls.
pub(super) fn callee<'a>(
    instruction: &Instruction,
    callees: &'a Callees,
) -> Option<&'a KnownCallee> {
    match instruction.op0_kind() {
        OpKind::NearBranch64 => callees.get(&instruction.near_branch_target()),
        _ => None,
    }
}

/// The bytes that a host function accesses through an address in these registers; `None` if it may keep it, or it outlives the call.
fn lent_size(holders: &[Register], callee: &KnownCallee) -> Option<u64> {
    let mut size = 0;
    for holder in holders {
        let argument = ARGUMENTS.iter().position(|register| register == holder);
        match argument {
            Some(index) if index < callee.integers => {
                let (_, bytes) = callee.pointers.iter().find(|(pointer, _)| *pointer == index)?;
                size = size.max(*bytes);
            }
            // The call destroys it.
            Some(_) => {}
            None if *holder == Register::R11 => {}
            None => return None,
        }
    }
    Some(size)
}

/// Returns `true` if the address of a byte of the frame may be in another register or in memory afterwards.
fn takes_address(instruction: &Instruction, frame: Frame) -> bool {
    use Mnemonic as M;
    let is_frame = |register: Register| {
        let full = register.full_register();
        full == Register::RSP || (full == Register::RBP && frame.pointer.is_some())
    };
    let has_index = is_frame(instruction.memory_index())
        || (is_frame(instruction.memory_base()) && instruction.memory_index() != Register::None);
    let mnemonic = instruction.mnemonic();
    let is_operand = (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register
            && is_frame(instruction.op_register(operand))
    });
    let writes_rsp = instruction.op_count() > 0
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == Register::RSP;
    match mnemonic {
        M::Lea => has_index || (is_frame(instruction.memory_base()) && !writes_rsp),
        // The new frame pointer is known, and so is the old one, once it is restored.
        M::Mov if instruction.op1_kind() == OpKind::Register && is_operand => {
            let is_move = |to, from| {
                instruction.op0_kind() == OpKind::Register
                    && instruction.op0_register() == to
                    && instruction.op1_register() == from
            };
            !is_move(Register::RBP, Register::RSP) && !is_move(Register::RSP, Register::RBP)
        }
        M::Sub | M::Add if writes_rsp => false,
        M::Push | M::Pop if instruction.op0_kind() == OpKind::Register => {
            let register = instruction.op0_register();
            register == Register::RSP || (mnemonic == M::Push && is_frame(register))
        }
        _ => is_operand || has_index,
    }
}
