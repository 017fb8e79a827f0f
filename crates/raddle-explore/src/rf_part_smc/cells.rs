//! Memory that no op carries, and races.
//!
//! Two accesses of a location race if one of them writes, one of them is not atomic, and neither happens before the
//! other. If nothing races, the writes of a cell are ordered by happens-before, so a read observes the last one: there
//! is no choice.

use super::execution::{EventRole, SearchThread};
use super::state::PartSearch;
use crate::event_index::RfSource;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::program::{HistoryId, Origin};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Records a race of the access that the thread is about to perform with an earlier one.
    #[inline]
    pub(super) fn check_race(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        writes: bool,
        order: MemoryOrder,
    ) {
        let is_plain = order == MemoryOrder::NonAtomic;
        if self.model.races_are_errors() && (is_plain || !self.location(location).plain.is_empty())
        {
            self.check_conflicts(thread, location, writes, is_plain);
        }
    }

    #[cold]
    fn check_conflicts(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        writes: bool,
        is_plain: bool,
    ) {
        let event = self.next_event();
        let accesses = self.location(location);
        let reads = if writes { accesses.reads.clone() } else { R::default() };
        let mut others = accesses.writes.or(&reads);
        if !is_plain {
            others = others.and(&accesses.plain);
        }
        let before = self.model.happened_before(thread);
        if let Some(other) = others.minus(&before).first() {
            let race = if self.survives_races { &mut self.survived_race } else { &mut self.race };
            race.get_or_insert((other, event));
        }
        if is_plain {
            self.has_plain = true;
            self.location_mut(location).plain.insert(event);
        }
    }

    pub(super) fn write_cell(&mut self, thread: ThreadId, location: LocationId, origin: Origin) {
        let event = self.next_event();
        self.check_conflicts(thread, location, true, true);
        self.model.push_cell_access(event, thread);
        self.add_event(location, RfSource::INITIAL, EventRole::WriteCell, origin);
        self.publish(event, thread, false);
        self.location_mut(location).writes.insert(event);
    }

    /// Performs the pending read of a cell.
    pub(super) fn read_cell(&mut self, thread: ThreadId) {
        let SearchThread { history, target, .. } = *self.thread(thread);
        let location = target.location();
        let event = self.next_event();
        self.check_conflicts(thread, location, false, true);
        let source = self.location(location).writes.last().into();
        self.model.push_cell_access(event, thread);
        let unknown = Origin { node: HistoryId(0), index: 0 };
        self.add_event(location, source, EventRole::ReadCell, unknown);
        self.publish(event, thread, false);
        self.location_mut(location).reads.insert(event);
        let reached = self.past.len();
        self.follow(thread, history, self.identity_of(source));
        if let Some(&reached) = self.past.get(reached) {
            self.events[event].origin = Origin { node: reached, index: 0 };
        }
    }
}
