//! Scripts whose threads repeat themselves instead of stopping where an assumption does not hold.

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId, Program,
    Segment,
};
use raddle_core::trace::{Pending, Trace, TraceEvent};
use raddle_testkit::script::{Script, ScriptProgram};

/// The longest loop.
const LONGEST: usize = 2;

/// A script in which `r = load x; assume r == 1` waits for the value: what a thread has read just before an assumption
/// that does not hold is a loop. It also tests that every answer is what the program is promised.
pub(crate) struct Spinning {
    script: ScriptProgram,
    shares_memory: bool,
}

impl Spinning {
    pub(crate) fn new(script: &Script, shares_memory: bool) -> Self {
        Spinning { script: ScriptProgram::new(script), shares_memory }
    }

    /// Where the loop begins that ends here, if there is one.
    fn start_of_loop(histories: &LocalHistories, step: HistoryStep) -> Option<HistoryId> {
        let (mut start, mut step) = (None, step);
        for _ in 0..LONGEST {
            let HistoryStep::After(node, answer) = step else { break };
            let End::Question(question) = histories.end(node) else { break };
            if !only_reads(question, answer) {
                break;
            }
            start = Some(node);
            if !histories.effects(node).is_empty() {
                break;
            }
            step = histories.step(node);
        }
        start
    }

    /// Panics if the answer is not the one that the question is promised.
    fn check_answer(&self, histories: &LocalHistories, step: HistoryStep) {
        let HistoryStep::After(node, answer) = step else {
            let HistoryStep::Start(thread, by) = step else {
                unreachable!("there are two kinds of steps")
            };
            assert_eq!(by.is_some(), self.shares_memory && thread.index() > 0);
            return;
        };
        let End::Question(question) = histories.end(node) else { panic!("nothing was asked") };
        let is_promised = match question.kind {
            OpKind::Sync { .. } if !self.shares_memory => matches!(answer, Answer::Value(_)),
            OpKind::Lock { .. } | OpKind::Join { .. } if !self.shares_memory => {
                answer == Answer::Initial
            }
            OpKind::Lock { .. } | OpKind::Sync { .. } => {
                matches!(answer, Answer::From(_) | Answer::Initial)
            }
            OpKind::Join { .. } => match answer {
                Answer::Value(value) => value % 2 == 1,
                Answer::From(last) => {
                    let done = histories.effects(last.node).len();
                    self.result(last.node).is_none() && last.index as usize == done
                }
                _ => false,
            },
            OpKind::Choose { .. } => matches!(answer, Answer::Choice(_)),
            _ => matches!(answer, Answer::Value(_) | Answer::Spurious(_)),
        };
        assert!(is_promised, "{question:?} is answered with {answer:?}");
    }
}

fn only_reads(question: &Op, answer: Answer) -> bool {
    match (question.kind, answer) {
        (OpKind::Load { .. }, _) | (_, Answer::Spurious(_)) => true,
        (OpKind::CompareExchange { expected, .. }, Answer::Value(value)) => value != expected,
        (OpKind::Rmw { update, .. }, Answer::Value(value)) => update.apply(value) == value,
        _ => false,
    }
}

/// Returns `true` if the thread of the event does it again and again.
pub(crate) fn is_in_loop(trace: &Trace, event: &TraceEvent) -> bool {
    let pending = trace.pending.get(&event.thread);
    matches!(pending, Some(&Pending::Loop(start)) if event.position >= start)
}

impl Program for Spinning {
    fn run(
        &mut self,
        known: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        self.check_answer(known, step);
        let mut segment = self.script.run(known, past, step, node);
        if segment.end == End::Assume
            && segment.effects.is_empty()
            && let Some(start) = Self::start_of_loop(known, step)
        {
            segment.end = End::Repeats(start);
        }
        segment
    }

    fn shares_memory(&self) -> bool {
        self.shares_memory
    }

    /// Some threads end with a result, others with memory that they share.
    fn result(&self, node: HistoryId) -> Option<Value> {
        let registers = self.script.registers(node);
        registers.first().copied().filter(|value| self.shares_memory && value % 2 == 1)
    }
}

impl Naming for Spinning {
    fn place(&self, place: PlaceId) -> String {
        self.script.place(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.script.location_name(location)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.script.thread_name(thread)
    }

    fn initial_value(&self, location: LocationId) -> Value {
        self.script.initial_value(location)
    }
}
