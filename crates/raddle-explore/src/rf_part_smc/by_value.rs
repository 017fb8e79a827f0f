//! Sources by what the thread learns from them: the other way to expand a read.
//!
//! If the model admits sets of writes, all writes from which the thread learns the same are tried together. What it
//! learns is the value of the write or, if it learns which write it was, the write itself.

use super::execution::SearchEvent;
use super::state::PartSearch;
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, RfSources};
use raddle_core::execution::LocationId;

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Those of the writes from which a thread learns the same as from this one.
    #[inline]
    pub(super) fn same_among(
        &self,
        location: LocationId,
        source: RfSource,
        among: &RfSources<R>,
    ) -> RfSources<R> {
        if source.event().is_some_and(|event| self.events[event].carries) {
            return RfSources::only(source);
        }
        let wanted = self.value(location, source);
        let mut writes = among.writes.clone();
        for write in among.writes.iter() {
            let SearchEvent { value, carries, .. } = self.events[write];
            if carries || value != wanted {
                writes.remove(write);
            }
        }
        let initial = among.initial && self.location(location).initial == wanted;
        RfSources { writes, initial }
    }

    /// All writes of the location after which a thread continues as after this one.
    pub(super) fn same(&self, location: LocationId, source: RfSource) -> RfSources<R> {
        let among = if self.model.observes_by_value() {
            RfSources { writes: self.location(location).writes.clone(), initial: true }
        } else {
            RfSources::only(source)
        };
        self.same_among(location, source, &among)
    }

    /// Returns `true` if the read cannot observe anything but this source.
    #[inline]
    pub(super) fn is_only_source(&self, read: EventIndex, source: RfSource) -> bool {
        !self.model.observes_by_value()
            || !self.is_open()
                && self.model.good_writes(read, RfSource::INITIAL) == RfSources::only(source)
    }

    /// What a read may observe.
    pub(super) fn good_writes(&self, read: EventIndex) -> RfSources<R> {
        self.model.good_writes(read, self.events[read].source)
    }

    /// What a read observes in the execution that is shown.
    pub(super) fn observed(&self, read: EventIndex) -> RfSource {
        self.model.observed(read, self.events[read].source)
    }
}
