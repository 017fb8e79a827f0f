//! Questions that a thread asks again in the same state.
//!
//! A thread that waits in a loop asks the same question again and again. It repeats itself if its live registers are the
//! same as at an earlier question and it has not changed anything since.

use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Op, OpKind, Segment,
};

use super::ScriptProgram;

impl ScriptProgram {
    /// Sets whether a thread that is in the same state as at an earlier question ends with [`End::Repeats`], or with
    /// [`End::Assume`] if it has made a choice since. Otherwise the thread goes on forever. The default is `true`.
    pub fn set_recognizes_rounds(&mut self, recognizes: bool) {
        self.recognizes_rounds = recognizes;
    }

    /// Sets whether an update that writes what it reads only reads: not if writes have no modification order. The default is
    /// `true`.
    pub fn set_updates_may_be_silent(&mut self, may_be_silent: bool) {
        self.updates_may_be_silent = may_be_silent;
    }

    /// Returns how the history `node` ends if the thread was in the same state at an earlier question and has only read
    /// and chosen since. If it has chosen, the rounds since then can be left out: what follows is explored without them.
    pub(super) fn repeated(
        &self,
        histories: &LocalHistories,
        step: HistoryStep,
        node: HistoryId,
        segment: &Segment,
    ) -> Option<End> {
        let thread = self.states[node.0 as usize].thread as usize;
        let can_repeat = self.recognizes_rounds && self.threads[thread].has_endless_loops();
        if !can_repeat || !matches!(segment.end, End::Question(_)) {
            return None;
        }
        let (mut step, mut effects, mut has_chosen) = (step, &segment.effects[..], false);
        loop {
            let HistoryStep::After(earlier, answer) = step else { return None };
            let End::Question(question) = histories.end(earlier) else { return None };
            if !effects.iter().all(is_harmless)
                || !only_reads(question, answer, self.updates_may_be_silent)
            {
                return None;
            }
            has_chosen |= matches!(question.kind, OpKind::Choose { .. });
            if self.has_state_of(earlier, node) {
                return Some(if has_chosen { End::Assume } else { End::Repeats(earlier) });
            }
            (step, effects) = (histories.step(earlier), histories.effects(earlier));
        }
    }
}

/// Returns `true` if an effect changes nothing that other threads can observe.
fn is_harmless(effect: &Op) -> bool {
    matches!(effect.kind, OpKind::Fence { .. } | OpKind::StoreFence)
}

/// Returns `true` if a question with this answer changes nothing that other threads can observe.
fn only_reads(question: &Op, answer: Answer, updates_may_be_silent: bool) -> bool {
    match (question.kind, answer) {
        (OpKind::Load { .. } | OpKind::Choose { .. }, _) | (_, Answer::Spurious(_)) => true,
        (OpKind::CompareExchange { expected, desired, .. }, Answer::Value(value)) => {
            value != expected || updates_may_be_silent && desired == expected
        }
        (OpKind::Rmw { update, .. } | OpKind::Sync { update, .. }, Answer::Value(value)) => {
            updates_may_be_silent && update.apply(value) == value
        }
        _ => false,
    }
}
