//! Scripts as programs.
//!
//! The state of a thread, which is its next instruction and its registers, is kept for every local history. So running
//! a step costs only what follows the last answer. All registers are in one vector.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{
    Answer, Continuation, End, HistoryId, HistoryStep, Live, LiveReply, LocalHistories, Naming, Op,
    PlaceId, Program, Segment,
};

use super::compile::{ScriptCode, ScriptInstruction, compile};
use super::interpret::{MAX_ROUNDS, ScriptFlow, receive, run_segment, step};
use super::liveness::ScriptLiveness;
use super::{Script, ScriptThread, Variable};

/// State of a thread at the end of a local history.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptState {
    pub(super) thread: u32,
    /// Index of the instruction at which the thread stopped: a question, a failure or the end.
    pub(super) next: u32,
    /// Index of its first register.
    pub(super) first: usize,
}

/// Script as a program.
#[derive(Clone, Debug)]
pub struct ScriptProgram {
    pub(super) threads: Vec<ScriptCode>,
    /// By thread.
    pub(super) liveness: Vec<ScriptLiveness>,
    pub(super) recognizes_rounds: bool,
    /// Whether an update that writes what it reads only reads.
    pub(super) updates_may_be_silent: bool,
    /// By thread: the first thread with the same body.
    kinds: Vec<Option<u64>>,
    thread_names: Vec<String>,
    location_names: Vec<String>,
    initial: Vec<Value>,
    /// By thread: [`PlaceId`] of its first instruction.
    pub(super) places: Vec<usize>,
    /// By local history.
    pub(super) states: Vec<ScriptState>,
    pub(super) registers: Vec<Value>,
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
            liveness: threads.iter().map(|body| ScriptLiveness::new(body, true)).collect(),
            recognizes_rounds: true,
            updates_may_be_silent: true,
            threads,
            kinds: script.threads.iter().map(|thread| first_twin(script, thread)).collect(),
            thread_names: script.threads.iter().map(|thread| thread.name.clone()).collect(),
            location_names: script.variables.iter().flat_map(cell_names).collect(),
            initial: script.variables.iter().flat_map(|variable| variable.cells.clone()).collect(),
            states: vec![],
            registers: vec![],
            current: vec![],
            running: vec![],
        }
    }

    /// Lets all threads look symmetric, whatever they do.
    pub fn pretend_symmetry(&mut self) {
        self.kinds.fill(Some(0));
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

/// The first thread with the same body as a thread.
fn first_twin(script: &Script, thread: &ScriptThread) -> Option<u64> {
    let first = script.threads.iter().position(|other| other.body == thread.body)?;
    Some(first as u64)
}

fn cell_names(variable: &Variable) -> Vec<String> {
    let Variable { name, cells, is_array, .. } = variable;
    let cell = |index| if *is_array { format!("{name}[{index}]") } else { name.clone() };
    (0..cells.len()).map(cell).collect()
}

impl Program for ScriptProgram {
    fn run(
        &mut self,
        histories: &LocalHistories,
        _: &[HistoryId],
        from: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        let (thread, next) = match from {
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
        let (code, first) = (&self.threads[thread].code, self.places[thread]);
        let (mut segment, next) = run_segment(code, first, next, &mut self.current);
        self.save_state(node, thread, next);
        if let Some(end) = self.repeated(histories, from, node, &segment) {
            segment.end = end;
        }
        segment
    }

    fn compares_states(&self) -> bool {
        true
    }

    fn is_same_state(&mut self, _: &LocalHistories, one: HistoryId, other: HistoryId) -> bool {
        self.has_state_of(one, other)
    }

    fn shares_memory(&self) -> bool {
        false
    }

    fn thread_kind(&self, thread: ThreadId) -> Option<u64> {
        self.kinds.get(thread.index()).copied().flatten()
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
