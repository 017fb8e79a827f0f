//! The dispatch loop, careful runs of single micro-operations, answers.

use crate::cpu::{Access, AccessKind, CONTINUE, Cpu, Exit, NO_JUMPS, Op, STOP};
use crate::exec::control::jump_slot;
use crate::exec::system::{NON_TEMPORAL, REASONS, unload_float};
use crate::memory::{Denied, FaultKind, Memory};
use crate::registers::Register;
use crate::stop::Stop;
use crate::stub;
use crate::translate::{Code, UNHOOKED, without_hook_bit};

impl Cpu {
    /// Runs until something happens that is not private to the thread. Runs on where it stopped; after a question only once it is
    /// answered, and otherwise asks again.
    pub fn run(&mut self, memory: &mut Memory, code: &mut Code) -> Stop {
        memory.run_as(self.thread);
        self.enter(memory, code);
        let stop = self.run_to_stop(memory, code);
        unload_float(self);
        memory.hide_cache(false);
        if let Some(op) = code.ops.get(self.at as usize) {
            self.ip = op.ip;
        }
        stop
    }

    /// Finds the micro-operation that runs next.
    fn enter(&mut self, memory: &Memory, code: &mut Code) {
        if self.code != code.id {
            self.code = code.id;
            *self.jumps = NO_JUMPS;
            self.at = 0;
        }
        if self.at == 0 {
            self.at = code.block(memory, self.ip);
        }
    }

    fn run_to_stop(&mut self, memory: &mut Memory, code: &mut Code) -> Stop {
        if self.budget < 0 {
            return Stop::Budget;
        }
        if self.pending.len > 0 {
            if let Some(question) = self.question() {
                return question;
            }
            memory.hide_cache(true);
            if let Some(stop) = self.run_carefully(memory, code) {
                return stop;
            }
        }
        loop {
            self.at = self.dispatch(memory, &code.ops);
            if let Some(stop) = self.leave(memory, code) {
                return stop;
            }
        }
    }

    /// Runs micro-operations until one stops. Returns its index.
    #[inline(never)]
    fn dispatch(&mut self, memory: &mut Memory, ops: &[Op]) -> u32 {
        let mut start = self.at as usize;
        loop {
            let Some(block) = ops.get(start..) else { return 0 };
            for (index, op) in (start..).zip(block) {
                let next = (op.exec)(self, memory, op);
                if next != CONTINUE {
                    if next == STOP {
                        return index as u32;
                    }
                    start = next as usize;
                    break;
                }
            }
        }
    }

    /// Handles why the micro-operation at `at` stopped. Returns `None` if the thread goes on by itself.
    fn leave(&mut self, memory: &mut Memory, code: &mut Code) -> Option<Stop> {
        let op = &code.ops[self.at as usize];
        match self.exit {
            Exit::Miss => {
                memory.hide_cache(true);
                return self.run_carefully(memory, code);
            }
            Exit::LoadFloat => {
                self.load_float();
                return None;
            }
            Exit::Resolve => {
                self.at = code.resolve(memory, self.at);
                return None;
            }
            Exit::Lookup => {
                let index = code.block(memory, self.target);
                if code.is_stable(memory, self.target) {
                    self.jumps[jump_slot(self.target)] = (self.target, index);
                }
                self.at = index;
                return (self.budget < 0).then_some(Stop::Budget);
            }
            Exit::Budget => {
                self.at = self.next;
                return Some(Stop::Budget);
            }
            Exit::HostCall(function) => return Some(Stop::HostCall(function)),
            Exit::Denied => {
                let denied = self.denied.take()?;
                return Some(self.denial(denied, self.target, 0));
            }
            _ => {}
        }
        let ip = op.ip;
        Some(match self.exit {
            Exit::Fence(kind) => self.after(Stop::Fence(kind)),
            Exit::Pause => self.after(Stop::Pause),
            Exit::Rounds => Stop::Rounds,
            Exit::Syscall => self.after(Stop::Syscall),
            Exit::Misaligned { size, write } => {
                Stop::Fault(memory.fault(FaultKind::Misaligned, self.target, size.into(), write))
            }
            Exit::Refused(reason) => Stop::Refused(Box::new(Code::describe(memory, ip, reason))),
            Exit::Fault(kind) => Stop::Fault(memory.fault(kind, ip, 0, false)),
            _ => return None,
        })
    }

    fn load_float(&mut self) {
        stub::load_mxcsr(self.mxcsr);
        self.float_loaded = true;
    }

    /// Stops after the micro-operation.
    fn after(&mut self, stop: Stop) -> Stop {
        self.at += 1;
        stop
    }

    /// Runs the micro-operation at `at` with all of its accesses in order, as far as they are answered.
    fn run_carefully(&mut self, memory: &mut Memory, code: &mut Code) -> Option<Stop> {
        loop {
            self.replayed = 0;
            let op = &code.ops[self.at as usize];
            let next = (op.exec)(self, memory, op);
            if next == STOP && self.exit == Exit::LoadFloat {
                self.load_float();
                continue;
            }
            if next != STOP || self.exit != Exit::Miss {
                self.pending.len = 0;
                self.replayed = 0;
                memory.hide_cache(false);
            }
            match next {
                STOP if self.exit == Exit::Miss => {}
                STOP => return self.leave(memory, code),
                CONTINUE => {
                    self.at += 1;
                    return None;
                }
                _ => {
                    self.at = next;
                    return None;
                }
            }
            if let Some(stop) = self.access(memory, code) {
                return Some(stop);
            }
        }
    }

    /// Makes the access that the micro-operation has come to, or returns why it cannot.
    fn access(&mut self, memory: &mut Memory, code: &Code) -> Option<Stop> {
        let mut access = self.miss;
        let size = access.size.into();
        let mut bytes = [0; 32];
        for (place, word) in bytes.chunks_exact_mut(8).zip(access.data) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let place = &mut bytes[..size];
        let result = match access.kind {
            AccessKind::Load => memory.load_slow(access.address, place),
            AccessKind::Store => memory.store_slow(access.address, place),
            AccessKind::Atomic(_) => memory
                .check_write(access.address, size as u64)
                .and_then(|()| memory.load_slow(access.address, place)),
        };
        access.done = match result {
            Ok(()) => access.size,
            Err(Denied::Shared) if !access.may_ask => {
                self.pending.len = 0;
                let ip = code.ops[self.at as usize].ip;
                let reason = REASONS[NON_TEMPORAL];
                return Some(Stop::Refused(Box::new(Code::describe(memory, ip, reason))));
            }
            Err(Denied::Shared) => 0,
            Err(denied) => {
                self.pending.len = 0;
                return Some(self.denial(denied, access.address, access.size));
            }
        };
        for (word, place) in access.data.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = place.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        let slot = self.pending.accesses.get_mut(self.pending.len)?;
        *slot = access;
        self.pending.len += 1;
        self.question()
    }

    fn denial(&self, denied: Denied, address: u64, size: u8) -> Stop {
        match denied {
            Denied::Fault(fault) => Stop::Fault(fault),
            Denied::Owned(owned, state) => Stop::Escape { address, size, owned, state },
            Denied::Shared => Stop::Load { address, size },
        }
    }

    /// The question that waits for an answer.
    pub fn question(&self) -> Option<Stop> {
        let access = self.pending.accesses.get(self.pending.len.checked_sub(1)?)?;
        if access.done >= access.size {
            return None;
        }
        let address = access.address + u64::from(access.done);
        let size = match access.size - access.done {
            8.. => 8,
            4.. => 4,
            2.. => 2,
            _ => 1,
        };
        Some(match access.kind {
            AccessKind::Load => Stop::Load { address, size },
            AccessKind::Store => {
                let word = access.data[usize::from(access.done / 8) % 4];
                let value = word >> (access.done % 8 * 8) & u64::MAX >> (64 - size * 8);
                Stop::Store { address, size, value }
            }
            AccessKind::Atomic(operation) => {
                Stop::ReadModifyWrite { address: access.address, size: access.size, operation }
            }
        })
    }

    /// Answers the question that [`Self::run`] returned: the value of a load, the old value of a read-modify-write operation, any value
    /// for a store. Ignored if no question waits.
    pub fn answer(&mut self, value: u64) {
        self.answer_wide(value.into());
    }

    /// Answers a question of up to 16 bytes.
    pub fn answer_wide(&mut self, value: u128) {
        let Some(question) = self.question() else { return };
        let index = self.pending.len - 1;
        let access = &mut self.pending.accesses[index];
        match question {
            Stop::Load { size, .. } => {
                let word = &mut access.data[usize::from(access.done / 8) % 4];
                let shift = access.done % 8 * 8;
                let mask = u64::MAX >> (64 - size * 8) << shift;
                *word = *word & !mask | (value as u64) << shift & mask;
                access.done += size;
            }
            Stop::Store { size, .. } => access.done += size,
            _ => {
                self.was_asked = true;
                access.data = [value as u64, (value >> 64) as u64, 0, 0];
                access.done = access.size;
                // The store that follows is part of the operation.
                let store = Access { kind: AccessKind::Store, ..*access };
                if let Some(slot) = self.pending.accesses.get_mut(index + 1) {
                    *slot = store;
                    self.pending.len += 1;
                }
            }
        }
    }

    /// Returns from the host function that the thread has called, with `value` in rax.
    pub fn return_from_host(&mut self, memory: &mut Memory, value: u64) -> Result<(), Denied> {
        let pointer = self.register(Register::Rsp);
        let mut bytes = [0; 8];
        memory.load(self.thread, pointer, &mut bytes)?;
        self.set_register(Register::Rsp, pointer.wrapping_add(8));
        self.set_register(Register::Rax, value);
        self.jump(u64::from_le_bytes(bytes));
        Ok(())
    }

    /// Continues at `address` even if a function of the host stands for the code there: the code itself runs.
    pub fn jump_past_hook(&mut self, address: u64) {
        self.jump(address | UNHOOKED);
    }

    /// Address of the instruction that runs next.
    pub fn ip(&self) -> u64 {
        without_hook_bit(self.ip)
    }
}
