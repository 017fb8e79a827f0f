//! Programs: threads that perform one [`Op`] after the other, each a function of what the thread has read.
//!
//! This is the interface between front ends and explorers. A front end knows no memory model and no schedule: it returns
//! what a thread does next. An explorer knows neither Rust nor C nor scripts.
//!
//! There are two kinds of ops. An *effect* (a store, a fence, a release, a spawn) always succeeds and has no result, so a
//! thread performs many of them in a row. A *question* (a load, an update, an acquire, a join, a choice) has an [`Answer`],
//! and the thread waits for it. So a thread is a tree: its ops up to the next question, and a subtree for every answer.
//! [`LocalHistories`] caches that tree, and a [`Program`] runs only where the tree has no branch yet.
//!
//! The content of an answer depends on what the thread can observe. For a load that is the value. But a thread that
//! acquires a mutex or joins another thread sees *untracked memory*: memory that it accesses without ops. There the answer
//! is *which* event it observed ([`Answer::From`]), with that event's own history. The same holds for a load that reads a
//! pointer to such memory ([`Op::carries`]). If the joiner of a thread observes only a value ([`Program::result`]), the
//! answer is that value.

mod exchange;
mod ids;
mod live;
mod local_histories;
mod naming;
mod op;
mod segments;

pub use exchange::ThreadExchange;
pub use ids::{HistoryId, Origin};
pub use live::{Continuation, Live, LiveReply, Queue, Queues};
pub use local_histories::LocalHistories;
pub use naming::Naming;
pub use op::{
    Answer, End, Failure, Guard, JointKind, JointStep, Op, OpKind, POINTER, POINTER_BASE, PlaceId,
    StoreForwarding, Update, UpdateKind, is_pointer,
};
pub use segments::SegmentId;

use crate::execution::{LocationId, ThreadId, Value};

/// The last step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryStep {
    /// The thread starts, spawned by the event; the main thread is not spawned.
    Start(ThreadId, Option<Origin>),
    /// The question at the end of the history gets this answer.
    After(HistoryId, Answer),
}

/// The ops of a thread up to and including its next question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Its effects, in program order.
    pub effects: Vec<Op>,
    /// The end: a question, or the end of the thread.
    pub end: End,
}

impl Segment {
    /// The largest number of consecutive effects. Larger than `raddle_explore::sampling::MAX_RECORDED_EVENTS`.
    pub const LONGEST: usize = 1 << 17;
}

/// A program under test. Thread 0 runs from the start; all others are spawned.
pub trait Program: Naming {
    /// Runs a thread from the end of a history to its next question. The new history gets the id `node`. Explorers call
    /// this only for steps that the memory model allows, unless the program [compares
    /// states](Program::compares_states), and once for each. `past` are the histories of the current
    /// execution, in the order in which they were reached: a program that has to run from its beginning follows them.
    fn run(
        &mut self,
        histories: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment;

    /// Returns `true` if threads share untracked memory, so that the answer to an acquire or a join must name the observed
    /// event. Otherwise the answer is [`Answer::Initial`], and for a synchronization object ([`OpKind::Sync`]) the value
    /// that it read.
    fn shares_memory(&self) -> bool {
        true
    }

    /// Returns `true` if executions continue after a data race, according to the axioms of the model. Then races must not
    /// involve untracked memory.
    fn goes_on_after_races(&self) -> bool {
        false
    }

    /// Join result of the history that ran last, if the joiner observes only a value; `None` if it sees untracked memory.
    fn result(&self, _node: HistoryId) -> Option<Value> {
        None
    }

    /// Returns `true` if [`Program::is_same_state`] can be true, and if threads may run with answers that the memory
    /// model does not allow, to compare their states.
    fn compares_states(&self) -> bool {
        false
    }

    /// Returns `true` if the thread is in the same state at the ends of two of its histories: whatever it is answered, it
    /// does the same from there on, and its result is the same. May return `false` if that is unknown.
    fn is_same_state(
        &mut self,
        _histories: &LocalHistories,
        _one: HistoryId,
        _other: HistoryId,
    ) -> bool {
        false
    }

    /// Returns `true` if threads perform [joint accesses](JointStep).
    fn has_joint_accesses(&self) -> bool {
        false
    }

    /// What a thread runs. Threads of the same kind have the same code and the same arguments as far as the program can tell
    /// without running them, so they may be symmetric. `None` if nobody should try.
    fn thread_kind(&self, _thread: ThreadId) -> Option<u64> {
        None
    }

    /// As [`Program::thread_kind`], for threads whose arguments may be different memory of their creator. Threads of the same
    /// shape need not be of the same kind.
    fn thread_shape(&self, _thread: ThreadId) -> Option<u64> {
        None
    }

    /// From now on, what each thread of one of these groups got from its creator corresponds to what the others got. Threads of a
    /// group have the same kind or shape.
    fn pair_given_memory(&mut self, _groups: &[Vec<ThreadId>]) {}

    /// The thread that a location belongs to, if whoever knows the thread knows the location: its result, say. Another thread of
    /// its kind has a location that corresponds to it.
    fn location_owner(&self, _location: LocationId) -> Option<ThreadId> {
        None
    }

    /// The thread that got a location from its creator, if that is [paired](Program::pair_given_memory): a block of memory to which
    /// its argument points, say.
    fn given_to(&self, _location: LocationId) -> Option<ThreadId> {
        None
    }

    /// The location that corresponds to this one if two threads of one kind exchange their roles; `None` if there is none so
    /// far.
    fn exchanged_location(
        &self,
        _threads: ThreadExchange,
        location: LocationId,
    ) -> Option<LocationId> {
        Some(location)
    }

    /// The value that corresponds to this one if two threads of one kind exchange their roles: addresses in the memory of one
    /// become those in the memory of the other.
    fn exchanged_value(&self, _threads: ThreadExchange, value: Value) -> Value {
        value
    }

    /// As [`Program::exchanged_value`], for the value of a synchronization object: which threads wait, say.
    fn exchanged_state(&self, threads: ThreadExchange, _object: LocationId, value: Value) -> Value {
        self.exchanged_value(threads, value)
    }

    /// The program as a [`Live`] one, if it supports that.
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

    /// Called after a part of a parallel exploration. Returns what explorations of other parts should know, in a format of
    /// the program. From the first part on, the behaviour of a thread must not depend on which parts were explored.
    fn learned(&mut self) -> String {
        String::new()
    }
}
