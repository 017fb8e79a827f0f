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
//! only writes up to that one matter. An execution in which `psc` from a write or a fence goes against `po ∪ rf` is not
//! found: see `SOUNDNESS.md`.
//!
//! *Memory.* A write is dropped when no live thread can observe it: all know of a later one. What a thread knows that
//! waits for the end of another one does not count, as it will know all that the other one does. Where threads do not
//! learn of each other that is not enough: of more than [`ROOM`] writes of a location the oldest are dropped, too, and
//! from then on nobody observes them. So a run takes as much memory as its threads and locations, however long it is.
//!
//! *Cost.* O(threads) for an event, and O(threads^2 + ROOM) under WRA. Nothing is allocated once clocks are used again.
//!
//! *Rejected:* the incremental checker ([`incremental`](crate::incremental)) decides as late as possible where a
//! write comes; that is needed to take events back, costs a logarithm and a history, and a run that never goes back can decide
//! at once.

mod causal;
mod knowledge;
mod orders;
mod place;

use crate::execution::{MemoryOrder, Value};
use crate::model::Model;

use super::accesses::Accesses;
use super::clock::Clock;
use super::decide::Kind;
use super::machine::{Access, Change, Changed, Machine, Racing, Source, StartAgain, Stored, Turn};
use super::threads::NONE;
use causal::Floors;
use knowledge::Knowledge;
use orders::Orders;
use place::{Place, Write};

/// A location with so many writes is looked at for such that nobody can observe.
const CROWD: usize = 16;

/// More writes of a location are never kept.
const ROOM: usize = 64;

#[derive(Default)]
struct Thread {
    knows: Knowledge,
    /// What its next acquire fence will know.
    pending: Knowledge,
    /// What it knew at its last release fence.
    released: Knowledge,
    is_live: bool,
    /// Whether it waits for the end of another one.
    joins: bool,
}

/// What threads know.
pub(super) struct Views {
    orders: Orders,
    threads: Vec<Thread>,
    places: Vec<Place>,
    /// What synchronization objects tell, by location.
    objects: Vec<Knowledge>,
    /// What happened before sequentially consistent fences: all so far, or the last one of the hidden location.
    fences: Knowledge,
    /// The time of the last sequentially consistent event.
    time: u64,
    /// Writes that can be used again.
    spare: Vec<Write>,
    /// For the current read: which writes may be observed, and which are overwritten.
    candidates: Vec<usize>,
    floors: Floors,
}

impl Views {
    fn source(&self, location: usize, at: usize) -> Source {
        let writes = &self.places[location].writes;
        let Write { value, carries, event, .. } = writes[at];
        Source { value, carries, event, newest: at + 1 == writes.len() }
    }

    /// The oldest write that the thread may observe next, as an index. A sequentially consistent access has a time.
    #[inline]
    fn floor(&self, thread: usize, location: usize, sc: Option<u64>) -> usize {
        let place = &self.places[location];
        let knows = &self.threads[thread].knows;
        let mut key = place.known(&knows.clock);
        if self.orders.has_sc {
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

    /// A write of the thread that is not placed yet.
    fn write(&mut self, turn: &Turn<'_>, value: Value, carries: bool) -> Write {
        let (thread, event) = (turn.moment.thread, turn.event);
        let op = self.threads[thread as usize].knows.clock.get(thread as usize);
        let mut write = self.spare.pop().unwrap_or_default();
        write.told.clear();
        Write { value, carries, event, thread, op, taken: false, ..write }
    }

    /// What a write tells who acquires it, but for what it observed.
    #[inline]
    fn tell(&mut self, write: &mut Write, location: usize, order: MemoryOrder) {
        let thread = write.thread as usize;
        if self.orders.is_sc(order) {
            self.time += 1;
            self.threads[thread].knows.sc = self.time;
        }
        let own = &self.threads[thread];
        if self.orders.releases(order) {
            write.told.join(&own.knows);
            if self.orders.own_writes_follow {
                let released = &mut self.places[location].released;
                if released.len() <= thread {
                    released.resize_with(thread + 1, Knowledge::default);
                }
                released[thread].copy(&own.knows);
            }
        } else if order.is_atomic() {
            if !own.released.is_empty() {
                write.told.join(&own.released);
            }
            if let Some(earlier) = self.places[location].released.get(thread)
                && self.orders.own_writes_follow
                && !earlier.is_empty()
            {
                write.told.join(earlier);
            }
        }
        if !self.orders.has_mo {
            write.before.copy(&own.knows.clock);
        }
    }

    /// The write comes right after the one at the index.
    fn place(&mut self, location: usize, at: usize, mut write: Write, order: MemoryOrder) {
        let place = &mut self.places[location];
        let key = place.key_after(at).expect("who calls has looked for room");
        write.key = key;
        let (thread, op) = (write.thread as usize, write.op);
        if at + 1 == place.writes.len() {
            place.writes.push_back(write);
        } else {
            place.writes.insert(at + 1, write);
        }
        place.see(thread, op, key, true);
        if self.orders.is_sc(order) {
            place.note_sc(self.time, key);
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
        let write = &place.writes[at];
        if !write.told.is_empty() {
            if self.orders.acquires(order) {
                own.knows.join(&write.told);
            } else if order.is_atomic() {
                own.pending.join(&write.told);
            }
        }
        if self.orders.has_mo {
            let (op, key) = (own.knows.clock.get(thread), write.key);
            place.see(thread, op, key, false);
        }
    }

    /// When a load comes among sequentially consistent events, if it is one.
    fn time_of_load(&self, thread: usize, order: MemoryOrder) -> Option<u64> {
        self.orders.is_sc(order).then(|| self.threads[thread].knows.sc)
    }

    /// The same of a write.
    fn time_of_write(&self, order: MemoryOrder) -> Option<u64> {
        self.orders.is_sc(order).then_some(self.time)
    }

    /// Which write a read observes: the index.
    #[inline]
    fn choose(&mut self, turn: &mut Turn<'_>, location: usize, order: MemoryOrder) -> usize {
        if !self.orders.has_mo {
            return self.choose_causal(turn, location, |_| true);
        }
        let floor = self.floor(turn.thread(), location, self.time_of_load(turn.thread(), order));
        let last = self.places[location].writes.len() - 1;
        last - turn.pick(Kind::Read, last - floor + 1)
    }

    /// Which write an update observes: the index, and what the update then does.
    fn choose_change(
        &mut self,
        turn: &mut Turn<'_>,
        location: usize,
        change: &Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> (usize, Option<(Value, bool)>, bool) {
        // An update that fails may observe what it must not observe in order to write.
        let mut needed = 0;
        let mut at = if self.orders.has_mo {
            needed = self.floor(turn.thread(), location, self.time_of_write(orders.0));
            self.choose(turn, location, orders.1)
        } else {
            let change = *change;
            self.choose_causal(turn, location, |write| {
                let Write { value, carries, event, .. } = *write;
                let source = Source { value, carries, event, newest: false };
                !write.taken || change.apply(&source).is_none() || change.is_weak()
            })
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

    /// Whether an update may come right after the write at the index.
    fn can_follow(&self, location: usize, at: usize) -> bool {
        let place = &self.places[location];
        let is_last = at + 1 == place.writes.len();
        if !self.orders.has_mo {
            return !place.writes[at].taken;
        }
        is_last || !self.orders.appends && !place.writes[at].taken && place.key_after(at).is_some()
    }

    /// Drops writes that nobody can observe any more, and the oldest if there are too many.
    #[cold]
    fn drop_old(&mut self, location: usize) {
        if !self.orders.has_mo {
            self.drop_overwritten(location);
        } else {
            let reads = |thread: &&Thread| thread.is_live && !thread.joins;
            let place = &self.places[location];
            let oldest = (self.threads.iter().filter(reads))
                .map(|thread| place.first(place.known(&thread.knows.clock)))
                .min();
            self.drop_first(location, oldest.unwrap_or(0));
        }
        let len = self.places[location].writes.len();
        if len >= ROOM {
            self.drop_first(location, len - ROOM / 2);
        }
        let place = &mut self.places[location];
        place.forget_old();
        place.crowd = CROWD.max(2 * place.writes.len()).min(ROOM);
    }

    /// Drops the first writes of a location.
    fn drop_first(&mut self, location: usize, count: usize) {
        let dropped = self.places[location].writes.drain(..count);
        self.spare.extend(dropped);
    }

    fn acquire_fence(&mut self, thread: usize) {
        let Thread { knows, pending, .. } = &mut self.threads[thread];
        knows.join(pending);
    }

    fn release_fence(&mut self, thread: usize) {
        let Thread { knows, released, .. } = &mut self.threads[thread];
        released.copy(knows);
    }

    /// A sequentially consistent fence, after it has acquired.
    fn sc_fence(&mut self, thread: usize) {
        let knows = &mut self.threads[thread].knows;
        if self.orders.has_hidden {
            knows.join(&self.fences);
            self.fences.copy(knows);
        } else if self.orders.has_sc {
            self.time += 1;
            knows.fences.join(&self.fences.clock);
            (knows.time, knows.sc) = (self.time, self.time);
            self.fences.clock.join(&knows.clock);
            self.fences.time = self.time;
        }
    }
}

impl Machine for Views {
    fn new(model: Model) -> Self {
        Views {
            orders: Orders::of(model),
            threads: vec![],
            places: vec![],
            objects: vec![],
            fences: Knowledge::default(),
            time: 0,
            spare: vec![],
            candidates: vec![],
            floors: Floors::default(),
        }
    }

    fn restart(&mut self) {
        for place in &mut self.places {
            self.spare.extend(place.writes.drain(..));
            place.clear();
        }
        self.objects.iter_mut().for_each(Knowledge::clear);
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
            self.objects.resize_with(location + 1, Knowledge::default);
        }
        let place = &mut self.places[location];
        place.crowd = CROWD;
        let first = Write { key: 1, value: initial, event: NONE, ..Write::default() };
        place.writes.push_back(first);
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

    fn store(&mut self, turn: &mut Turn<'_>, stored: &Stored) {
        let &Stored { location, value, carries, order } = stored;
        let last = self.places[location].writes.len() - 1;
        let mut at = last;
        if self.orders.has_mo && !self.orders.appends {
            let floor = self.floor(turn.thread(), location, self.time_of_write(order));
            at = last - turn.pick(Kind::Insert, last - floor + 1);
            let place = &self.places[location];
            while place.writes[at].taken || place.key_after(at).is_none() {
                at += 1;
            }
        }
        let mut write = self.write(turn, value, carries);
        self.tell(&mut write, location, order);
        self.place(location, at, write, order);
    }

    #[inline]
    fn load(&mut self, turn: &mut Turn<'_>, location: usize, order: MemoryOrder) -> Source {
        let at = self.choose(turn, location, order);
        self.observe(turn.thread(), location, at, order);
        self.source(location, at)
    }

    fn change(
        &mut self,
        turn: &mut Turn<'_>,
        location: usize,
        change: &Change,
        orders: (MemoryOrder, MemoryOrder),
    ) -> Changed {
        let (at, written, spurious) = self.choose_change(turn, location, change, orders);
        let source = self.source(location, at);
        let order = if written.is_some() { orders.0 } else { orders.1 };
        self.observe(turn.thread(), location, at, order);
        if let Some((value, carries)) = written {
            let mut write = self.write(turn, value, carries);
            self.tell(&mut write, location, order);
            let place = &mut self.places[location];
            place.writes[at].taken = true;
            if order.is_atomic() {
                write.told.join(&place.writes[at].told);
            }
            let after = if self.orders.has_mo { at } else { place.writes.len() - 1 };
            self.place(location, after, write, order);
        }
        Changed { source, written, spurious }
    }

    fn fence(&mut self, thread: usize, order: MemoryOrder) {
        if !self.orders.has_fences() {
            return;
        }
        if order.is_acquire() {
            self.acquire_fence(thread);
        }
        if order == MemoryOrder::SeqCst {
            self.sc_fence(thread);
        }
        if order.is_release() {
            self.release_fence(thread);
        }
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
