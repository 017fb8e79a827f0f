//! Faults of the guest as findings.

use raddle_core::outcome::FindingKind;
use raddle_core::program::End;
use raddle_cpu::memory::{Fault, FaultKind, Unmapped};

use super::NativeProgram;
use super::call::{Call, Suspend};

/// Addresses below are those of members of a null pointer.
const NULL: u64 = 1 << 16;

impl NativeProgram {
    /// Ends the execution with a fault.
    pub(crate) fn fault_end(&mut self, fault: &Fault) -> End {
        if let Some((from, to)) = self.foreign_memory(fault.address) {
            self.layout.share(from, to);
            return self.again();
        }
        let (kind, message) = match fault.kind {
            FaultKind::Unmapped(Unmapped::HeapRedZone)
                if self.is_dynamic_linker(self.cpu().ip()) =>
            {
                // Its string functions read whole words, beyond the end of a block.
                let message = "loads a library at run time, which Raddle does not model";
                (FindingKind::Unsupported, String::from(message))
            }
            FaultKind::Unmapped(Unmapped::Freed) => self.freed_message(fault.address),
            FaultKind::Unmapped(Unmapped::HeapRedZone) => self.outside_message(fault.address),
            FaultKind::Unmapped(Unmapped::StackGuard) => {
                (FindingKind::StackOverflow, String::from("the stack overflowed"))
            }
            FaultKind::Unmapped(Unmapped::Nothing) if fault.address < NULL => {
                (FindingKind::Crash, String::from("a null pointer is followed"))
            }
            FaultKind::Unmapped(_) => {
                (FindingKind::Crash, format!("access to invalid memory at {:#x}", fault.address))
            }
            FaultKind::Divide => {
                (FindingKind::Crash, String::from("division by zero, or overflow in one"))
            }
            _ => (FindingKind::Crash, fault.to_string()),
        };
        self.failure(kind, &message)
    }

    /// The memory at an address if another thread has allocated it in some history and threads do not share it yet. What that
    /// thread has done with it where it stands now means nothing.
    fn foreign_memory(&self, address: u64) -> Option<(u64, u64)> {
        let current = self.thread().guest;
        let (from, to) = match super::heap::heap_owner(address) {
            Some(owner) if owner != current.index() => {
                let (start, size) = self.heap_regions.block_at(address)?;
                (start, start + size.max(1))
            }
            Some(_) => return None,
            None if self.process.is_mapping_of_other(address, current) => self.object_at(address),
            None => return None,
        };
        let is_there = (from..to).contains(&address) && !self.layout.is_shared(from, to - from);
        is_there.then_some((from, to))
    }

    fn freed_message(&self, address: u64) -> (FindingKind, String) {
        let block = self.thread().own.heap.blocks.range(..=address).next_back();
        let at = block.and_then(|(_, block)| block.freed);
        let message = match at {
            Some(place) => {
                let place = raddle_core::program::Naming::place(self, place);
                format!("memory is used after it was freed at {place}")
            }
            None => String::from("memory is used after it was freed"),
        };
        (FindingKind::UseAfterFree, message)
    }

    fn outside_message(&self, address: u64) -> (FindingKind, String) {
        let message = match self.heap_regions.block_at(address) {
            Some((start, size)) if address >= start + size => format!(
                "an access beyond a block of memory: the block has {size} bytes, and the access is {} bytes behind its end",
                address - (start + size)
            ),
            _ => String::from("an access to the heap outside of any block"),
        };
        (FindingKind::HeapOverflow, message)
    }
}

impl Call<'_> {
    /// Ends the execution with a fault.
    pub(crate) fn fault(&mut self, fault: &Fault) -> Suspend {
        Suspend::End(self.program.fault_end(fault))
    }
}
