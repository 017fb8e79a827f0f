//! Running tests.
//!
//! Thread 0 starts the threads of the test, waits for them, and loads the final values. The state of a
//! thread (the next instruction and the registers) is kept for every history, so a run costs what happens
//! after the last answer and no more.

use raddle_consistency::history::{self, Format};
use raddle_core::execution::{BuildError, LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId,
    Program, Segment, Update, UpdateKind,
};
use raddle_core::trace::{NamedTrace, Trace, TraceEvent};

use super::Test;
use super::code::{Body, Code};
use super::expression::Expression;
use super::value::{address, location};

/// A test that runs.
#[derive(Clone, Debug)]
pub struct LitmusProgram<'a> {
    test: &'a Test,
    /// The thread that starts the others.
    main: Body,
    /// How often a jump back may be taken.
    unroll: u32,
    /// For every thread the place of its first instruction.
    places: Vec<usize>,
    states: Vec<State>,
}

/// The state of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    thread: usize,
    /// The instruction that asks, fails or ends.
    next: usize,
    registers: Vec<Value>,
}

/// What an instruction does to its thread.
enum Flow {
    Next,
    Goto(usize),
    Effect(OpKind),
    Stop(End),
}

impl<'a> LitmusProgram<'a> {
    /// The program of a test whose loops go around this many times at most.
    #[must_use]
    pub fn new(test: &'a Test, unroll: u32) -> Self {
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

    /// The registers at the end of a history.
    #[must_use]
    pub fn registers(&self, node: HistoryId) -> &[Value] {
        &self.states[node.0 as usize].registers
    }

    fn body(&self, thread: usize) -> &Body {
        if thread == 0 { &self.main } else { &self.test.threads[thread - 1] }
    }

    fn start(&self, thread: usize) -> State {
        let body = self.body(thread);
        let mut registers = vec![0; body.registers];
        for &(slot, value) in &body.initial {
            registers[slot] = value;
        }
        State { thread, next: 0, registers }
    }

    /// Where the next instruction of a thread is.
    fn place_of(&self, state: &State) -> PlaceId {
        PlaceId((self.places[state.thread] + state.next) as u32)
    }

    /// Runs a thread to its next question.
    fn advance(&self, state: &mut State) -> Segment {
        let body = self.body(state.thread);
        let mut effects = vec![];
        loop {
            let place = self.place_of(state);
            let flow = self.step(&body.code[state.next], place, &mut state.registers);
            match flow.unwrap_or_else(|message| Flow::Stop(misuse(message, place))) {
                Flow::Next => state.next += 1,
                Flow::Goto(to) => state.next = to,
                Flow::Effect(kind) => {
                    effects.push(Op { kind, place });
                    state.next += 1;
                }
                Flow::Stop(end) => return Segment { effects, end },
            }
        }
    }

    fn step(
        &self,
        code: &Code,
        place: PlaceId,
        registers: &mut [Value],
    ) -> Result<Flow, &'static str> {
        Ok(match code {
            Code::Set { target, value } => {
                registers[*target] = value.value(registers)?;
                Flow::Next
            }
            Code::Unless { condition, to, count } => {
                if condition.value(registers)? != 0 {
                    return Ok(Flow::Next);
                }
                if let Some(count) = *count {
                    registers[count] += 1;
                    if registers[count] > Value::from(self.unroll) {
                        return Ok(Flow::Stop(End::Limit));
                    }
                }
                Flow::Goto(*to)
            }
            Code::End => Flow::Stop(End::Finished),
            _ => {
                let kind = self.op(code, registers)?;
                let question = || Flow::Stop(End::Question(Op { kind, place }));
                if kind.is_question() { question() } else { Flow::Effect(kind) }
            }
        })
    }

    fn locate(
        &self,
        at: &Expression,
        bits: u8,
        registers: &[Value],
    ) -> Result<LocationId, &'static str> {
        let known = location(at.value(registers)?);
        let known = known.and_then(|at| Some((at, self.test.locations.get(at)?)));
        match known {
            None => Err("an address that is none of a location"),
            Some((_, location)) if location.kept().bits != bits => {
                Err("an access that is narrower or wider than the location")
            }
            Some((at, _)) => Ok(LocationId::new(at)),
        }
    }

    fn op(&self, code: &Code, registers: &[Value]) -> Result<OpKind, &'static str> {
        Ok(match code {
            Code::Load { at, bits, order, .. } => {
                OpKind::Load { location: self.locate(at, *bits, registers)?, order: *order }
            }
            Code::Store { at, bits, value, order } => OpKind::Store {
                location: self.locate(at, *bits, registers)?,
                value: value.value(registers)?,
                order: *order,
                carries: false,
            },
            Code::Update { at, kind, operand, ty, order, .. } => {
                let (kind, operand) = (*kind, operand.value(registers)?);
                if location(operand).is_some() && kind != UpdateKind::Swap {
                    return Err("arithmetic on the address of a location");
                }
                let at = self.locate(at, ty.bits, registers)?;
                // An address is no integer of some width.
                let bits = if location(operand).is_some() { 0 } else { ty.bits };
                let update = Update { kind, operand, bits, signed: ty.signed, carries: false };
                OpKind::Rmw { location: at, update, order: *order }
            }
            Code::CompareExchange {
                at, bits, expected, desired, success, failure, weak, ..
            } => OpKind::CompareExchange {
                location: self.locate(at, *bits, registers)?,
                expected: expected.value(registers)?,
                desired: desired.value(registers)?,
                carries: false,
                success: *success,
                failure: *failure,
                weak: *weak,
            },
            Code::Fence(order) => OpKind::Fence { order: *order },
            Code::StoreFence => OpKind::StoreFence,
            Code::Spawn(thread) => OpKind::Spawn { thread: *thread },
            Code::Join(thread) => OpKind::Join { thread: *thread },
            Code::Set { .. } | Code::Unless { .. } | Code::End => unreachable!("it is no op"),
        })
    }

    /// Gives a thread the answer to its question; it goes on after that, unless the answer makes no
    /// sense.
    fn receive(&self, state: &mut State, answer: Answer) -> Result<(), &'static str> {
        let (value, spurious) = match answer {
            Answer::Value(value) => (value, false),
            Answer::Spurious(value) => (value, true),
            _ => (0, false),
        };
        match &self.body(state.thread).code[state.next] {
            Code::Update { target, kind, .. } => {
                state.registers[*target] = value;
                if location(value).is_some() && *kind != UpdateKind::Swap {
                    return Err("arithmetic on the address of a location");
                }
            }
            Code::Load { target, .. } => state.registers[*target] = value,
            Code::CompareExchange { target, succeeded, expected, .. } => {
                let equal = expected.value(&state.registers) == Ok(value);
                state.registers[*target] = value;
                state.registers[*succeeded] = Value::from(equal && !spurious);
            }
            _ => {}
        }
        state.next += 1;
        Ok(())
    }

    /// The registers of all threads at the end of an execution: what the threads did, done again.
    pub(super) fn finals(&self, trace: &Trace) -> Vec<Vec<Value>> {
        let threads = 0..=self.test.threads.len();
        let mut states: Vec<State> = threads.map(|thread| self.start(thread)).collect();
        for state in &mut states {
            self.advance(state);
        }
        for event in trace.events.iter().filter(|event| event.observed.is_some()) {
            let state = &mut states[event.thread.index()];
            if self.receive(state, answer(event)).is_ok() {
                self.advance(state);
            }
        }
        states.into_iter().map(|state| state.registers).collect()
    }
}

impl Test {
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

/// The end of a thread that executes an operation without a meaning.
fn misuse(message: &str, place: PlaceId) -> End {
    End::Failed(Failure { kind: FindingKind::Misuse, message: message.to_owned(), place })
}

/// What an event told its thread.
fn answer(event: &TraceEvent) -> Answer {
    match event.read {
        Some(value) if event.is_spurious() => Answer::Spurious(value),
        Some(value) => Answer::Value(value),
        None => Answer::Initial,
    }
}

/// Starts all threads, waits for them, and loads what is asked for, each into the next register.
fn main_thread(test: &Test) -> Body {
    let mut body = Body::default();
    let threads = || (1..=test.threads.len()).map(ThreadId::new);
    for thread in threads() {
        body.push(Code::Spawn(thread), 0);
    }
    for thread in threads() {
        body.push(Code::Join(thread), 0);
    }
    for location in test.final_locations() {
        let (target, at) = (body.temporary(), Expression::Number(address(location)));
        let bits = test.locations[location].kept().bits;
        body.push(Code::Load { target, at, bits, order: MemoryOrder::Relaxed }, 0);
    }
    body.push(Code::End, 0);
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
            Ok(()) => self.advance(&mut state),
            Err(message) => {
                let end = misuse(message, self.place_of(&state));
                Segment { effects: vec![], end }
            }
        };
        // LocalHistories from this one on belong to an exploration that was given up.
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
            Code::Spawn(_) => "the start".to_owned(),
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
