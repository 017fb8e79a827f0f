//! Litmus tests as programs.
//!
//! Thread 0 starts the threads of the test, joins them, and loads the final values. The state of a thread, which is its
//! next instruction and its registers, is kept for every local history. So running a step costs only what follows the
//! last answer.

use raddle_consistency::history::{self, Format};
use raddle_core::execution::{BuildError, LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId,
    Program, Segment, Update, UpdateKind,
};
use raddle_core::trace::{NamedTrace, Trace, TraceEvent};

use super::LitmusTest;
use super::code::{Instruction, ThreadCode};
use super::expression::RegisterExpression;
use super::value::{address, location};

/// Litmus test as a program.
#[derive(Clone, Debug)]
pub struct LitmusProgram<'a> {
    test: &'a LitmusTest,
    /// Code of thread 0.
    main: ThreadCode,
    /// How often a backward jump may be taken.
    unroll: u32,
    /// By thread: [`PlaceId`] of its first instruction.
    places: Vec<usize>,
    /// By local history.
    states: Vec<LitmusThread>,
}

/// State of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct LitmusThread {
    thread: usize,
    /// Index of the instruction at which the thread stopped: a question, a failure or the end.
    next: usize,
    registers: Vec<Value>,
}

/// How a thread continues after an instruction.
enum InstructionFlow {
    Next,
    Goto(usize),
    Effect(OpKind),
    Stop(End),
}

impl<'a> LitmusProgram<'a> {
    /// Creates the program of a test. Backward jumps are taken `unroll` times at most.
    #[must_use]
    pub fn new(test: &'a LitmusTest, unroll: u32) -> Self {
        let main = main_thread(test);
        let bodies = std::iter::once(&main).chain(&test.threads);
        let places = bodies.scan(0, |next, body| {
            let first = *next;
            *next += body.code.len();
            Some(first)
        });
        let places = places.collect();
        LitmusProgram { test, places, main, unroll, states: vec![] }
    }

    /// Returns the registers at the end of a local history.
    #[must_use]
    pub fn registers(&self, node: HistoryId) -> &[Value] {
        &self.states[node.0 as usize].registers
    }

    fn body(&self, thread: usize) -> &ThreadCode {
        if thread == 0 { &self.main } else { &self.test.threads[thread - 1] }
    }

    fn start(&self, thread: usize) -> LitmusThread {
        let body = self.body(thread);
        let mut registers = vec![0; body.registers];
        for &(slot, value) in &body.initial {
            registers[slot] = value;
        }
        LitmusThread { thread, next: 0, registers }
    }

    /// Returns the place of the next instruction of a thread.
    fn place_of(&self, state: &LitmusThread) -> PlaceId {
        PlaceId((self.places[state.thread] + state.next) as u32)
    }

    /// Runs a thread to its next question or its end.
    fn run_to_question(&self, state: &mut LitmusThread) -> Segment {
        let body = self.body(state.thread);
        let mut effects = vec![];
        loop {
            let place = self.place_of(state);
            let flow = self.step(&body.code[state.next], place, &mut state.registers);
            match flow.unwrap_or_else(|message| InstructionFlow::Stop(misuse(message, place))) {
                InstructionFlow::Next => state.next += 1,
                InstructionFlow::Goto(to) => state.next = to,
                InstructionFlow::Effect(kind) => {
                    effects.push(Op { kind, place });
                    state.next += 1;
                }
                InstructionFlow::Stop(end) => return Segment { effects, end },
            }
        }
    }

    fn step(
        &self,
        code: &Instruction,
        place: PlaceId,
        registers: &mut [Value],
    ) -> Result<InstructionFlow, &'static str> {
        Ok(match code {
            Instruction::Set { target, value } => {
                registers[*target] = value.value(registers)?;
                InstructionFlow::Next
            }
            Instruction::Unless { condition, to, count } => {
                if condition.value(registers)? != 0 {
                    return Ok(InstructionFlow::Next);
                }
                if let Some(count) = *count {
                    registers[count] += 1;
                    if registers[count] > Value::from(self.unroll) {
                        return Ok(InstructionFlow::Stop(End::Limit));
                    }
                }
                InstructionFlow::Goto(*to)
            }
            Instruction::End => InstructionFlow::Stop(End::Finished),
            _ => {
                let kind = self.op(code, registers)?;
                let question = || InstructionFlow::Stop(End::Question(Op { kind, place }));
                if kind.is_question() { question() } else { InstructionFlow::Effect(kind) }
            }
        })
    }

    fn locate(
        &self,
        at: &RegisterExpression,
        bits: u8,
        registers: &[Value],
    ) -> Result<LocationId, &'static str> {
        let known = location(at.value(registers)?);
        let known = known.and_then(|at| Some((at, self.test.locations.get(at)?)));
        match known {
            None => Err("an access to an address that belongs to no location of the test"),
            Some((_, location)) if location.value_type().bits != bits => {
                Err("an access that is narrower or wider than its location, which is not supported")
            }
            Some((at, _)) => Ok(LocationId::new(at)),
        }
    }

    fn op(&self, code: &Instruction, registers: &[Value]) -> Result<OpKind, &'static str> {
        Ok(match code {
            Instruction::Load { at, bits, order, .. } => {
                OpKind::Load { location: self.locate(at, *bits, registers)?, order: *order }
            }
            Instruction::Store { at, bits, value, order } => OpKind::Store {
                location: self.locate(at, *bits, registers)?,
                value: value.value(registers)?,
                order: *order,
                carries: false,
            },
            Instruction::Update { at, kind, operand, ty, order, .. } => {
                let (kind, operand) = (*kind, operand.value(registers)?);
                if location(operand).is_some() && kind != UpdateKind::Swap {
                    return Err("arithmetic on the address of a location, which is not supported");
                }
                let at = self.locate(at, ty.bits, registers)?;
                // An address is not an integer of some width.
                let bits = if location(operand).is_some() { 0 } else { ty.bits };
                let update = Update { kind, operand, bits, signed: ty.signed, carries: false };
                OpKind::Rmw { location: at, update, order: *order, is_blind: false }
            }
            Instruction::CompareExchange {
                at,
                bits,
                expected,
                desired,
                success,
                failure,
                weak,
                ..
            } => OpKind::CompareExchange {
                location: self.locate(at, *bits, registers)?,
                expected: expected.value(registers)?,
                desired: desired.value(registers)?,
                carries: false,
                success: *success,
                failure: *failure,
                weak: *weak,
            },
            Instruction::Fence(order) => OpKind::Fence { order: *order },
            Instruction::StoreFence => OpKind::StoreFence,
            Instruction::Spawn(thread) => OpKind::Spawn { thread: *thread },
            Instruction::Join(thread) => OpKind::Join { thread: *thread },
            Instruction::Set { .. } | Instruction::Unless { .. } | Instruction::End => {
                unreachable!("the instruction is not an op")
            }
        })
    }

    /// Gives a thread the answer to its question. The error says why the thread cannot continue with it.
    fn receive(&self, state: &mut LitmusThread, answer: Answer) -> Result<(), &'static str> {
        let (value, spurious) = match answer {
            Answer::Value(value) => (value, false),
            Answer::Spurious(value) => (value, true),
            _ => (0, false),
        };
        match &self.body(state.thread).code[state.next] {
            Instruction::Update { target, kind, .. } => {
                state.registers[*target] = value;
                if location(value).is_some() && *kind != UpdateKind::Swap {
                    return Err("arithmetic on the address of a location, which is not supported");
                }
            }
            Instruction::Load { target, .. } => state.registers[*target] = value,
            Instruction::CompareExchange { target, succeeded, expected, .. } => {
                let equal = expected.value(&state.registers) == Ok(value);
                state.registers[*target] = value;
                state.registers[*succeeded] = Value::from(equal && !spurious);
            }
            _ => {}
        }
        state.next += 1;
        Ok(())
    }

    /// Returns the registers of all threads at the end of an execution, by replaying it.
    pub(super) fn final_registers(&self, trace: &Trace) -> Vec<Vec<Value>> {
        let threads = 0..=self.test.threads.len();
        let mut states: Vec<LitmusThread> = threads.map(|thread| self.start(thread)).collect();
        for state in &mut states {
            self.run_to_question(state);
        }
        for event in trace.events.iter().filter(|event| event.observed.is_some()) {
            let state = &mut states[event.thread.index()];
            if self.receive(state, answer(event)).is_ok() {
                self.run_to_question(state);
            }
        }
        states.into_iter().map(|state| state.registers).collect()
    }
}

impl LitmusTest {
    /// An execution of the test as a history for `raddle verify`. Values of histories have 64 bits: the addresses of
    /// locations become the largest of them.
    ///
    /// # Errors
    /// If the trace does not belong to this test.
    pub fn history(&self, trace: &NamedTrace) -> Result<String, BuildError> {
        let mut text = history::write(&trace.trace.to_execution(trace)?, Format::Text);
        for location in 0..self.location_count() {
            let number = u64::MAX - location as u64;
            text = text.replace(&address(location).to_string(), &number.to_string());
        }
        Ok(text)
    }
}

/// Returns the end of a thread that executes an operation without a meaning.
fn misuse(message: &str, place: PlaceId) -> End {
    End::Failed(Failure { kind: FindingKind::Misuse, message: message.to_owned(), place })
}

/// Returns the answer that an event gave its thread.
fn answer(event: &TraceEvent) -> Answer {
    match event.read {
        Some(value) if event.is_spurious() => Answer::Spurious(value),
        Some(value) => Answer::Value(value),
        None => Answer::Initial,
    }
}

/// Returns the code of thread 0, which starts and joins all threads and loads the final values into consecutive
/// registers.
fn main_thread(test: &LitmusTest) -> ThreadCode {
    let mut body = ThreadCode::default();
    let threads = || (1..=test.threads.len()).map(ThreadId::new);
    for thread in threads() {
        body.push(Instruction::Spawn(thread), 0);
    }
    for thread in threads() {
        body.push(Instruction::Join(thread), 0);
    }
    for location in test.final_locations() {
        let (target, at) = (body.temporary(), RegisterExpression::Number(address(location)));
        let bits = test.locations[location].value_type().bits;
        body.push(Instruction::Load { target, at, bits, order: MemoryOrder::Relaxed }, 0);
    }
    body.push(Instruction::End, 0);
    body
}

impl Program for LitmusProgram<'_> {
    fn run(
        &mut self,
        _: &LocalHistories,
        _: &[HistoryId],
        from: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let mut received = Ok(());
        let mut state = match from {
            HistoryStep::Start(thread, _) => self.start(thread.index()),
            HistoryStep::After(parent, answer) => {
                let mut state = self.states[parent.0 as usize].clone();
                received = self.receive(&mut state, answer);
                state
            }
        };
        let segment = match received {
            Ok(()) => self.run_to_question(&mut state),
            Err(message) => {
                let end = misuse(message, self.place_of(&state));
                Segment { effects: vec![], end }
            }
        };
        // Histories from this one on belong to an exploration that was abandoned.
        self.states.truncate(node.0 as usize);
        self.states.push(state);
        segment
    }

    fn shares_memory(&self) -> bool {
        false
    }

    fn goes_on_after_races(&self) -> bool {
        true
    }
}

impl Naming for LitmusProgram<'_> {
    fn place(&self, place: PlaceId) -> String {
        let place = place.0 as usize;
        let thread = self.places.partition_point(|&first| first <= place) - 1;
        let at = place - self.places[thread];
        let body = self.body(thread);
        match body.code[at] {
            Instruction::Spawn(_) => "the start".to_owned(),
            _ if thread == 0 => "the end".to_owned(),
            _ => self.test.describe_place(body.places[at]),
        }
    }

    fn location_name(&self, location: LocationId) -> String {
        self.test.locations[location.index()].name.clone()
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        match thread.index() {
            0 => "main".to_owned(),
            thread => format!("P{}", thread - 1),
        }
    }

    fn initial_value(&self, location: LocationId) -> Value {
        self.test.locations[location.index()].initial.unwrap_or(0)
    }
}
