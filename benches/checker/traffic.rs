//! Large executions that a C11 model allows, made in time O(n).
//!
//! Threads take turns at random. The modification order of a location is the order in which it was
//! written, and an update observes the last write. A read observes one of the last few writes that
//! its thread may still observe: none that is older than what the thread has seen of the location,
//! and none that was overwritten before the thread's *horizon*. The horizon is the latest time of a
//! release that the thread has acquired, so whatever happens before the thread's next event, in
//! another thread, is not later; one number stands for a whole clock. Hence read coherence holds,
//! and happens-before and all modification orders agree with the order of time, as even SRA demands.
//!
//! Which events acquire and release depends on the model: under RC20 what they say, under WRA, SRA
//! and RA all accesses, under Relaxed none.

use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};
use raddle_core::model::Model;
use raddle_core::random::Random;

/// How many of the last writes of a location can be observed.
const REMEMBERED: usize = 4;

/// A kind of executions.
#[derive(Clone, Copy)]
pub(crate) struct Traffic {
    pub(crate) model: Model,
    pub(crate) threads: usize,
    /// Initial writes apart.
    pub(crate) events: usize,
    pub(crate) locations: usize,
    /// The share of updates.
    pub(crate) updates: f64,
    /// The share of fences.
    pub(crate) fences: f64,
    /// Whether all accesses are acquire or release; otherwise the orders are mixed.
    pub(crate) acq_rel: bool,
    /// The share of reads that observe any remembered write, allowed or not.
    pub(crate) stray: f64,
    /// Whether the last events break an axiom.
    pub(crate) broken: bool,
}

impl Traffic {
    /// The usual mixture: 40% writes, 50% reads, 8% updates (none under SRA), 2% fences, 80
    /// locations, and mixed orders.
    pub(crate) fn new(model: Model, threads: usize, events: usize) -> Traffic {
        Traffic {
            model,
            threads,
            events,
            locations: 80,
            updates: if model == Model::Sra { 0.0 } else { 0.08 },
            fences: 0.02,
            acq_rel: false,
            stray: 0.0,
            broken: false,
        }
    }

    /// An execution of this kind.
    pub(crate) fn generate(&self, seed: u64) -> Execution {
        let mut machine = Machine::new(self, seed);
        let tail = if self.broken { TAIL } else { 0 };
        for _ in tail..self.events {
            machine.step();
        }
        if self.broken {
            machine.break_axiom();
        }
        machine.builder.build().expect("every read names a write of its value")
    }
}

/// How many events break an axiom.
const TAIL: usize = 6;

/// A write that can be observed.
#[derive(Clone, Copy)]
struct Message {
    source: SourceClaim,
    value: Value,
    /// When it was written.
    time: usize,
    /// The latest release that whoever acquires it synchronizes with; 0 if there is none.
    release: usize,
}

/// The last writes of a location, the last one at `count - 1` modulo the size.
#[derive(Clone, Copy)]
struct Place {
    last: [Message; REMEMBERED],
    /// How many writes there were.
    count: usize,
}

impl Place {
    fn get(&self, index: usize) -> Message {
        self.last[index % REMEMBERED]
    }
}

/// What a thread has seen.
#[derive(Clone)]
struct View {
    /// The latest release that it has acquired.
    horizon: usize,
    /// The latest release that an acquire fence would acquire.
    observed: usize,
    /// Its last release fence; 0 if there is none.
    release_fence: usize,
    /// By location: the index of the last write that it has written or observed.
    seen: Vec<usize>,
}

struct Machine<'t> {
    traffic: &'t Traffic,
    random: Random,
    builder: ExecutionBuilder,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
    places: Vec<Place>,
    views: Vec<View>,
    time: usize,
}

impl<'t> Machine<'t> {
    fn new(traffic: &'t Traffic, seed: u64) -> Self {
        let mut builder = ExecutionBuilder::new();
        let threads = (0..traffic.threads).map(|t| builder.thread(&format!("P{t}"))).collect();
        let locations: Vec<_> =
            (0..traffic.locations).map(|x| builder.location(&format!("x{x}"))).collect();
        for &location in &locations {
            builder.init(location, 0).expect("a new location");
        }
        let init = Message { source: SourceClaim::Init, value: 0, time: 0, release: 0 };
        let view =
            View { horizon: 0, observed: 0, release_fence: 0, seen: vec![0; traffic.locations] };
        Machine {
            traffic,
            random: Random::new(seed),
            builder,
            threads,
            places: vec![Place { last: [init; REMEMBERED], count: 1 }; traffic.locations],
            locations,
            views: vec![view; traffic.threads],
            time: 0,
        }
    }

    /// A random thread does something.
    fn step(&mut self) {
        let thread = self.random.below(self.traffic.threads);
        let place = self.random.below(self.traffic.locations);
        let what = self.random.unit();
        let Traffic { updates, fences, .. } = *self.traffic;
        if what < fences {
            self.fence(thread);
        } else if what < fences + updates {
            self.update(thread, place);
        } else if what < fences + updates + 0.4 {
            self.write(thread, place);
        } else {
            let index = self.choose(thread, place);
            self.read(thread, place, index);
        }
    }

    /// One of the orders, or the last of them if only acquire and release are wanted.
    fn order(&mut self, orders: &[MemoryOrder]) -> MemoryOrder {
        let from = if self.traffic.acq_rel { &orders[orders.len() - 1..] } else { orders };
        from[self.random.below(from.len())]
    }

    fn push(&mut self, thread: usize, action: Action, order: MemoryOrder, claim: SourceClaim) {
        self.builder.push_ordered(self.threads[thread], action, order, claim);
    }

    fn fence(&mut self, thread: usize) {
        use MemoryOrder::{AcqRel, Acquire, Release};
        self.time += 1;
        let order = self.order(&[Acquire, Release, AcqRel]);
        self.push(thread, Action::Fence, order, SourceClaim::Unnamed);
        let view = &mut self.views[thread];
        if order.is_acquire() {
            view.horizon = view.horizon.max(view.observed);
        }
        if order.is_release() {
            view.release_fence = self.time;
        }
    }

    /// The index of a write that the thread may observe.
    fn choose(&mut self, thread: usize, place: usize) -> usize {
        let (view, writes) = (&self.views[thread], &self.places[place]);
        let last = writes.count - 1;
        let oldest = writes.count.saturating_sub(REMEMBERED);
        if self.random.chance(self.traffic.stray) {
            return oldest + self.random.below(writes.count - oldest);
        }
        let back = [0, 0, 0, 1, 2, 3][self.random.below(6)];
        let mut index = last;
        while index > oldest.max(last.saturating_sub(back))
            && index > view.seen[place]
            && writes.get(index).time > view.horizon
        {
            index -= 1;
        }
        index
    }

    fn read(&mut self, thread: usize, place: usize, index: usize) {
        use MemoryOrder::{Acquire, Relaxed};
        self.time += 1;
        let message = self.places[place].get(index);
        let order = self.order(&[Relaxed, Acquire]);
        let action = Action::Read { location: self.locations[place], value: message.value };
        self.push(thread, action, order, message.source);
        self.observe(thread, place, (index, message), order);
    }

    fn write(&mut self, thread: usize, place: usize) {
        use MemoryOrder::{Relaxed, Release};
        self.time += 1;
        let order = self.order(&[Relaxed, Release]);
        let action = Action::Write { location: self.locations[place], value: self.time as Value };
        self.append(thread, place, action, order, None);
    }

    fn update(&mut self, thread: usize, place: usize) {
        use MemoryOrder::{AcqRel, Acquire, Relaxed, Release};
        self.time += 1;
        let order = self.order(&[Relaxed, Acquire, Release, AcqRel]);
        let index = self.places[place].count - 1;
        let message = self.places[place].get(index);
        let action = Action::Rmw {
            location: self.locations[place],
            read: message.value,
            written: self.time as Value,
        };
        self.observe(thread, place, (index, message), order);
        self.append(thread, place, action, order, Some(message));
    }

    /// A thread learns what an observed write carries.
    fn observe(
        &mut self,
        thread: usize,
        place: usize,
        (index, message): (usize, Message),
        order: MemoryOrder,
    ) {
        let acquires = match self.traffic.model {
            Model::Relaxed => return self.views[thread].seen[place] = index,
            Model::Rc20 => order.is_acquire(),
            _ => true,
        };
        let view = &mut self.views[thread];
        view.seen[place] = view.seen[place].max(index);
        view.observed = view.observed.max(message.release);
        if acquires {
            view.horizon = view.horizon.max(message.release);
        }
    }

    /// A write or an update becomes the last of its location.
    fn append(
        &mut self,
        thread: usize,
        place: usize,
        action: Action,
        order: MemoryOrder,
        observed: Option<Message>,
    ) {
        let releases = self.traffic.model != Model::Rc20 || order.is_release();
        let own = if releases { self.time } else { self.views[thread].release_fence };
        let claim = observed.map_or(SourceClaim::Unnamed, |message| message.source);
        let id = self.threads[thread];
        let position = self.builder.push_ordered(id, action, order, claim);
        let message = Message {
            source: SourceClaim::Event { thread: id, position },
            value: self.time as Value,
            time: self.time,
            release: own.max(observed.map_or(0, |message| message.release)),
        };
        let writes = &mut self.places[place];
        writes.last[writes.count % REMEMBERED] = message;
        self.views[thread].seen[place] = writes.count;
        writes.count += 1;
    }

    /// At the last location. With modification orders, two threads see two writes in different
    /// orders; without, a thread sees two writes of another one in the wrong order.
    fn break_axiom(&mut self) {
        let place = self.traffic.locations - 1;
        let [first, second, third] = [0, 1, 2].map(|i| i % self.traffic.threads);
        let fourth = 3 % self.traffic.threads;
        let writers =
            if self.traffic.model == Model::Wra { [first, first] } else { [first, second] };
        let index = self.places[place].count;
        for writer in writers {
            self.time += 1;
            let location = self.locations[place];
            let action = Action::Write { location, value: self.time as Value };
            self.append(writer, place, action, MemoryOrder::Release, None);
        }
        for (thread, offset) in [(third, 0), (third, 1), (fourth, 1), (fourth, 0)] {
            self.read(thread, place, index + offset);
        }
    }
}
