//! Faults of the guest as findings, and names of memory.

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
        let (kind, message) = match fault.kind {
            FaultKind::Unmapped(Unmapped::Freed) => self.freed_message(fault.address),
            FaultKind::Unmapped(Unmapped::HeapRedZone) => self.outside_message(fault.address),
            FaultKind::Unmapped(Unmapped::StackGuard) => {
                (FindingKind::Crash, String::from("the stack of a thread overflows"))
            }
            FaultKind::Unmapped(Unmapped::Nothing) if fault.address < NULL => {
                (FindingKind::Crash, String::from("a null pointer is followed"))
            }
            FaultKind::Unmapped(_) => {
                (FindingKind::Crash, format!("access to invalid memory at {:#x}", fault.address))
            }
            FaultKind::Divide => {
                (FindingKind::Crash, String::from("an integer is divided by zero"))
            }
            _ => (FindingKind::Crash, fault.to_string()),
        };
        self.failure(kind, &message)
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

    /// The name of memory in reports.
    pub(crate) fn memory_name(&self, address: u64) -> String {
        use raddle_core::execution::ThreadId;
        use raddle_core::program::Naming;
        use raddle_cpu::memory::layout as guest;
        if let Some(owner) = super::heap::heap_owner(address) {
            let (start, _) = self.heap_regions.block_at(address).unwrap_or((address, 0));
            let thread = self.thread_name(ThreadId::new(owner));
            let base = format!("block {:#x} of {thread}", start - guest::HEAPS);
            return if address == start { base } else { format!("{base}+{}", address - start) };
        }
        if (guest::STACKS..guest::TLS).contains(&address) {
            let owner = (address - guest::STACKS) / guest::STACK_STRIDE;
            let offset = (guest::STACKS + (owner + 1) * guest::STACK_STRIDE).wrapping_sub(address);
            return format!(
                "stack of {} at -{offset:#x}",
                self.thread_name(ThreadId::new(owner as usize))
            );
        }
        let place = self.process.place(address);
        match place.symbol {
            Some((name, 0)) => name.to_string(),
            Some((name, offset)) => format!("{name}+{offset}"),
            None => format!("{address:#x}"),
        }
    }
}

impl Call<'_> {
    /// Ends the execution with a fault.
    pub(crate) fn fault(&mut self, fault: &Fault) -> Suspend {
        Suspend::End(self.program.fault_end(fault))
    }
}
