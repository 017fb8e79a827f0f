//! Which write a read observes under WRA, which has no modification order: any write that is not overwritten by another
//! one which happens after it and before the read.
//!
//! It suffices to look at the last write of each thread that happens before the read: what happens before an earlier
//! write of the thread also happens before its last one. Writes are kept in the order of execution. The newest write
//! may always be observed; no read-modify-write has observed it, since that would have added a newer write.

use raddle_core::execution::LocationId;

use super::super::clock::Clock;
use super::super::decider::{ChoiceKind, Decider};
use super::super::machine::StepContext;
use super::ViewMachine;
use super::location::{LocationState, ViewWrite};
use super::release_view::ReleaseViews;

/// Writes of a location that are overwritten from the viewpoint of a clock.
#[derive(Default)]
pub(super) struct OverwrittenWrites {
    /// By thread: all its writes up to this op are overwritten.
    ops: Clock,
    /// Whether the initial write is overwritten.
    has_initial: bool,
}

impl OverwrittenWrites {
    /// Recomputes the set for a clock.
    #[inline]
    fn update(&mut self, state: &LocationState, release_views: &ReleaseViews, clock: &Clock) {
        self.ops.clear();
        self.has_initial = false;
        for last in state.last_writes(clock) {
            self.has_initial = true;
            self.ops.join(&release_views.get(last.release_view).before);
        }
    }

    #[inline]
    fn contains(&self, write: &ViewWrite) -> bool {
        match write.op {
            0 => self.has_initial,
            op => op <= self.ops.get(write.thread),
        }
    }
}

impl ViewMachine {
    /// Chooses a write that a read may observe and that satisfies `suits`, and returns its index. The newest write must
    /// satisfy `suits`.
    #[inline]
    pub(super) fn choose_causal<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        location: LocationId,
        suits: impl Fn(&ViewWrite) -> bool,
    ) -> usize {
        let state = &self.locations[location.index()];
        let clock = &self.threads[context.thread().index()].current.clock;
        self.overwritten.update(state, &self.release_views, clock);
        // One bit per write; there are at most `MAX_WRITES`.
        let mut candidates: u64 = 0;
        for (at, write) in state.writes.iter().enumerate() {
            candidates |= u64::from(!self.overwritten.contains(write) && suits(write)) << at;
        }
        for _ in 0..context.choose(ChoiceKind::ReadFrom, candidates.count_ones() as usize) {
            candidates ^= 1 << candidates.ilog2();
        }
        candidates.ilog2() as usize
    }

    /// Drops the writes that are overwritten for every thread that may read.
    pub(super) fn drop_overwritten(&mut self, location: LocationId) {
        let state = &mut self.locations[location.index()];
        let mut needed: u64 = 1 << (state.writes.len() - 1);
        for thread in self.threads.iter().filter(|thread| thread.may_read()) {
            self.overwritten.update(state, &self.release_views, &thread.current.clock);
            for (at, write) in state.writes.iter().enumerate() {
                needed |= u64::from(!self.overwritten.contains(write)) << at;
            }
        }
        state.writes.retain(|write| {
            let is_needed = needed & 1 == 1;
            needed >>= 1;
            if !is_needed {
                self.release_views.free(write.release_view);
            }
            is_needed
        });
    }
}
