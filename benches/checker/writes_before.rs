//! The baseline: consistency under RA by the order *writes-before* in O(n^3) (Lahav and Vafeiadis,
//! ICALP 2015, section 3), which model checkers compute for each execution graph (TruSt: Kokologiannakis
//! et al., POPL 2022).
//!
//! Happens-before is a matrix of bits, closed transitively. Then, for each location: a write comes
//! before another if it, or a read that observes it, happens before the other or before a read of
//! the other; chains of updates count as one; closed transitively, this must have no cycle.
//!
//! For executions in which all accesses are atomic and acquire or release, every read has one source,
//! and there are no fences, locks, spawns and joins: then `hb` is `(po ∪ rf)⁺`.

use raddle_core::execution::{Action, EventId, Execution};

/// Whether RA (and RC20, which is the same here) allows an execution.
pub(crate) fn allows(execution: &Execution) -> bool {
    let mut hb = Matrix::new(execution.event_count());
    for event in execution.events() {
        let Some(thread) = execution.thread_of(event) else { continue };
        for init in execution.locations().map(|location| execution.init_of(location)) {
            hb.set(init.index(), event.index());
        }
        if let Some(source) = source(execution, event) {
            hb.set(source, event.index());
        }
        let next = EventId::new(event.index() + 1);
        if execution.thread_events(thread).last() != Some(event) {
            hb.set(event.index(), next.index());
        }
    }
    hb.close();
    let Some(chains) = Chains::new(execution) else { return false };
    let mut accesses = vec![vec![]; execution.location_count()];
    for event in execution.events() {
        if let Some(location) = execution.action(event).location() {
            accesses[location.index()].push(event.index());
        }
    }
    hb.is_irreflexive() && accesses.iter().all(|events| has_order(execution, &hb, &chains, events))
}

/// What an event observes.
fn source(execution: &Execution, event: EventId) -> Option<usize> {
    execution.sources(event).first().map(|source| source.index())
}

fn writes(action: &Action) -> bool {
    action.written_value().is_some()
}

/// Whether writes-before has no cycle among the accesses of a location.
fn has_order(execution: &Execution, hb: &Matrix, chains: &Chains, events: &[usize]) -> bool {
    let mut index = vec![usize::MAX; execution.event_count()];
    let mut count = 0;
    for &event in events {
        if chains.top[event] == event && writes(execution.action(EventId::new(event))) {
            index[event] = count;
            count += 1;
        }
    }
    let mut before = Matrix::new(count);
    for &from in events {
        let id = EventId::new(from);
        let own = writes(execution.action(id)).then_some(from);
        for &to in events.iter().filter(|&&to| hb.get(from, to)) {
            let target = source(execution, EventId::new(to)).unwrap_or(to);
            for write in own.into_iter().chain(source(execution, id)) {
                if chains.top[write] != chains.top[target] {
                    before.set(index[chains.top[write]], index[chains.top[target]]);
                } else if chains.place[write] > chains.place[target] {
                    return false;
                }
            }
        }
    }
    before.close();
    before.is_irreflexive()
}

/// A write and the updates that observe it, one after the other.
struct Chains {
    /// By event that writes: the first write of its chain.
    top: Vec<usize>,
    /// By event that writes: its position in the chain.
    place: Vec<usize>,
}

impl Chains {
    /// The chains, unless two updates observe the same write, or updates observe each other.
    fn new(execution: &Execution) -> Option<Chains> {
        let events = execution.event_count();
        let mut next = vec![None; events];
        let updates = |&event: &EventId| execution.action(event).is_atomic_update();
        for update in execution.events().filter(updates) {
            if next[source(execution, update)?].replace(update.index()).is_some() {
                return None;
            }
        }
        let mut chains = Chains { top: vec![usize::MAX; events], place: vec![0; events] };
        for event in execution.events().filter(|event| !updates(event)) {
            let chain = std::iter::successors(Some(event.index()), |&at| next[at]);
            for (place, at) in chain.enumerate() {
                (chains.top[at], chains.place[at]) = (event.index(), place);
            }
        }
        chains.top.iter().all(|&top| top != usize::MAX).then_some(chains)
    }
}

/// A relation as a matrix of bits.
struct Matrix {
    size: usize,
    /// Words in a row.
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    fn new(size: usize) -> Matrix {
        let width = size.div_ceil(64);
        Matrix { size, width, words: vec![0; size * width] }
    }

    fn set(&mut self, from: usize, to: usize) {
        self.words[from * self.width + to / 64] |= 1 << (to % 64);
    }

    fn get(&self, from: usize, to: usize) -> bool {
        self.words[from * self.width + to / 64] >> (to % 64) & 1 == 1
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.get(event, event))
    }

    /// Closes transitively (Warshall), a word at a time.
    fn close(&mut self) {
        let mut row = vec![0; self.width];
        for through in 0..self.size {
            row.copy_from_slice(&self.words[through * self.width..][..self.width]);
            for from in 0..self.size {
                if self.get(from, through) {
                    let into = &mut self.words[from * self.width..][..self.width];
                    into.iter_mut().zip(&row).for_each(|(into, word)| *into |= word);
                }
            }
        }
    }
}
