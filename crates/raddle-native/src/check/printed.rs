//! What a program printed in one execution.
//!
//! Output is kept with histories of single threads. Following the trace of the execution once more, with the answer that each question
//! got, shows which histories it consists of and in which order.

use raddle_core::execution::ThreadId;
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, OpKind, Program};
use raddle_core::trace::{Observed, Trace, TraceEvent};
use rustc_hash::FxHashMap;

use crate::program::NativeProgram;

/// The threads of an execution, and how far they are.
struct Follow<'a> {
    program: &'a mut NativeProgram,
    histories: LocalHistories,
    nodes: FxHashMap<ThreadId, HistoryId>,
    text: String,
}

/// What the program printed in the execution of a trace.
pub(super) fn printed(program: &mut NativeProgram, trace: &Trace) -> String {
    program.restart();
    let (histories, nodes) = (LocalHistories::new(), FxHashMap::default());
    let mut follow = Follow { program, histories, nodes, text: String::new() };
    follow.start(ThreadId::new(0));
    for event in &trace.events {
        follow.step(event);
    }
    follow.text
}

impl Follow<'_> {
    fn start(&mut self, thread: ThreadId) {
        let node = self.histories.start(self.program, &[], thread, None);
        self.reach(thread, node);
    }

    /// A thread has reached the end of a history.
    fn reach(&mut self, thread: ThreadId, node: HistoryId) {
        self.nodes.insert(thread, node);
        if let Some(text) = self.program.printed.get(&node) {
            self.text.push_str(text);
        }
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
