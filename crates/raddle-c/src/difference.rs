//! How a run of a thread differs from the one before.

use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, HistoryId, LocalHistories, Naming, Op, PlaceId};
use raddle_explore::counterexample;

use crate::native::Native;

impl Native {
    pub(crate) fn difference(
        &mut self,
        histories: &LocalHistories,
        node: HistoryId,
        end: &End,
    ) -> End {
        let before = with_end(histories.effects(node), histories.end(node));
        let now = with_end(&self.segment, end);
        let at = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
        let (before, place_before) = self.tell(before.get(at));
        let (now, place_now) = self.tell(now.get(at));
        let thread = self.thread_name(histories.thread(node));
        let message = format!(
            "with the same history, thread {thread} first did: {before}; and now: {now}; the program does \
             not only depend on what its threads read (time, input, addresses, uninitialised memory?)"
        );
        let place = place_now.or(place_before).unwrap_or_default();
        self.failure_at(FindingKind::Nondeterminism, &message, place)
    }

    fn tell(&self, doing: Option<&Result<Op, End>>) -> (String, Option<PlaceId>) {
        match doing {
            Some(Ok(op)) => {
                let place = Naming::place(self, op.place);
                (format!("'{}' at {place}", counterexample::op(self, op)), Some(op.place))
            }
            Some(Err(End::Failed(failure))) => {
                (format!("failed ({})", failure.message), Some(failure.place))
            }
            Some(Err(End::Finished)) => (String::from("ended"), None),
            Some(Err(End::Repeats(_))) => (String::from("went round a loop"), None),
            Some(Err(_)) | None => (String::from("did not go on"), None),
        }
    }
}

fn with_end(effects: &[Op], end: &End) -> Vec<Result<Op, End>> {
    let end = match end {
        End::Question(op) => Ok(*op),
        end => Err(end.clone()),
    };
    effects.iter().copied().map(Ok).chain([end]).collect()
}
