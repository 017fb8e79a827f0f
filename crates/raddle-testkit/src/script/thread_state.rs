//! States of threads, independent of the histories that lead to them.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{Answer, HistoryId, PlaceId, Segment};

use super::ScriptProgram;
use super::interpret::{receive, run_segment};
use super::liveness::ScriptLiveness;

/// State of a thread of a script at the end of a segment. Dead registers are 0, so equal states behave alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadState {
    /// Thread.
    pub thread: ThreadId,
    /// Index of the instruction at which the thread stopped: a question, a failure or the end.
    pub instruction: usize,
    /// Registers of the script, and then those for loops and locks.
    pub registers: Vec<Value>,
}

impl ScriptProgram {
    /// Sets whether the registers at the end of a thread belong to its state, as outcomes compare them. The default is
    /// `true`.
    pub fn set_results_are_live(&mut self, are_live: bool) {
        let liveness = |body| ScriptLiveness::new(body, are_live);
        self.liveness = self.threads.iter().map(liveness).collect();
    }

    /// Runs a thread from its beginning to its first question.
    #[must_use]
    pub fn first_segment(&self, thread: ThreadId) -> (Segment, ThreadState) {
        self.segment_from(thread, 0, vec![0; self.threads[thread.index()].registers])
    }

    /// Runs a thread that waits with a question to its next one.
    #[must_use]
    pub fn segment_after(&self, state: &ThreadState, answer: Answer) -> (Segment, ThreadState) {
        let mut registers = state.registers.clone();
        let code = &self.threads[state.thread.index()].code[state.instruction];
        receive(code, answer, &mut registers);
        self.segment_from(state.thread, state.instruction + 1, registers)
    }

    fn segment_from(
        &self,
        thread: ThreadId,
        next: usize,
        mut registers: Vec<Value>,
    ) -> (Segment, ThreadState) {
        let (code, first) = (&self.threads[thread.index()].code, self.places[thread.index()]);
        let (segment, next) = run_segment(code, first, next, &mut registers);
        (segment, self.state(thread, next, &registers))
    }

    /// Returns the state with these registers before an instruction.
    fn state(&self, thread: ThreadId, instruction: usize, registers: &[Value]) -> ThreadState {
        let live = self.liveness[thread.index()].before(instruction);
        let keep = |(&value, &is_live): (&Value, &bool)| if is_live { value } else { 0 };
        let registers = registers.iter().zip(live).map(keep).collect();
        ThreadState { thread, instruction, registers }
    }

    /// Returns the state at the end of a local history.
    #[must_use]
    pub fn state_of(&self, node: HistoryId) -> ThreadState {
        self.state_at(node.0 as usize)
    }

    fn state_at(&self, node: usize) -> ThreadState {
        let state = self.states[node];
        let registers = self.threads[state.thread as usize].registers;
        let registers = &self.registers[state.first..][..registers];
        self.state(ThreadId::new(state.thread as usize), state.next as usize, registers)
    }

    /// Returns the states of all local histories that the program has run to, for debugging and tests.
    pub fn reached_states(&self) -> impl Iterator<Item = ThreadState> + '_ {
        (0..self.states.len()).map(|node| self.state_at(node))
    }

    /// Returns the position in the source of the instruction at which a thread stopped.
    #[must_use]
    pub fn place_of(&self, state: &ThreadState) -> PlaceId {
        PlaceId((self.places[state.thread.index()] + state.instruction) as u32)
    }

    /// Returns `true` if two local histories of one thread end in the same state.
    pub(super) fn has_state_of(&self, one: HistoryId, other: HistoryId) -> bool {
        let (one, other) = (self.states[one.0 as usize], self.states[other.0 as usize]);
        let thread = one.thread as usize;
        let registers = |first: usize| &self.registers[first..][..self.threads[thread].registers];
        let live = self.liveness[thread].before(one.next as usize);
        let mut pairs = registers(one.first).iter().zip(registers(other.first)).zip(live);
        one.thread == other.thread
            && one.next == other.next
            && pairs.all(|((one, other), &is_live)| !is_live || one == other)
    }
}
