//! What writes tell who acquires them.
//!
//! Writes come and go, and what they tell is large. So it is kept in a table, and a write has its number in there: writes
//! stay small, and what is allocated is used again. Most relaxed writes have nothing to tell, and need no place.

use raddle_core::execution::MemoryOrder;

use super::super::clock::Clock;
use super::Views;
use super::view::View;

/// The number of what a write tells that tells nothing.
pub(super) const NOTHING: u32 = 0;

/// What a write tells.
#[derive(Debug, Default)]
pub(super) struct ReleaseView {
    /// What somebody learns who acquires it.
    pub(super) told: View,
    /// What happened before the write, itself left out, where there is no modification order.
    pub(super) before: Clock,
}

/// What writes tell, by number.
#[derive(Debug)]
pub(super) struct ReleaseViews {
    all: Vec<ReleaseView>,
    /// Numbers that can be used again.
    spare: Vec<u32>,
}

impl Default for ReleaseViews {
    fn default() -> Self {
        ReleaseViews { all: vec![ReleaseView::default()], spare: vec![] }
    }
}

impl ReleaseViews {
    #[inline]
    pub(super) fn get(&self, tale: u32) -> &ReleaseView {
        &self.all[tale as usize]
    }

    /// A number with something old.
    #[inline]
    fn take(&mut self) -> u32 {
        if let Some(tale) = self.spare.pop() {
            return tale;
        }
        self.all.push(ReleaseView::default());
        self.all.len() as u32 - 1
    }

    /// Nobody needs this one any more.
    #[inline]
    pub(super) fn give_back(&mut self, tale: u32) {
        if tale != NOTHING {
            self.spare.push(tale);
        }
    }

    /// Nobody needs any more.
    pub(super) fn clear(&mut self) {
        self.spare.clear();
        self.spare.extend(1..self.all.len() as u32);
    }

    /// This one, and what is known.
    #[inline]
    fn with(&mut self, tale: u32, knowledge: &View) -> u32 {
        if tale != NOTHING {
            self.all[tale as usize].told.join(knowledge);
            return tale;
        }
        let tale = self.take();
        self.all[tale as usize].told.copy(knowledge);
        tale
    }

    /// This one, and another.
    #[inline]
    fn with_tale(&mut self, tale: u32, other: u32) -> u32 {
        if other == NOTHING {
            return tale;
        }
        let (mut to, is_new) = (tale, tale == NOTHING);
        if is_new {
            to = self.take();
        }
        let both = self.all.get_disjoint_mut([to as usize, other as usize]);
        let [own, other] = both.expect("nobody tells what is told by another one");
        match is_new {
            true => own.told.copy(&other.told),
            false => own.told.join(&other.told),
        }
        to
    }

    /// This one, with what the thread knows that writes.
    #[inline]
    fn with_before(&mut self, mut tale: u32, thread: usize, clock: &Clock) -> u32 {
        if tale == NOTHING {
            tale = self.take();
            self.all[tale as usize].told.clear();
        }
        let before = &mut self.all[tale as usize].before;
        before.copy(clock);
        before.untick(thread);
        tale
    }
}

impl Views {
    /// What a write of the thread tells. An update also tells what was told by the write that it observed.
    #[inline]
    pub(super) fn tell(
        &mut self,
        thread: usize,
        location: usize,
        order: MemoryOrder,
        observed: u32,
    ) -> u32 {
        if self.orders.access(order).sequential {
            self.time += 1;
            self.threads[thread].knows.sc = self.time;
        }
        let mut tale = NOTHING;
        let own = &self.threads[thread];
        if self.orders.access(order).releases {
            tale = self.tales.with(tale, &own.knows);
            if self.orders.own_writes_continue_release_sequences() {
                self.places[location].release(thread, &own.knows);
            }
        } else if order.is_atomic() {
            if !own.released.is_empty() {
                tale = self.tales.with(tale, &own.released);
            }
            if let Some(earlier) = self.places[location].released(thread) {
                tale = self.tales.with(tale, earlier);
            }
        }
        if order.is_atomic() {
            tale = self.tales.with_tale(tale, observed);
        }
        if !self.orders.has_modification_order() {
            tale = self.tales.with_before(tale, thread, &own.knows.clock);
        }
        tale
    }
}
