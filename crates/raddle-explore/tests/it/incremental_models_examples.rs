//! Incremental models on executions small enough to see why.

use raddle_core::execution::MemoryOrder::{self, Acquire, NonAtomic, Relaxed, Release, SeqCst};
use raddle_core::execution::{LocationId, ThreadId};
use raddle_explore::event_index::{EventIndex, RfSource};
use raddle_explore::event_set::EventSet;
use raddle_explore::long_set::LongSet;
use raddle_explore::model::c11::{
    C20, CheckerModel, CoherenceModel, Ra, Rc11, Rc20, Relaxed as RelaxedOnly, Sra, WitnessModel,
    Wra,
};
use raddle_explore::model::{
    IncrementalModel, NewModel, NewRead, NewStore, NewUnlock, PendingRead, ReadEffect, ReadKind,
};

const X: usize = 0;
const Y: usize = 1;
const INITIAL: RfSource = RfSource::INITIAL;

fn event(index: usize) -> EventIndex {
    EventIndex::new(index)
}

fn thread(index: usize) -> ThreadId {
    ThreadId::new(index)
}

fn location(index: usize) -> LocationId {
    LocationId::new(index)
}

/// The write that is this event.
fn write(index: usize) -> RfSource {
    event(index).into()
}

fn empty<R: EventSet, F: IncrementalModel<R> + NewModel>() -> F {
    F::new(0, 0)
}

/// Adds a store as this event of this thread.
fn add_store<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    (at, by): (usize, usize),
    to: usize,
    order: MemoryOrder,
) {
    let (event, thread, location) = (event(at), thread(by), location(to));
    model.push_store(NewStore { event, thread, location, order });
}

/// Adds a fence as this event of this thread.
fn add_fence<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    (at, by): (usize, usize),
    order: MemoryOrder,
) {
    model.push_fence(event(at), thread(by), order);
}

fn new_read(
    (at, by): (usize, usize),
    from: usize,
    effect: ReadEffect,
    order: MemoryOrder,
) -> NewRead {
    NewRead { event: event(at), thread: thread(by), location: location(from), effect, order }
}

/// Returns `true` if a load can observe the source. Changes nothing.
fn admits<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    at_and_by: (usize, usize),
    from: usize,
    source: RfSource,
    order: MemoryOrder,
) -> bool {
    let admitted = model.try_read(new_read(at_and_by, from, ReadEffect::Load, order), source);
    if admitted {
        model.pop();
    }
    admitted
}

/// Adds a load that observes the source.
fn load<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    at_and_by: (usize, usize),
    from: usize,
    source: RfSource,
    order: MemoryOrder,
) {
    assert!(model.try_read(new_read(at_and_by, from, ReadEffect::Load, order), source));
}

/// Tries to lock: adds an update of a synchronization object.
fn try_lock<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    at_and_by: (usize, usize),
    lock: usize,
    source: RfSource,
) -> bool {
    model.try_read(new_read(at_and_by, lock, ReadEffect::Sync, Acquire), source)
}

/// Returns `true` if these events can be the last writes of these locations.
fn can_be_last<R: EventSet, F: IncrementalModel<R> + NewModel>(
    model: &mut F,
    last: &[(usize, usize)],
) -> bool {
    let last: Vec<_> = last.iter().map(|&(at, by)| (location(at), write(by))).collect();
    model.can_be_last(&last)
}

/// `x = 1; r = y || y = 1; s = x`: can both read 0?
fn store_buffering<R: EventSet, F: IncrementalModel<R> + NewModel>(order: MemoryOrder) -> bool {
    let mut model: F = empty();
    add_store(&mut model, (0, 0), X, order);
    add_store(&mut model, (1, 1), Y, order);
    load(&mut model, (2, 0), Y, INITIAL, order);
    assert!(admits(&mut model, (3, 1), X, write(0), order));
    admits(&mut model, (3, 1), X, INITIAL, order)
}

#[test]
fn store_buffering_needs_sequential_consistency() {
    assert!(store_buffering::<u64, CoherenceModel<Rc20, u64>>(SeqCst));
    assert!(store_buffering::<u64, WitnessModel<Sra, u64>>(SeqCst));
    assert!(store_buffering::<u64, WitnessModel<C20, u64>>(Release));
    assert!(!store_buffering::<u64, WitnessModel<C20, u64>>(SeqCst));
    assert!(!store_buffering::<LongSet, WitnessModel<Rc11, LongSet>>(SeqCst));
}

/// `x = 1; fence; r = y || y = 1; fence; s = x` with relaxed accesses: can both read 0?
fn store_buffering_with_fences<R: EventSet, F: IncrementalModel<R> + NewModel>(
    fence: MemoryOrder,
) -> bool {
    let mut model: F = empty();
    let mut next = 0;
    for (thread, location) in [(0, X), (1, Y)] {
        add_store(&mut model, (next, thread), location, Relaxed);
        add_fence(&mut model, (next + 1, thread), fence);
        next += 1 + usize::from(F::new(1, 1).fences_are_events());
    }
    load(&mut model, (next, 0), Y, INITIAL, Relaxed);
    admits(&mut model, (next + 1, 1), X, INITIAL, Relaxed)
}

#[test]
fn fences_forbid_store_buffering_if_they_are_sequentially_consistent() {
    assert!(store_buffering_with_fences::<u64, WitnessModel<C20, u64>>(MemoryOrder::AcqRel));
    assert!(!store_buffering_with_fences::<u64, WitnessModel<C20, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, WitnessModel<Rc20, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, WitnessModel<Ra, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, CheckerModel<Sra, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, CheckerModel<Wra, u64>>(SeqCst));
    assert!(store_buffering_with_fences::<u64, CoherenceModel<RelaxedOnly, u64>>(SeqCst));
}

/// `x = 1; y = 1 || y = 2; x = 2`, and observers who see that the first write of each thread is last.
fn two_writes_twice<R: EventSet, F: IncrementalModel<R> + NewModel>(order: MemoryOrder) -> bool {
    let mut model: F = empty();
    add_store(&mut model, (0, 0), X, order);
    add_store(&mut model, (1, 0), Y, order);
    add_store(&mut model, (2, 1), Y, order);
    add_store(&mut model, (3, 1), X, order);
    assert!(can_be_last(&mut model, &[(X, 0)]) && can_be_last(&mut model, &[(Y, 2)]));
    let both = can_be_last(&mut model, &[(X, 0), (Y, 2)]);
    load(&mut model, (4, 2), X, write(3), Relaxed);
    load(&mut model, (5, 2), X, write(0), Relaxed);
    load(&mut model, (6, 3), Y, write(1), Relaxed);
    assert_eq!(admits(&mut model, (7, 3), Y, write(2), Relaxed), both);
    assert!(!admits(&mut model, (7, 3), Y, INITIAL, Relaxed));
    both
}

#[test]
fn modification_orders_of_two_locations_depend_on_each_other_under_sra_and_sc() {
    assert!(two_writes_twice::<u64, CoherenceModel<Ra, u64>>(Release));
    assert!(two_writes_twice::<u64, CoherenceModel<RelaxedOnly, u64>>(Release));
    assert!(two_writes_twice::<u64, WitnessModel<C20, u64>>(Release));
    assert!(!two_writes_twice::<u64, WitnessModel<C20, u64>>(SeqCst));
    assert!(!two_writes_twice::<u64, WitnessModel<Sra, u64>>(Release));
}

/// `x = 1; y.store(1, Release); y.store(2, Relaxed) || r = y.load(Acquire); s = x`: can `s` be 0 if `r` is 2?
fn long_release_sequence<F: IncrementalModel<u64> + NewModel>() -> bool {
    let mut model: F = empty();
    add_store(&mut model, (0, 0), X, NonAtomic);
    add_store(&mut model, (1, 0), Y, Release);
    add_store(&mut model, (2, 0), Y, Relaxed);
    load(&mut model, (3, 1), Y, write(2), Acquire);
    assert!(
        model.happened_before(thread(1)).has(event(1))
            != admits(&mut model, (4, 1), X, INITIAL, NonAtomic)
    );
    admits(&mut model, (4, 1), X, INITIAL, NonAtomic)
}

#[test]
fn later_stores_continue_a_release_sequence_under_rc11_only() {
    assert!(!long_release_sequence::<CoherenceModel<Rc11, u64>>());
    assert!(!long_release_sequence::<WitnessModel<Rc11, u64>>());
    assert!(long_release_sequence::<CoherenceModel<C20, u64>>());
    assert!(long_release_sequence::<WitnessModel<C20, u64>>());
    assert!(!long_release_sequence::<CoherenceModel<Ra, u64>>());
}

/// A store of `first`, then a release of `x`, which another thread acquires; then, perhaps after starting a thread,
/// that one loads `second`. A third thread stores `second` and loads `first`. All but the release and the acquire is
/// sequentially consistent: can both loads miss the stores?
fn around<F: IncrementalModel<u64> + NewModel>(first: usize, second: usize, spawn: bool) -> bool {
    let mut model: F = empty();
    add_store(&mut model, (0, 0), first, SeqCst);
    add_store(&mut model, (1, 0), X, Release);
    load(&mut model, (2, 1), X, write(1), Acquire);
    // If both are `x`, the store of the third thread is the later one.
    let overwritten = if second == X { write(1) } else { INITIAL };
    load(&mut model, (3, 2), second, overwritten, Relaxed);
    add_store(&mut model, (4, 2), second, SeqCst);
    if spawn {
        model.push_spawn(thread(1), thread(3));
    }
    load(&mut model, (5, 1), second, overwritten, SeqCst);
    admits(&mut model, (6, 2), first, INITIAL, SeqCst)
}

/// RC11 orders sequentially consistent accesses by `po|≠loc; hb; po|≠loc`, where starting a thread counts as something
/// at another location.
#[test]
fn happens_before_orders_accesses_only_by_way_of_other_locations() {
    let z = 2;
    for (first, second, spawn, expected) in
        [(z, Y, false, false), (X, Y, false, true), (z, X, false, true), (z, X, true, false)]
    {
        assert_eq!(around::<CheckerModel<C20, u64>>(first, second, spawn), expected);
        assert_eq!(around::<WitnessModel<C20, u64>>(first, second, spawn), expected);
        assert_eq!(around::<WitnessModel<Rc11, u64>>(first, second, spawn), expected);
    }
}

/// A thread stores `x` and starts another one, which loads `z`, perhaps after something else; a third thread stores `z`
/// and loads `x`: can both loads miss the stores?
fn around_by_spawn<F: IncrementalModel<u64> + NewModel>(something_else: bool) -> bool {
    let z = 2;
    let mut model: F = empty();
    add_store(&mut model, (0, 0), X, SeqCst);
    model.push_spawn(thread(0), thread(1));
    add_store(&mut model, (1, 2), z, SeqCst);
    let mut next = 2;
    if something_else {
        load(&mut model, (next, 1), Y, INITIAL, Relaxed);
        next += 1;
    }
    load(&mut model, (next, 1), z, INITIAL, SeqCst);
    admits(&mut model, (next + 1, 2), X, INITIAL, SeqCst)
}

#[test]
fn starting_a_thread_orders_its_accesses_but_the_first() {
    for something_else in [false, true] {
        assert_eq!(around_by_spawn::<CheckerModel<C20, u64>>(something_else), !something_else);
        assert_eq!(around_by_spawn::<WitnessModel<C20, u64>>(something_else), !something_else);
    }
}

/// A fence happens before a relaxed store, by way of another thread, and somebody who loads it has the next fence: this
/// does not make the first fence happen before the second, and yet it is earlier. The rest is store buffering: `x = 1`,
/// the two fences, `z == 0`, and on the other side `z = 1`, a fence, `x == 0`.
fn fences_by_a_relaxed_load<F: IncrementalModel<u64> + NewModel>(second: MemoryOrder) -> bool {
    let (u, z) = (2, 3);
    let mut model: F = empty();
    add_store(&mut model, (0, 0), X, Relaxed);
    add_fence(&mut model, (1, 0), SeqCst);
    add_store(&mut model, (2, 0), u, Release);
    load(&mut model, (3, 1), u, write(2), Acquire);
    add_store(&mut model, (4, 1), Y, Relaxed);
    load(&mut model, (5, 2), Y, write(4), Relaxed);
    add_fence(&mut model, (6, 2), second);
    add_store(&mut model, (7, 3), z, Relaxed);
    add_fence(&mut model, (8, 3), SeqCst);
    load(&mut model, (9, 2), z, INITIAL, Relaxed);
    admits(&mut model, (10, 3), X, INITIAL, Relaxed)
}

#[test]
fn fences_are_ordered_by_what_is_read_between_them() {
    assert!(!fences_by_a_relaxed_load::<CheckerModel<C20, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<WitnessModel<C20, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<WitnessModel<Rc11, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<WitnessModel<Rc20, u64>>(SeqCst));
    assert!(fences_by_a_relaxed_load::<CheckerModel<C20, u64>>(MemoryOrder::AcqRel));
    assert!(fences_by_a_relaxed_load::<WitnessModel<C20, u64>>(MemoryOrder::AcqRel));
}

/// What is written under a lock is seen under it, in every model.
fn locks<F: IncrementalModel<u64> + NewModel>() {
    let (mut model, lock): (F, usize) = (empty(), Y);
    assert!(try_lock(&mut model, (0, 0), lock, INITIAL));
    add_store(&mut model, (1, 0), X, NonAtomic);
    let unlock =
        NewUnlock { event: event(2), thread: thread(0), lock: location(lock), acquire: event(0) };
    model.push_unlock(unlock);
    assert!(!try_lock(&mut model, (3, 1), lock, INITIAL));
    let (kind, order) = (ReadKind::Update, Acquire);
    let pending = PendingRead { thread: thread(1), location: location(lock), kind, order };
    let sources = model.sources(pending);
    assert!(sources.writes == u64::one(event(2)) && !sources.initial);
    assert!(try_lock(&mut model, (3, 1), lock, write(2)));
    assert!(!admits(&mut model, (4, 1), X, INITIAL, NonAtomic));
    assert!(admits(&mut model, (4, 1), X, write(1), NonAtomic));
    assert_eq!(model.happened_before(thread(1)), u64::below(event(4)));
    model.pop();
    assert!(admits(&mut model, (3, 1), X, INITIAL, NonAtomic));
    assert_eq!(model.happened_before(thread(1)), 0);
}

#[test]
fn locks_synchronize_in_every_model() {
    locks::<CoherenceModel<RelaxedOnly, u64>>();
    locks::<CoherenceModel<Wra, u64>>();
    locks::<CoherenceModel<Rc20, u64>>();
    locks::<WitnessModel<C20, u64>>();
    locks::<WitnessModel<Sra, u64>>();
}

/// Where there is no modification order a write is later than another one if it happens after it, atomic or not.
/// (Observers cannot tell: those who read a plain write learn nothing.)
#[test]
fn a_plain_write_that_happens_later_is_later_without_modification_order() {
    fn first_can_be_last<F: IncrementalModel<u64> + NewModel>() -> bool {
        let mut model: F = empty();
        add_store(&mut model, (0, 0), X, Release);
        add_store(&mut model, (1, 0), X, NonAtomic);
        assert!(can_be_last(&mut model, &[(X, 1)]));
        can_be_last(&mut model, &[(X, 0)])
    }
    assert!(!first_can_be_last::<CoherenceModel<Wra, u64>>());
    assert!(!first_can_be_last::<CheckerModel<Wra, u64>>());
}

#[test]
fn models_report_what_they_cannot_represent() {
    fn needs_stronger<F: IncrementalModel<u64> + NewModel>(fence: bool) -> bool {
        let mut model: F = empty();
        assert!(!model.needs_stronger_model());
        if fence {
            add_fence(&mut model, (0, 0), SeqCst);
        } else {
            add_store(&mut model, (0, 0), X, SeqCst);
        }
        model.needs_stronger_model()
    }
    assert!(
        needs_stronger::<CoherenceModel<Rc20, u64>>(true)
            && !needs_stronger::<CoherenceModel<Rc20, u64>>(false)
    );
    assert!(
        needs_stronger::<CoherenceModel<Ra, u64>>(true)
            && !needs_stronger::<CoherenceModel<Ra, u64>>(false)
    );
    assert!(
        needs_stronger::<CoherenceModel<Wra, u64>>(true)
            && !needs_stronger::<CoherenceModel<Wra, u64>>(false)
    );
    assert!(
        needs_stronger::<CoherenceModel<C20, u64>>(true)
            && needs_stronger::<CoherenceModel<C20, u64>>(false)
    );
    assert!(
        needs_stronger::<CoherenceModel<Rc11, u64>>(true)
            && needs_stronger::<CoherenceModel<Rc11, u64>>(false)
    );
    assert!(
        !needs_stronger::<CoherenceModel<RelaxedOnly, u64>>(true)
            && !needs_stronger::<CoherenceModel<RelaxedOnly, u64>>(false)
    );
    assert!(
        needs_stronger::<WitnessModel<Sra, u64>>(true)
            && !needs_stronger::<WitnessModel<Sra, u64>>(false)
    );
    assert!(
        !needs_stronger::<WitnessModel<C20, u64>>(true)
            && !needs_stronger::<WitnessModel<Rc20, u64>>(true)
    );
}
