//! Running scripts.
//!
//! The state of a thread (the next instruction and the registers) is kept for every history, so a run
//! costs what happens after the last answer and no more. All registers are in one vector.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, Continuation, End, Failure, HistoryId, HistoryStep, Live, LiveReply, LocalHistories,
    Naming, Op, OpKind, PlaceId, Program, Segment, Update, UpdateKind,
};

use super::compile::{Body, Cell, Code, Formula, compile};
use super::{Script, Variable};

/// The state of a thread at the end of a history.
#[derive(Clone, Copy, Debug)]
struct State {
    thread: u32,
    /// The instruction that asks, fails or ends.
    next: u32,
    /// Where its registers begin.
    first: usize,
}

/// A script that runs.
#[derive(Clone, Debug)]
pub struct ScriptProgram {
    threads: Vec<Body>,
    thread_names: Vec<String>,
    location_names: Vec<String>,
    initial: Vec<Value>,
    /// For every thread the place of its first instruction.
    places: Vec<usize>,
    states: Vec<State>,
    registers: Vec<Value>,
    /// The registers of the thread that runs.
    current: Vec<Value>,
    /// The threads of a run that goes forwards only.
    running: Vec<Running>,
}

/// A thread of a run that goes forwards only.
#[derive(Clone, Debug, Default)]
struct Running {
    /// The instruction that it is at.
    next: usize,
    registers: Vec<Value>,
}

/// What an instruction does to its thread.
enum Flow {
    Next,
    Goto(usize),
    Op(OpKind),
    End(End),
}

impl ScriptProgram {
    /// The program of a script.
    ///
    /// # Panics
    /// If the script mentions variables or threads that it does not have. One that was parsed does not.
    #[must_use]
    pub fn new(script: &Script) -> Self {
        let threads: Vec<Body> =
            script.threads.iter().map(|thread| compile(script, thread)).collect();
        let places = threads.iter().scan(0, |next, body| {
            let first = *next;
            *next += body.code.len();
            Some(first)
        });
        ScriptProgram {
            places: places.collect(),
            threads,
            thread_names: script.threads.iter().map(|thread| thread.name.clone()).collect(),
            location_names: script.variables.iter().flat_map(cell_names).collect(),
            initial: script.variables.iter().flat_map(|variable| variable.cells.clone()).collect(),
            states: vec![],
            registers: vec![],
            current: vec![],
            running: vec![],
        }
    }

    /// How many threads there are.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The initial values of all locations, 0 for locks.
    #[must_use]
    pub fn initial_values(&self) -> &[Value] {
        &self.initial
    }

    /// The names of the registers of a thread, in the order of their values.
    #[must_use]
    pub fn register_names(&self, thread: ThreadId) -> &[String] {
        &self.threads[thread.index()].names
    }

    /// The registers at the end of a history.
    #[must_use]
    pub fn registers(&self, node: HistoryId) -> &[Value] {
        let State { thread, first, .. } = self.states[node.0 as usize];
        &self.registers[first..][..self.threads[thread as usize].names.len()]
    }

    /// Makes the registers of a history the current ones.
    fn load_state(&mut self, node: HistoryId) -> State {
        let state = self.states[node.0 as usize];
        let registers = self.threads[state.thread as usize].registers;
        self.current.clear();
        self.current.extend_from_slice(&self.registers[state.first..][..registers]);
        state
    }

    /// Keeps the current registers; histories from this one on are forgotten.
    fn save_state(&mut self, node: HistoryId, thread: usize, next: usize) {
        let node = node.0 as usize;
        if let Some(forgotten) = self.states.get(node) {
            self.registers.truncate(forgotten.first);
            self.states.truncate(node);
        }
        let first = self.registers.len();
        self.registers.extend_from_slice(&self.current);
        self.states.push(State { thread: thread as u32, next: next as u32, first });
    }

    /// Runs a thread of a run that goes forwards to its next op.
    #[inline]
    fn run_on(&mut self, thread: usize) -> Continuation {
        let Running { next, registers } = &mut self.running[thread];
        let (first, code) = (self.places[thread], &self.threads[thread].code);
        loop {
            let place = PlaceId((first + *next) as u32);
            match step(&code[*next], place, registers) {
                Flow::Next => *next += 1,
                Flow::Goto(to) => *next = to,
                Flow::Op(kind) => return Continuation::Op(Op { kind, place }),
                Flow::End(end) => return Continuation::End(end),
            }
        }
    }
}

/// Gives a thread, which asked with this instruction, its answer.
#[inline]
fn receive(code: &Code, answer: Answer, registers: &mut [Value]) {
    match (code, answer) {
        (Code::Load { target, .. } | Code::Update { target, .. }, Answer::Value(value)) => {
            put(registers, *target, value);
        }
        (
            Code::CompareExchange { target, succeeded, expected, .. },
            Answer::Value(value) | Answer::Spurious(value),
        ) => {
            let success = answer == Answer::Value(expected.value(registers));
            put(registers, *target, value);
            put(registers, *succeeded, Value::from(success));
        }
        (Code::Choose { target, .. }, Answer::Choice(choice)) => {
            put(registers, *target, choice.into());
        }
        (Code::Lock { at, held }, _) => {
            let lock = locate(at, registers).expect("it has been a question");
            registers[held + lock.index()] = 1;
        }
        _ => {}
    }
}

impl Live for ScriptProgram {
    fn begin_run(&mut self) {
        self.running.resize_with(self.threads.len(), Running::default);
    }

    fn start(&mut self, thread: ThreadId) -> Continuation {
        let thread = thread.index();
        let Running { next, registers } = &mut self.running[thread];
        *next = 0;
        registers.clear();
        registers.resize(self.threads[thread].registers, 0);
        self.run_on(thread)
    }

    #[inline]
    fn go_on(
        &mut self,
        thread: ThreadId,
        LiveReply { value, spurious }: LiveReply,
    ) -> Continuation {
        let thread = thread.index();
        let Running { next, registers } = &mut self.running[thread];
        let code = &self.threads[thread].code[*next];
        let answer = match code {
            Code::Choose { .. } => Answer::Choice(value as u32),
            _ if spurious => Answer::Spurious(value),
            _ => Answer::Value(value),
        };
        receive(code, answer, registers);
        *next += 1;
        self.run_on(thread)
    }
}

fn cell_names(variable: &Variable) -> Vec<String> {
    let Variable { name, cells, is_array, .. } = variable;
    let cell = |index| if *is_array { format!("{name}[{index}]") } else { name.clone() };
    (0..cells.len()).map(cell).collect()
}

fn put(registers: &mut [Value], target: Option<usize>, value: Value) {
    if let Some(target) = target {
        registers[target] = value;
    }
}

/// The location, or what is wrong with the index.
#[inline]
fn locate(at: &Cell, registers: &[Value]) -> Result<LocationId, String> {
    let index = at.index.as_ref().map_or(0, |index| index.value(registers));
    match usize::try_from(index) {
        Ok(index) if index < at.len => Ok(LocationId::new(at.first + index)),
        _ => Err(format!("the index {index} is not below {}", at.len)),
    }
}

fn update(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 64, signed: true, carries: false }
}

/// What an instruction does.
// Inlined by force: otherwise an op is copied several times on its way out, which is most of what a script costs.
#[inline(always)]
fn step(code: &Code, place: PlaceId, registers: &mut [Value]) -> Flow {
    match try_step(code, registers) {
        Ok(flow) => flow,
        Err((kind, message)) => Flow::End(End::Failed(Failure { kind, message, place })),
    }
}

/// What an instruction does, or what is wrong.
#[inline(always)]
fn try_step(code: &Code, registers: &mut [Value]) -> Result<Flow, (FindingKind, String)> {
    let value = |formula: &Formula| formula.value(registers);
    let at = |cell| locate(cell, registers).map_err(|it| (FindingKind::Panic, it));
    let kind = match code {
        Code::Set { target, value } => {
            registers[*target] = value.value(registers);
            return Ok(Flow::Next);
        }
        Code::CountDown(left) => {
            registers[*left] -= 1;
            return Ok(Flow::Next);
        }
        Code::Again { left, to } => {
            return Ok(if registers[*left] == 0 { Flow::Next } else { Flow::Goto(*to) });
        }
        Code::Unless { condition, to } => {
            return Ok(if value(condition) == 0 { Flow::Goto(*to) } else { Flow::Next });
        }
        Code::Jump(to) => return Ok(Flow::Goto(*to)),
        Code::Assume(condition) => {
            return Ok(if value(condition) == 0 { Flow::End(End::Assume) } else { Flow::Next });
        }
        Code::Assert(condition) if value(condition) == 0 => {
            return Err((FindingKind::Panic, String::from("an assertion failed")));
        }
        Code::Assert(_) => return Ok(Flow::Next),
        Code::End => return Ok(Flow::End(End::Finished)),
        Code::Store { at: cell, value: formula, order } => {
            let (location, value) = (at(cell)?, value(formula));
            OpKind::Store { location, value, order: *order, carries: false }
        }
        Code::Fence(order) => OpKind::Fence { order: *order },
        Code::StoreFence => OpKind::StoreFence,
        Code::Spawn(thread) => OpKind::Spawn { thread: *thread },
        Code::Load { at: cell, order, .. } => OpKind::Load { location: at(cell)?, order: *order },
        Code::Update { at: cell, kind, operand, order, .. } => {
            let update = update(*kind, value(operand));
            OpKind::Rmw { location: at(cell)?, update, order: *order }
        }
        Code::CompareExchange { at: cell, expected, desired, success, failure, weak, .. } => {
            OpKind::CompareExchange {
                location: at(cell)?,
                expected: value(expected),
                desired: value(desired),
                carries: false,
                success: *success,
                failure: *failure,
                weak: *weak,
            }
        }
        Code::Lock { at: cell, .. } => OpKind::Lock { lock: at(cell)? },
        Code::Unlock { at: cell, held } => {
            let lock = at(cell)?;
            if std::mem::take(&mut registers[held + lock.index()]) == 0 {
                let message = String::from("the thread does not hold the lock");
                return Err((FindingKind::Misuse, message));
            }
            OpKind::Unlock { lock }
        }
        Code::Sync { at: cell, guard, bound, kind, operand } => {
            let (guard, update) = (guard.with(value(bound)), update(*kind, value(operand)));
            OpKind::Sync { location: at(cell)?, guard, update }
        }
        Code::Join(thread) => OpKind::Join { thread: *thread },
        Code::Choose { options, .. } => OpKind::Choose { options: *options },
    };
    Ok(Flow::Op(kind))
}

impl Program for ScriptProgram {
    fn run(
        &mut self,
        _: &LocalHistories,
        _: &[HistoryId],
        from: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let (thread, mut next) = match from {
            HistoryStep::Start(thread, _) => {
                self.current.clear();
                self.current.resize(self.threads[thread.index()].registers, 0);
                (thread.index(), 0)
            }
            HistoryStep::After(parent, answer) => {
                let state = self.load_state(parent);
                let code = &self.threads[state.thread as usize].code[state.next as usize];
                receive(code, answer, &mut self.current);
                (state.thread as usize, state.next as usize + 1)
            }
        };
        let mut effects = vec![];
        let end = loop {
            let place = PlaceId((self.places[thread] + next) as u32);
            match step(&self.threads[thread].code[next], place, &mut self.current) {
                Flow::Next => next += 1,
                Flow::Goto(to) => next = to,
                Flow::Op(kind) if kind.is_question() => break End::Question(Op { kind, place }),
                Flow::Op(kind) => {
                    effects.push(Op { kind, place });
                    next += 1;
                }
                Flow::End(end) => break end,
            }
        };
        self.save_state(node, thread, next);
        Segment { effects, end }
    }

    fn shares_memory(&self) -> bool {
        false
    }

    fn live(&mut self) -> Option<&mut dyn Live> {
        Some(self)
    }
}

impl Naming for ScriptProgram {
    fn place(&self, place: PlaceId) -> String {
        let place = place.0 as usize;
        let thread = self.places.partition_point(|&first| first <= place) - 1;
        let at = place - self.places[thread];
        format!("{}.{at}: {}", self.thread_names[thread], self.threads[thread].text[at])
    }

    fn location_name(&self, location: LocationId) -> String {
        self.location_names[location.index()].clone()
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.thread_names[thread.index()].clone()
    }

    fn initial_value(&self, location: LocationId) -> Value {
        self.initial[location.index()]
    }
}
