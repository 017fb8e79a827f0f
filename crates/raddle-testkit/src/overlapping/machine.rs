//! The store-buffer machine with a memory of bytes: every state is visited.
//!
//! A store enters the buffer of its thread as a range with its bytes. Under TSO stores leave it in their order, under PSO a
//! store may overtake those that it does not overlap, unless a store fence is between. A load takes every byte from the newest own store
//! that has it, else from memory, all at one moment. Updates, failed compare-exchanges and fences wait for an empty
//! buffer.

use std::collections::{BTreeSet, HashSet};

use raddle_core::model::Model;
use raddle_core::model::reference::{Buffering, buffering};

use super::ByteClass;
use super::ops::{ByteOp, Bytes, Overlapping};
use crate::programs::TooLarge;

/// The number of bytes.
const BYTES: usize = 16;

/// A store in a buffer.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Buffered {
    bytes: Bytes,
    value: u64,
    number: usize,
    /// The number of store fences before it.
    epoch: usize,
}

impl Buffered {
    /// The byte of memory that it writes.
    fn byte(&self, at: u8) -> u8 {
        (self.value >> (8 * u32::from(at - self.bytes.at))) as u8
    }
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct ByteThread {
    started: bool,
    next: usize,
    registers: [u64; 2],
    buffer: Vec<Buffered>,
    epoch: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ByteState {
    memory: [(Option<usize>, u8); BYTES],
    threads: Vec<ByteThread>,
    class: ByteClass,
}

/// A program and its machine.
struct ByteMachine<'p> {
    program: &'p Overlapping,
    ops: Vec<Vec<ByteOp>>,
    numbers: Vec<usize>,
    buffering: Buffering,
}

/// All classes of a program under SC, TSO or PSO.
///
/// # Errors
/// If there are more states than `budget`.
///
/// # Panics
/// If the model has no machine.
pub fn classes(
    program: &Overlapping,
    model: Model,
    budget: usize,
) -> Result<BTreeSet<ByteClass>, TooLarge> {
    let machine = ByteMachine {
        program,
        ops: (0..=program.threads.len()).map(|thread| program.ops(thread)).collect(),
        numbers: program.first_numbers(),
        buffering: buffering(model).expect("a machine defines the model"),
    };
    let mut threads = vec![ByteThread::default(); machine.ops.len()];
    threads[0].started = true;
    let first = ByteState { memory: [(None, 0); BYTES], threads, class: ByteClass::new() };
    let (mut open, mut seen, mut classes) = (vec![first], HashSet::new(), BTreeSet::new());
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > budget {
            return Err(TooLarge);
        }
        let next = machine.successors(&state);
        if next.is_empty() {
            classes.insert(state.class);
        } else {
            open.extend(next);
        }
    }
    Ok(classes)
}

impl ByteMachine<'_> {
    fn successors(&self, state: &ByteState) -> Vec<ByteState> {
        let mut all = vec![];
        for thread in 0..state.threads.len() {
            self.add_flushes(state, thread, &mut all);
            all.extend(self.step(state, thread));
        }
        all
    }

    fn add_flushes(&self, state: &ByteState, thread: usize, all: &mut Vec<ByteState>) {
        let buffer = &state.threads[thread].buffer;
        for (at, store) in buffer.iter().enumerate() {
            let waits_for = |older: &Buffered| {
                self.buffering == Buffering::Fifo
                    || older.epoch < store.epoch
                    || older.bytes.overlaps(store.bytes)
            };
            if buffer[..at].iter().any(waits_for) {
                continue;
            }
            let mut next = state.clone();
            let store = next.threads[thread].buffer.remove(at);
            write(&mut next, &store);
            all.push(next);
        }
    }

    fn step(&self, state: &ByteState, thread: usize) -> Option<ByteState> {
        let own = &state.threads[thread];
        let mut next = state.clone();
        let is_between = thread == 0 && own.next == self.program.before.len();
        if is_between && state.threads[1..].iter().any(|it| !it.started) {
            next.threads[1..].iter_mut().for_each(|it| it.started = true);
            return own.buffer.is_empty().then_some(next);
        }
        let joins = thread == 0 && own.next >= self.program.before.len();
        let is_done = |(index, it): (usize, &ByteThread)| {
            it.next == self.ops[index].len() && it.buffer.is_empty()
        };
        let all_done = || state.threads.iter().enumerate().skip(1).all(is_done);
        if !own.started || joins && (!all_done() || is_between && !own.buffer.is_empty()) {
            return None;
        }
        let op = *self.ops[thread].get(own.next)?;
        let number = self.numbers[thread] + own.next;
        next.threads[thread].next += 1;
        self.perform(&mut next, thread, op, number).then_some(next)
    }

    /// Performs an op. Returns `false` if it has to wait.
    fn perform(&self, next: &mut ByteState, thread: usize, op: ByteOp, number: usize) -> bool {
        let own = &mut next.threads[thread];
        let is_empty = own.buffer.is_empty();
        match op {
            ByteOp::Fence => return is_empty,
            ByteOp::StoreFence => own.epoch += 1,
            ByteOp::SkipIf { register, value } => {
                own.next += usize::from(own.registers[usize::from(register)] == value);
                own.next = own.next.min(self.ops[thread].len());
            }
            ByteOp::Store { bytes, value } => {
                let value = bytes.truncate(value.value(&own.registers));
                let store = Buffered { bytes, value, number, epoch: own.epoch };
                match self.buffering {
                    Buffering::None => write(next, &store),
                    _ => own.buffer.push(store),
                }
            }
            ByteOp::Load { register, bytes } => {
                let newest = own.buffer.iter().rev().find(|it| it.bytes.overlaps(bytes));
                if self.program.waits && newest.is_some_and(|it| !it.bytes.covers(bytes)) {
                    return false;
                }
                read(next, thread, (register, bytes), number);
            }
            ByteOp::Add { register, bytes, value } => {
                let operand = value.value(&own.registers);
                let old = read(next, thread, (register, bytes), number);
                let value = bytes.truncate(old.wrapping_add(operand));
                write(next, &Buffered { bytes, value, number, epoch: 0 });
                return is_empty;
            }
            ByteOp::CompareExchange { register, bytes, expected, desired } => {
                let value = bytes.truncate(desired.value(&own.registers));
                let old = read(next, thread, (register, bytes), number);
                if old == bytes.truncate(expected) {
                    write(next, &Buffered { bytes, value, number, epoch: 0 });
                }
                return is_empty;
            }
        }
        true
    }
}

fn write(state: &mut ByteState, store: &Buffered) {
    for at in store.bytes.iter() {
        state.memory[usize::from(at)] = (Some(store.number), store.byte(at));
    }
}

/// Reads bytes as a thread sees them now into a register.
fn read(
    state: &mut ByteState,
    thread: usize,
    (register, bytes): (u8, Bytes),
    number: usize,
) -> u64 {
    let mut value = 0;
    for at in bytes.iter() {
        let own = &state.threads[thread].buffer;
        let newest = own.iter().rev().find(|it| it.bytes.iter().any(|byte| byte == at));
        let (source, byte) = match newest {
            Some(store) => (Some(store.number), store.byte(at)),
            None => state.memory[usize::from(at)],
        };
        state.class.insert((number, at), source);
        value |= u64::from(byte) << (8 * u32::from(at - bytes.at));
    }
    state.threads[thread].registers[usize::from(register)] = value;
    value
}
