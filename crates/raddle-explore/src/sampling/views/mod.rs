//! Machine of the C11-style models: a view per thread, and the writes that may still be observed.
//!
//! *Idea.* A run adds events in an order in which every read follows its source. A vector clock says what happens
//! before an event. A location keeps its writes in modification order, and for each thread which of them the thread had
//! seen at which op; so the newest write known to a clock is found in O(threads). A read may observe that write or any
//! later one; a write may be placed anywhere after it, except between a read-modify-write and its source. Every step
//! keeps coherence, so exactly the consistent executions can be produced. Under SRA a write is always placed last. WRA
//! has no modification order; see `causal`.
//!
//! *Sequentially consistent* writes and fences of RC11 and C20 are ordered as they are executed (as in C11Tester: Luo,
//! Demsky, ASPLOS 2021); then `psc` must have no edge to an earlier event. Only its `mo` and `fr` edges can point
//! backwards in time. So it suffices that such an access observes, and writes, nothing older than an earlier such
//! write, or than what happens before an earlier such fence; and that accesses after a fence observe nothing older than
//! what is ordered before the fence in this way. A load need not come last in the order: it comes immediately after the
//! last such event that happens before it, so only writes up to that one matter. Executions in which `psc` from a write
//! or a fence contradicts `po ∪ rf` are produced by other runs ([`unordered_sc`](super::unordered_sc)).
//!
//! *Memory.* A write is dropped when no live thread can observe it because all know of a later one. Threads that wait
//! in a join do not count: they will know everything the joined thread knows. If threads do not learn of each other,
//! that does not suffice: of more than [`MAX_WRITES`] writes of a location the oldest are dropped, and no read observes
//! them from then on. So memory depends on the number of threads and locations, not on the length of the run.
//!
//! *Cost.* O(threads) per event, O(threads² + MAX_WRITES) under WRA. No allocation once clocks are reused.
//!
//! *Rejected:*
//! - The incremental checker ([`incremental`](raddle_consistency::incremental)) places writes as late as possible. That
//!   is needed to undo events, and costs a logarithm and a history; a run never undoes, so it places writes at once.
//! - Ring buffers for writes and sightings: a binary search across the wrap-around took a tenth of the time, while
//!   moving up to 64 small entries now and then is barely measurable.
//! - Release views stored in the writes: that made a write four times as large, and a write is moved four times.
//! - Pruning at 8 instead of 16 writes: more futile attempts (2% more instructions with modification orders, 3% less
//!   without, for a mutex of two threads).

mod causal;
mod choose_source;
mod fences;
mod location;
mod prune;
mod release_view;
mod view;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::{C11Orders, SeqCst};

use super::decider::{ChoiceKind, Decider};
use super::machine::{
    LoadRequest, MemoryMachine, RaceAccess, RacingEvent, ReadSource, RmwRequest, RmwResult,
    StepContext, StoreRequest, StoredValue,
};
use crate::driver::Restart;
use causal::OverwrittenWrites;
use choose_source::RmwChoice;
use location::{LocationState, ViewWrite};
use release_view::{ReleaseViewId, ReleaseViews};
use view::View;

/// Smallest number of writes at which a location is pruned.
const PRUNE_AT: usize = 16;

/// Maximal number of writes of a location. They must fit into the bits of a `u64`.
const MAX_WRITES: usize = 64;

/// Views of a thread, as in view-based operational semantics (`cur`, `acq`, `rel`).
#[derive(Default)]
struct SampledViews {
    /// What happens before the next event of the thread.
    current: View,
    /// What the next acquire fence adds to `current`.
    acquire: View,
    /// `current` at the last release fence.
    release: View,
    /// Whether the thread has started and not ended.
    is_live: bool,
    /// Whether the thread waits in a join.
    is_joining: bool,
}

impl SampledViews {
    /// Returns `true` if the thread may read before it learns what another thread knows.
    fn may_read(&self) -> bool {
        self.is_live && !self.is_joining
    }
}

/// Views of threads, and writes of locations.
pub(super) struct ViewMachine {
    /// Meaning of memory orders under the model.
    model_orders: C11Orders,
    /// Meaning of memory orders in the current run.
    orders: C11Orders,
    threads: Vec<SampledViews>,
    locations: Vec<LocationState>,
    /// By location: view that the last update of the synchronization object released.
    objects: Vec<View>,
    /// What happens before sequentially consistent fences: all so far, or the last one of the hidden location.
    fences: View,
    /// Time of the last sequentially consistent event: their number so far.
    time: u64,
    release_views: ReleaseViews,
    /// Scratch space for the current read.
    overwritten: OverwrittenWrites,
}

impl ViewMachine {
    /// Creates a write of the current step, not yet placed in modification order.
    #[inline]
    fn new_write<D: Decider + ?Sized>(
        &self,
        context: &StepContext<'_, D>,
        value: StoredValue,
        release_view: ReleaseViewId,
    ) -> ViewWrite {
        let (thread, event) = (context.thread(), context.event);
        let op = self.threads[thread.index()].current.clock.get(thread);
        let StoredValue { value, carries } = value;
        ViewWrite { value, key: 0, event, thread, op, release_view, carries, is_taken: false }
    }

    /// Places a write immediately after the one at the index, where [`LocationState::key_after`] must have a key.
    #[inline]
    fn place_write(
        &mut self,
        location: LocationId,
        at: usize,
        mut write: ViewWrite,
        order: MemoryOrder,
    ) {
        let state = &mut self.locations[location.index()];
        write.key = state.key_after(at).expect("the caller has checked that there is a key");
        if at + 1 == state.writes.len() {
            state.writes.push(write);
        } else {
            state.writes.insert(at + 1, write);
        }
        state.record_seen(write.thread, write.op, write.key, true);
        if self.orders.access(order).sequential {
            state.record_sc_write(self.time, write.key);
        }
        if state.writes.len() >= state.prune_at {
            self.prune(location);
        }
    }

    /// Updates the views of a thread that observes the write at the index.
    #[inline]
    fn observe(&mut self, thread: ThreadId, location: LocationId, at: usize, order: MemoryOrder) {
        let own = &mut self.threads[thread.index()];
        let state = &mut self.locations[location.index()];
        let ViewWrite { release_view, key, .. } = state.writes[at];
        if release_view != ReleaseViewId::EMPTY {
            let published = &self.release_views.get(release_view).published;
            if self.orders.access(order).acquires {
                own.current.join(published);
            } else if order.is_atomic() {
                own.acquire.join(published);
            }
        }
        if self.orders.has_modification_order() {
            state.record_seen(thread, own.current.clock.get(thread), key, false);
        }
    }
}

impl MemoryMachine for ViewMachine {
    fn new(model: Model) -> Self {
        let orders = model.c11_orders().expect("a C11-style model");
        ViewMachine {
            model_orders: orders,
            orders,
            threads: vec![],
            locations: vec![],
            objects: vec![],
            fences: View::default(),
            time: 0,
            release_views: ReleaseViews::default(),
            overwritten: OverwrittenWrites::default(),
        }
    }

    fn set_sc_unordered(&mut self, is_unordered: bool) -> bool {
        let orders = self.model_orders;
        let unordered = C11Orders { seq_cst: SeqCst::Unordered, ..orders };
        self.orders = if is_unordered { unordered } else { orders };
        orders != unordered
    }

    fn restart(&mut self) {
        self.locations.iter_mut().for_each(LocationState::clear);
        self.release_views.clear();
        self.objects.iter_mut().for_each(View::clear);
        for thread in &mut self.threads {
            for view in [&mut thread.current, &mut thread.acquire, &mut thread.release] {
                view.clear();
            }
            (thread.is_live, thread.is_joining) = (false, false);
        }
        self.fences.clear();
        self.time = 0;
    }

    fn add_location(&mut self, location: LocationId, initial: Value) {
        if self.locations.len() <= location.index() {
            self.locations.resize_with(location.index() + 1, LocationState::default);
            self.objects.resize_with(location.index() + 1, View::default);
        }
        let state = &mut self.locations[location.index()];
        state.prune_at = PRUNE_AT;
        state.writes.push(ViewWrite::initial(initial));
    }

    fn start(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, SampledViews::default);
        }
        self.threads[thread.index()].is_live = true;
        if let Some(parent) = parent {
            let of_parent = std::mem::take(&mut self.threads[parent.index()].current);
            self.threads[thread.index()].current.copy(&of_parent);
            self.threads[parent.index()].current = of_parent;
        }
    }

    #[inline]
    fn begin(&mut self, thread: ThreadId) {
        self.threads[thread.index()].current.clock.tick(thread);
    }

    fn end(&mut self, thread: ThreadId) {
        self.threads[thread.index()].is_live = false;
    }

    fn set_joining(&mut self, thread: ThreadId, is_joining: bool) {
        self.threads[thread.index()].is_joining = is_joining;
    }

    #[inline]
    fn store<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &StoreRequest,
    ) {
        let &StoreRequest { location, value, order } = request;
        let last = self.locations[location.index()].writes.len() - 1;
        let mut at = last;
        if self.orders.has_modification_order() && !self.orders.is_strong() {
            let floor = self.floor(context.thread(), location, self.sc_time_of_write(order));
            at = last - context.choose(ChoiceKind::InsertWrite, last - floor + 1);
            let state = &self.locations[location.index()];
            while state.writes[at].is_taken || state.key_after(at).is_none() {
                at += 1;
            }
        }
        let (thread, observed) = (context.thread(), ReleaseViewId::EMPTY);
        let release_view = self.create_release_view(thread, location, order, observed);
        let write = self.new_write(context, value, release_view);
        self.place_write(location, at, write, order);
    }

    #[inline]
    fn load<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: LoadRequest,
    ) -> ReadSource {
        let at = self.choose_source(context, request);
        self.observe(context.thread(), request.location, at, request.order);
        self.source(request.location, at)
    }

    #[inline]
    fn rmw<D: Decider + ?Sized>(
        &mut self,
        context: &mut StepContext<'_, D>,
        request: &RmwRequest,
    ) -> RmwResult {
        let location = request.location;
        let RmwChoice { source: at, written, is_spurious } = self.choose_rmw(context, request);
        let source = self.source(location, at);
        let order = request.order(written.is_some());
        self.observe(context.thread(), location, at, order);
        if let Some(value) = written {
            let state = &mut self.locations[location.index()];
            state.writes[at].is_taken = true;
            let observed = state.writes[at].release_view;
            let after =
                if self.orders.has_modification_order() { at } else { state.writes.len() - 1 };
            let thread = context.thread();
            let release_view = self.create_release_view(thread, location, order, observed);
            let write = self.new_write(context, value, release_view);
            self.place_write(location, after, write, order);
        }
        RmwResult { source, written, is_spurious }
    }

    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        self.execute_fence(thread, order);
    }

    fn store_fence(&mut self, thread: ThreadId) {
        self.fence(thread, MemoryOrder::Release);
    }

    fn synchronize(&mut self, thread: ThreadId, object: LocationId) {
        let current = &mut self.threads[thread.index()].current;
        let released = &mut self.objects[object.index()];
        current.join(released);
        released.copy(current);
    }

    fn join(&mut self, thread: ThreadId, child: ThreadId) {
        let of_child = std::mem::take(&mut self.threads[child.index()].current);
        self.threads[thread.index()].current.join(&of_child);
        self.threads[child.index()].current = of_child;
    }

    #[inline]
    fn check_race(
        &mut self,
        thread: ThreadId,
        access: RaceAccess,
    ) -> Result<Option<RacingEvent>, Restart> {
        let clock = &self.threads[thread.index()].current.clock;
        let accesses = &mut self.locations[access.location.index()].accesses;
        let race = accesses.find_race(thread, access, clock);
        accesses.record(thread, access, clock.get(thread));
        Ok(race)
    }

    fn has_races(&self) -> bool {
        true
    }
}
