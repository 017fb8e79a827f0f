//! The ops of the program's code: what the types of a front end call.
//!
//! An effect is recorded and the thread goes on. A question stops the fiber; whoever runs it sets the
//! reply before it is resumed. While a run is being cleaned up nothing is recorded: effects do nothing,
//! and a destructor that asks a question is left where it is, as there is no answer to give.

use std::cell::UnsafeCell;
use std::mem;
use std::ptr;

use raddle_core::execution::{MemoryOrder, ThreadId, Value};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, Guard, OpKind, Update, UpdateKind, is_pointer};

pub use crate::atom::{
    Atom, GONE, Orders, Shape, compare_exchange, into_inner, lend, load, store, update,
};
use crate::entry::{Entry, abandon, reply};
use crate::names::Kind;
pub use crate::owners::{
    are_contents_taken, count_owners, keep, need_owners, take_contents, watch,
};
use crate::state::{self, Caller, Mode, Reply, Tag};
use crate::{ask, heap};

/// A fence.
#[track_caller]
pub fn fence(order: MemoryOrder, caller: Caller) {
    let Some(entry) = Entry::new() else { return };
    let place = entry.place(caller);
    entry.effect(OpKind::Fence { order }, place);
}

/// The state of a mutex, if it can be tried: whether it is locked.
const LOCKED: Value = 1;

/// Acquires a mutex.
#[inline(always)]
#[track_caller]
pub fn lock(tag: &Tag, caller: Caller) {
    prepare_lock(tag, caller);
    ask::ask();
    reply();
}

#[inline(never)]
#[track_caller]
fn prepare_lock(tag: &Tag, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate(tag, Kind::Mutex);
    let kind = if entry.settings().mutexes_can_be_tried {
        OpKind::Sync { location, guard: Guard::Equal(0), update: set_to(LOCKED) }
    } else {
        OpKind::Lock { lock: location }
    };
    entry.prepare(kind, place);
}

/// Releases a mutex.
#[track_caller]
pub fn unlock(tag: &Tag) {
    if prepare_unlock(tag) {
        ask::ask();
        reply();
    }
}

/// Says whether this is a question.
#[inline(never)]
#[track_caller]
fn prepare_unlock(tag: &Tag) -> bool {
    let Some(entry) = Entry::new() else { return false };
    let place = entry.last_place();
    let location = entry.locate(tag, Kind::Mutex);
    if entry.settings().mutexes_can_be_tried {
        entry.prepare(OpKind::Sync { location, guard: Guard::Always, update: set_to(0) }, place);
        return true;
    }
    entry.effect(OpKind::Unlock { lock: location }, place);
    false
}

/// Acquires a mutex if it is free. The first time this is called, the exploration has to start again
/// with mutexes that can be tried.
#[inline(always)]
#[track_caller]
pub fn try_lock(tag: &Tag, caller: Caller) -> bool {
    prepare_try_lock(tag, caller);
    ask::ask();
    reply().value == 0
}

#[inline(never)]
#[track_caller]
fn prepare_try_lock(tag: &Tag, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate(tag, Kind::Mutex);
    if !entry.settings().mutexes_can_be_tried {
        entry.context.state.borrow_mut().wanted.mutexes_can_be_tried = true;
        entry.fail(
            FindingKind::Misuse,
            "mutexes must be explored as such that can be tried",
            place,
        );
    }
    entry.prepare(OpKind::Sync { location, guard: Guard::Always, update: set_to(LOCKED) }, place);
}

/// The update that sets a synchronization object to this value.
#[must_use]
pub fn set_to(value: Value) -> Update {
    Update { kind: UpdateKind::Swap, operand: value, bits: 0, signed: false, carries: false }
}

/// The update of a synchronization object by this operation.
#[must_use]
pub fn by(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 0, signed: false, carries: false }
}

/// Waits until the guard holds and updates the object. Returns what it read.
#[inline(always)]
#[track_caller]
pub fn sync(tag: &Tag, kind: Kind, guard: Guard, update: Update, caller: Caller) -> Value {
    prepare_sync(tag, kind, guard, update, Some(caller));
    ask::ask();
    reply().value
}

#[inline(never)]
#[track_caller]
fn prepare_sync(tag: &Tag, kind: Kind, guard: Guard, update: Update, caller: Option<Caller>) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate(tag, kind);
    entry.prepare(OpKind::Sync { location, guard, update }, place);
}

/// As [`sync`], in a destructor: nothing happens while a run is being cleaned up.
#[track_caller]
pub fn sync_unless_ending(tag: &Tag, kind: Kind, guard: Guard, update: Update) {
    if state::mode() != Mode::Ending {
        prepare_sync(tag, kind, guard, update, None);
        ask::ask();
        reply();
    }
}

/// As [`sync`], of the token that a thread waits for when it is parked.
#[inline(always)]
#[track_caller]
pub fn sync_token(thread: ThreadId, guard: Guard, update: Update, caller: Caller) {
    prepare_sync_token(thread, guard, update, caller);
    ask::ask();
    reply();
}

#[inline(never)]
#[track_caller]
fn prepare_sync_token(thread: ThreadId, guard: Guard, update: Update, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let address = -1 - thread.index() as Value;
    let location = entry.context.state.borrow_mut().locate_untagged(address, Kind::Park);
    entry.prepare(OpKind::Sync { location, guard, update }, place);
}

/// The program is about to read a cell.
#[inline(always)]
#[track_caller]
pub fn read_cell(tag: &Tag, caller: Caller) {
    prepare_read_cell(tag, caller);
    ask::ask();
    reply();
}

#[inline(never)]
#[track_caller]
fn prepare_read_cell(tag: &Tag, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    let location = entry.locate(tag, Kind::Cell);
    entry.prepare(OpKind::ReadCell { location }, place);
}

/// The program is about to write a cell. (A destructor does not know where.)
#[track_caller]
pub fn write_cell(tag: &Tag, caller: Option<Caller>) {
    let Some(entry) = Entry::new() else { return };
    let place = entry.place(caller);
    let location = entry.locate(tag, Kind::Cell);
    entry.effect(OpKind::WriteCell { location }, place);
}

/// Starts a thread. `owns`: its closure has something that must be dropped.
#[track_caller]
pub fn spawn(
    body: Box<dyn FnOnce()>,
    owns: bool,
    name: Option<String>,
    caller: Caller,
) -> ThreadId {
    let Some(entry) = Entry::new() else { abandon() };
    let place = entry.place(caller);
    let thread = {
        let state = &mut *entry.context.state.borrow_mut();
        let parent = state.current;
        let count = state.thread(parent).spawned;
        state.thread(parent).spawned += 1;
        let thread = state.names.spawned(parent, count, name);
        state.tracked.push((ptr::from_ref(&*body).addr(), mem::size_of_val(&*body)));
        state.thread(thread).body = Some(body);
        state.thread(thread).owns = owns;
        thread
    };
    entry.effect(OpKind::Spawn { thread }, place);
    thread
}

/// Waits for the end of a thread. Returns what it gave.
#[track_caller]
pub fn join(thread: ThreadId, caller: Caller) -> Value {
    prepare(OpKind::Join { thread }, caller);
    ask::ask();
    let Reply { value, .. } = reply();
    let state = &mut *state::current().state.borrow_mut();
    state.is_blind |= !state.thread(thread).is_in_run();
    // If the thread is part of the run it has given the same, or a pointer.
    state.thread(thread).given.unwrap_or(value)
}

/// The current thread gives a number to whoever joins it.
pub fn give(number: Value) {
    if is_running() {
        let state = &mut *state::current().state.borrow_mut();
        let current = state.current;
        state.thread(current).given = Some(number);
    }
}

/// The object changes only in a way that nobody depends on.
pub fn track<T>(object: *const T) {
    if is_running() {
        let _quiet = heap::quiet();
        let range = (object.addr(), mem::size_of::<T>());
        state::current().state.borrow_mut().tracked.push(range);
    }
}

/// The same of the block of an `Arc`.
pub fn track_block(object: *const u8) {
    track_part(object, usize::MAX);
}

/// The same of the two numbers of owners with which that block begins.
pub fn track_counts(object: *const u8) {
    track_part(object, 2 * mem::size_of::<usize>());
}

fn track_part(object: *const u8, length: usize) {
    if is_running() {
        let _quiet = heap::quiet();
        let context = state::current();
        if let Some((base, name)) = context.heap.find(object.addr()) {
            let state = &mut *context.state.borrow_mut();
            state.tracked.push((base, length.min(name.size)));
            state.counted.push(base);
        }
    }
}

/// Prepares a question that is about no location.
#[inline(never)]
#[track_caller]
fn prepare(kind: OpKind, caller: Caller) {
    let entry = Entry::asking();
    let place = entry.place(caller);
    entry.prepare(kind, place);
}

/// The thread that runs.
#[must_use]
#[track_caller]
pub fn current_thread() -> ThreadId {
    state::current().state.borrow().current
}

/// The name that the program gave a thread.
#[must_use]
#[track_caller]
pub fn name_of(thread: ThreadId) -> Option<String> {
    let context = state::current();
    let name = {
        let _quiet = heap::quiet();
        context.state.borrow().names.given_name(thread)
    };
    // A copy that belongs to the program.
    let copy = name.clone();
    let _quiet = heap::quiet();
    drop(name);
    copy
}

/// Any number below `options`.
#[must_use]
#[track_caller]
pub fn choose(options: u32, caller: Caller) -> u32 {
    prepare(OpKind::Choose { options }, caller);
    ask::ask();
    reply().value as u32
}

/// This execution is of no interest.
pub fn give_up() {
    if let Some(entry) = Entry::new() {
        entry.end(End::Assume);
    }
}

/// The program did something that it must not do, or that is not supported.
#[track_caller]
pub fn misuse(message: &str, caller: Caller) {
    if let Some(entry) = Entry::new() {
        let place = entry.place(caller);
        entry.fail(FindingKind::Misuse, message, place);
    }
}

/// Whether the current thread is unwinding: from a panic of the program, or because its run has ended.
#[must_use]
pub fn is_panicking() -> bool {
    if state::mode() == Mode::Ending {
        return true;
    }
    if state::mode() != Mode::Running || !std::thread::panicking() {
        return false;
    }
    let state = &mut *state::current().state.borrow_mut();
    let current = state.current;
    state.thread(current).panics > 0
}

/// Whether the code that runs is the program's, and recorded.
#[must_use]
pub fn is_running() -> bool {
    state::mode() == Mode::Running
}

/// Does something that allocates without giving names to the blocks.
pub fn unrecorded<R>(f: impl FnOnce() -> R) -> R {
    let _quiet = heap::quiet();
    f()
}

/// Contents in real memory, of an object that outlives the run, are put back when the run ends. If
/// they need a destructor that cannot be done, and the program fails.
#[inline]
pub fn keep_contents<T: ?Sized>(tag: &Tag, contents: &UnsafeCell<T>, caller: Caller) {
    if is_running() && state::current().state.borrow().is_new(tag) {
        let size = mem::size_of_val(contents);
        keep_bytes(tag, contents.get().cast(), size, mem::needs_drop::<T>(), caller);
    }
}

#[cold]
fn keep_bytes(tag: &Tag, contents: *mut u8, size: usize, needs_drop: bool, caller: Caller) {
    let Some(entry) = Entry::new() else { return };
    let outlives = {
        let state = &mut *entry.context.state.borrow_mut();
        state.tracked.push((contents.addr(), size));
        let address = std::ptr::from_ref(tag) as u64;
        !is_pointer(state.encode(&entry.context.heap, address))
    };
    if !outlives {
        return;
    }
    if needs_drop {
        let place = entry.place(caller);
        let message = "a lock or cell was used that was not made in this run, \
                       and its contents cannot be restored for the next";
        entry.fail(FindingKind::Misuse, message, place);
    }
    if entry.context.state.borrow_mut().keep_bytes(contents, size) {
        let place = entry.place(caller);
        let message = "a static lock or cell is used by two explorations at the same time: \
                       run these tests one after the other";
        entry.fail(FindingKind::Misuse, message, place);
    }
}
