//! The program for explorers: memory is cut at the ends of all accesses, and an access of several pieces is a joint one.

use std::collections::BTreeSet;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, JointKind, JointStep, LocalHistories, Naming, Op, OpKind,
    PlaceId, Program, Segment, StoreForwarding, Update, UpdateKind,
};

use super::ops::{ByteOp, Bytes, Overlapping};

/// State of a thread at the end of a history.
#[derive(Clone, Debug, Default)]
struct ThreadState {
    thread: usize,
    next: usize,
    registers: [u64; 2],
    /// What the parts of the current access had that were read so far.
    parts: Vec<u64>,
    /// How many threads were joined.
    joined: usize,
}

/// An [`Overlapping`] program for explorers.
#[derive(Clone, Debug)]
pub struct OverlappingProgram {
    program: Overlapping,
    ops: Vec<Vec<ByteOp>>,
    numbers: Vec<usize>,
    /// The pieces of memory.
    pieces: Vec<Bytes>,
    /// By history.
    states: Vec<ThreadState>,
}

/// What follows in a thread.
enum Flow {
    Goes,
    Asks(OpKind),
}

impl OverlappingProgram {
    /// The program with all cuts.
    #[must_use]
    pub fn new(program: &Overlapping) -> Self {
        let ops: Vec<Vec<ByteOp>> =
            (0..=program.threads.len()).map(|thread| program.ops(thread)).collect();
        let accesses = || ops.iter().flatten().filter_map(ByteOp::bytes);
        let ends: BTreeSet<u8> = accesses().flat_map(|it| [it.at, it.at + it.size]).collect();
        let ends: Vec<u8> = ends.into_iter().collect();
        let piece = |pair: &[u8]| Bytes { at: pair[0], size: pair[1] - pair[0] };
        OverlappingProgram {
            pieces: ends.windows(2).map(piece).collect(),
            numbers: program.first_numbers(),
            program: program.clone(),
            ops,
            states: vec![],
        }
    }

    /// The bytes of a location.
    pub fn bytes_of(&self, location: LocationId) -> impl Iterator<Item = u8> + use<> {
        self.pieces[location.index()].iter()
    }

    fn locations(&self, bytes: Bytes) -> Vec<LocationId> {
        let pieces = 0..self.pieces.len();
        pieces.filter(|&it| bytes.covers(self.pieces[it])).map(LocationId::new).collect()
    }

    /// The part of a value that a location gets.
    fn part(&self, value: u64, bytes: Bytes, location: LocationId) -> u64 {
        let piece = self.pieces[location.index()];
        piece.truncate(value >> (8 * u32::from(piece.at - bytes.at)))
    }

    /// The value that consists of these parts.
    fn composed(&self, bytes: Bytes, parts: &[u64]) -> u64 {
        let shift =
            |location: LocationId| 8 * u32::from(self.pieces[location.index()].at - bytes.at);
        let locations = self.locations(bytes);
        locations.iter().zip(parts).fold(0, |all, (&at, &part)| all | part << shift(at))
    }

    /// Performs the next op: `None` at the end of the thread, a question if it asks one.
    fn flow_one(
        &self,
        state: &mut ThreadState,
        effects: &mut Vec<OpKind>,
    ) -> Option<Option<OpKind>> {
        let is_between = state.thread == 0 && state.next == self.program.before.len();
        if is_between && state.parts.is_empty() {
            if state.joined == 0 {
                let children = (1..self.ops.len()).map(ThreadId::new);
                effects.extend(children.map(|thread| OpKind::Spawn { thread }));
            }
            if state.joined < self.program.threads.len() && !self.program.after.is_empty() {
                return Some(Some(OpKind::Join { thread: ThreadId::new(state.joined + 1) }));
            }
        }
        let op = *self.ops[state.thread].get(state.next)?;
        if let Flow::Asks(question) = self.op(state, op, effects) {
            return Some(Some(question));
        }
        state.next += 1;
        Some(None)
    }

    fn op(&self, state: &mut ThreadState, op: ByteOp, effects: &mut Vec<OpKind>) -> Flow {
        match op {
            ByteOp::Fence => effects.push(OpKind::Fence { order: MemoryOrder::SeqCst }),
            ByteOp::StoreFence => effects.push(OpKind::StoreFence),
            ByteOp::SkipIf { register, value } => {
                state.next += usize::from(state.registers[usize::from(register)] == value);
            }
            ByteOp::Store { bytes, value } => {
                self.store(bytes, value.value(&state.registers), effects);
            }
            ByteOp::Load { bytes, .. } => {
                let kind = JointKind::Load(self.forwarding());
                return self.read(state, (op, bytes), kind, effects);
            }
            ByteOp::Add { bytes, .. } | ByteOp::CompareExchange { bytes, .. } => {
                return self.read(state, (op, bytes), JointKind::Update, effects);
            }
        }
        Flow::Goes
    }

    fn forwarding(&self) -> StoreForwarding {
        if self.program.waits { StoreForwarding::Wait } else { StoreForwarding::Combine }
    }

    fn begin(&self, locations: &[LocationId], kind: JointKind, effects: &mut Vec<OpKind>) {
        if locations.len() > 1 {
            effects.push(OpKind::Joint(JointStep::Begin(kind)));
            let part = |&location: &LocationId| OpKind::Joint(JointStep::Part { location });
            effects.extend(locations.iter().map(part));
        }
    }

    fn end(&self, locations: &[LocationId], effects: &mut Vec<OpKind>) {
        if locations.len() > 1 {
            effects.push(OpKind::Joint(JointStep::End));
        }
    }

    fn store(&self, bytes: Bytes, value: u64, effects: &mut Vec<OpKind>) {
        let locations = self.locations(bytes);
        self.begin(&locations, JointKind::Store, effects);
        for &location in &locations {
            let value = Value::from(self.part(value, bytes, location));
            let order = MemoryOrder::Relaxed;
            effects.push(OpKind::Store { location, value, order, carries: false });
        }
        self.end(&locations, effects);
    }

    /// Asks for the next part of a read, or ends it.
    fn read(
        &self,
        state: &mut ThreadState,
        (op, bytes): (ByteOp, Bytes),
        kind: JointKind,
        effects: &mut Vec<OpKind>,
    ) -> Flow {
        let locations = self.locations(bytes);
        let read = state.parts.len();
        if read == 0 {
            self.begin(&locations, kind, effects);
        }
        if read < locations.len() {
            let is_last = read + 1 == locations.len();
            return Flow::Asks(self.question(state, op, locations[read], is_last));
        }
        let value = self.composed(bytes, &state.parts);
        let written = self.written(state, op, value);
        if let Some(written) = written {
            for &location in &locations[..locations.len() - 1] {
                let value = Value::from(self.part(written, bytes, location));
                let order = MemoryOrder::SeqCst;
                effects.push(OpKind::Store { location, value, order, carries: false });
            }
        }
        self.end(&locations, effects);
        let (ByteOp::Load { register, .. }
        | ByteOp::Add { register, .. }
        | ByteOp::CompareExchange { register, .. }) = op
        else {
            return Flow::Goes;
        };
        state.registers[usize::from(register)] = value;
        state.parts.clear();
        Flow::Goes
    }

    /// What an op writes if it has read this value.
    fn written(&self, state: &ThreadState, op: ByteOp, read: u64) -> Option<u64> {
        match op {
            ByteOp::Add { bytes, value, .. } => {
                Some(bytes.truncate(read.wrapping_add(value.value(&state.registers))))
            }
            ByteOp::CompareExchange { bytes, expected, desired, .. } => (read
                == bytes.truncate(expected))
            .then(|| bytes.truncate(desired.value(&state.registers))),
            _ => None,
        }
    }

    /// The question about a part.
    fn question(
        &self,
        state: &ThreadState,
        op: ByteOp,
        location: LocationId,
        is_last: bool,
    ) -> OpKind {
        let order = MemoryOrder::Relaxed;
        let load = OpKind::Load { location, order };
        match op {
            ByteOp::Add { bytes, value, .. } if is_last => {
                let known = self.composed(bytes, &state.parts);
                let sum = bytes.truncate(known.wrapping_add(value.value(&state.registers)));
                let piece = self.pieces[location.index()];
                let update = Update {
                    kind: UpdateKind::Add,
                    operand: Value::from(self.part(sum, bytes, location)),
                    bits: piece.size * 8,
                    signed: false,
                    carries: false,
                };
                OpKind::Rmw { location, update, order, is_blind: false }
            }
            ByteOp::CompareExchange { bytes, expected, desired, .. } if is_last => {
                let known = &self.locations(bytes)[..state.parts.len()];
                let fits =
                    |(&at, &part): (&LocationId, &u64)| self.part(expected, bytes, at) == part;
                if !known.iter().zip(&state.parts).all(fits) {
                    return load;
                }
                let part = |value| Value::from(self.part(value, bytes, location));
                OpKind::CompareExchange {
                    location,
                    expected: part(expected),
                    desired: part(desired.value(&state.registers)),
                    carries: false,
                    success: order,
                    failure: order,
                    weak: false,
                }
            }
            _ => load,
        }
    }
}

impl Program for OverlappingProgram {
    fn run(
        &mut self,
        _: &LocalHistories,
        _: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let mut state = match step {
            HistoryStep::Start(thread, _) => {
                ThreadState { thread: thread.index(), ..ThreadState::default() }
            }
            HistoryStep::After(parent, answer) => {
                let mut state = self.states[parent.0 as usize].clone();
                match answer {
                    Answer::Value(value) => state.parts.push(value as u64),
                    _ => state.joined += 1,
                }
                state
            }
        };
        let (mut effects, mut places) = (vec![], vec![]);
        let mut end = End::Finished;
        // Every op has the place of the instruction that it belongs to.
        loop {
            let first = PlaceId((self.numbers[state.thread] + state.next) as u32);
            let before = state.next;
            let question = self.flow_one(&mut state, &mut effects);
            places.resize(effects.len(), first);
            match question {
                Some(Some(kind)) => {
                    let place = PlaceId((self.numbers[state.thread] + state.next) as u32);
                    end = End::Question(Op { kind, place });
                    break;
                }
                Some(None) => debug_assert!(state.next > before, "a thread goes on"),
                None => break,
            }
        }
        let op = |(kind, place)| Op { kind, place };
        let effects = effects.into_iter().zip(places).map(op).collect();
        self.states.truncate(node.0 as usize);
        self.states.push(state);
        Segment { effects, end }
    }

    fn shares_memory(&self) -> bool {
        false
    }

    fn has_joint_accesses(&self) -> bool {
        true
    }
}

impl Naming for OverlappingProgram {
    fn place(&self, PlaceId(place): PlaceId) -> String {
        format!("op {place}")
    }

    fn location_name(&self, location: LocationId) -> String {
        let Bytes { at, size } = self.pieces[location.index()];
        format!("[{at}, {})", at + size)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        format!("T{}", thread.index())
    }
}
