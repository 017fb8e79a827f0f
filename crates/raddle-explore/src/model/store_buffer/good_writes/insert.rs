//! Inserting a read into the witness, and finding there what it observes.

use super::GoodWritesModel;
use crate::event_index::{EventIndex, RfSource};
use crate::event_set::EventSet;
use crate::model::ReadEffect;
use crate::model::store_buffer::{LinearizedEvent, SC};

/// A position in the witness.
#[derive(Clone, Copy)]
pub(super) struct InsertionPoint {
    pub(super) at: usize,
    /// What a read observes there.
    pub(super) source: RfSource,
}

impl<R: EventSet, const BUFFERS: u8> GoodWritesModel<R, BUFFERS> {
    /// The first position in the witness where the new read observes one of its good-writes and, if it writes, no other
    /// read loses its source.
    #[inline]
    pub(super) fn insertion(
        &self,
        event: EventIndex,
        read: &LinearizedEvent<R>,
        effect: ReadEffect,
    ) -> Option<InsertionPoint> {
        if !self.options.guidance {
            return None;
        }
        let at = |event: EventIndex| self.base.witness.position(event);
        let mut first = read.front.iter().fold(0, |first, event| first.max(at(event) + 1));
        let writes = &self.base.writes[read.location.index()];
        if BUFFERS != SC && !effect.drains() {
            let buffered = &self.base.threads[read.thread.index()].buffered;
            if let Some(newest) = buffered.and(writes).last() {
                if first <= at(newest) && self.good[event].has(newest) {
                    return Some(InsertionPoint { at: first, source: newest.into() });
                }
                first = first.max(at(newest) + 1);
            }
        }
        let range = InsertionRange { writes: writes.clone(), first };
        if effect.writes() {
            self.insertion_of_update(event, &range)
        } else {
            self.insertion_of_load(event, &range)
        }
    }

    #[inline]
    fn insertion_of_load(
        &self,
        event: EventIndex,
        range: &InsertionRange<R>,
    ) -> Option<InsertionPoint> {
        let at = |event: EventIndex| self.base.witness.position(event);
        let current = self.last_before(&range.writes, range.first);
        if self.is_good(event, current) {
            return Some(InsertionPoint { at: range.first, source: current });
        }
        let good = range.writes.and(&self.good[event]);
        let later = good.iter().filter(|&write| at(write) >= range.first);
        let source = later.min_by_key(|&write| at(write))?;
        Some(InsertionPoint { at: at(source) + 1, source: source.into() })
    }

    /// Directly before the write that follows its source, if that is no update.
    fn insertion_of_update(
        &self,
        event: EventIndex,
        range: &InsertionRange<R>,
    ) -> Option<InsertionPoint> {
        let at = |event: EventIndex| self.base.witness.position(event);
        let mut source = self.last_before(&range.writes, range.first);
        loop {
            let after = source.event().map_or(0, |source| at(source) + 1);
            let later = range.writes.iter().filter(|&write| at(write) >= after);
            let next = later.min_by_key(|&write| at(write));
            let is_free = next.is_none_or(|next| !self.all_reads.has(next));
            if is_free && self.is_good(event, source) {
                let at = next.map_or(self.base.witness.len(), at);
                return Some(InsertionPoint { at, source });
            }
            source = next?.into();
        }
    }

    /// The last of these writes before a position of the witness.
    #[inline]
    fn last_before(&self, writes: &R, position: usize) -> RfSource {
        let at = |event: EventIndex| self.base.witness.position(event);
        let earlier = writes.iter().filter(|&write| at(write) < position);
        earlier.max_by_key(|&write| at(write)).into()
    }

    /// What an event observes in the witness.
    pub(super) fn source_in_witness(&self, event: EventIndex) -> RfSource {
        let at = |event: EventIndex| self.base.witness.position_now(event);
        let position = at(event);
        if let Some(newest) = self.base.own_before(event).last()
            && at(newest) > position
        {
            return newest.into();
        }
        let writes = &self.base.writes[self.base.events[event].location.index()];
        let earlier = writes.iter().filter(|&write| at(write) < position);
        earlier.max_by_key(|&write| at(write)).into()
    }
}

/// Where a read can be inserted, as far as its own thread is concerned.
struct InsertionRange<R> {
    /// The writes of its location.
    writes: R,
    /// The first position.
    first: usize,
}
