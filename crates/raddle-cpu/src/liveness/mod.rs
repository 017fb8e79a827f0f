//! Liveness: which registers, flags and bytes of the stack a thread will not read again.
//!
//! **Problem.** At -O0 stacks are full of dead temporaries; threads that spin seem to be in a new state each time. **Idea.** Backward data flow
//! over the machine code of the functions on the call stack (Kildall). Registers are tracked whole, frames byte by byte, relative
//! to the end of the frame: [`frame`] finds where the stack pointer is by following the code.
//!
//! **What is live because it is undecided.** Everything in and above the frame of a function with indirect jumps, hidden edges (landing pads,
//! second returns of `setjmp`), a stack pointer that depends on values, or unknown bounds. All bytes of a frame whose address is
//! taken, by `lea`, by copying the frame pointer or by an index, at every access through a pointer and every call; if the address
//! is one of a known variable, only the bytes of that; addresses that only host functions get are followed ([`escape`]). Upper halves of vector registers, x87, mxcsr. Bytes more than
//! 1 KiB below the end of a frame. The incoming arguments of a frame belong to its caller.
//!
//! **Other threads** may read a frame through an address that its thread has published. Their first access makes the memory
//! shared, and shared memory has no dead bytes.
//!
//! **Assumptions.** A call passes arguments in the registers of the System V ABI and in bytes that were written through the stack pointer;
//! it destroys caller-saved registers. The second half is wrong for code compiled with `-fipa-ra`, the default of gcc -O2:
//! [`Calls::Unknown`] makes everything live at calls and returns of such functions.
//!
//! **Check.** [`Liveness::poison`] overwrites everything that is considered dead. Nothing observable may change.
//!
//! **Cost.** One analysis per function, some microseconds per instruction; then a look-up per frame.
//!
//! **Rejected.** Treating bytes below the lowest address taken as dead: a compiler may take the address of the middle of an array.
//! Variables of code that was compiled with optimisation: a loop over an array may begin with an address before it.

mod escape;
mod flow;
mod frame;
mod set;

use crate::cpu::Cpu;
use crate::memory::Memory;
use crate::memory::layout::RED_ZONE;
use crate::registers::{Register, STATUS};
use flow::{Analysis, Before};
use rustc_hash::FxHashMap;
use set::{Set, WINDOW};
use std::ops::Range;

/// What calls and returns of a function do to registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// They follow the System V ABI; the code was compiled with `-fno-ipa-ra`.
    SystemV,
    /// Nothing is known: everything is live at a call or return.
    Unknown,
}

/// A function of the guest.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its addresses.
    pub range: Range<u64>,
    /// What its calls and returns do to registers.
    pub calls: Calls,
    /// Whether control enters it other than by its first instruction, visible jumps and returns: landing pads, second returns of `setjmp`.
    pub has_hidden_edges: bool,
    /// Bytes of the frame that are variables, relative to its end. All that code computes from an address in one of them is
    /// an address in the same one.
    pub variables: Vec<Range<i64>>,
}

/// The registers in which a host function gets arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostArguments {
    /// The first ones of the registers for integers.
    Integers(usize),
    /// Any.
    Any,
}

/// What is known about a host function that code calls by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCallee {
    /// The number of its arguments; all are integers in registers.
    pub integers: usize,
    /// The arguments that are addresses, by index, and the number of bytes that it accesses there, all of them before it
    /// returns. The other arguments are no addresses.
    pub pointers: Vec<(usize, u64)>,
}

/// Host functions by address.
type Callees = FxHashMap<u64, KnownCallee>;

/// What a thread will not read again.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Dead {
    /// Registers.
    pub registers: Vec<Register>,
    /// Vector registers whose lower halves are dead, by number.
    pub vectors: Vec<usize>,
    /// Whether the status flags are dead.
    pub flags: bool,
    /// Bytes of the thread's own stack, by address.
    pub stack: Vec<Range<u64>>,
}

/// The analysed functions of a guest process.
#[derive(Debug, Default)]
pub struct Liveness {
    functions: Vec<Function>,
    /// Where addresses of variables are followed to; otherwise all bytes of their frames are live.
    callees: Option<Callees>,
    /// By start of the function; `None` if it cannot be decided.
    known: FxHashMap<u64, Option<Analysis>>,
}

/// Call stacks deeper than this are live from there on.
const MAX_DEPTH: usize = 256;

impl Liveness {
    /// Functions must not overlap. Code outside of them is undecided. Addresses of variables are followed to `callees`, host
    /// functions by address; if there are none, all bytes of a frame are always live from which an address is taken.
    pub fn new(
        functions: impl IntoIterator<Item = Function>,
        callees: Option<Vec<(u64, KnownCallee)>>,
    ) -> Liveness {
        let mut functions: Vec<Function> = functions.into_iter().collect();
        functions.sort_by_key(|function| function.range.start);
        let callees = callees.map(|callees| callees.into_iter().collect());
        Liveness { functions, callees, known: FxHashMap::default() }
    }

    /// The index of the function that contains an address.
    fn index(&self, ip: u64) -> Option<usize> {
        let index = self.functions.partition_point(|function| function.range.end <= ip);
        self.functions.get(index).filter(|function| function.range.contains(&ip)).map(|_| index)
    }

    /// Returns `true` if the function that contains an address calls others as the ABI says.
    fn follows_abi(&self, ip: u64) -> bool {
        self.index(ip).is_some_and(|index| self.functions[index].calls == Calls::SystemV)
    }

    fn analysis(&mut self, memory: &Memory, ip: u64) -> Option<&Analysis> {
        let index = self.index(ip)?;
        let function = &self.functions[index];
        let start = function.range.start;
        let callees = self.callees.as_ref();
        self.known.entry(start).or_insert_with(|| flow::analyse(memory, function, callees)).as_ref()
    }

    /// Returns `true` if the instruction that contains an address is in a loop of its function; `None` if that cannot be decided.
    #[must_use]
    pub fn is_in_loop(&self, memory: &Memory, address: u64) -> Option<bool> {
        flow::is_in_loop(memory, &self.functions[self.index(address)?], address)
    }

    /// What is known before the instruction at `ip`, or during the call that returns there.
    fn before(&mut self, memory: &Memory, ip: u64, is_call: bool) -> Option<&Before> {
        // A call that does not return may be the last instruction of its function.
        let analysis = self.analysis(memory, if is_call { ip.checked_sub(1)? } else { ip })?;
        if is_call { analysis.calls.get(&ip) } else { analysis.instructions.get(&ip) }
    }

    /// Returns `true` if the code at `ip` does not use the result, of this size in bytes, of the function that returns
    /// there.
    pub fn is_result_dead(&mut self, memory: &Memory, ip: u64, size: u64) -> bool {
        let results: &[Register] =
            if size <= 8 { &[Register::Rax] } else { &[Register::Rax, Register::Rdx] };
        let is_dead = |before: &Before| {
            !results.iter().any(|result| before.live.has_general(*result as usize))
        };
        self.before(memory, ip, false).is_some_and(is_dead)
    }

    /// Returns `true` if nothing uses what the locked instruction at `ip` writes to registers and flags.
    pub fn is_instruction_dead(&mut self, memory: &Memory, ip: u64) -> bool {
        let is_dead = |analysis: &Analysis| analysis.dead.contains(&ip);
        self.analysis(memory, ip).is_some_and(is_dead)
    }

    /// What the thread will not read again, at a question or any other stop. A host function that the thread has called may read
    /// `arguments`, and arguments on the stack.
    pub fn dead(&mut self, memory: &Memory, cpu: &Cpu, arguments: HostArguments) -> Dead {
        let mut dead = Dead::default();
        let mut pointer = cpu.register(Register::Rsp);
        let Some(region) = memory.region(pointer) else { return dead };
        let mut ip = cpu.ip();
        let is_host_call = cpu.is_in_host_call();
        if is_host_call {
            let Some(address) = word(memory, pointer) else { return dead };
            [ip, pointer] = [address, pointer + 8];
        }
        for depth in 0..MAX_DEPTH {
            let is_call = depth > 0 || is_host_call;
            let follows_abi = self.follows_abi(ip);
            let Some(before) = self.before(memory, ip, is_call) else { break };
            let Some(end) = pointer.checked_add_signed(before.frame.depth) else { break };
            if !region.range.contains(&end) {
                break;
            }
            if depth == 0 {
                let mut live = before.live.clone();
                if is_host_call && follows_abi {
                    live.remove_unused(arguments);
                }
                dead_registers(&live, &mut dead);
            }
            let below = if is_call { 0 } else { RED_ZONE as i64 };
            dead_slots(&before.live, end, before.frame.depth + below, &mut dead);
            let Some(address) = word(memory, end - 8) else { break };
            [ip, pointer] = [address, end];
        }
        dead
    }

    /// Overwrites everything that is considered dead: a debugging aid. Nothing observable may change. Returns what was overwritten.
    /// Undone when the thread goes back.
    pub fn poison(&mut self, memory: &mut Memory, cpu: &mut Cpu, arguments: HostArguments) -> Dead {
        const POISON: u64 = 0xdead_dead_dead_dead;
        let dead = self.dead(memory, cpu, arguments);
        for register in &dead.registers {
            cpu.set_register(*register, POISON);
        }
        for vector in &dead.vectors {
            let [.., a, b] = cpu.vector(*vector);
            cpu.set_vector(*vector, [POISON, POISON, a, b]);
        }
        if dead.flags {
            cpu.set_flags(cpu.flags() ^ STATUS);
        }
        for range in &dead.stack {
            for address in range.clone() {
                // Bytes that are not private to the thread stay.
                let _ = memory.store(cpu.thread(), address, &[0xde]);
            }
        }
        dead
    }
}

fn word(memory: &Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

fn dead_registers(live: &Set, dead: &mut Dead) {
    let registers = Register::GENERAL.into_iter().enumerate();
    dead.registers =
        registers.filter(|(number, _)| !live.has_general(*number)).map(|entry| entry.1).collect();
    dead.vectors = (0..16).filter(|number| !live.has_vector(*number)).collect();
    dead.flags = !live.has_flags();
}

/// Adds the dead bytes of the frame that ends at `end`, from `lowest` bytes below it on.
fn dead_slots(live: &Set, end: u64, lowest: i64, dead: &mut Dead) {
    // The return address is at the end of the frame.
    for byte in -lowest.min(WINDOW)..-8 {
        if live.has_slot(byte) {
            continue;
        }
        let address = end.wrapping_add_signed(byte);
        match dead.stack.last_mut() {
            Some(range) if range.end == address => range.end += 1,
            _ => dead.stack.push(address..address + 1),
        }
    }
}
