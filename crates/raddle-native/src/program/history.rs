//! Going to the end of a history.

use raddle_core::execution::Value;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Op, OpKind, Origin, Segment,
};

use super::NativeProgram;
use super::thread::{Point, Reply};

impl NativeProgram {
    /// Runs a thread from the end of a history through one step.
    pub(super) fn run_step(
        &mut self,
        histories: &LocalHistories,
        step: HistoryStep,
        node: HistoryId,
    ) -> Result<Segment, End> {
        if let HistoryStep::After(parent, _) = step {
            let thread = histories.thread(parent);
            let known = self.threads.get(thread.index()).and_then(Option::as_ref);
            if known.is_none_or(|thread| thread.at != Some(parent)) {
                self.go_to(histories, parent)?;
            }
        }
        let mut end = self.step(histories, step, node);
        let effects = std::mem::take(&mut self.segment);
        if let End::Question(question) = end
            && let Some(repetition) = self.repeated(question)
        {
            end = repetition;
        }
        self.note_point(node);
        Ok(Segment { effects, end })
    }

    /// Lets the thread of a history stand at its end: goes back to the nearest question on the path and runs from there.
    pub(super) fn go_to(&mut self, histories: &LocalHistories, node: HistoryId) -> Result<(), End> {
        self.current = histories.thread(node);
        let (mut path, mut at) = (vec![], node);
        while !self.go_back(at) {
            path.push(at);
            let HistoryStep::After(parent, _) = histories.step(at) else { break };
            at = parent;
        }
        for &node in path.iter().rev() {
            let end = self.step(histories, histories.step(node), node);
            let before = histories.end(node);
            let is_same = end == *before || matches!(before, End::Repeats(_) | End::Assume);
            if !is_same || histories.effects(node) != self.segment.as_slice() {
                let message = "the program depends on something that Raddle does not control";
                return Err(self.failure(FindingKind::Unsupported, message));
            }
            self.note_point(node);
        }
        Ok(())
    }

    /// Performs a step from where its thread stands.
    fn step(&mut self, histories: &LocalHistories, step: HistoryStep, node: HistoryId) -> End {
        match step {
            HistoryStep::Start(thread, _) => match self.begin(thread) {
                Ok(()) => self.drive(),
                Err(end) => end,
            },
            HistoryStep::After(parent, answer) => {
                self.current = histories.thread(parent);
                let is_spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
                self.resume(Reply { value: self.replies[node.0 as usize], is_spurious })
            }
        }
    }

    /// Goes back to the end of a history of the current thread, if there is a point for it.
    fn go_back(&mut self, node: HistoryId) -> bool {
        let Some(Some(thread)) = self.threads.get_mut(self.current.index()) else { return false };
        let Ok(index) = thread.points.binary_search_by_key(&node, |point| point.node) else {
            return false;
        };
        thread.points.truncate(index + 1);
        let point = &thread.points[index];
        thread.at = Some(node);
        thread.question = Some(point.question);
        thread.active = Some(point.active.clone());
        thread.own = point.own.clone();
        (thread.events, thread.reads_since) = (point.events, point.reads_since);
        thread.printed.clear();
        thread.private = Default::default();
        let (guest, snapshot) = (thread.guest, point.snapshot.clone());
        self.process.restore_thread(guest, &snapshot);
        true
    }

    /// Notes that the current thread stands at the end of a history, if that is a question.
    fn note_point(&mut self, node: HistoryId) {
        let Some(Some(thread)) = self.threads.get(self.current.index()) else { return };
        let Some(question) = thread.question else { return };
        if self.settings.poison {
            self.poison();
        }
        self.note_contents(node);
        let guest = self.thread().guest;
        let Some(snapshot) = self.process.snapshot_thread(guest) else { return };
        let thread = self.thread_mut();
        let Some(active) = thread.active.clone() else { return };
        let point = Point {
            node,
            question,
            snapshot,
            active,
            own: thread.own.clone(),
            events: thread.events,
            reads_since: thread.reads_since,
        };
        thread.points.push(point);
        thread.at = Some(node);
    }

    /// The value that an answer stands for.
    pub(super) fn reply_of(&self, histories: &LocalHistories, step: HistoryStep) -> Value {
        let HistoryStep::After(_, answer) = step else { return 0 };
        match answer {
            Answer::Value(value) | Answer::Spurious(value) => value,
            Answer::From(origin) | Answer::SpuriousFrom(origin) => self.written(histories, origin),
            Answer::Initial => 0,
            Answer::Choice(choice) => choice.into(),
        }
    }

    /// The value that an event wrote; 0 if it wrote none.
    fn written(&self, histories: &LocalHistories, origin: Origin) -> Value {
        let Origin { node, index } = origin;
        if index > 0 {
            return match histories.effects(node).get(index as usize - 1).map(|op| op.kind) {
                Some(OpKind::Store { value, .. }) => value,
                _ => 0,
            };
        }
        let HistoryStep::After(parent, _) = histories.step(node) else { return 0 };
        let read = self.replies[node.0 as usize];
        match histories.end(parent) {
            End::Question(Op {
                kind: OpKind::Rmw { update, .. } | OpKind::Sync { update, .. },
                ..
            }) => update.apply(read),
            End::Question(Op { kind: OpKind::CompareExchange { desired, .. }, .. }) => *desired,
            _ => 0,
        }
    }
}
