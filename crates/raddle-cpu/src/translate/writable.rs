//! Code in memory that the guest may write: trampolines on stacks.
//!
//! Each instruction is a block of its own that nothing links to, so it is looked up each time it is executed. The look-up compares its
//! bytes with those that were translated; code that modifies the next instruction is executed as modified.

use super::{Code, MAX_INSTRUCTION, bare, refusal, text};
use crate::exec::system;
use crate::memory::{Memory, RegionKind, layout};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// Index of the reason that the code is shared.
const SHARED_CODE: usize = 15;

impl Code {
    /// Whether `address` is code that never changes, so that branches may be linked to it.
    pub(crate) fn is_stable(&self, memory: &Memory, address: u64) -> bool {
        memory.region(address).is_some_and(|region| region.kind == RegionKind::Text)
            || layout::host_function_at(address).is_some()
            || self.hooks.contains_key(&address)
    }

    /// The micro-operation of the instruction at `address`, which the guest may have written since the last time; a fault if
    /// the address must not be executed.
    pub(super) fn writable_instruction(&mut self, memory: &Memory, address: u64) -> u32 {
        let instruction = decode(memory, address);
        let index = self.ops.len() as u32;
        let Some((instruction, bytes)) = instruction else {
            self.ops.push(bare(system::bad_jump, address));
            return index;
        };
        if memory.check_read(address, bytes.len() as u64).is_err() {
            self.ops.push(refusal(SHARED_CODE, address));
            return index;
        }
        if let Some((known, index)) = self.writable.get(&address)
            && *known == bytes
        {
            return *index;
        }
        self.writable.insert(address, (bytes, index));
        if instruction.is_invalid() {
            self.ops.push(bare(system::invalid, address));
        } else if instruction.flow_control() == FlowControl::Next {
            self.instruction(memory, &instruction, true);
            self.go_on(instruction.next_ip(), 1);
        } else {
            self.ending(memory, &instruction, None, 1);
        }
        index
    }
}

/// The instruction at an address that may be executed, and its bytes.
fn decode(memory: &Memory, address: u64) -> Option<(Instruction, Vec<u8>)> {
    let mut bytes = text(memory, address, MAX_INSTRUCTION);
    if bytes.is_empty() {
        return None;
    }
    let instruction = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE).decode();
    bytes.truncate(instruction.len().max(1));
    Some((instruction, bytes))
}
