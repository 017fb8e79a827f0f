//! Follows the execution of a trace once more.
//!
//! What a trace does not say is known to the program: what its threads print, which blocks and frames they have. Histories are
//! those of single threads, so each thread runs once more with the answers that its questions got in the trace.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, OpKind, Program};
use raddle_core::trace::{Observed, Trace, TraceEvent};
use rustc_hash::FxHashMap;

use crate::program::NativeProgram;

/// What somebody does where the threads of an execution get.
pub(super) trait Follower {
    /// A thread stands at the end of a history.
    fn reach(&mut self, program: &mut NativeProgram, thread: ThreadId, history: HistoryId);
}

struct Follow<'a> {
    program: &'a mut NativeProgram,
    follower: &'a mut dyn Follower,
    histories: LocalHistories,
    nodes: FxHashMap<ThreadId, HistoryId>,
}

/// Follows the execution of a trace, in the order of its events. The program forgets its locations and histories.
pub(super) fn follow(program: &mut NativeProgram, trace: &Trace, follower: &mut dyn Follower) {
    program.restart();
    let (histories, nodes) = (LocalHistories::new(), FxHashMap::default());
    let mut follow = Follow { program, follower, histories, nodes };
    follow.start(ThreadId::new(0));
    for event in &trace.events {
        follow.step(event);
    }
}

impl Follow<'_> {
    fn start(&mut self, thread: ThreadId) {
        let node = self.histories.start(self.program, &[], thread, None);
        self.reach(thread, node);
    }

    /// A thread has reached the end of a history.
    fn reach(&mut self, thread: ThreadId, node: HistoryId) {
        self.nodes.insert(thread, node);
        self.follower.reach(self.program, thread, node);
        for index in 0..self.histories.effects(node).len() {
            if let OpKind::Spawn { thread } = self.histories.effects(node)[index].kind {
                self.start(thread);
            }
        }
    }

    /// A question gets its answer.
    fn step(&mut self, event: &TraceEvent) {
        let (Some(observed), Some(&node)) = (event.observed, self.nodes.get(&event.thread)) else {
            return;
        };
        if !matches!(self.histories.end(node), End::Question(_)) {
            return;
        }
        let answer = match (observed, event.read) {
            (Observed::Choice(choice), _) => Answer::Choice(choice),
            (_, None) => Answer::Initial,
            (_, Some(value)) if event.is_spurious() => Answer::Spurious(value),
            (_, Some(value)) => Answer::Value(value),
        };
        let next = self.histories.after(self.program, &[], node, answer);
        self.reach(event.thread, next);
    }
}
