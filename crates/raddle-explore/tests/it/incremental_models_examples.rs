//! Faces on executions small enough to see why.

use raddle_core::execution::MemoryOrder::{self, Acquire, NonAtomic, Relaxed, Release, SeqCst};
use raddle_explore::event_set::{EventSet, Words};
use raddle_explore::model::c11::{
    C20, Checked, Ra, Rc11, Rc20, Relaxed as RelaxedOnly, Sra, Views, Witnessed, Wra,
};
use raddle_explore::model::{Effect, IncrementalModel, Reads};

const X: usize = 0;
const Y: usize = 1;

fn face<R: EventSet, F: IncrementalModel<R>>() -> F {
    F::new(0, 0)
}

/// Whether a load can observe the source; nothing changes.
fn admits<R: EventSet, F: IncrementalModel<R>>(
    face: &mut F,
    (event, thread): (usize, usize),
    location: usize,
    source: Option<usize>,
    order: MemoryOrder,
) -> bool {
    let admitted = face.try_read(event, thread, location, source, Effect::Load, order);
    if admitted {
        face.pop();
    }
    admitted
}

/// A load observes the source.
fn load<R: EventSet, F: IncrementalModel<R>>(
    face: &mut F,
    (event, thread): (usize, usize),
    location: usize,
    source: Option<usize>,
    order: MemoryOrder,
) {
    assert!(face.try_read(event, thread, location, source, Effect::Load, order));
}

/// `x = 1; r = y || y = 1; s = x`: can both read 0?
fn store_buffering<R: EventSet, F: IncrementalModel<R>>(order: MemoryOrder) -> bool {
    let mut face: F = face();
    face.push_store(0, 0, X, order);
    face.push_store(1, 1, Y, order);
    load(&mut face, (2, 0), Y, None, order);
    assert!(admits(&mut face, (3, 1), X, Some(0), order));
    admits(&mut face, (3, 1), X, None, order)
}

#[test]
fn store_buffering_needs_sequential_consistency() {
    assert!(store_buffering::<u64, Views<Rc20, u64>>(SeqCst));
    assert!(store_buffering::<u64, Witnessed<Sra, u64>>(SeqCst));
    assert!(store_buffering::<u64, Witnessed<C20, u64>>(Release));
    assert!(!store_buffering::<u64, Witnessed<C20, u64>>(SeqCst));
    assert!(!store_buffering::<Words<3>, Witnessed<Rc11, Words<3>>>(SeqCst));
}

/// `x = 1; fence; r = y || y = 1; fence; s = x` with relaxed accesses: can both read 0?
fn store_buffering_with_fences<R: EventSet, F: IncrementalModel<R>>(fence: MemoryOrder) -> bool {
    let mut face: F = face();
    let mut next = 0;
    for (thread, location) in [(0, X), (1, Y)] {
        face.push_store(next, thread, location, Relaxed);
        face.push_fence(next + 1, thread, fence);
        next += 1 + usize::from(F::FENCES_ARE_EVENTS);
    }
    load(&mut face, (next, 0), Y, None, Relaxed);
    admits(&mut face, (next + 1, 1), X, None, Relaxed)
}

#[test]
fn fences_forbid_store_buffering_if_they_are_sequentially_consistent() {
    assert!(store_buffering_with_fences::<u64, Witnessed<C20, u64>>(MemoryOrder::AcqRel));
    assert!(!store_buffering_with_fences::<u64, Witnessed<C20, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, Witnessed<Rc20, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, Witnessed<Ra, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, Checked<Sra, u64>>(SeqCst));
    assert!(!store_buffering_with_fences::<u64, Checked<Wra, u64>>(SeqCst));
    assert!(store_buffering_with_fences::<u64, Views<RelaxedOnly, u64>>(SeqCst));
}

/// `x = 1; y = 1 || y = 2; x = 2`, and observers who see that the first write of each thread is last.
fn two_writes_twice<R: EventSet, F: IncrementalModel<R>>(order: MemoryOrder) -> bool {
    let mut face: F = face();
    face.push_store(0, 0, X, order);
    face.push_store(1, 0, Y, order);
    face.push_store(2, 1, Y, order);
    face.push_store(3, 1, X, order);
    assert!(face.can_be_last(&[(X, Some(0))]) && face.can_be_last(&[(Y, Some(2))]));
    let both = face.can_be_last(&[(X, Some(0)), (Y, Some(2))]);
    load(&mut face, (4, 2), X, Some(3), Relaxed);
    load(&mut face, (5, 2), X, Some(0), Relaxed);
    load(&mut face, (6, 3), Y, Some(1), Relaxed);
    assert_eq!(admits(&mut face, (7, 3), Y, Some(2), Relaxed), both);
    assert!(!admits(&mut face, (7, 3), Y, None, Relaxed));
    both
}

#[test]
fn modification_orders_of_two_locations_depend_on_each_other_under_sra_and_sc() {
    assert!(two_writes_twice::<u64, Views<Ra, u64>>(Release));
    assert!(two_writes_twice::<u64, Views<RelaxedOnly, u64>>(Release));
    assert!(two_writes_twice::<u64, Witnessed<C20, u64>>(Release));
    assert!(!two_writes_twice::<u64, Witnessed<C20, u64>>(SeqCst));
    assert!(!two_writes_twice::<u64, Witnessed<Sra, u64>>(Release));
}

/// `x = 1; y.store(1, Release); y.store(2, Relaxed) || r = y.load(Acquire); s = x`: can `s` be 0 if `r`
/// is 2?
fn long_release_sequence<F: IncrementalModel<u64>>() -> bool {
    let mut face: F = face();
    face.push_store(0, 0, X, NonAtomic);
    face.push_store(1, 0, Y, Release);
    face.push_store(2, 0, Y, Relaxed);
    load(&mut face, (3, 1), Y, Some(2), Acquire);
    assert!(face.happened_before(1).has(1) != admits(&mut face, (4, 1), X, None, NonAtomic));
    admits(&mut face, (4, 1), X, None, NonAtomic)
}

#[test]
fn later_stores_continue_a_release_sequence_under_rc11_only() {
    assert!(!long_release_sequence::<Views<Rc11, u64>>());
    assert!(!long_release_sequence::<Witnessed<Rc11, u64>>());
    assert!(long_release_sequence::<Views<C20, u64>>());
    assert!(long_release_sequence::<Witnessed<C20, u64>>());
    assert!(!long_release_sequence::<Views<Ra, u64>>());
}

/// A store of `first`, then a release of `x`, which another thread acquires; then, perhaps after starting
/// a thread, that one loads `second`. A third thread stores `second` and loads `first`. All but the
/// release and the acquire is sequentially consistent: can both loads miss the stores?
fn around<F: IncrementalModel<u64>>(first: usize, second: usize, spawn: bool) -> bool {
    let mut face: F = face();
    face.push_store(0, 0, first, SeqCst);
    face.push_store(1, 0, X, Release);
    load(&mut face, (2, 1), X, Some(1), Acquire);
    // If both are `x`, the store of the third thread is the later one.
    let overwritten = (second == X).then_some(1);
    load(&mut face, (3, 2), second, overwritten, Relaxed);
    face.push_store(4, 2, second, SeqCst);
    if spawn {
        face.push_spawn(1, 3);
    }
    load(&mut face, (5, 1), second, overwritten, SeqCst);
    admits(&mut face, (6, 2), first, None, SeqCst)
}

/// RC11 orders sequentially consistent accesses by `po|≠loc; hb; po|≠loc`, where starting a thread counts
/// as something at another location.
#[test]
fn happens_before_orders_accesses_only_by_way_of_other_locations() {
    let z = 2;
    for (first, second, spawn, expected) in
        [(z, Y, false, false), (X, Y, false, true), (z, X, false, true), (z, X, true, false)]
    {
        assert_eq!(around::<Checked<C20, u64>>(first, second, spawn), expected);
        assert_eq!(around::<Witnessed<C20, u64>>(first, second, spawn), expected);
        assert_eq!(around::<Witnessed<Rc11, u64>>(first, second, spawn), expected);
    }
}

/// A thread stores `x` and starts another one, which loads `z`, perhaps after something else; a third
/// thread stores `z` and loads `x`: can both loads miss the stores?
fn around_by_spawn<F: IncrementalModel<u64>>(something_else: bool) -> bool {
    let z = 2;
    let mut face: F = face();
    face.push_store(0, 0, X, SeqCst);
    face.push_spawn(0, 1);
    face.push_store(1, 2, z, SeqCst);
    let mut next = 2;
    if something_else {
        load(&mut face, (next, 1), Y, None, Relaxed);
        next += 1;
    }
    load(&mut face, (next, 1), z, None, SeqCst);
    admits(&mut face, (next + 1, 2), X, None, SeqCst)
}

#[test]
fn starting_a_thread_orders_its_accesses_but_the_first() {
    for something_else in [false, true] {
        assert_eq!(around_by_spawn::<Checked<C20, u64>>(something_else), !something_else);
        assert_eq!(around_by_spawn::<Witnessed<C20, u64>>(something_else), !something_else);
    }
}

/// A fence happens before a relaxed store, by way of another thread, and somebody who loads it has the next
/// fence: this does not make the first fence happen before the second, and yet it is earlier. The rest is
/// store buffering: `x = 1`, the two fences, `z == 0`, and on the other side `z = 1`, a fence, `x == 0`.
fn fences_by_a_relaxed_load<F: IncrementalModel<u64>>(second: MemoryOrder) -> bool {
    let (u, z) = (2, 3);
    let mut face: F = face();
    face.push_store(0, 0, X, Relaxed);
    face.push_fence(1, 0, SeqCst);
    face.push_store(2, 0, u, Release);
    load(&mut face, (3, 1), u, Some(2), Acquire);
    face.push_store(4, 1, Y, Relaxed);
    load(&mut face, (5, 2), Y, Some(4), Relaxed);
    face.push_fence(6, 2, second);
    face.push_store(7, 3, z, Relaxed);
    face.push_fence(8, 3, SeqCst);
    load(&mut face, (9, 2), z, None, Relaxed);
    admits(&mut face, (10, 3), X, None, Relaxed)
}

#[test]
fn fences_are_ordered_by_what_is_read_between_them() {
    assert!(!fences_by_a_relaxed_load::<Checked<C20, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<Witnessed<C20, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<Witnessed<Rc11, u64>>(SeqCst));
    assert!(!fences_by_a_relaxed_load::<Witnessed<Rc20, u64>>(SeqCst));
    assert!(fences_by_a_relaxed_load::<Checked<C20, u64>>(MemoryOrder::AcqRel));
    assert!(fences_by_a_relaxed_load::<Witnessed<C20, u64>>(MemoryOrder::AcqRel));
}

/// What is written under a lock is seen under it, in every model.
fn locks<F: IncrementalModel<u64>>() {
    let (mut face, lock): (F, usize) = (face(), Y);
    assert!(face.try_read(0, 0, lock, None, Effect::Sync, Acquire));
    face.push_store(1, 0, X, NonAtomic);
    face.push_unlock(2, 0, lock, 0);
    assert!(!face.try_read(3, 1, lock, None, Effect::Sync, Acquire));
    let sources = face.sources(1, lock, Reads::Update, Acquire);
    assert!(sources.writes == u64::one(2) && !sources.initial);
    assert!(face.try_read(3, 1, lock, Some(2), Effect::Sync, Acquire));
    assert!(!admits(&mut face, (4, 1), X, None, NonAtomic));
    assert!(admits(&mut face, (4, 1), X, Some(1), NonAtomic));
    assert_eq!(face.happened_before(1), u64::below(4));
    face.pop();
    assert!(admits(&mut face, (3, 1), X, None, NonAtomic));
    assert_eq!(face.happened_before(1), 0);
}

#[test]
fn locks_synchronize_in_every_model() {
    locks::<Views<RelaxedOnly, u64>>();
    locks::<Views<Wra, u64>>();
    locks::<Views<Rc20, u64>>();
    locks::<Witnessed<C20, u64>>();
    locks::<Witnessed<Sra, u64>>();
}

/// Where there is no modification order a write is later than another one if it happens after it,
/// atomic or not. (Observers cannot tell: those who read a plain write learn nothing.)
#[test]
fn a_plain_write_that_happens_later_is_later_without_modification_order() {
    fn first_can_be_last<F: IncrementalModel<u64>>() -> bool {
        let mut face: F = face();
        face.push_store(0, 0, X, Release);
        face.push_store(1, 0, X, NonAtomic);
        assert!(face.can_be_last(&[(X, Some(1))]));
        face.can_be_last(&[(X, Some(0))])
    }
    assert!(!first_can_be_last::<Views<Wra, u64>>());
    assert!(!first_can_be_last::<Checked<Wra, u64>>());
}

#[test]
fn faces_say_what_is_beyond_them() {
    fn lost<F: IncrementalModel<u64>>(fence: bool) -> bool {
        let mut face: F = face();
        assert!(!face.needs_stronger_model());
        if fence {
            face.push_fence(0, 0, SeqCst);
        } else {
            face.push_store(0, 0, X, SeqCst);
        }
        face.needs_stronger_model()
    }
    assert!(lost::<Views<Rc20, u64>>(true) && !lost::<Views<Rc20, u64>>(false));
    assert!(lost::<Views<Ra, u64>>(true) && !lost::<Views<Ra, u64>>(false));
    assert!(lost::<Views<Wra, u64>>(true) && !lost::<Views<Wra, u64>>(false));
    assert!(lost::<Views<C20, u64>>(true) && lost::<Views<C20, u64>>(false));
    assert!(lost::<Views<Rc11, u64>>(true) && lost::<Views<Rc11, u64>>(false));
    assert!(!lost::<Views<RelaxedOnly, u64>>(true) && !lost::<Views<RelaxedOnly, u64>>(false));
    assert!(lost::<Witnessed<Sra, u64>>(true) && !lost::<Witnessed<Sra, u64>>(false));
    assert!(!lost::<Witnessed<C20, u64>>(true) && !lost::<Witnessed<Rc20, u64>>(true));
}
