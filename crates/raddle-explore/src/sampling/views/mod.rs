//! The machines of the C11 models: what every thread knows, and the writes that somebody may still observe.
//!
//! *Idea.* A run adds events in an order in which every read comes after its source. What happened before an event is
//! a vector clock. A location has its writes in modification order, and for each thread which of them it has seen
//! when; so the newest write that is known to a clock is looked up in O(threads). A read may observe that one or any later one,
//! and a write may come anywhere after it, but not between an update and what that observed. So all consistent executions
//! can be made, and no others: coherence is kept at every step. Under SRA a write always comes last; under WRA, which
//! has no modification order, `causal.rs` says what a read may observe.
//!
//! *Sequentially consistent* writes and fences of RC11 and C20 are ordered as they run (as in C11Tester: Luo, Demsky,
//! ASPLOS 2021): then `psc` must have no edge to an earlier one. Of its edges only those by `mo` and `fr` can go back in time,
//! so it suffices that such an access observes, and writes, nothing older than an earlier such write, or than what happened
//! before an earlier such fence; and that what follows a fence observes nothing older than what came before the fence so.
//! A load need not come last in that order: it comes right after the last such event that happened before it, so
//! only writes up to that one matter. An execution in which `psc` from a write or a fence goes against `po ∪ rf` is
//! found by other runs ([`open`](super::open)).
//!
//! *Memory.* A write is dropped when no live thread can observe it: all know of a later one. What a thread knows that
//! waits for the end of another one does not count, as it will know all that the other one does. Where threads do not
//! learn of each other that is not enough: of more than [`ROOM`] writes of a location the oldest are dropped, too, and
//! from then on nobody observes them. So a run takes as much memory as its threads and locations, however long it is.
//!
//! *Cost.* O(threads) for an event, and O(threads^2 + ROOM) under WRA. Nothing is allocated once clocks are used again.
//!
//! *Rejected:* the incremental checker ([`incremental`](raddle_consistency::incremental)) decides as late as possible where a
//! write comes; that is needed to take events back, costs a logarithm and a history, and a run that never goes back can decide
//! at once. Ring buffers for writes and sightings: a binary search that may go round the end took a tenth of the time, while
//! moving up to 64 small entries once in a while is hardly seen. What a write tells inside of the write: that made it
//! four times as large, and it was moved four times. Looking for old writes at 8 instead of 16: more often for nothing
//! (2% more instructions with modification orders, 3% less without, for a mutex of two threads).

mod causal;
mod choose;
mod fences;
mod place;
mod prune;
mod release_view;
mod view;

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::{C11Orders, SeqCst};

use super::accesses::Accesses;
use super::clock::Clock;
use super::decide::{Decide, Kind};
use super::machine::{Access, Change, Changed, Machine, Racing, Source, StartAgain, Stored, Turn};
use super::threads::NONE;
use causal::Floors;
use place::{Place, Write};
use release_view::{NOTHING, ReleaseViews};
use view::View;

/// A location with so many writes is looked at for such that nobody can observe.
const CROWD: usize = 16;

/// More writes of a location are never kept.
const ROOM: usize = 64;

#[derive(Default)]
struct Thread {
    knows: View,
    /// What its next acquire fence will know.
    pending: View,
    /// What it knew at its last release fence.
    released: View,
    is_live: bool,
    /// Whether it waits for the end of another one.
    joins: bool,
}

/// What threads know.
pub(super) struct Views {
    /// Those of the model, and those of the current run.
    of_model: C11Orders,
    orders: C11Orders,
    threads: Vec<Thread>,
    places: Vec<Place>,
    /// What synchronization objects tell, by location.
    objects: Vec<View>,
    /// What happened before sequentially consistent fences: all so far, or the last one of the hidden location.
    fences: View,
    /// The time of the last sequentially consistent event.
    time: u64,
    tales: ReleaseViews,
    /// For the current read: which writes are overwritten.
    floors: Floors,
}

impl Views {
    /// A write of the thread that is not placed yet, and tells this.
    #[inline]
    fn write<D: ?Sized>(
        &self,
        turn: &Turn<'_, D>,
        value: Value,
        carries: bool,
        tale: u32,
    ) -> Write {
        let (thread, event) = (turn.moment.thread, turn.event);
        let op = self.threads[thread as usize].knows.clock.get(thread as usize);
        Write { value, key: 0, event, thread, op, tale, carries, taken: false }
    }

    /// The write comes right after the one at the index.
    #[inline]
    fn place(&mut self, location: usize, at: usize, mut write: Write, order: MemoryOrder) {
        let place = &mut self.places[location];
        write.key = place.key_after(at).expect("who calls has looked for room");
        if at + 1 == place.writes.len() {
            place.writes.push(write);
        } else {
            place.writes.insert(at + 1, write);
        }
        place.see(write.thread as usize, write.op, write.key, true);
        if self.orders.access(order).sequential {
            place.note_sc(self.time, write.key);
        }
        if place.writes.len() >= place.crowd {
            self.drop_old(location);
        }
    }

    /// The thread observes the write at the index.
    #[inline]
    fn observe(&mut self, thread: usize, location: usize, at: usize, order: MemoryOrder) {
        let own = &mut self.threads[thread];
        let place = &mut self.places[location];
        let Write { tale, key, .. } = place.writes[at];
        if tale != NOTHING {
            let told = &self.tales.get(tale).told;
            if self.orders.access(order).acquires {
                own.knows.join(told);
            } else if order.is_atomic() {
                own.pending.join(told);
            }
        }
        if self.orders.has_modification_order() {
            place.see(thread, own.knows.clock.get(thread), key, false);
        }
    }
}

impl Machine for Views {
    fn new(model: Model) -> Self {
        let orders = model.c11_orders().expect("a C11-style model");
        Views {
            of_model: orders,
            orders,
            threads: vec![],
            places: vec![],
            objects: vec![],
            fences: View::default(),
            time: 0,
            tales: ReleaseViews::default(),
            floors: Floors::default(),
        }
    }

    fn set_open(&mut self, is_open: bool) -> bool {
        let orders = self.of_model;
        let unordered = C11Orders { seq_cst: SeqCst::Unordered, ..orders };
        self.orders = if is_open { unordered } else { orders };
        orders != unordered
    }

    fn restart(&mut self) {
        self.places.iter_mut().for_each(Place::clear);
        self.tales.clear();
        self.objects.iter_mut().for_each(View::clear);
        for thread in &mut self.threads {
            for knowledge in [&mut thread.knows, &mut thread.pending, &mut thread.released] {
                knowledge.clear();
            }
            (thread.is_live, thread.joins) = (false, false);
        }
        self.fences.clear();
        self.time = 0;
    }

    fn add_location(&mut self, location: usize, initial: Value) {
        if self.places.len() <= location {
            self.places.resize_with(location + 1, Place::default);
            self.objects.resize_with(location + 1, View::default);
        }
        let place = &mut self.places[location];
        place.crowd = CROWD;
        let first = Write { key: 1, value: initial, event: NONE, ..Write::default() };
        place.writes.push(first);
    }

    fn start(&mut self, thread: usize, parent: Option<usize>) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        self.threads[thread].is_live = true;
        if let Some(parent) = parent {
            let knows = std::mem::take(&mut self.threads[parent].knows);
            self.threads[thread].knows.copy(&knows);
            self.threads[parent].knows = knows;
        }
    }

    #[inline]
    fn begin(&mut self, thread: usize) {
        self.threads[thread].knows.clock.tick(thread);
    }

    fn end(&mut self, thread: usize) {
        self.threads[thread].is_live = false;
    }

    fn set_joining(&mut self, thread: usize, joins: bool) {
        self.threads[thread].joins = joins;
    }

    #[inline]
    fn store<D: Decide + ?Sized>(&mut self, turn: &mut Turn<'_, D>, stored: &Stored) {
        let &Stored { location, value, carries, order } = stored;
        let last = self.places[location].writes.len() - 1;
        let mut at = last;
        if self.orders.has_modification_order() && !self.orders.is_strong() {
            let floor = self.floor(turn.thread(), location, self.time_of_write(order));
            at = last - turn.pick(Kind::Insert, last - floor + 1);
            let place = &self.places[location];
            while place.writes[at].taken || place.key_after(at).is_none() {
                at += 1;
            }
        }
        let tale = self.tell(turn.thread(), location, order, NOTHING);
        let write = self.write(turn, value, carries, tale);
        self.place(location, at, write, order);
    }

    #[inline]
    fn load<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        order: MemoryOrder,
    ) -> Source {
        let at = self.choose(turn, location, order);
        self.observe(turn.thread(), location, at, order);
        self.source(location, at)
    }

    #[inline]
    fn change<D: Decide + ?Sized>(
        &mut self,
        turn: &mut Turn<'_, D>,
        location: usize,
        change: &Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> Changed {
        let (at, written, spurious) = self.choose_change(turn, location, change, orders);
        let source = self.source(location, at);
        let order = if written.is_some() { orders.0 } else { orders.1 };
        self.observe(turn.thread(), location, at, order);
        if let Some((value, carries)) = written {
            let place = &mut self.places[location];
            place.writes[at].taken = true;
            let observed = place.writes[at].tale;
            let after =
                if self.orders.has_modification_order() { at } else { place.writes.len() - 1 };
            let tale = self.tell(turn.thread(), location, order, observed);
            let write = self.write(turn, value, carries, tale);
            self.place(location, after, write, order);
        }
        Changed { source, written, spurious }
    }

    fn fence(&mut self, thread: usize, order: MemoryOrder) {
        self.pass_fence(thread, order);
    }

    fn store_fence(&mut self, thread: usize) {
        self.fence(thread, MemoryOrder::Release);
    }

    fn synchronize(&mut self, thread: usize, location: usize) {
        let knows = &mut self.threads[thread].knows;
        knows.join(&self.objects[location]);
        self.objects[location].copy(knows);
    }

    fn join(&mut self, thread: usize, child: usize) {
        let of_child = std::mem::take(&mut self.threads[child].knows);
        self.threads[thread].knows.join(&of_child);
        self.threads[child].knows = of_child;
    }

    #[inline]
    fn race(&mut self, thread: usize, access: Access) -> Result<Option<Racing>, StartAgain> {
        let clock: &Clock = &self.threads[thread].knows.clock;
        let accesses: &mut Accesses = &mut self.places[access.location].accesses;
        let racing = accesses.race(thread, access, clock);
        accesses.note(thread, access, clock.get(thread));
        Ok(racing)
    }

    fn has_races(&self) -> bool {
        true
    }
}
