//! Executing the threads of a program.
//!
//! [`LiveThreads`] executes forwards only, and keeps no history: this is the fast path. [`HistoryThreads`] executes by
//! the local histories of threads, like the exhaustive explorers do. Then a thread that repeats a loop is recognised at
//! once, known histories are not executed again, and the events have names that a counterexample can refer to.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{
    Answer, Continuation, End, HistoryId, Live, LiveReply, LocalHistories, Op, OpKind, Origin,
    Program,
};

use super::event::RunEvent;

/// Result of an op, as its thread learns it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpResult {
    /// Value that was read, or number that was chosen.
    pub(super) value: Value,
    /// Whether a weak compare-exchange failed although the value matched.
    pub(super) is_spurious: bool,
    /// Whether the value is a pointer to memory that is not accessed through ops.
    pub(super) carries: bool,
    /// Event that was observed.
    pub(super) source: RunEvent,
}

/// Executes the threads of a program. Every op is followed by exactly one call of `resume`, so the calls of `resume`
/// number the events of the run.
pub(super) trait ThreadRunner {
    /// Begins a run.
    fn begin_run(&mut self);

    /// Starts a thread. `by` is the event that spawned it; [`RunEvent::INITIAL`] for the main thread.
    fn start(&mut self, thread: ThreadId, by: RunEvent) -> Continuation;

    /// Continues a thread with the result of its last op.
    fn resume(&mut self, thread: ThreadId, result: &OpResult) -> Continuation;

    /// Returns how many ops precede the loop, if the last call of `resume` completed an iteration that changed nothing.
    #[inline]
    fn take_loop_start(&mut self) -> Option<usize> {
        None
    }

    /// Program, for names and initial values.
    fn program(&self) -> &dyn Program;
}

/// Executes threads forwards.
pub(super) struct LiveThreads<'a> {
    pub(super) live: &'a mut dyn Live,
}

impl ThreadRunner for LiveThreads<'_> {
    fn begin_run(&mut self) {
        self.live.begin_run();
    }

    fn start(&mut self, thread: ThreadId, _: RunEvent) -> Continuation {
        self.live.start(thread)
    }

    #[inline]
    fn resume(&mut self, thread: ThreadId, result: &OpResult) -> Continuation {
        let reply = LiveReply { value: result.value, spurious: result.is_spurious };
        self.live.go_on(thread, reply)
    }

    fn program(&self) -> &dyn Program {
        &*self.live
    }
}

/// Position of a thread in its local history.
#[derive(Clone, Copy)]
struct HistoryPosition {
    node: HistoryId,
    /// Number of effects of the last segment that are done.
    effects: usize,
}

/// Executes threads by their local histories.
pub(super) struct HistoryThreads<'a> {
    program: &'a mut dyn Program,
    histories: &'a mut LocalHistories,
    /// By thread; `None` before its start.
    positions: Vec<Option<HistoryPosition>>,
    /// Histories in the order in which this run reached them.
    past: Vec<HistoryId>,
    /// By event.
    origins: Vec<Origin>,
    shares_memory: bool,
    loop_start: Option<usize>,
}

impl<'a> HistoryThreads<'a> {
    pub(super) fn new(program: &'a mut dyn Program, histories: &'a mut LocalHistories) -> Self {
        let shares_memory = program.shares_memory();
        HistoryThreads {
            program,
            histories,
            positions: vec![],
            past: vec![],
            origins: vec![],
            shares_memory,
            loop_start: None,
        }
    }

    fn position(&self, thread: ThreadId) -> HistoryPosition {
        self.positions[thread.index()].expect("the thread has started")
    }

    /// Moves the thread to the start of the last segment of a history.
    fn enter(&mut self, thread: ThreadId, node: HistoryId) -> Continuation {
        self.past.push(node);
        self.positions[thread.index()] = Some(HistoryPosition { node, effects: 0 });
        self.next(thread)
    }

    /// Returns the next op of the thread. A thread that repeats a loop continues at the start of the loop.
    fn next(&mut self, thread: ThreadId) -> Continuation {
        let HistoryPosition { node, effects } = self.position(thread);
        if let Some(&op) = self.histories.effects(node).get(effects) {
            return Continuation::Op(op);
        }
        match self.histories.end(node) {
            End::Question(op) => Continuation::Op(*op),
            &End::Repeats(start) => {
                self.loop_start = Some(self.histories.events(start) as usize);
                let effects = self.histories.effects(start).len();
                self.positions[thread.index()] = Some(HistoryPosition { node: start, effects });
                self.next(thread)
            }
            end => Continuation::End(end.clone()),
        }
    }

    /// Returns the answer to a question.
    fn answer(&self, op: &Op, result: &OpResult) -> Answer {
        let &OpResult { value, is_spurious, carries, source } = result;
        let origin = self.origins.get(source.index()).copied();
        match op.kind {
            OpKind::Choose { .. } => Answer::Choice(value as u32),
            OpKind::Join { .. } if !self.shares_memory => Answer::Initial,
            OpKind::Join { thread } => self.histories.joined(self.position(thread).node),
            OpKind::Sync { .. } if !self.shares_memory => Answer::Value(value),
            OpKind::Lock { .. } | OpKind::Sync { .. } | OpKind::ReadCell { .. } => match origin {
                Some(origin) if self.shares_memory => Answer::From(origin),
                _ => Answer::Initial,
            },
            _ => match origin {
                Some(origin) if carries && is_spurious => Answer::SpuriousFrom(origin),
                Some(origin) if carries => Answer::From(origin),
                _ if is_spurious => Answer::Spurious(value),
                _ => Answer::Value(value),
            },
        }
    }
}

impl ThreadRunner for HistoryThreads<'_> {
    fn begin_run(&mut self) {
        self.positions.clear();
        self.past.clear();
        self.origins.clear();
        self.loop_start = None;
    }

    fn start(&mut self, thread: ThreadId, by: RunEvent) -> Continuation {
        if self.positions.len() <= thread.index() {
            self.positions.resize(thread.index() + 1, None);
        }
        let by = self.origins.get(by.index()).copied().filter(|_| self.shares_memory);
        let node = self.histories.start(self.program, &self.past, thread, by);
        self.enter(thread, node)
    }

    fn resume(&mut self, thread: ThreadId, result: &OpResult) -> Continuation {
        let HistoryPosition { node, effects } = self.position(thread);
        if effects < self.histories.effects(node).len() {
            self.origins.push(Origin { node, index: effects as u32 + 1 });
            let position = HistoryPosition { node, effects: effects + 1 };
            self.positions[thread.index()] = Some(position);
            return self.next(thread);
        }
        let End::Question(op) = *self.histories.end(node) else {
            unreachable!("a thread that has ended is not resumed")
        };
        let answer = self.answer(&op, result);
        let next = self.histories.after(self.program, &self.past, node, answer);
        self.origins.push(Origin { node: next, index: 0 });
        self.enter(thread, next)
    }

    fn take_loop_start(&mut self) -> Option<usize> {
        self.loop_start.take()
    }

    fn program(&self) -> &dyn Program {
        &*self.program
    }
}
