//! Sources by what the thread learns from them: the other way to expand a read.
//!
//! Where a face admits sets of writes, all writes that tell the thread the same are tried together. What a
//! write tells is its value or, where the thread learns which write it was, the write itself.

use super::state::{Event, Explorer, INIT};
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, Sources};

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// Everything that the thread may learn from these sources, one after the other.
    pub(super) fn expand_by_value(&mut self, thread: usize, location: usize, sources: Sources<R>) {
        let mut rest = sources;
        while self.stop.is_none() {
            let source = match rest.writes.first() {
                _ if rest.initial => INIT,
                Some(write) => write as u32,
                None => return,
            };
            let good = self.same_among(location, source, rest);
            rest.writes = rest.writes.minus(good.writes);
            rest.initial &= !good.initial;
            if self.is_open() && self.is_forbidden(thread, source) {
                continue;
            }
            self.face.offer(self.len, good);
            self.try_source(thread, source);
        }
    }

    /// Those of the writes from which a thread learns the same as from this one.
    #[inline]
    fn same_among(&self, location: usize, source: u32, among: Sources<R>) -> Sources<R> {
        if source != INIT && self.events[source as usize].carries {
            return Sources { writes: R::one(source as usize), initial: false };
        }
        let wanted = self.value(location, source);
        let mut writes = among.writes;
        for write in among.writes.iter() {
            let Event { value, carries, .. } = self.events[write];
            if carries || value != wanted {
                writes.remove(write);
            }
        }
        let initial = among.initial && self.locations[location].initial == wanted;
        Sources { writes, initial }
    }

    /// All writes with which a thread goes on as with this one.
    pub(super) fn same(&self, location: usize, source: u32) -> Sources<R> {
        let among = if F::BY_VALUE {
            Sources { writes: self.locations[location].writes, initial: true }
        } else {
            self.only(source)
        };
        self.same_among(location, source, among)
    }

    #[inline]
    fn only(&self, source: u32) -> Sources<R> {
        let writes = if source == INIT { R::default() } else { R::one(source as usize) };
        Sources { writes, initial: source == INIT }
    }

    /// Whether a read has no choice but this source.
    #[inline]
    pub(super) fn is_only(&self, event: usize, source: u32) -> bool {
        !F::BY_VALUE || !self.is_open() && self.face.good_writes(event, None) == self.only(source)
    }

    /// What a read may observe.
    pub(super) fn good_writes(&self, event: usize) -> Sources<R> {
        let source = self.events[event].source;
        self.face.good_writes(event, (source != INIT).then_some(source as usize))
    }

    /// What a read observes in the execution that is shown.
    pub(super) fn observed(&self, event: usize) -> Option<usize> {
        let source = self.events[event].source;
        self.face.observed(event, (source != INIT).then_some(source as usize))
    }
}
