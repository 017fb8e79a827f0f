//! Inserting a read into the witness, and finding there what it observes.

use super::Good;
use crate::event_set::EventSet;
use crate::model::Effect;
use crate::model::store_buffer::{Event, SC};

/// A place in the witness.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) at: usize,
    /// What a read observes there; nothing: the initial write.
    pub(super) source: Option<usize>,
}

impl<R: EventSet, const BUFFERS: u8> Good<R, BUFFERS> {
    /// The first place in the witness where the new read observes one of its good-writes and, if it
    /// writes, nobody else's source changes.
    #[inline]
    pub(super) fn insertion(&self, event: usize, read: &Event<R>, effect: Effect) -> Option<Place> {
        if !self.options.guidance {
            return None;
        }
        let at = |event: usize| self.base.witness.position(event);
        let mut first = read.front.iter().fold(0, |first, event| first.max(at(event) + 1));
        let all = self.base.writes[read.location as usize];
        if BUFFERS != SC && effect == Effect::Load {
            let buffered = self.base.threads[read.thread as usize].buffered;
            if let Some(newest) = buffered.and(all).last() {
                if first <= at(newest) && self.good[event].has(newest) {
                    return Some(Place { at: first, source: Some(newest) });
                }
                first = first.max(at(newest) + 1);
            }
        }
        let gap = Gap { writes: all, first };
        if super::writes(effect) {
            self.insertion_of_update(event, &gap)
        } else {
            self.insertion_of_load(event, &gap)
        }
    }

    #[inline]
    fn insertion_of_load(&self, event: usize, gap: &Gap<R>) -> Option<Place> {
        let at = |event: usize| self.base.witness.position(event);
        let current = self.last_before(gap.writes, gap.first);
        if self.is_good(event, current) {
            return Some(Place { at: gap.first, source: current });
        }
        let later = gap.writes.and(self.good[event]).iter().filter(|&write| at(write) >= gap.first);
        let source = later.min_by_key(|&write| at(write))?;
        Some(Place { at: at(source) + 1, source: Some(source) })
    }

    /// Right before the write that follows its source, if that is no update.
    fn insertion_of_update(&self, event: usize, gap: &Gap<R>) -> Option<Place> {
        let at = |event: usize| self.base.witness.position(event);
        let mut source = self.last_before(gap.writes, gap.first);
        loop {
            let after = source.map_or(0, |source| at(source) + 1);
            let later = gap.writes.iter().filter(|&write| at(write) >= after);
            let next = later.min_by_key(|&write| at(write));
            let is_free = next.is_none_or(|next| !self.all_reads.has(next));
            if is_free && self.is_good(event, source) {
                let at = next.map_or(self.base.witness.len(), at);
                return Some(Place { at, source });
            }
            source = Some(next?);
        }
    }

    /// The last of these writes before a place of the witness.
    #[inline]
    fn last_before(&self, writes: R, place: usize) -> Option<usize> {
        let at = |event: usize| self.base.witness.position(event);
        writes.iter().filter(|&write| at(write) < place).max_by_key(|&write| at(write))
    }

    /// What an event observes in the witness.
    pub(super) fn source_in_witness(&self, event: usize) -> Option<usize> {
        let at = |event: usize| self.base.witness.position_now(event);
        let place = at(event);
        if let Some(newest) = self.base.own_before(event).last()
            && at(newest) > place
        {
            return Some(newest);
        }
        let all = self.base.writes[self.base.events[event].location as usize];
        all.iter().filter(|&write| at(write) < place).max_by_key(|&write| at(write))
    }
}

/// Where a read can be inserted, as far as its own thread is concerned.
struct Gap<R> {
    /// The writes of its location.
    writes: R,
    /// The first place.
    first: usize,
}
