//! Joint accesses: accesses of several locations at one moment (`model/joint`).
//!
//! *Idea.* Every part of a joint access is an event, and a joint load of several parts is several questions, so a node of the
//! search may stand in the middle of one. Nothing else changes: the part of a class that was explored is
//! consistent without the parts that are missing, and the first event of a witness that is missing has its source.
//!
//! *Dynamic skip.* That others write later what a thread reads now is seen in its subtree because their writes, which
//! nobody reads there, can come last. A joint update cannot, as it reads as well, and more than what the thread reads: in
//! `hi = 1; r = lo || cas(word, 0, v)`, reading `lo` first lets the exchange fail. So nothing is skipped at a node
//! where a thread is in the middle of a joint update, or if another has begun one since.
//!
//! *Quiet locations.* Parts of joint accesses have events, as the last part decides what happens to all.

use super::state::PartSearch;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::ThreadId;
use raddle_core::program::{JointKind, JointStep};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Begins, describes or ends a joint access of a thread.
    #[cold]
    pub(super) fn perform_joint(&mut self, thread: ThreadId, step: JointStep) {
        self.model.push_joint(thread, step);
        match step {
            JointStep::Begin(JointKind::Update) => {
                self.clock += 1;
                self.joint_updates.set(thread, self.clock);
            }
            JointStep::Part { location } if self.cache.is_quiet_location(location) => {
                self.quiet.conflicts.push(location);
                self.learn_conflicts();
            }
            _ => {}
        }
    }

    /// Returns `true` if a joint update may have been kept from writing what the thread reads, in the subtree since
    /// `start`.
    pub(super) fn joint_updates_matter(&self, thread: ThreadId, start: u64) -> bool {
        self.joint_updates.by_other_than(thread) > start || self.model.updates_jointly()
    }
}
