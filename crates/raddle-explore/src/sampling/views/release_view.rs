//! Release views: what a write publishes to threads that acquire it.
//!
//! Writes are created, moved and dropped often, and views are large. So views are kept in a table, and a write refers
//! to its view by id: writes stay small, and allocations are reused. Most relaxed writes publish nothing and need no
//! entry.

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};

use super::super::clock::Clock;
use super::ViewMachine;
use super::view::View;

/// Id of a release view in [`ReleaseViews`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReleaseViewId(u32);

impl ReleaseViewId {
    /// View of a write that publishes nothing. It is shared and never freed.
    pub(super) const EMPTY: ReleaseViewId = ReleaseViewId(0);

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a write publishes.
#[derive(Debug, Default)]
pub(super) struct ReleaseView {
    /// View that a thread gains which acquires the write.
    pub(super) published: View,
    /// Events that happen before the write, without the write itself. Kept only if there is no modification order.
    pub(super) before: Clock,
}

/// Release views by id.
#[derive(Debug)]
pub(super) struct ReleaseViews {
    views: Vec<ReleaseView>,
    /// Ids that can be reused.
    free: Vec<ReleaseViewId>,
}

impl Default for ReleaseViews {
    fn default() -> Self {
        ReleaseViews { views: vec![ReleaseView::default()], free: vec![] }
    }
}

impl ReleaseViews {
    #[inline]
    pub(super) fn get(&self, id: ReleaseViewId) -> &ReleaseView {
        &self.views[id.index()]
    }

    /// Allocates an id. Its view has stale content.
    #[inline]
    fn allocate(&mut self) -> ReleaseViewId {
        if let Some(id) = self.free.pop() {
            return id;
        }
        self.views.push(ReleaseView::default());
        ReleaseViewId(self.views.len() as u32 - 1)
    }

    /// Frees an id.
    #[inline]
    pub(super) fn free(&mut self, id: ReleaseViewId) {
        if id != ReleaseViewId::EMPTY {
            self.free.push(id);
        }
    }

    /// Frees all ids.
    pub(super) fn clear(&mut self) {
        self.free.clear();
        self.free.extend((1..self.views.len() as u32).map(ReleaseViewId));
    }

    /// Joins a view into `id`, and returns the id of the result.
    #[inline]
    fn join_view(&mut self, id: ReleaseViewId, view: &View) -> ReleaseViewId {
        if id != ReleaseViewId::EMPTY {
            self.views[id.index()].published.join(view);
            return id;
        }
        let id = self.allocate();
        self.views[id.index()].published.copy(view);
        id
    }

    /// Joins what another write publishes into `id`, and returns the id of the result.
    #[inline]
    fn join_release(&mut self, id: ReleaseViewId, other: ReleaseViewId) -> ReleaseViewId {
        if other == ReleaseViewId::EMPTY {
            return id;
        }
        let (mut target, is_new) = (id, id == ReleaseViewId::EMPTY);
        if is_new {
            target = self.allocate();
        }
        let both = self.views.get_disjoint_mut([target.index(), other.index()]);
        let [own, other] = both.expect("two writes have different release views");
        match is_new {
            true => own.published.copy(&other.published),
            false => own.published.join(&other.published),
        }
        target
    }

    /// Sets the clock of the write, which is the current op of `thread`, and returns the id of the result.
    #[inline]
    fn set_before(
        &mut self,
        mut id: ReleaseViewId,
        thread: ThreadId,
        clock: &Clock,
    ) -> ReleaseViewId {
        if id == ReleaseViewId::EMPTY {
            id = self.allocate();
            self.views[id.index()].published.clear();
        }
        let before = &mut self.views[id.index()].before;
        before.copy(clock);
        before.untick(thread);
        id
    }
}

impl ViewMachine {
    /// Creates the release view of a write. `observed` is the release view of the write that a read-modify-write
    /// observes: the release sequence continues, so the new write publishes that, too.
    #[inline]
    pub(super) fn create_release_view(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        order: MemoryOrder,
        observed: ReleaseViewId,
    ) -> ReleaseViewId {
        let strength = self.orders.access(order);
        if strength.sequential {
            self.time += 1;
            self.threads[thread.index()].current.sc_time = self.time;
        }
        let mut id = ReleaseViewId::EMPTY;
        let own = &self.threads[thread.index()];
        let place = &mut self.locations[location.index()];
        if strength.releases {
            id = self.release_views.join_view(id, &own.current);
            if self.orders.own_writes_continue_release_sequences() {
                place.set_released(thread, &own.current);
            }
        } else if order.is_atomic() {
            if !own.release.is_empty() {
                id = self.release_views.join_view(id, &own.release);
            }
            if let Some(earlier) = place.released(thread) {
                id = self.release_views.join_view(id, earlier);
            }
        }
        if order.is_atomic() {
            id = self.release_views.join_release(id, observed);
        }
        if !self.orders.has_modification_order() {
            id = self.release_views.set_before(id, thread, &own.current.clock);
        }
        id
    }
}
