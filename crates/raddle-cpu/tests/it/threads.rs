//! Two threads explored depth-first with snapshots, sequentially consistent: exact numbers of interleavings and outcomes.

use crate::guest::{DONE, Guest};
use crate::questions::guest;
use raddle_cpu::memory::{Thread, layout};
use raddle_cpu::{Cpu, Register, Stop};
use std::collections::{BTreeMap, BTreeSet};

const X: u64 = 0x2000_0000;
const Y: u64 = X + 8;

/// Two threads, each at its first question.
struct Explorer {
    guest: Guest,
    cpus: Vec<Cpu>,
    shared: BTreeMap<u64, u64>,
    interleavings: u64,
    outcomes: BTreeSet<Vec<u64>>,
}

impl Explorer {
    fn new(function: &str, arguments: [[u64; 2]; 2]) -> Explorer {
        let mut guest = guest();
        let mut cpus = Vec::new();
        for (index, [first, second]) in arguments.into_iter().enumerate() {
            let thread = Thread::new(1 + index).unwrap();
            let stack = guest.memory.add_thread(thread, 1 << 16).unwrap();
            let mut cpu = Cpu::new(thread);
            let done = layout::host_function(DONE).to_le_bytes();
            guest.memory.store(thread, stack.end - 72, &done).unwrap();
            cpu.set_register(Register::Rsp, stack.end - 72);
            cpu.set_register(Register::Rdi, first);
            cpu.set_register(Register::Rsi, second);
            cpu.jump(guest.symbol(function));
            cpus.push(cpu);
        }
        let (interleavings, outcomes) = (0, BTreeSet::new());
        Explorer { guest, cpus, shared: BTreeMap::new(), interleavings, outcomes }
    }

    fn run(&mut self, index: usize) -> Stop {
        self.cpus[index].run(&mut self.guest.memory, &mut self.guest.code)
    }

    /// Explores all continuations. `stops` are where the threads are.
    fn explore(&mut self, stops: &[Stop]) {
        if stops.iter().all(|stop| *stop == Stop::HostCall(DONE)) {
            self.interleavings += 1;
            let results = self.cpus.iter().map(|cpu| cpu.register(Register::Rax));
            let memory = [X, Y].map(|place| self.shared.get(&place).copied().unwrap_or(0));
            self.outcomes.insert(results.chain(memory).collect());
            return;
        }
        for index in 0..stops.len() {
            if stops[index] == Stop::HostCall(DONE) {
                continue;
            }
            let snapshot = self.cpus[index].snapshot(&mut self.guest.memory);
            let shared = self.shared.clone();
            self.answer(index, &stops[index]);
            let mut next = stops.to_vec();
            next[index] = self.run(index);
            self.explore(&next);
            self.cpus[index].restore(&mut self.guest.memory, &snapshot);
            self.shared = shared;
        }
    }

    fn answer(&mut self, index: usize, stop: &Stop) {
        let value = match *stop {
            Stop::Load { address, .. } => self.shared.get(&address).copied().unwrap_or(0),
            Stop::Store { address, value, .. } => {
                self.shared.insert(address, value);
                0
            }
            Stop::ReadModifyWrite { address, size, operation } => {
                let old = self.shared.get(&address).copied().unwrap_or(0);
                self.shared.insert(address, operation.apply(old.into(), size) as u64);
                old
            }
            _ => panic!("{stop:?}"),
        };
        self.cpus[index].answer(value);
    }

    fn all(mut self) -> (u64, BTreeSet<Vec<u64>>) {
        let stops: Vec<Stop> = (0..2).map(|index| self.run(index)).collect();
        self.explore(&stops);
        (self.interleavings, self.outcomes)
    }
}

#[test]
fn store_buffering_has_six_interleavings_and_three_outcomes() {
    let (interleavings, outcomes) = Explorer::new("store_and_load", [[X, Y], [Y, X]]).all();
    assert_eq!(interleavings, 6);
    let expected = [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]].map(|outcome| outcome.to_vec());
    assert_eq!(outcomes, BTreeSet::from(expected));
}

#[test]
fn atomic_increments_are_never_lost() {
    let (interleavings, outcomes) = Explorer::new("increment_twice", [[X, 0], [X, 0]]).all();
    assert_eq!(interleavings, 6);
    assert_eq!(outcomes, BTreeSet::from([vec![2, 2, 4, 0]]));
}
