//! Programs: threads that do one [`Op`] after the other, each a function of what it has read.
//!
//! This is the only vocabulary that front ends and explorers share. A front end knows no memory model
//! and no schedule; it says what a thread does next. An explorer knows neither Rust nor C nor scripts.
//!
//! Ops are of two kinds. An *effect* (a store, a fence, a release, a spawn) always succeeds and tells
//! the thread nothing, so a thread does many of them in a row. A *question* (a load, an update, an
//! acquire, a join, a choice) gets an [`Answer`], and the thread waits for it. So a thread is a tree: what
//! it does up to its next question, and for every answer how it goes on. [`LocalHistories`] remembers that
//! tree, and a [`Program`] runs only where the tree has no branch yet.
//!
//! What an answer must say depends on what the thread can learn from it. For a load that is the value.
//! But a thread that acquires a mutex or joins another thread sees memory that no op carries: there the
//! answer is *which* event it observed ([`Answer::From`]), with that event's own history. The same holds
//! for a load that reads a pointer ([`Op::carries`]). A joined thread that gives its joiner a value and
//! nothing else says so ([`Program::result`]); then the value is the answer.

mod ids;
mod live;
mod local_histories;
mod naming;
mod op;
mod segments;

pub use ids::{HistoryId, Origin};
pub use live::{Continuation, Live, LiveReply, Queue, Queues};
pub use local_histories::LocalHistories;
pub use naming::Naming;
pub use op::{
    Answer, End, Failure, Guard, Op, OpKind, POINTER, POINTER_BASE, PlaceId, Update, UpdateKind,
    is_pointer,
};
pub use segments::SegmentId;

use crate::execution::{ThreadId, Value};

/// Where a history starts or how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryStep {
    /// The thread starts, spawned by the event (the main thread by none).
    Start(ThreadId, Option<Origin>),
    /// The history, which ends with a question, goes on with this answer.
    After(HistoryId, Answer),
}

/// What a thread does up to its next question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Its effects, in program order.
    pub effects: Vec<Op>,
    /// How it ends.
    pub end: End,
}

impl Segment {
    /// At most so many effects come one after the other: more than runs have that are remembered
    /// (`raddle_explore::sampling::MAX_RECORDED_EVENTS`).
    pub const LONGEST: usize = 1 << 17;
}

/// Something that has threads. Thread 0 runs from the start; all others are spawned.
pub trait Program: Naming {
    /// Runs a thread from the end of a history to its next question. The new history will have the id
    /// `node`. Explorers ask only for steps that the memory model allows, and each once. `past` are the
    /// histories that the current execution consists of, in the order in which they were reached: a
    /// program that has to run again from its beginning follows them.
    fn run(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment;

    /// Returns `true` if threads share memory that no op carries, so that who acquires a lock or joins a thread
    /// must know from whom. If not, such a question is answered with [`Answer::Initial`], and one about a
    /// synchronization object ([`OpKind::Sync`]) with the value that it read.
    fn shares_memory(&self) -> bool {
        true
    }

    /// Returns `true` if an execution with a data race is followed to its end, as far as the axioms of the model
    /// tell what happens then. Accesses that no op carries must not be among those that race.
    fn goes_on_after_races(&self) -> bool {
        false
    }

    /// What whoever joins a thread learns that has finished with this history, which is the one that ran
    /// last: a value and nothing else. None: it sees memory that no op carries.
    fn result(&self, _node: HistoryId) -> Option<Value> {
        None
    }

    /// The program as one that runs forwards, if it can.
    fn live(&mut self) -> Option<&mut dyn Live> {
        None
    }

    /// Returns `true` if the program has learned a fact that changes which ops its threads perform: whatever was
    /// explored does not count, and the program must be [restarted](Program::restart) and explored again.
    ///
    /// Explorers do not do that themselves; `driver::until_stable` of `raddle-explore` does.
    fn needs_restart(&self) -> bool {
        false
    }

    /// Forgets everything but the learned facts: the next exploration begins with these.
    fn restart(&mut self) {}

    /// A part of the exploration is done: what others who explore other parts of the same program should know, in the
    /// program's own words. From the first part on, what a thread does must not depend on which parts were explored.
    fn learned(&mut self) -> String {
        String::new()
    }
}
