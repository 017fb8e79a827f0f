//! From machine code to blocks of linked micro-operations.
//!
//! A block is decoded once, when it is first reached, and ends at the first branch or after [`MAX_BLOCK`] instructions. Flags that are dead
//! within the block are not computed, a comparison is fused with the conditional jump after it (worth up to 25 %), and loads from
//! read-only memory at fixed addresses become constants, which turns calls through a relocated table into direct ones.
//!
//! An instruction without a model becomes a micro-operation that refuses: it costs nothing until it is executed.
//! Text never changes, as it is read-only for the guest; `writable` treats code elsewhere.

mod address;
mod bind;
mod flags;
mod integer;
mod special;
mod vector;
mod writable;

use crate::cpu::{Exec, Op};
use crate::exec::{control, native, system};
use crate::memory::{Memory, RegionKind, layout};
use crate::registers::Register;
use crate::stop::Refusal;
use crate::stub;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, Instruction, InstructionInfoFactory,
    IntelFormatter, Mnemonic, OpKind,
};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Instructions per block.
const MAX_BLOCK: usize = 64;
/// Bytes of the longest instruction.
const MAX_INSTRUCTION: usize = 15;

/// How to treat instructions whose result differs from run to run on a real processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readings {
    /// `rdtsc`, `rdrand` and the like return a fixed sequence per thread.
    Deterministic,
    /// They are refused.
    Refused,
}

/// A bit that no address of the guest has: the code at the address runs although a function of the host stands for it.
pub(crate) const UNHOOKED: u64 = 1 << 63;

/// The address of an instruction without the bit [`UNHOOKED`]. Addresses that no guest has are unchanged, for reports.
pub(crate) fn without_hook_bit(address: u64) -> u64 {
    let plain = address & !UNHOOKED;
    if plain < layout::END { plain } else { address }
}

/// The translated code of a guest process, shared by its threads.
#[derive(Debug)]
pub struct Code {
    pub(crate) ops: Vec<Op>,
    blocks: FxHashMap<u64, u32>,
    hooks: FxHashMap<u64, u32>,
    /// Instructions in memory that the guest may write: their bytes and micro-operation, by address.
    writable: FxHashMap<u64, (Vec<u8>, u32)>,
    info: Info,
    readings: Readings,
    /// The functions in which the rounds of loops are limited, in order, and their largest number.
    limited: Option<(Vec<Range<u64>>, u32)>,
    /// For tests: run every instruction in a stub that can.
    prefer_stubs: bool,
    /// Differs between codes, so that threads notice that what they remember is stale.
    pub(crate) id: u64,
}

struct Info(InstructionInfoFactory);

impl std::fmt::Debug for Info {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InstructionInfoFactory")
    }
}

fn new_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A micro-operation that has no operands yet.
fn bare(exec: Exec, ip: u64) -> Op {
    Op {
        exec,
        imm: 0,
        disp: 0,
        ip,
        stub: None,
        taken: Cell::new(0),
        other: Cell::new(0),
        a: Register::Zero,
        b: Register::Zero,
        base: Register::Zero,
        index: Register::Zero,
        scale: 0,
        w: 0,
        count: 0,
    }
}

/// A micro-operation that refuses for the reason of this index.
fn refusal(reason: usize, ip: u64) -> Op {
    Op { imm: reason as u64, ..bare(system::refused, ip) }
}

impl Code {
    /// No code yet. It is translated as it is reached.
    pub fn new(readings: Readings) -> Code {
        Code {
            // Index 0 means "continue".
            ops: vec![bare(system::bad_jump, 0)],
            blocks: FxHashMap::default(),
            hooks: FxHashMap::default(),
            writable: FxHashMap::default(),
            info: Info(InstructionInfoFactory::new()),
            readings,
            limited: None,
            prefer_stubs: false,
            id: new_id(),
        }
    }

    /// Makes the function at `address` a function of the host: reaching it stops with [`Stop::HostCall`](crate::Stop::HostCall).
    pub fn hook(&mut self, address: u64, function: u32) {
        self.hooks.insert(address, function);
        self.clear();
    }

    /// Limits the rounds of loops within these functions, which are in order and do not overlap: a thread that would begin
    /// another one stops with [`Stop::Rounds`](crate::Stop::Rounds).
    pub fn limit_rounds(&mut self, functions: Vec<Range<u64>>, limit: u32) {
        self.limited = Some((functions, limit));
        self.clear();
    }

    /// The function at an address and the number of rounds that its loops may have, if it is limited.
    fn limit_at(&self, ip: u64) -> Option<(&Range<u64>, u32)> {
        let (functions, limit) = self.limited.as_ref()?;
        let index = functions.partition_point(|function| function.end <= ip);
        functions.get(index).filter(|function| function.contains(&ip)).map(|it| (it, *limit))
    }

    /// For tests: runs every instruction in a stub that can.
    pub fn prefer_stubs(&mut self) {
        self.prefer_stubs = true;
        self.clear();
    }

    fn clear(&mut self) {
        self.ops.truncate(1);
        self.blocks.clear();
        self.writable.clear();
        self.id = new_id();
    }

    /// The index of the first micro-operation of the block at `address`.
    pub(crate) fn block(&mut self, memory: &Memory, address: u64) -> u32 {
        if let Some(index) = self.blocks.get(&address) {
            return *index;
        }
        let plain = without_hook_bit(address);
        if !self.is_stable(memory, plain) {
            return self.writable_instruction(memory, plain);
        }
        let index = self.ops.len() as u32;
        self.blocks.insert(address, index);
        self.translate(memory, address);
        index
    }

    /// Links the branch that led to the micro-operation `index`, and returns where it leads.
    pub(crate) fn resolve(&mut self, memory: &Memory, index: u32) -> u32 {
        let resolver = &self.ops[index as usize];
        let (target, branch, is_other) =
            (resolver.imm, resolver.taken.get() as usize, resolver.w == 1);
        let next = self.block(memory, target);
        if !self.is_stable(memory, target) {
            return next;
        }
        let link = if is_other { &self.ops[branch].other } else { &self.ops[branch].taken };
        link.set(next);
        next
    }

    fn translate(&mut self, memory: &Memory, address: u64) {
        let function = self.hooks.get(&address).copied();
        let address = without_hook_bit(address);
        if let Some(id) = function.or_else(|| layout::host_function_at(address)) {
            self.ops.push(Op { imm: id.into(), ..bare(system::host_call, address) });
            return;
        }
        let instructions = decode(memory, address);
        let needed = flags::needed(&instructions);
        let mut previous = None;
        for (position, instruction) in instructions.iter().enumerate() {
            let count = position as u16 + 1;
            if instruction.is_invalid() {
                self.ops.push(bare(system::invalid, instruction.ip()));
                return;
            }
            if matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Endbr64) {
                previous = None;
            } else if instruction.flow_control() == FlowControl::Next {
                let is_selected = self.instruction(memory, instruction, needed[position]);
                previous = is_selected.then_some(instruction);
            } else {
                self.ending(memory, instruction, previous, count);
                return;
            }
        }
        match instructions.last() {
            Some(last) => self.go_on(last.next_ip(), instructions.len() as u16),
            None => self.ops.push(bare(system::bad_jump, address)),
        }
    }

    /// An instruction that continues with the next one. Returns whether it has a function of its own.
    fn instruction(
        &mut self,
        memory: &Memory,
        instruction: &Instruction,
        needs_flags: bool,
    ) -> bool {
        let mut op = refusal(0, instruction.ip());
        if has_memory(instruction) {
            match address::set(instruction, &mut op) {
                Ok(None) => {}
                Ok(Some(first)) => self.ops.push(first),
                Err(reason) => {
                    self.ops.push(refusal(reason, instruction.ip()));
                    return false;
                }
            }
        }
        let exec = self.select(memory, instruction, &mut op, needs_flags);
        match exec {
            Some(exec) => op.exec = exec,
            None => self.native(instruction, &mut op),
        }
        // String instructions start again.
        op.taken.set(self.ops.len() as u32);
        self.ops.push(op);
        exec.is_some()
    }

    fn select(
        &mut self,
        memory: &Memory,
        instruction: &Instruction,
        op: &mut Op,
        needs_flags: bool,
    ) -> Option<Exec> {
        if let Some(exec) = special::select(instruction, op, self.readings) {
            return Some(exec);
        }
        if self.prefer_stubs && stub::build(&mut self.info.0, instruction).is_ok() {
            return None;
        }
        vector::select(instruction, op)
            .or_else(|| integer::select(memory, instruction, op, needs_flags))
    }

    /// Runs the instruction in a stub, or refuses it.
    fn native(&mut self, instruction: &Instruction, op: &mut Op) {
        match stub::build(&mut self.info.0, instruction) {
            Ok(built) => {
                op.stub = Some(built.stub);
                op.imm = built.properties;
                op.w = built.size;
                op.exec = if built.size == 0 { native::run_registers } else { native::run_memory };
            }
            Err(reason) => *op = refusal(reason as usize, instruction.ip()),
        }
    }

    /// The instruction that ends a block; `previous` is the one before if its micro-operation can be replaced.
    fn ending(
        &mut self,
        memory: &Memory,
        instruction: &Instruction,
        previous: Option<&Instruction>,
        count: u16,
    ) {
        let ip = instruction.ip();
        let (target, next) = (instruction.near_branch_target(), instruction.next_ip());
        match instruction.flow_control() {
            FlowControl::ConditionalBranch => self.conditional(instruction, previous, count),
            FlowControl::UnconditionalBranch => self.jump(ip, target, count),
            FlowControl::Call if instruction.mnemonic() == Mnemonic::Syscall => {
                self.ops.push(bare(system::syscall, ip));
                self.go_on(next, count);
            }
            FlowControl::Call => self.call(ip, next, target, count),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                self.indirect(memory, instruction, count);
            }
            FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => {
                let imm = if instruction.op_count() > 0 { instruction.immediate(0) } else { 0 };
                let exec =
                    if self.limit_at(ip).is_some() { control::leave_loops } else { control::ret };
                self.ops.push(Op { imm, count, ..bare(exec, ip) });
            }
            FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => {
                self.ops.push(bare(system::breakpoint, ip));
            }
            FlowControl::Exception => self.ops.push(bare(system::invalid, ip)),
            _ if instruction.is_privileged() => self.ops.push(bare(system::privileged, ip)),
            _ => self.ops.push(refusal(0, ip)),
        }
    }

    fn conditional(
        &mut self,
        instruction: &Instruction,
        previous: Option<&Instruction>,
        count: u16,
    ) {
        let ip = instruction.ip();
        let (target, next) = (instruction.near_branch_target(), instruction.next_ip());
        // First, as the decoder gives `loope` and `loopne` the conditions of `je` and `jne`.
        if let Some(exec) = integer::jump_by_count(instruction.code()) {
            let op = Op { count, ..bare(exec, ip) };
            return self.branch(op, target, Some(next));
        }
        let code = flags::condition(instruction.condition_code());
        let Some(code) = code.filter(|_| !instruction.is_loopcc()) else {
            return self.ops.push(refusal(0, ip));
        };
        if let Some(exec) = previous.and_then(|previous| integer::fused(previous, code))
            && let Some(comparison) = self.ops.pop()
        {
            let op = Op { exec, count, ..comparison };
            return self.branch(op, target, Some(next));
        }
        let op = Op { count, ..bare(integer::jump_if(code), ip) };
        self.branch(op, target, Some(next));
    }

    fn indirect(&mut self, memory: &Memory, instruction: &Instruction, count: u16) {
        let (ip, next) = (instruction.ip(), instruction.next_ip());
        let is_call = instruction.flow_control() == FlowControl::IndirectCall;
        let mut op = Op { imm: next, count, ..bare(system::refused, ip) };
        if instruction.op0_kind() == OpKind::Register {
            op.b = address::general(instruction.op0_register());
            op.exec = if is_call {
                control::call_to::<crate::exec::B>
            } else {
                control::jump_to::<crate::exec::B>
            };
            self.ops.push(op);
            return;
        }
        match address::set(instruction, &mut op) {
            Ok(None) => {}
            Ok(Some(first)) => self.ops.push(first),
            Err(reason) => return self.ops.push(refusal(reason, ip)),
        }
        if let Some(target) = address::constant(memory, &op, 8) {
            return if is_call {
                self.call(ip, next, target, count);
            } else {
                self.jump(ip, target, count);
            };
        }
        op.exec = if is_call {
            control::call_to::<crate::exec::Indexed>
        } else {
            control::jump_to::<crate::exec::Indexed>
        };
        self.ops.push(op);
    }

    fn call(&mut self, ip: u64, next: u64, target: u64, count: u16) {
        let op = Op { disp: next, count, ..bare(control::call, ip) };
        self.linked(op, target, None);
    }

    /// Continues with the next block.
    fn go_on(&mut self, next: u64, count: u16) {
        self.linked(Op { count, ..bare(control::jump, next) }, next, None);
    }

    fn jump(&mut self, ip: u64, target: u64, count: u16) {
        let op = Op { count, ..bare(control::jump, ip) };
        self.branch(op, target, None);
    }

    /// Adds a branch that is no call. If it jumps backwards, it may begin a round of a loop whose rounds are limited.
    fn branch(&mut self, op: Op, target: u64, other: Option<u64>) {
        let ip = op.ip;
        // A jump to another function is a call.
        let is_backwards = |function: &Range<u64>| target <= ip && function.contains(&target);
        let limited = self.limit_at(ip).filter(|(function, _)| is_backwards(function));
        let Some((_, limit)) = limited else { return self.linked(op, target, other) };
        let index = self.ops.len();
        self.linked(op, target, other);
        self.ops[index].taken.set(self.ops.len() as u32);
        self.ops.push(Op { imm: target, disp: limit.into(), ..bare(control::begin_round, ip) });
        self.linked(bare(control::jump, ip), target, None);
    }

    /// Adds a branch with the micro-operations that resolve its links.
    fn linked(&mut self, op: Op, target: u64, other: Option<u64>) {
        let index = self.ops.len() as u32;
        op.taken.set(index + 1);
        op.other.set(index + 2);
        self.ops.push(op);
        for (w, target) in [(0, Some(target)), (1, other)] {
            let Some(imm) = target else { continue };
            let resolver = Op { imm, w, ..bare(control::resolve, imm) };
            resolver.taken.set(index);
            self.ops.push(resolver);
        }
    }

    /// What a refusal of the instruction at `address` says.
    pub(crate) fn describe(memory: &Memory, address: u64, reason: &'static str) -> Refusal {
        let bytes = text(memory, address, MAX_INSTRUCTION);
        let instruction = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE).decode();
        let mut name = String::new();
        IntelFormatter::new().format(&instruction, &mut name);
        let bytes = bytes[..instruction.len().min(bytes.len())].to_vec();
        Refusal { address, bytes, instruction: name, reason }
    }
}

/// Whether an operand is in memory.
fn has_memory(instruction: &Instruction) -> bool {
    instruction.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Up to `len` bytes of code from `address` on.
fn text(memory: &Memory, address: u64, len: usize) -> Vec<u8> {
    let region = memory.region(address).filter(|region| region.kind == RegionKind::Text);
    let end = region.map(|region| region.range.end).or_else(|| memory.executable_end(address));
    let len = end.map_or(0, |end| (end - address).min(len as u64));
    let mut bytes = vec![0; len as usize];
    match memory.read(address, &mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The instructions of the block at `address`.
fn decode(memory: &Memory, address: u64) -> Vec<Instruction> {
    let bytes = text(memory, address, MAX_BLOCK * MAX_INSTRUCTION);
    let mut decoder = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE);
    let mut instructions = Vec::new();
    while instructions.len() < MAX_BLOCK && decoder.can_decode() {
        let instruction = decoder.decode();
        instructions.push(instruction);
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            break;
        }
    }
    instructions
}
