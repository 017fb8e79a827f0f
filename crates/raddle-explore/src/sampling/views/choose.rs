//! Which write a read observes, where there are modification orders.

use raddle_core::execution::{MemoryOrder, Value};

use super::super::decide::{Decide, Kind};
use super::super::machine::{Change, Source, Turn};
use super::Views;

impl Views {
    /// The oldest write that the thread may observe next, as an index. A sequentially consistent access has a time.
    #[inline]
    pub(super) fn floor(&self, thread: usize, location: usize, sc: Option<u64>) -> usize {
        let place = &self.places[location];
        if place.has_seen_all(thread) {
            return place.writes.len() - 1;
        }
        let knows = &self.threads[thread].knows;
        let mut key = place.known(&knows.clock);
        if self.orders.has_psc() {
            if knows.time > 0 {
                key = key.max(place.known(&knows.fences)).max(place.sc_before(knows.time));
            }
            if let Some(time) = sc {
                key = key.max(place.sc_before(time));
                if self.fences.time > 0 {
                    key = key.max(place.written(&self.fences.clock));
                }
            }
        }
        place.first(key)
    }

    /// When a load comes among sequentially consistent events, if it is one.
    #[inline]
    fn time_of_load(&self, thread: usize, order: MemoryOrder) -> Option<u64> {
        self.orders.access(order).sequential.then(|| self.threads[thread].knows.sc)
    }

    /// The same of a write.
    #[inline]
    pub(super) fn time_of_write(&self, order: MemoryOrder) -> Option<u64> {
        self.orders.access(order).sequential.then_some(self.time)
    }

    /// Which write a read observes: the index.
    #[inline]
    pub(super) fn choose<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        order: MemoryOrder,
    ) -> usize {
        if !self.orders.has_modification_order() {
            return self.choose_causal(turn, location, |_| true);
        }
        let floor = self.floor(turn.thread(), location, self.time_of_load(turn.thread(), order));
        let last = self.places[location].writes.len() - 1;
        last - turn.pick(Kind::Read, last - floor + 1)
    }

    /// Which write an update observes: the index, what the update then writes, and whether it fails for no reason.
    #[inline]
    pub(super) fn choose_change<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        change: &Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> (usize, Option<(Value, bool)>, bool) {
        let mut at = if self.orders.has_modification_order() {
            self.choose(turn, location, orders.1)
        } else {
            self.choose_causal(turn, location, |write| {
                !write.taken || change.is_weak() || change.apply(&write.source(false)).is_none()
            })
        };
        // One that fails may observe what it must not observe in order to write.
        let needed = match self.time_of_write(orders.0) {
            Some(time) => self.floor(turn.thread(), location, Some(time)),
            None => 0,
        };
        loop {
            let written = change.apply(&self.source(location, at));
            let can_write = written.is_none() || at >= needed && self.can_follow(location, at);
            let fails = written.is_some()
                && change.is_weak()
                && (!can_write || turn.pick(Kind::Fail, 2) == 1);
            if fails || can_write {
                return (at, written.filter(|_| !fails), fails);
            }
            at += 1;
        }
    }

    /// What somebody observes who observes the write at the index.
    #[inline]
    pub(super) fn source(&self, location: usize, at: usize) -> Source {
        let writes = &self.places[location].writes;
        writes[at].source(at + 1 == writes.len())
    }

    /// Whether an update may come right after the write at the index.
    #[inline]
    fn can_follow(&self, location: usize, at: usize) -> bool {
        let place = &self.places[location];
        let is_last = at + 1 == place.writes.len();
        if !self.orders.has_modification_order() {
            return !place.writes[at].taken;
        }
        is_last
            || !self.orders.is_strong() && !place.writes[at].taken && place.key_after(at).is_some()
    }
}
