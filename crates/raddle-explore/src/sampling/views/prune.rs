//! Dropping writes that no thread can observe any more.

use raddle_core::execution::LocationId;

use super::{MAX_WRITES, PRUNE_AT, ViewMachine};

impl ViewMachine {
    /// Drops the writes of a location that no thread can observe any more, and the oldest ones if too many are left.
    #[cold]
    pub(super) fn prune(&mut self, location: LocationId) {
        if !self.orders.has_modification_order() {
            self.drop_overwritten(location);
        } else {
            let state = &self.locations[location.index()];
            let oldest = (self.threads.iter().filter(|thread| thread.may_read()))
                .map(|thread| state.index_of(state.newest_seen(&thread.current.clock)))
                .min();
            self.drop_first(location, oldest.unwrap_or(0));
        }
        let len = self.locations[location.index()].writes.len();
        if len >= MAX_WRITES {
            self.drop_first(location, len - MAX_WRITES / 2);
        }
        let state = &mut self.locations[location.index()];
        state.prune_seen();
        state.prune_at = PRUNE_AT.max(2 * state.writes.len()).min(MAX_WRITES);
    }

    /// Drops the first `count` writes of a location.
    fn drop_first(&mut self, location: LocationId, count: usize) {
        for write in self.locations[location.index()].writes.drain(..count) {
            self.release_views.free(write.release_view);
        }
    }
}
