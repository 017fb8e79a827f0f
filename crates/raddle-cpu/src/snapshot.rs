//! Snapshots of a thread: registers, and a position in its undo log.
//!
//! A snapshot contains the half-answered instruction, if any: the answers so far and the question that waits. The upper halves of
//! vector registers and the x87 state are copied only if the thread has used them.

use crate::cpu::{Access, ActiveLoop, Cpu, Exit, INITIAL_FPU, Pending};
use crate::liveness::Dead;
use crate::memory::layout::RED_ZONE;
use crate::memory::{Comparison, Mark, Memory, WrittenBytes};
use crate::registers::{LazyFlags, REGISTERS, Register, STATUS};

/// The state of a thread to which it can return any number of times.
#[derive(Clone, Debug)]
pub struct Snapshot {
    registers: [u64; REGISTERS],
    flags: u64,
    lazy: LazyFlags,
    lower: [[u64; 2]; 16],
    rare: Option<Box<Rare>>,
    mxcsr: u32,
    at: u32,
    code: u64,
    ip: u64,
    readings: u64,
    exit: Exit,
    loops: Vec<ActiveLoop>,
    pending: Option<Box<Pending>>,
    question: Option<Access>,
    mark: Mark,
}

/// The state of a thread in terms of an earlier snapshot.
#[derive(Clone, Debug)]
pub struct StateSince {
    snapshot: Snapshot,
    /// Position of the earlier snapshot in the undo log.
    mark: Mark,
    written: WrittenBytes,
}

/// State that most threads never use.
#[derive(Clone, Debug)]
struct Rare {
    upper: [[u64; 2]; 16],
    /// The part of the x87 state that does not depend on the host.
    fpu: [u64; 20],
}

impl Cpu {
    /// Takes a snapshot. Nests: going back to an older one closes newer ones. The budget is not part of it.
    pub fn snapshot(&mut self, memory: &mut Memory) -> Snapshot {
        let pointer = self.register(Register::Rsp);
        let mark = memory.mark(self.thread, pointer.wrapping_sub(RED_ZONE));
        let vectors = &self.context.vectors;
        let rare = (self.fpu_used || self.upper_used).then(|| {
            let mut fpu = [0; 20];
            fpu.copy_from_slice(&self.context.fpu[..20]);
            Box::new(Rare { upper: vectors.map(|vector| [vector[2], vector[3]]), fpu })
        });
        let (question, pending) = match self.pending.len {
            0 => (None, None),
            1 => (Some(self.pending.accesses[0]), None),
            _ => (None, Some(Box::new(self.pending))),
        };
        Snapshot {
            registers: self.context.registers,
            flags: self.context.flags,
            lazy: self.lazy,
            lower: vectors.map(|vector| [vector[0], vector[1]]),
            rare,
            mxcsr: self.mxcsr,
            at: self.at,
            code: self.code,
            ip: self.ip,
            readings: self.readings,
            exit: self.exit,
            loops: self.loops.clone(),
            pending,
            question,
            mark,
        }
    }

    /// Returns to a snapshot of this thread, and undoes what the thread has written since.
    pub fn restore(&mut self, memory: &mut Memory, snapshot: &Snapshot) {
        memory.rewind(self.thread, snapshot.mark);
        self.context.registers = snapshot.registers;
        self.context.flags = snapshot.flags;
        self.lazy = snapshot.lazy;
        for (vector, lower) in self.context.vectors.iter_mut().zip(&snapshot.lower) {
            [vector[0], vector[1]] = *lower;
        }
        self.restore_rare(snapshot.rare.as_deref());
        self.mxcsr = snapshot.mxcsr;
        [self.ip, self.readings] = [snapshot.ip, snapshot.readings];
        self.exit = snapshot.exit;
        self.loops.clone_from(&snapshot.loops);
        self.at = if self.code == snapshot.code { snapshot.at } else { 0 };
        match (&snapshot.pending, snapshot.question) {
            (Some(pending), _) => self.pending = **pending,
            (None, Some(question)) => {
                self.pending.accesses[0] = question;
                self.pending.len = 1;
            }
            (None, None) => self.pending.len = 0,
        }
    }

    /// The state of the thread, to be compared with states that it reaches in other ways from an earlier snapshot. `None` if it has
    /// changed many pages, states or heap blocks since.
    pub fn state_since(&mut self, memory: &mut Memory, since: &Snapshot) -> Option<StateSince> {
        let written = memory.written_since(self.thread, since.mark)?;
        Some(StateSince { snapshot: self.snapshot(memory), mark: since.mark, written })
    }

    /// Compares the state of the thread with one that it had reached from the same snapshot, apart from what is dead, now and there.
    pub fn compare(&self, memory: &Memory, state: &StateSince, dead: &Dead) -> Comparison {
        self.compare_with(memory, &state.snapshot, state.mark, &state.written, dead)
    }

    /// Returns `true` if the thread is in the state of a snapshot: registers, flags, waiting accesses and private memory, apart from
    /// what is dead, now and there.
    pub fn is_at(&self, memory: &Memory, snapshot: &Snapshot, dead: &Dead) -> bool {
        let nothing = WrittenBytes::default();
        let compared = self.compare_with(memory, snapshot, snapshot.mark, &nothing, dead);
        compared == Comparison::Same
    }

    fn compare_with(
        &self,
        memory: &Memory,
        snapshot: &Snapshot,
        mark: Mark,
        written: &WrittenBytes,
        dead: &Dead,
    ) -> Comparison {
        let has_registers = self.ip == snapshot.ip
            && self.register(Register::Rsp) == snapshot.registers[Register::Rsp as usize]
            && self.has_registers_of(snapshot, dead)
            && self.has_rare_of(snapshot)
            && self.mxcsr == snapshot.mxcsr;
        if !has_registers {
            return Comparison::Differ;
        }
        memory.compare_since(self.thread, mark, written, self.lowest_live(), &dead.stack)
    }

    /// The address below which the thread reads nothing of its own stack.
    pub fn lowest_live(&self) -> u64 {
        self.register(Register::Rsp).wrapping_sub(RED_ZONE)
    }

    /// Returns `true` if x87 registers and the upper halves of vector registers are those of a snapshot.
    fn has_rare_of(&self, snapshot: &Snapshot) -> bool {
        if !self.fpu_used && !self.upper_used {
            return snapshot.rare.is_none();
        }
        let rare = snapshot.rare.as_deref();
        let fpu = rare.map_or(&INITIAL_FPU[..20], |rare| &rare.fpu);
        let has_upper = |(index, vector): (usize, &[u64; 4])| {
            vector[2..] == rare.map_or([0, 0], |rare| rare.upper[index])
        };
        self.context.fpu[..20] == *fpu && self.context.vectors.iter().enumerate().all(has_upper)
    }

    /// Returns `true` if the thread is at the instruction of a snapshot.
    pub fn is_at_instruction(&self, snapshot: &Snapshot) -> bool {
        self.ip == snapshot.ip
    }

    fn has_registers_of(&self, snapshot: &Snapshot, dead: &Dead) -> bool {
        let registers = self.context.registers.iter().zip(&snapshot.registers).enumerate();
        // At a call, no address is being computed.
        let is_dead = |index| {
            dead.registers.iter().any(|dead| *dead as usize == index)
                || (index == Register::Address as usize && self.is_in_host_call())
        };
        let vectors = self.context.vectors.iter().zip(&snapshot.lower).enumerate();
        registers.into_iter().all(|(index, (now, then))| now == then || is_dead(index))
            && self.has_flags_of(snapshot, dead)
            && vectors.into_iter().all(|(index, (vector, lower))| {
                vector[..2] == lower[..] || dead.vectors.contains(&index)
            })
    }

    /// Returns `true` if the flags are those of a snapshot. Only status flags can be dead, and not the direction of string instructions.
    fn has_flags_of(&self, snapshot: &Snapshot, dead: &Dead) -> bool {
        let changed = self.flags() ^ snapshot.lazy.flags(snapshot.flags);
        let is_dead = |changed| dead.flags && changed & !STATUS == 0;
        changed == 0 || is_dead(changed)
    }

    fn restore_rare(&mut self, rare: Option<&Rare>) {
        if !self.fpu_used && !self.upper_used {
            return;
        }
        // A snapshot without these parts is older than their first use.
        for (index, vector) in self.context.vectors.iter_mut().enumerate() {
            [vector[2], vector[3]] = rare.map_or([0, 0], |rare| rare.upper[index]);
        }
        let fpu = rare.map_or(&INITIAL_FPU[..20], |rare| &rare.fpu);
        self.context.fpu[..20].copy_from_slice(fpu);
    }
}
