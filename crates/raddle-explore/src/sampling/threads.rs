//! The threads of a run: forwards only, or remembered.
//!
//! [`Forward`] is fast and remembers nothing. [`Remembered`] runs the program as the other explorers do, by the
//! histories of its threads; so what is found can be told and run again like anything else that explorers find, a
//! thread that goes round in a loop is seen at once, and what was run before need not be run again.

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{
    Answer, Continuation, End, HistoryId, Live, LiveReply, LocalHistories, Op, OpKind, Origin,
    Program,
};

/// No event: the initial write, where one is expected.
pub(super) const NONE: u32 = u32::MAX;

/// What came of an op.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// The value that was read, or the number that was chosen.
    pub(super) value: Value,
    pub(super) spurious: bool,
    /// Whether the value is a pointer to memory that no op carries.
    pub(super) carries: bool,
    /// The event that was observed, or [`NONE`].
    pub(super) source: u32,
}

/// The threads of a program that runs. Every op that is done is followed by one call of `go_on`, and so has a
/// number.
pub(super) trait Threads {
    /// Begins a run.
    fn restart(&mut self);

    /// A thread starts, spawned by an event ([`NONE`]: it runs from the start).
    fn start(&mut self, thread: usize, by: u32) -> Continuation;

    /// The op of a thread is done.
    fn go_on(&mut self, thread: usize, told: &Told) -> Continuation;

    /// Whether the thread, at its last step, has come back to where it was, having only read since: how many ops
    /// it had done there.
    #[inline]
    fn came_back(&mut self) -> Option<usize> {
        None
    }

    /// For names and initial values.
    fn program(&self) -> &dyn Program;
}

/// Threads that run forwards.
pub(super) struct Forward<'a> {
    pub(super) live: &'a mut dyn Live,
}

impl Threads for Forward<'_> {
    fn restart(&mut self) {
        self.live.restart();
    }

    fn start(&mut self, thread: usize, _: u32) -> Continuation {
        self.live.start(ThreadId::new(thread))
    }

    #[inline]
    fn go_on(&mut self, thread: usize, told: &Told) -> Continuation {
        let reply = LiveReply { value: told.value, spurious: told.spurious };
        self.live.go_on(ThreadId::new(thread), reply)
    }

    fn program(&self) -> &dyn Program {
        &*self.live
    }
}

/// Where a thread is.
#[derive(Clone, Copy)]
struct At {
    node: HistoryId,
    /// How many effects of its last segment it has done.
    effects: usize,
}

/// Threads whose histories are remembered.
pub(super) struct Remembered<'a> {
    program: &'a mut dyn Program,
    histories: &'a mut LocalHistories,
    threads: Vec<Option<At>>,
    past: Vec<HistoryId>,
    /// The names of all events.
    origins: Vec<Origin>,
    shares_memory: bool,
    came_back: Option<usize>,
}

impl<'a> Remembered<'a> {
    pub(super) fn new(program: &'a mut dyn Program, histories: &'a mut LocalHistories) -> Self {
        let shares_memory = program.shares_memory();
        let (threads, past, origins) = (vec![], vec![], vec![]);
        let came_back = None;
        Remembered { program, histories, threads, past, origins, shares_memory, came_back }
    }

    fn at(&self, thread: usize) -> At {
        self.threads[thread].expect("the thread has started")
    }

    /// The thread reaches a history.
    fn reach(&mut self, thread: usize, node: HistoryId) -> Continuation {
        self.past.push(node);
        self.threads[thread] = Some(At { node, effects: 0 });
        self.next(thread)
    }

    /// What the thread does next.
    fn next(&mut self, thread: usize) -> Continuation {
        let At { node, effects } = self.at(thread);
        if let Some(&op) = self.histories.effects(node).get(effects) {
            return Continuation::Op(op);
        }
        match self.histories.end(node) {
            End::Question(op) => Continuation::Op(*op),
            &End::Repeats(start) => {
                self.came_back = Some(self.histories.events(start) as usize);
                let effects = self.histories.effects(start).len();
                self.threads[thread] = Some(At { node: start, effects });
                self.next(thread)
            }
            end => Continuation::End(end.clone()),
        }
    }

    /// What a question is answered with.
    fn answer(&self, op: &Op, told: &Told) -> Answer {
        let &Told { value, spurious, carries, source } = told;
        let origin = self.origins.get(source as usize).copied();
        match op.kind {
            OpKind::Choose { .. } => Answer::Choice(value as u32),
            OpKind::Join { .. } if !self.shares_memory => Answer::Initial,
            OpKind::Join { thread } => self.histories.joined(self.at(thread.index()).node),
            OpKind::Sync { .. } if !self.shares_memory => Answer::Value(value),
            OpKind::Lock { .. } | OpKind::Sync { .. } | OpKind::ReadCell { .. } => match origin {
                Some(origin) if self.shares_memory => Answer::From(origin),
                _ => Answer::Initial,
            },
            _ => match origin {
                Some(origin) if carries && spurious => Answer::SpuriousFrom(origin),
                Some(origin) if carries => Answer::From(origin),
                _ if spurious => Answer::Spurious(value),
                _ => Answer::Value(value),
            },
        }
    }
}

impl Threads for Remembered<'_> {
    fn restart(&mut self) {
        self.threads.clear();
        self.past.clear();
        self.origins.clear();
        self.came_back = None;
    }

    fn start(&mut self, thread: usize, by: u32) -> Continuation {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, None);
        }
        let by = self.origins.get(by as usize).copied().filter(|_| self.shares_memory);
        let id = ThreadId::new(thread);
        let node = self.histories.start(self.program, &self.past, id, by);
        self.reach(thread, node)
    }

    fn go_on(&mut self, thread: usize, told: &Told) -> Continuation {
        let At { node, effects } = self.at(thread);
        if effects < self.histories.effects(node).len() {
            self.origins.push(Origin { node, index: effects as u32 + 1 });
            self.threads[thread] = Some(At { node, effects: effects + 1 });
            return self.next(thread);
        }
        let End::Question(op) = *self.histories.end(node) else {
            unreachable!("a thread that has ended does not go on")
        };
        let answer = self.answer(&op, told);
        let next = self.histories.after(self.program, &self.past, node, answer);
        self.origins.push(Origin { node: next, index: 0 });
        self.reach(thread, next)
    }

    fn came_back(&mut self) -> Option<usize> {
        self.came_back.take()
    }

    fn program(&self) -> &dyn Program {
        &*self.program
    }
}
