//! What is in memory in the beginning, and what people call it.

use raddle_core::execution::ThreadId;
use raddle_core::program::Naming;

use crate::native::Native;
use crate::shims::EXITS;
use crate::slots::Part;

/// The name of a part of a variable, without the only member of `std::atomic`.
fn without_wrapper(part: &str) -> &str {
    let inner = part.strip_suffix("._M_i").or_else(|| part.strip_suffix("._M_p"));
    inner.map_or(part, |part| part.strip_suffix("._M_b").unwrap_or(part))
}

impl Native {
    pub(crate) fn initial_byte(&self, address: usize) -> u8 {
        if self.module.is_variable(address) {
            return self.snapshot[address - self.module.globals.0];
        }
        match self.slots.find(address) {
            Some((thread, Part::Locals)) => {
                let slot = self.threads[thread.index()].as_ref().map(|thread| thread.slot);
                let offset = slot.map_or(usize::MAX, |slot| address - slot.locals());
                self.module.thread_locals.image.get(offset).copied().unwrap_or(0)
            }
            _ => self.slots.fresh(address),
        }
    }

    /// The name of a synchronization object, for people: not of what the library has inside.
    pub(crate) fn object_name(&self, address: usize) -> String {
        let name = self.memory_name(address);
        let inside = [".__", "._M_"].into_iter().filter_map(|member| name.find(member)).min();
        name[..inside.unwrap_or(name.len())].to_owned()
    }

    /// Whether memory is ours, for what functions of the library have to remember.
    pub(crate) fn is_bookkeeping(&self, address: usize) -> bool {
        (self.module.threads..self.module.exits + EXITS).contains(&address)
    }

    /// The name of memory, for people.
    pub(crate) fn memory_name(&self, address: usize) -> String {
        if let Some(variable) = self.module.variable(address) {
            let offset = address - variable.start;
            let name = self.places.variable(variable.start).unwrap_or(&variable.name);
            return match self.places.part(variable.start, offset) {
                Some(part) => format!("{name}{}", without_wrapper(&part)),
                None if offset == 0 => name.to_owned(),
                None => format!("{name}+{offset}"),
            };
        }
        if (self.module.threads..self.module.exits).contains(&address) {
            let thread = ThreadId::new((address - self.module.threads) / 4);
            return format!("who joins {}", self.thread_name(thread));
        }
        if (self.module.exits..self.module.exits + EXITS).contains(&address) {
            return format!("what exit does+{}", address - self.module.exits);
        }
        let Some((thread, part)) = self.slots.find(address) else { return format!("{address:#x}") };
        let thread = self.thread_name(thread);
        match part {
            Part::Stack => format!("stack of {thread} at {:#x}", address & 0xfff_ffff),
            Part::Locals => format!("thread-local of {thread} at {:#x}", address & 0xfff_ffff),
            Part::Heap { .. } => match self.known_blocks.range(..=address).next_back() {
                Some((&start, _)) if address == start => {
                    format!("block {:#x} of {thread}", start & 0xfff_ffff)
                }
                Some((&start, _)) => {
                    format!("block {:#x} of {thread}+{}", start & 0xfff_ffff, address - start)
                }
                None => format!("heap of {thread} at {:#x}", address & 0xfff_ffff),
            },
        }
    }
}
