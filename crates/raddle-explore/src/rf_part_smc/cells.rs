//! Memory that no op carries, and races.
//!
//! Two accesses of a location race if one of them writes, one of them is not atomic, and neither happens
//! before the other. Where nothing races, the writes of a cell are ordered by happens-before, so a read
//! observes the last one of them: there is nothing to choose.

use super::memo::ValueId;
use super::state::{Explorer, INIT, Role};
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::MemoryOrder;
use raddle_core::program::{HistoryId, Origin};

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Notes a race of the access that the thread is about to add with an earlier one.
    #[inline]
    pub(super) fn check_race(
        &mut self,
        thread: usize,
        location: usize,
        writes: bool,
        order: MemoryOrder,
    ) {
        let plain = order == MemoryOrder::NonAtomic;
        if F::RACES && (plain || !self.locations[location].plain.is_empty()) {
            self.check_conflicts(thread, location, writes, plain);
        }
    }

    #[cold]
    fn check_conflicts(&mut self, thread: usize, location: usize, writes: bool, plain: bool) {
        let event = self.len;
        let place = &self.locations[location];
        let mut others = if writes { place.writes.or(place.reads) } else { place.writes };
        if !plain {
            others = others.and(place.plain);
        }
        let before = self.face.happened_before(thread);
        if let Some(other) = others.minus(before).first() {
            let race = if self.survives_races { &mut self.survived } else { &mut self.race };
            race.get_or_insert((other, event));
        }
        if plain {
            self.has_plain = true;
            self.locations[location].plain.insert(event);
        }
    }

    pub(super) fn write_cell(&mut self, thread: usize, location: usize, origin: Origin) {
        let event = self.len;
        self.check_conflicts(thread, location, true, true);
        self.face.push_access(event, thread);
        self.add_event(location, INIT, Role::WriteCell, origin);
        self.locations[location].writes.insert(event);
    }

    /// The thread, which asks for it, reads a cell.
    pub(super) fn read_cell(&mut self, thread: usize) {
        let (node, location) = (self.threads[thread].node, self.threads[thread].location as usize);
        let event = self.len;
        self.check_conflicts(thread, location, false, true);
        let source = self.locations[location].writes.last().map_or(INIT, |write| write as u32);
        self.face.push_access(event, thread);
        let unknown = Origin { node: HistoryId(0), index: 0 };
        self.add_event(location, source, Role::ReadCell, unknown);
        self.locations[location].reads.insert(event);
        let told = self.identity(source);
        let first_history = self.past.len();
        self.follow(thread, node, told, ValueId::NONE);
        if let Some(&reached) = self.past.get(first_history) {
            self.events[event].origin = Origin { node: reached, index: 0 };
        }
    }
}
