//! The relations of an execution that the axioms are about.
//!
//! As in figure 2 of Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis, PLDI 2023, and, for
//! RC11, as in Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017. An update is one event that reads and
//! writes. Our decisions:
//!
//! - A lock is a location. `LOCK` is an acquire update of it, `UNLOCK` a release update that
//!   observes the `LOCK` of its own thread.
//! - Spawn and join are `asw` (additional-synchronizes-with), part of hb in every model.
//! - Where sequentially consistent fences are acquire-release updates of a hidden location, they
//!   are still fences, too. Its modification order is [`Coherence::fences`], each observing the one
//!   before; these edges are in `mo`, `rf` and `sw`. The first observes an initial write that we
//!   leave out: it happens before everything and orders nothing. No value comes from there, so
//!   the axiom `po-rf` does not count these edges among `rf`; otherwise RC20 would forbid what C20
//!   allows. It only asks that nothing happens before itself or before what it observes.
//!
//! Everything is computed by relation algebra, O(n^3 / 64) for n events.

use crate::execution::Coherence;
use crate::execution::{Action, EventId, Execution, LocationId, MemoryOrder};

use super::Model;
use super::reference::{
    Replacement, fences_update_hidden_location, own_writes_continue_release_sequences, replacement,
};
use super::relation::Matrix;

/// A set of events, by index.
pub type Set = Vec<bool>;

/// Sets of events, and the relations between them.
///
/// All are monotone: more pairs in `rf` and `mo` never make another relation smaller. So an axiom that is broken by a part
/// of `rf` and `mo` stays broken.
#[derive(Clone, Debug)]
pub struct Relations {
    model: Model,
    /// `R`: events that read.
    pub reads: Set,
    /// `W`: events that write.
    pub writes: Set,
    /// `RMW`: events that read and write.
    pub updates: Set,
    /// `F`: fences.
    pub fences: Set,
    /// `E⊒rlx`: atomic accesses.
    pub atomic: Set,
    /// `E⊒acq`.
    pub acquire: Set,
    /// `E⊒rel`.
    pub release: Set,
    /// `E_sc`.
    pub sc: Set,
    /// Pairs of one location.
    pub same_location: Matrix,
    /// Program order; an initial write comes before every event.
    pub po: Matrix,
    /// From a spawn to the events of the thread, from its last event to the join.
    pub asw: Matrix,
    /// Reads-from.
    pub rf: Matrix,
    /// Modification order.
    pub mo: Matrix,
    /// From-read.
    pub fr: Matrix,
    /// Synchronizes-with.
    pub sw: Matrix,
    /// Happens-before.
    pub hb: Matrix,
}

impl Relations {
    /// The relations of an execution with reads-from, modification orders and fences. Each may be partial: some reads have
    /// no source yet, and the writes in a modification order come before those that are not in it.
    #[must_use]
    pub fn new(execution: &Execution, model: Model, coherence: &Coherence) -> Self {
        let size = execution.event_count();
        let set = |member: &dyn Fn(EventId) -> bool| execution.events().map(member).collect();
        let hidden = |e| fences_update_hidden_location(model) && is_sc_fence(execution, e);
        let reads: Set = set(&|e| reads(execution.action(e)) || hidden(e));
        let writes: Set = set(&|e| writes(execution.action(e)) || hidden(e));
        let order = |e| effective_order(execution, model, e);
        let mut relations = Relations {
            model,
            updates: reads.iter().zip(&writes).map(|(&read, &write)| read && write).collect(),
            reads,
            writes,
            fences: set(&|e| matches!(execution.action(e), Action::Fence | Action::StoreFence)),
            atomic: set(&|e| order(e).is_atomic()),
            acquire: set(&|e| order(e).is_acquire()),
            release: set(&|e| order(e).is_release()),
            sc: set(&|e| order(e) == MemoryOrder::SeqCst),
            same_location: same_location(execution, &hidden),
            po: program_order(execution),
            asw: spawn_and_join(execution),
            rf: reads_from(size, coherence),
            mo: Matrix::empty(size),
            fr: Matrix::empty(size),
            sw: Matrix::empty(size),
            hb: Matrix::empty(size),
        };
        relations.sw = relations.synchronizes_with();
        relations.hb = relations.po.or(&relations.asw).or(&relations.sw).closure();
        for order in coherence.mo.iter().chain([&coherence.fences]) {
            relations.place(order);
        }
        relations.fr = relations.from_read();
        relations
    }

    /// Reads-from without the hidden location.
    #[must_use]
    pub fn visible_rf(&self) -> Matrix {
        let accesses: Set = self.fences.iter().map(|&fence| !fence).collect();
        self.rf.between(&accesses, &accesses)
    }

    /// `eco = (rf ∪ mo ∪ fr)⁺`
    #[must_use]
    pub fn eco(&self) -> Matrix {
        self.rf.or(&self.mo).or(&self.fr).closure()
    }

    /// `hbloc`: happens-before within one location.
    #[must_use]
    pub fn hbloc(&self) -> Matrix {
        self.hb.and(&self.same_location)
    }

    /// `fr = (rf⁻¹; mo) \ id`
    #[must_use]
    pub fn from_read(&self) -> Matrix {
        let all = vec![true; self.rf.size()];
        self.rf.inverse().compose(&self.mo).minus(&Matrix::diagonal(&all))
    }

    /// `sw = [E⊒rel]; ([F]; po)?; rs; rf; [R⊒rlx]; (po; [F])?; [E⊒acq]`, where the release sequence
    /// `rs` is `[W⊒rlx]; (rf; [RMW])*` and under RC11 `[W]; (po ∩ loc)?; [W⊒rlx]; (rf; [RMW])*`.
    fn synchronizes_with(&self) -> Matrix {
        let all = vec![true; self.po.size()];
        let fence_before = self.po.between(&self.fences, &all);
        let fence_after = self.po.between(&all, &self.fences);
        let observed = self.rf.closure().between(&both(&self.writes, &self.atomic), &all);
        let mut sequence = observed.between(&all, &both(&self.reads, &self.atomic));
        if own_writes_continue_release_sequences(self.model) {
            let own = self.po.and(&self.same_location).between(&self.writes, &all);
            sequence = own.optional().compose(&sequence);
        }
        let long = fence_before.optional().compose(&sequence).compose(&fence_after.optional());
        long.between(&self.release, &self.acquire)
    }

    /// Orders these writes of one location, and puts them before its others.
    fn place(&mut self, order: &[EventId]) {
        let mut placed = vec![false; self.writes.len()];
        for &write in order {
            placed[write.index()] = true;
            let write = write.index();
            let rest = self.same_location.successors(write);
            let later: Vec<usize> = rest.filter(|&w| self.writes[w] && !placed[w]).collect();
            later.into_iter().for_each(|w| self.mo.insert(write, w));
        }
    }

    /// `psc = psc_base ∪ psc_F`: the order that sequentially consistent events must respect.
    ///
    /// - `scb = po ∪ (po|≠loc; hb; po|≠loc) ∪ hbloc ∪ mo ∪ fr`
    /// - `psc_base = ([E_sc] ∪ [F_sc]; hb?); scb; ([E_sc] ∪ hb?; [F_sc])`
    #[must_use]
    pub fn psc(&self) -> Matrix {
        let elsewhere = self.po.minus(&self.same_location);
        let around = elsewhere.compose(&self.hb).compose(&elsewhere);
        let scb = self.po.or(&around).or(&self.hbloc()).or(&self.mo).or(&self.fr);
        let sc_fences = both(&self.sc, &self.fences);
        let (sc, fence) = (Matrix::diagonal(&self.sc), Matrix::diagonal(&sc_fences));
        let (enter, leave) = (fence.compose(&self.hb), self.hb.compose(&fence));
        let base = sc.or(&enter).compose(&scb).compose(&sc.or(&leave));
        base.or(&self.psc_fences())
    }

    /// `psc_F = [F_sc]; (hb ∪ hb; eco; hb); [F_sc]`
    #[must_use]
    pub fn psc_fences(&self) -> Matrix {
        let fences = both(&self.sc, &self.fences);
        let indirect = self.hb.compose(&self.eco()).compose(&self.hb);
        self.hb.or(&indirect).between(&fences, &fences)
    }
}

/// The intersection of two sets.
fn both(a: &[bool], b: &[bool]) -> Set {
    a.iter().zip(b).map(|(&a, &b)| a && b).collect()
}

/// Returns `true` if the C11 models count an event as a write.
#[must_use]
pub fn writes(action: &Action) -> bool {
    action.written_value().is_some()
        || matches!(action, Action::Lock { .. } | Action::Unlock { .. })
}

/// Returns `true` if the C11 models count an event as a read.
fn reads(action: &Action) -> bool {
    action.has_source() || matches!(action, Action::Unlock { .. })
}

/// Returns `true` if an event is a sequentially consistent fence.
#[must_use]
pub fn is_sc_fence(execution: &Execution, event: EventId) -> bool {
    *execution.action(event) == Action::Fence && execution.order(event) == MemoryOrder::SeqCst
}

/// The acquire that the release of a lock observes: the last one of its thread.
#[must_use]
pub fn own_acquire(execution: &Execution, release: EventId) -> Option<EventId> {
    let Action::Unlock { lock } = *execution.action(release) else { return None };
    let mut events = execution.thread_events(execution.thread_of(release)?);
    events.rfind(|&e| e < release && *execution.action(e) == Action::Lock { lock })
}

/// The order that an event has under a model: orders that the model lacks are replaced. A sequentially consistent fence
/// keeps its order; it acquires and releases in any case.
#[must_use]
pub fn effective_order(execution: &Execution, model: Model, event: EventId) -> MemoryOrder {
    let (action, order) = (execution.action(event), execution.order(event));
    let is_access = action.location().is_some();
    let is_lock = matches!(action, Action::Lock { .. } | Action::Unlock { .. });
    let is_object = action.location().is_some_and(|at| execution.location(at).synchronizes);
    match replacement(model) {
        Replacement::AtomicAccesses if is_access && order.is_atomic() => release_acquire(action),
        Replacement::SeqCstAccesses if is_access && order == MemoryOrder::SeqCst => {
            release_acquire(action)
        }
        Replacement::Everything if order.is_atomic() && !is_lock && !is_object => {
            MemoryOrder::Relaxed
        }
        Replacement::Nothing
        | Replacement::AtomicAccesses
        | Replacement::SeqCstAccesses
        | Replacement::Everything => order,
    }
}

/// Acquire if an access reads, release if it writes.
fn release_acquire(action: &Action) -> MemoryOrder {
    match (reads(action), writes(action)) {
        (true, true) => MemoryOrder::AcqRel,
        (true, false) => MemoryOrder::Acquire,
        _ => MemoryOrder::Release,
    }
}

fn program_order(execution: &Execution) -> Matrix {
    let mut po = Matrix::empty(execution.event_count());
    for event in execution.events().filter(|&event| !execution.is_init(event)) {
        let (inits, thread) = (execution.locations(), execution.thread_of(event));
        inits.for_each(|l| po.insert(execution.init_of(l).index(), event.index()));
        let before = thread.into_iter().flat_map(|thread| execution.thread_events(thread));
        before.filter(|&e| e < event).for_each(|e| po.insert(e.index(), event.index()));
    }
    po
}

fn spawn_and_join(execution: &Execution) -> Matrix {
    let mut asw = Matrix::empty(execution.event_count());
    for event in execution.events() {
        match *execution.action(event) {
            Action::Spawn { thread } => {
                let events = execution.thread_events(thread);
                events.for_each(|e| asw.insert(event.index(), e.index()));
            }
            Action::Join { thread } => {
                let last = execution.thread_events(thread).last();
                let end = last.or_else(|| execution.spawned_by(thread));
                end.into_iter().for_each(|e| asw.insert(e.index(), event.index()));
            }
            _ => {}
        }
    }
    asw
}

fn same_location(execution: &Execution, hidden: &dyn Fn(EventId) -> bool) -> Matrix {
    let mut by_location = vec![vec![]; execution.location_count() + 1];
    for event in execution.events() {
        let place = if hidden(event) {
            Some(execution.location_count())
        } else {
            execution.action(event).location().map(LocationId::index)
        };
        place.into_iter().for_each(|place: usize| by_location[place].push(event.index()));
    }
    let pairs = by_location
        .iter()
        .flat_map(|events| events.iter().flat_map(|&a| events.iter().map(move |&b| (a, b))));
    Matrix::of(execution.event_count(), pairs)
}

fn reads_from(size: usize, coherence: &Coherence) -> Matrix {
    let observed = coherence.rf.iter().enumerate();
    let observed = observed.filter_map(|(read, source)| source.map(|s| (s.index(), read)));
    let fences = coherence.fences.windows(2).map(|pair| (pair[0].index(), pair[1].index()));
    Matrix::of(size, observed.chain(fences))
}
