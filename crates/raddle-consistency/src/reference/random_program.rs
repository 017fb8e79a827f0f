//! Random programs that cannot block.
//!
//! A thread gets an exact number of instructions, whatever the schedule. No schedule deadlocks:
//! locks are acquired in ascending order and released before the end and before every join, and a
//! thread is joined only by the thread that spawned it, later. Linear in the number of instructions.

use raddle_core::execution::{Action, LocationId, ThreadId, Value};

use super::machine::MachineInstruction;
use super::shape::{HistoryShape, ValueChoice, choose_order};
use raddle_core::random::Random;

/// The instructions of one thread. In a compare-exchange, `expected` is a difference to the value in memory at that
/// moment.
pub(super) type ThreadProgram = Vec<MachineInstruction>;

/// Makes a program for every thread of a shape. Memory locations come before locks.
pub(super) fn programs(shape: &HistoryShape, random: &mut Random) -> Vec<ThreadProgram> {
    let children = family(shape, random);
    let mut written = vec![0; shape.locations];
    let mut program = |children: &[ThreadId]| {
        let slots = place(children, shape.events_per_thread, random);
        Author { shape, random, written: &mut written, held: vec![] }.fill(&slots)
    };
    children.iter().map(|children| program(children)).collect()
}

/// For every thread, the threads that it spawns, in random order. A thread that it also joins occurs twice.
fn family(shape: &HistoryShape, random: &mut Random) -> Vec<Vec<ThreadId>> {
    let mut children = vec![vec![]; shape.threads];
    if !shape.spawn_join {
        return children;
    }
    for child in 1..shape.threads {
        let own = &mut children[random.below(child)];
        let room = shape.events_per_thread.saturating_sub(own.len());
        let wanted = 1 + usize::from(random.chance(0.5));
        for _ in 0..wanted.min(room) {
            let at = random.below(own.len() + 1);
            own.insert(at, ThreadId::new(child));
        }
    }
    children
}

/// Places the spawns and joins of a thread at random positions; the other slots stay free.
fn place(
    children: &[ThreadId],
    len: usize,
    random: &mut Random,
) -> Vec<Option<MachineInstruction>> {
    let mut spawned = vec![];
    let mut left = children.iter();
    let mut slots = Vec::with_capacity(len);
    for at in 0..len {
        let taken = random.below(len - at) < left.len();
        slots.push(left.by_ref().take(usize::from(taken)).next().map(|&thread| {
            if spawned.contains(&thread) {
                return MachineInstruction::Join { thread };
            }
            spawned.push(thread);
            MachineInstruction::Spawn { thread }
        }));
    }
    slots
}

/// For every slot, how many free slots there are from it to the next join or the end.
fn room_before_join(slots: &[Option<MachineInstruction>]) -> Vec<usize> {
    let mut room = vec![0; slots.len() + 1];
    for (at, slot) in slots.iter().enumerate().rev() {
        room[at] = match slot {
            None => room[at + 1] + 1,
            Some(MachineInstruction::Join { .. }) => 0,
            Some(_) => room[at + 1],
        };
    }
    room
}

/// Fills the free slots of one thread.
struct Author<'a> {
    shape: &'a HistoryShape,
    random: &'a mut Random,
    /// How many writes each location has so far.
    written: &'a mut [Value],
    /// The locks held, ascending; never more than there is room to release.
    held: Vec<LocationId>,
}

impl Author<'_> {
    fn fill(mut self, slots: &[Option<MachineInstruction>]) -> ThreadProgram {
        let room = room_before_join(slots);
        let choose = |(slot, &room): (&Option<MachineInstruction>, &usize)| match *slot {
            Some(instruction) => instruction,
            None if self.held.len() == room => self.release(),
            None => self.choose(room),
        };
        slots.iter().zip(&room).map(choose).collect()
    }

    fn choose(&mut self, room: usize) -> MachineInstruction {
        let HistoryShape { rmw, cas, fences, store_fences, lock_events, .. } = *self.shape;
        let mut share = 0.0;
        let roll = self.random.unit();
        let mut hit = |next: f64| {
            share += next;
            roll < share
        };
        if hit(rmw) {
            let location = self.location();
            MachineInstruction::Exchange { location, value: self.value(location) }
        } else if hit(cas) {
            self.compare_exchange()
        } else if hit(fences) {
            MachineInstruction::Fence {
                order: choose_order(&Action::Fence, self.shape, self.random),
            }
        } else if hit(store_fences) {
            MachineInstruction::StoreFence
        } else if hit(lock_events) {
            self.lock_event(room)
        } else {
            self.access()
        }
    }

    fn access(&mut self) -> MachineInstruction {
        let location = self.location();
        if self.random.chance(self.shape.writes) {
            let value = self.value(location);
            let store = Action::Write { location, value };
            let order = choose_order(&store, self.shape, self.random);
            MachineInstruction::Store { location, value, order }
        } else {
            MachineInstruction::Load { location }
        }
    }

    fn compare_exchange(&mut self) -> MachineInstruction {
        let location = self.location();
        let expected = Value::from(self.random.chance(0.5));
        let spurious = self.random.chance(0.1);
        let desired = self.value(location);
        MachineInstruction::CompareExchange { location, expected, desired, spurious }
    }

    /// Acquires or releases a lock, whichever is possible.
    fn lock_event(&mut self, room: usize) -> MachineInstruction {
        let first = self.held.last().map_or(self.shape.locations, |lock| lock.index() + 1);
        let free = self.shape.locations + self.shape.locks - first;
        let can_acquire = free > 0 && self.held.len() + 1 < room;
        let acquire = can_acquire && (self.held.is_empty() || self.random.chance(0.3));
        if acquire {
            let lock = LocationId::new(first + self.random.below(free));
            self.held.push(lock);
            MachineInstruction::Lock { lock }
        } else if self.held.is_empty() {
            self.access()
        } else {
            self.release()
        }
    }

    fn release(&mut self) -> MachineInstruction {
        let lock = self.held.remove(self.random.below(self.held.len()));
        MachineInstruction::Unlock { lock }
    }

    fn location(&mut self) -> LocationId {
        LocationId::new(self.random.below(self.shape.locations))
    }

    fn value(&mut self, location: LocationId) -> Value {
        match self.shape.values {
            ValueChoice::Few(count) => self.random.below(count) as Value,
            ValueChoice::Distinct => {
                let written = &mut self.written[location.index()];
                *written += 1;
                *written
            }
        }
    }
}
