//! Joint accesses: accesses of several locations at one moment, under SC, TSO and PSO.
//!
//! Memory is cut at the ends of accesses, and an access of several pieces is a sequence of ops that happen at one moment
//! ([`JointStep`]). A joint update loads all parts but the last, so that the last one can be an update or a compare-exchange that
//! decides whether something is written; then it stores the others.

use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::program::{JointKind, JointStep, OpKind, Update, UpdateKind};

use super::atomic::{at_location, written};
use super::call::{Call, Step};
use super::thread::Reply;

/// A location of a joint access, and the bits of the whole that it has.
#[derive(Clone, Copy)]
struct Part {
    location: LocationId,
    shift: u32,
    bits: u32,
}

impl Part {
    /// The bits of a value that this part has.
    fn of(self, value: Value) -> Value {
        low_bits(value as u128 >> self.shift, self.bits)
    }
}

/// The low bits of a number.
fn low_bits(value: u128, bits: u32) -> Value {
    if bits >= 128 { value as Value } else { (value & ((1 << bits) - 1)) as Value }
}

impl Call<'_> {
    /// A joint load.
    pub(super) fn joint_load(&self) -> JointKind {
        JointKind::Load(self.program.settings.environment.forwarding)
    }

    /// Begins an access of these locations, if they are several, and if that makes it a joint one.
    pub(super) fn begin_joint(&mut self, locations: &[LocationId], kind: JointKind) {
        if self.is_joint(locations) {
            self.effect(OpKind::Joint(JointStep::Begin(kind)));
            for &location in locations {
                self.effect(OpKind::Joint(JointStep::Part { location }));
            }
        }
    }

    /// Ends what [`Call::begin_joint`] has begun.
    pub(super) fn end_joint(&mut self, locations: &[LocationId]) {
        if self.is_joint(locations) {
            self.effect(OpKind::Joint(JointStep::End));
        }
    }

    fn is_joint(&self, locations: &[LocationId]) -> bool {
        locations.len() > 1 && self.program.layout.learned.is_joint
    }

    /// Performs an atomic access of several locations.
    pub(super) fn joint_atomic(
        &mut self,
        (address, size): (u64, u64),
        kind: OpKind,
        locations: &[LocationId],
    ) -> Step<Reply> {
        let parts = self.parts(locations);
        match kind {
            OpKind::Store { value, order, .. } => {
                self.check_store(address, size)?;
                self.begin_joint(locations, JointKind::Store);
                self.store_joint_parts(&parts, value, order);
                self.end_joint(locations);
                Ok(Reply { value: 0, is_spurious: false })
            }
            OpKind::Load { order, .. } => {
                self.begin_joint(locations, self.joint_load());
                let value = self.load_joint_parts(&parts, address, order)?;
                self.end_joint(locations);
                Ok(Reply { value, is_spurious: false })
            }
            OpKind::Rmw {
                update: Update { kind: UpdateKind::Max | UpdateKind::Min, .. }, ..
            } => {
                Err(self
                    .refuse("computes a maximum or minimum of memory that is accessed in parts"))
            }
            kind => {
                self.begin_joint(locations, JointKind::Update);
                let reply = self.update_parts(&parts, (address, size), kind)?;
                self.end_joint(locations);
                Ok(reply)
            }
        }
    }

    fn parts(&self, locations: &[LocationId]) -> Vec<Part> {
        let mut shift = 0;
        let part = |&location: &LocationId| {
            let bits = 8 * self.size_of(location) as u32;
            shift += bits;
            Part { location, shift: shift - bits, bits }
        };
        locations.iter().map(part).collect()
    }

    fn store_joint_parts(&mut self, parts: &[Part], value: Value, order: MemoryOrder) {
        for part in parts {
            let (location, value) = (part.location, part.of(value));
            self.effect(OpKind::Store { location, value, order, carries: false });
        }
    }

    fn load_joint_parts(
        &mut self,
        parts: &[Part],
        address: u64,
        order: MemoryOrder,
    ) -> Step<Value> {
        let mut whole = 0;
        for &Part { location, shift, .. } in parts {
            let value = self.ask(OpKind::Load { location, order })?.value;
            self.check_alive(value, address)?;
            whole |= (value as u128) << shift;
        }
        Ok(whole as Value)
    }

    /// Performs an update or a compare-exchange, which has begun.
    fn update_parts(
        &mut self,
        parts: &[Part],
        (address, size): (u64, u64),
        kind: OpKind,
    ) -> Step<Reply> {
        let Some((&last, others)) = parts.split_last() else {
            return Ok(Reply { value: 0, is_spurious: false });
        };
        let known = self.load_joint_parts(others, address, MemoryOrder::Relaxed)?;
        let question = question(kind, last, known);
        let Reply { value, is_spurious } = self.ask(question)?;
        self.check_alive(value, address)?;
        let read = (known as u128 | (value as u128) << last.shift) as Value;
        let is_written = !is_spurious && !matches!(question, OpKind::Load { .. });
        if let Some(new) = written(kind, read).filter(|_| is_written) {
            let new = low_bits(new as u128, 8 * size as u32);
            self.store_joint_parts(others, new, MemoryOrder::SeqCst);
        }
        Ok(Reply { value: read, is_spurious })
    }
}

/// The question about the last part of an update or a compare-exchange whose other parts had this value.
fn question(kind: OpKind, last: Part, known: Value) -> OpKind {
    let kind = at_location(kind, last.location);
    match kind {
        OpKind::Rmw { location, update, order, .. } => {
            let (of, operand) = match update.kind {
                UpdateKind::Sub => (UpdateKind::Add, update.operand.wrapping_neg()),
                kind => (kind, update.operand),
            };
            // The sum has the carry of the other parts, whose bits here are 0.
            let operand = match of {
                UpdateKind::Add => last.of(known.wrapping_add(operand)),
                _ => last.of(operand),
            };
            let bits = last.bits as u8;
            let update = Update { kind: of, operand, bits, signed: false, carries: false };
            OpKind::Rmw { location, update, order, is_blind: false }
        }
        OpKind::CompareExchange { expected, desired, carries, success, failure, weak, .. } => {
            let location = last.location;
            if low_bits(expected as u128, last.shift) != known {
                return OpKind::Load { location, order: failure };
            }
            let (expected, desired) = (last.of(expected), last.of(desired));
            OpKind::CompareExchange { location, expected, desired, carries, success, failure, weak }
        }
        kind => kind,
    }
}
