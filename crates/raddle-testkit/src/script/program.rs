//! Scripts as programs.
//!
//! The state of a thread, which is its next instruction and its registers, is kept for every local history. So running
//! a step costs only what follows the last answer. All registers are in one vector.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, Continuation, End, Failure, HistoryId, HistoryStep, Live, LiveReply, LocalHistories,
    Naming, Op, OpKind, PlaceId, Program, Segment, Update, UpdateKind,
};

use super::compile::{CellRef, RegisterFormula, ScriptCode, ScriptInstruction, compile};
use super::{Script, Variable};

/// How often a thread goes around loops without a question, or in a live run without an op, before it is stopped.
pub const MAX_ROUNDS: usize = 1_000;

/// State of a thread at the end of a local history.
#[derive(Clone, Copy, Debug)]
struct ScriptState {
    thread: u32,
    /// Index of the instruction at which the thread stopped: a question, a failure or the end.
    next: u32,
    /// Index of its first register.
    first: usize,
}

/// Script as a program.
#[derive(Clone, Debug)]
pub struct ScriptProgram {
    threads: Vec<ScriptCode>,
    thread_names: Vec<String>,
    location_names: Vec<String>,
    initial: Vec<Value>,
    /// By thread: [`PlaceId`] of its first instruction.
    places: Vec<usize>,
    /// By local history.
    states: Vec<ScriptState>,
    registers: Vec<Value>,
    /// Registers of the thread that is running.
    current: Vec<Value>,
    /// Threads of a live run.
    running: Vec<RunningThread>,
}

/// Thread of a live run.
#[derive(Clone, Debug, Default)]
struct RunningThread {
    /// Index of its current instruction.
    next: usize,
    registers: Vec<Value>,
}

/// How a thread continues after an instruction.
enum ScriptFlow {
    Next,
    Goto(usize),
    /// Back to the beginning of an endless loop.
    Round(usize),
    Op(OpKind),
    End(End),
}

impl ScriptProgram {
    /// Creates the program of a script.
    ///
    /// # Panics
    /// If the script uses variables or threads that it does not define. A parsed script does not.
    #[must_use]
    pub fn new(script: &Script) -> Self {
        let threads: Vec<ScriptCode> =
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

    /// Returns the number of threads.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the initial values of all locations; 0 for locks.
    #[must_use]
    pub fn initial_values(&self) -> &[Value] {
        &self.initial
    }

    /// Returns the names of the registers of a thread, in the order of [`registers`](Self::registers).
    #[must_use]
    pub fn register_names(&self, thread: ThreadId) -> &[String] {
        &self.threads[thread.index()].names
    }

    /// Returns the registers at the end of a local history.
    #[must_use]
    pub fn registers(&self, node: HistoryId) -> &[Value] {
        let ScriptState { thread, first, .. } = self.states[node.0 as usize];
        &self.registers[first..][..self.threads[thread as usize].names.len()]
    }

    /// Copies the registers of a local history to `current`.
    fn load_state(&mut self, node: HistoryId) -> ScriptState {
        let state = self.states[node.0 as usize];
        let registers = self.threads[state.thread as usize].registers;
        self.current.clear();
        self.current.extend_from_slice(&self.registers[state.first..][..registers]);
        state
    }

    /// Saves the current registers for a local history, and drops those from it on.
    fn save_state(&mut self, node: HistoryId, thread: usize, next: usize) {
        let node = node.0 as usize;
        if let Some(forgotten) = self.states.get(node) {
            self.registers.truncate(forgotten.first);
            self.states.truncate(node);
        }
        let first = self.registers.len();
        self.registers.extend_from_slice(&self.current);
        self.states.push(ScriptState { thread: thread as u32, next: next as u32, first });
    }

    /// Runs a thread of a live run to its next op.
    #[inline]
    fn run_to_op(&mut self, thread: usize) -> Continuation {
        let RunningThread { next, registers } = &mut self.running[thread];
        let (first, code) = (self.places[thread], &self.threads[thread].code);
        let mut rounds = 0;
        loop {
            let place = PlaceId((first + *next) as u32);
            match step(&code[*next], place, registers) {
                ScriptFlow::Next => *next += 1,
                ScriptFlow::Goto(to) => *next = to,
                ScriptFlow::Round(_) if rounds == MAX_ROUNDS => {
                    return Continuation::End(End::Limit);
                }
                ScriptFlow::Round(to) => {
                    *next = to;
                    rounds += 1;
                }
                ScriptFlow::Op(kind) => return Continuation::Op(Op { kind, place }),
                ScriptFlow::End(end) => return Continuation::End(end),
            }
        }
    }
}

/// Gives a thread the answer to its question, which is this instruction.
#[inline]
fn receive(code: &ScriptInstruction, answer: Answer, registers: &mut [Value]) {
    match (code, answer) {
        (
            ScriptInstruction::Load { target, .. } | ScriptInstruction::Update { target, .. },
            Answer::Value(value),
        ) => {
            put(registers, *target, value);
        }
        (
            ScriptInstruction::CompareExchange { target, succeeded, expected, .. },
            Answer::Value(value) | Answer::Spurious(value),
        ) => {
            let success = answer == Answer::Value(expected.value(registers));
            put(registers, *target, value);
            put(registers, *succeeded, Value::from(success));
        }
        (ScriptInstruction::Choose { target, .. }, Answer::Choice(choice)) => {
            put(registers, *target, choice.into());
        }
        (ScriptInstruction::Lock { at, held }, _) => {
            let lock = locate(at, registers).expect("the lock has been located before");
            registers[held + lock.index()] = 1;
        }
        _ => {}
    }
}

impl Live for ScriptProgram {
    fn begin_run(&mut self) {
        self.running.resize_with(self.threads.len(), RunningThread::default);
    }

    fn start(&mut self, thread: ThreadId) -> Continuation {
        let thread = thread.index();
        let RunningThread { next, registers } = &mut self.running[thread];
        *next = 0;
        registers.clear();
        registers.resize(self.threads[thread].registers, 0);
        self.run_to_op(thread)
    }

    #[inline]
    fn go_on(
        &mut self,
        thread: ThreadId,
        LiveReply { value, spurious }: LiveReply,
    ) -> Continuation {
        let thread = thread.index();
        let RunningThread { next, registers } = &mut self.running[thread];
        let code = &self.threads[thread].code[*next];
        let answer = match code {
            ScriptInstruction::Choose { .. } => Answer::Choice(value as u32),
            _ if spurious => Answer::Spurious(value),
            _ => Answer::Value(value),
        };
        receive(code, answer, registers);
        *next += 1;
        self.run_to_op(thread)
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

/// Returns the location. The error describes an index that is out of bounds.
#[inline]
fn locate(at: &CellRef, registers: &[Value]) -> Result<LocationId, String> {
    let index = at.index.as_ref().map_or(0, |index| index.value(registers));
    match usize::try_from(index) {
        Ok(index) if index < at.len => Ok(LocationId::new(at.first + index)),
        _ => Err(format!("the index {index} is out of bounds: expected 0 to {}", at.len - 1)),
    }
}

fn update(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 64, signed: true, carries: false }
}

/// Executes an instruction.
// `inline(always)`: otherwise an op is copied several times, which dominates the cost of a script.
#[inline(always)]
fn step(code: &ScriptInstruction, place: PlaceId, registers: &mut [Value]) -> ScriptFlow {
    match try_step(code, registers) {
        Ok(flow) => flow,
        Err((kind, message)) => ScriptFlow::End(End::Failed(Failure { kind, message, place })),
    }
}

/// Executes an instruction. The error is the failure of the thread.
#[inline(always)]
fn try_step(
    code: &ScriptInstruction,
    registers: &mut [Value],
) -> Result<ScriptFlow, (FindingKind, String)> {
    let value = |formula: &RegisterFormula| formula.value(registers);
    let at = |cell| locate(cell, registers).map_err(|it| (FindingKind::Panic, it));
    let kind = match code {
        ScriptInstruction::Set { target, value } => {
            registers[*target] = value.value(registers);
            return Ok(ScriptFlow::Next);
        }
        ScriptInstruction::CountDown(left) => {
            registers[*left] -= 1;
            return Ok(ScriptFlow::Next);
        }
        ScriptInstruction::Again { left, to } => {
            return Ok(if registers[*left] == 0 {
                ScriptFlow::Next
            } else {
                ScriptFlow::Goto(*to)
            });
        }
        ScriptInstruction::Unless { condition, to } => {
            return Ok(if value(condition) == 0 {
                ScriptFlow::Goto(*to)
            } else {
                ScriptFlow::Next
            });
        }
        ScriptInstruction::Jump(to) => return Ok(ScriptFlow::Goto(*to)),
        ScriptInstruction::Round(to) => return Ok(ScriptFlow::Round(*to)),
        ScriptInstruction::Assume(condition) => {
            return Ok(if value(condition) == 0 {
                ScriptFlow::End(End::Assume)
            } else {
                ScriptFlow::Next
            });
        }
        ScriptInstruction::Assert(condition) if value(condition) == 0 => {
            return Err((FindingKind::Panic, String::from("an assertion failed")));
        }
        ScriptInstruction::Assert(_) => return Ok(ScriptFlow::Next),
        ScriptInstruction::End => return Ok(ScriptFlow::End(End::Finished)),
        ScriptInstruction::Store { at: cell, value: formula, order } => {
            let (location, value) = (at(cell)?, value(formula));
            OpKind::Store { location, value, order: *order, carries: false }
        }
        ScriptInstruction::Fence(order) => OpKind::Fence { order: *order },
        ScriptInstruction::StoreFence => OpKind::StoreFence,
        ScriptInstruction::Spawn(thread) => OpKind::Spawn { thread: *thread },
        ScriptInstruction::Load { at: cell, order, .. } => {
            OpKind::Load { location: at(cell)?, order: *order }
        }
        ScriptInstruction::Update { at: cell, kind, operand, order, .. } => {
            let update = update(*kind, value(operand));
            OpKind::Rmw { location: at(cell)?, update, order: *order }
        }
        ScriptInstruction::CompareExchange {
            at: cell,
            expected,
            desired,
            success,
            failure,
            weak,
            ..
        } => OpKind::CompareExchange {
            location: at(cell)?,
            expected: value(expected),
            desired: value(desired),
            carries: false,
            success: *success,
            failure: *failure,
            weak: *weak,
        },
        ScriptInstruction::Lock { at: cell, .. } => OpKind::Lock { lock: at(cell)? },
        ScriptInstruction::Unlock { at: cell, held } => {
            let lock = at(cell)?;
            if std::mem::take(&mut registers[held + lock.index()]) == 0 {
                let message = String::from("the thread releases a lock that it does not hold");
                return Err((FindingKind::Misuse, message));
            }
            OpKind::Unlock { lock }
        }
        ScriptInstruction::Sync { at: cell, guard, bound, kind, operand } => {
            let (guard, update) = (guard.with(value(bound)), update(*kind, value(operand)));
            OpKind::Sync { location: at(cell)?, guard, update }
        }
        ScriptInstruction::Join(thread) => OpKind::Join { thread: *thread },
        ScriptInstruction::Choose { options, .. } => OpKind::Choose { options: *options },
    };
    Ok(ScriptFlow::Op(kind))
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
        let (mut effects, mut rounds) = (vec![], 0);
        let end = loop {
            let place = PlaceId((self.places[thread] + next) as u32);
            match step(&self.threads[thread].code[next], place, &mut self.current) {
                ScriptFlow::Next => next += 1,
                ScriptFlow::Goto(to) => next = to,
                ScriptFlow::Round(_) if rounds == MAX_ROUNDS => break End::Limit,
                ScriptFlow::Round(to) => {
                    next = to;
                    rounds += 1;
                }
                ScriptFlow::Op(kind) if kind.is_question() => {
                    break End::Question(Op { kind, place });
                }
                ScriptFlow::Op(kind) => {
                    effects.push(Op { kind, place });
                    next += 1;
                }
                ScriptFlow::End(end) => break end,
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
