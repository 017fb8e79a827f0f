//! What the functions of the libraries are made of that Raddle models (`shims`).
//!
//! All of these are called on the stack of a thread of the program, and may stop it: between two of them
//! the thread may be gone for good, so nothing that must be cleaned up may be alive then. Their place is
//! that of the program's call of the library function.
//!
//! Everything that a function depends on comes from here, from its arguments, or from the program's memory:
//! a thread is run again, and must do the same.

use std::ptr;

use raddle_core::execution::{MemoryOrder, ThreadId, Value};
use raddle_core::program::{Guard, Update, UpdateKind};

use crate::switch;
pub(crate) use raddle_core::outcome::FindingKind;

/// What a synchronization object is, for its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum Kind {
    Mutex,
    Condition,
    ReadWriteLock,
    Semaphore,
    Barrier,
    Once,
    Futex,
    Section,
    Exit,
}

/// Memory of the stub that library functions keep what threads share in. As long as only one thread uses it, that is no
/// op, as with any memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Area {
    /// Four bytes for each thread.
    Threads,
    /// What is done at the end of the program.
    Exits,
}

/// A thread that has ended the program waits for this, which never comes.
pub(crate) const EXITED: Guard = Guard::Below(0);

/// What a thread asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    Read { address: usize, size: usize },
    ReadSetting { address: usize, size: usize },
    Write { address: usize, size: usize },
    Load { address: usize, size: usize, order: MemoryOrder },
    Store { address: usize, size: usize, value: Value, order: MemoryOrder },
    Compare { address: usize, size: usize, expected: Value, desired: Value, orders: Orders },
    Sync { address: usize, kind: Kind, guard: Guard, update: Update },
    Lock { address: usize },
    Unlock { address: usize },
    TryLock { address: usize },
    IsHeld { address: usize },
    Spawn { function: usize, argument: usize },
    Join { thread: ThreadId },
    SetResult { value: Value },
    Result { thread: ThreadId },
    Choose { options: u32 },
    Assume,
    Finish,
    Fail { bug: FindingKind, message: &'a str },
    Print { text: &'a str },
    Allocate { size: usize, alignment: usize, is_zeroed: bool },
    BlockSize { address: usize },
    Free { address: usize },
    TakeBlock { address: usize },
    ClearBlock { address: usize },
    Remember { key: (u32, u64), value: u64 },
    Recall { key: (u32, u64) },
    Current,
    Area { area: Area },
    IsInLibrary { address: usize },
    ThreadLocals,
    Hold { holds: bool },
    NoteBound { what: &'static str },
    NoteLeft,
}

/// A request, and what the explorer answers.
pub(crate) struct Call<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) reply: Value,
    /// Whether a weak compare-exchange failed although the values are equal.
    pub(crate) is_spurious: bool,
}

/// Both orders are relaxed, and it does not fail without a reason.
pub(crate) const RELAXED: Orders =
    Orders { success: MemoryOrder::Relaxed, failure: MemoryOrder::Relaxed, is_weak: false };

/// The memory orders of a compare-exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders {
    /// If it succeeds.
    pub(crate) success: MemoryOrder,
    /// If it fails.
    pub(crate) failure: MemoryOrder,
    /// Whether it may fail although the values are equal.
    pub(crate) is_weak: bool,
}

fn ask(request: Request<'_>) -> (Value, bool) {
    let mut call = Call { request, reply: 0, is_spurious: false };
    // SAFETY: this is called on the stack of a thread of the program, so there is a frame. The call stays
    // where it is until the explorer has answered.
    unsafe { switch::ask(switch::running(), ptr::from_mut(&mut call).cast()) };
    // The explorer has written it behind the compiler's back.
    // SAFETY: both are initialised and ours.
    unsafe {
        (ptr::read_volatile(&raw const call.reply), ptr::read_volatile(&raw const call.is_spurious))
    }
}

/// The program's memory in this range now holds what the thread reads there, by plain loads.
pub(crate) fn read_bytes(address: usize, size: usize) {
    if size > 0 {
        ask(Request::Read { address, size });
    }
}

/// From now on, or no more, memory goes on to hold what the thread has read there, whatever it asks for next. (In one library
/// function it does in any case.)
pub(crate) fn hold(holds: bool) {
    ask(Request::Hold { holds });
}

/// What the function writes to this range before its next op, or its end, is stored by plain stores.
pub(crate) fn write_bytes(address: usize, size: usize) {
    if size > 0 {
        ask(Request::Write { address, size });
    }
}

/// Writes bytes to the program's memory by plain stores.
pub(crate) fn put_bytes(address: usize, bytes: &[u8]) {
    write_bytes(address, bytes.len());
    // SAFETY: the program gave us the address to write to; if it is wrong the fault is the program's, and
    // found as such.
    unsafe { ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
}

/// Reads a number of at most 8 bytes from the program's memory, by plain loads.
pub(crate) fn get_number(address: usize, size: usize) -> u64 {
    read_bytes(address, size);
    number_at(address, size)
}

fn number_at(address: usize, size: usize) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: as for `put_bytes`.
    unsafe { ptr::copy(address as *const u8, bytes.as_mut_ptr(), size.min(8)) };
    u64::from_le_bytes(bytes)
}

/// As [`get_number`], of a variable that is most likely never written: then there is no op.
pub(crate) fn get_setting(address: usize, size: usize) -> u64 {
    ask(Request::ReadSetting { address, size });
    number_at(address, size)
}

/// Writes a number of at most 8 bytes to the program's memory, by plain stores.
pub(crate) fn put_number(address: usize, size: usize, number: u64) {
    put_bytes(address, &number.to_le_bytes()[..size.min(8)]);
}

/// An atomic load.
pub(crate) fn load(address: usize, size: usize, order: MemoryOrder) -> Value {
    ask(Request::Load { address, size, order }).0
}

/// An atomic store.
pub(crate) fn store(address: usize, size: usize, value: Value, order: MemoryOrder) {
    ask(Request::Store { address, size, value, order });
}

/// An atomic compare-exchange. Returns what it read, and whether it succeeded.
pub(crate) fn cas(
    address: usize,
    size: usize,
    expected: Value,
    desired: Value,
    orders: Orders,
) -> (Value, bool) {
    let (read, is_spurious) = ask(Request::Compare { address, size, expected, desired, orders });
    (read, read == expected && !is_spurious)
}

/// Waits until the guard holds for the synchronization object at an address, and updates it. Returns what
/// it read. Its value in the beginning is 0.
pub(crate) fn sync(address: usize, kind: Kind, guard: Guard, update: Update) -> Value {
    ask(Request::Sync { address, kind, guard, update }).0
}

/// The update that sets a synchronization object to this value.
#[must_use]
pub(crate) fn set_to(value: Value) -> Update {
    by(UpdateKind::Swap, value)
}

/// The update of a synchronization object by this operation.
#[must_use]
pub(crate) fn by(kind: UpdateKind, operand: Value) -> Update {
    Update { kind, operand, bits: 0, signed: false, carries: false }
}

/// Acquires a mutex. The thread must not hold it.
pub(crate) fn lock(address: usize) {
    ask(Request::Lock { address });
}

/// Releases a mutex. The thread must hold it: otherwise the execution fails.
pub(crate) fn unlock(address: usize) {
    ask(Request::Unlock { address });
}

/// Acquires a mutex if nobody holds it, and says whether it did.
pub(crate) fn try_lock(address: usize) -> bool {
    ask(Request::TryLock { address }).0 == 0
}

/// Whether this thread holds the mutex.
pub(crate) fn is_held(address: usize) -> bool {
    ask(Request::IsHeld { address }).0 != 0
}

/// Starts a thread with a function of one argument.
pub(crate) fn spawn(function: usize, argument: usize) -> ThreadId {
    ThreadId::new(ask(Request::Spawn { function, argument }).0 as usize)
}

/// Waits for the end of a thread.
pub(crate) fn join(thread: ThreadId) {
    ask(Request::Join { thread });
}

/// What the function returned with which a thread started that was joined.
pub(crate) fn result_of(thread: ThreadId) -> u64 {
    ask(Request::Result { thread }).0 as u64
}

/// Ends the thread, with a result.
pub(crate) fn finish(result: u64) -> ! {
    if result != 0 {
        ask(Request::SetResult { value: result.into() });
    }
    ask(Request::Finish);
    unreachable!("a thread that has finished does not go on")
}

/// Any number below `options`.
pub(crate) fn choose(options: u32) -> u32 {
    ask(Request::Choose { options }).0 as u32
}

/// If not, the execution is of no interest.
pub(crate) fn assume(condition: bool) {
    if !condition {
        ask(Request::Assume);
    }
}

/// The execution fails.
pub(crate) fn fail(bug: FindingKind, message: &str) -> ! {
    ask(Request::Fail { bug, message });
    unreachable!("a thread that has failed does not go on")
}

/// The program does something that is not modelled.
pub(crate) fn refuse(message: &str) -> ! {
    fail(FindingKind::Unsupported, message)
}

/// The program prints something.
pub(crate) fn print(text: &str) {
    ask(Request::Print { text });
}

/// A new block of memory; 0 if there is no room. Unless it is zeroed, it holds a fixed pattern.
pub(crate) fn allocate(size: usize, alignment: usize, is_zeroed: bool) -> usize {
    ask(Request::Allocate { size, alignment, is_zeroed }).0 as usize
}

/// The size of a block. The execution fails if there is none at this address.
pub(crate) fn block_size(address: usize) -> usize {
    ask(Request::BlockSize { address }).0 as usize
}

/// Frees a block.
pub(crate) fn free(address: usize) {
    if address == 0 || ask(Request::Free { address }).0 == 0 {
        return;
    }
    if ask(Request::TakeBlock { address }).0 != 0 {
        fail(FindingKind::DoubleFree, "a block of memory is freed twice");
    }
    ask(Request::ClearBlock { address });
}

/// Keeps a number for this thread: it is as it was in the beginning when the thread is run again. The kind
/// says what it is for; a library function chooses a number of its own.
pub(crate) fn remember(kind: u32, key: u64, value: u64) {
    ask(Request::Remember { key: (kind, key), value });
}

/// The number that was kept; 0 in the beginning.
pub(crate) fn recall(kind: u32, key: u64) -> u64 {
    ask(Request::Recall { key: (kind, key) }).0 as u64
}

/// The thread that runs.
pub(crate) fn current() -> ThreadId {
    ThreadId::new(ask(Request::Current).0 as usize)
}

/// Where an area of memory is.
pub(crate) fn area(area: Area) -> usize {
    ask(Request::Area { area }).0 as usize
}

/// Whether the code at an address is in a library that was compiled without hooks.
pub(crate) fn is_in_library(address: usize) -> bool {
    ask(Request::IsInLibrary { address }).0 != 0
}

/// A block of this thread's own of 4096 bytes, beyond its thread-local variables. It is zero in the
/// beginning.
pub(crate) fn own_block() -> usize {
    ask(Request::ThreadLocals).0 as usize
}

/// Not everything is explored, and this is why.
pub(crate) fn note_bound(what: &'static str) {
    ask(Request::NoteBound { what });
}

/// The main thread ends, and the program does not.
pub(crate) fn note_left() {
    ask(Request::NoteLeft);
}
