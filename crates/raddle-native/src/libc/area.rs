//! Guest memory of modelled functions. As long as one thread uses it, an access is no op, as with any memory.

use std::ops::Range;

use raddle_core::execution::ThreadId;
use raddle_core::program::Naming;
use raddle_cpu::memory::{MAX_THREADS, PAGE, RegionKind, State};

use crate::process::Process;
use crate::program::NativeProgram;
use crate::program::call::Call;
use crate::program::sharing::nobody;

/// Memory that threads may share. It is mapped before the program starts.
const SHARED: u64 = 0x5400_0000_0000;
const SHARED_SIZE: u64 = 4 * PAGE;
/// The addresses of memory that threads may share.
pub(super) const BOOKKEEPING: Range<u64> = SHARED..SHARED + SHARED_SIZE;
/// Memory of each thread.
const OWN: u64 = SHARED + (1 << 32);
const OWN_SIZE: u64 = PAGE;

/// Offset of the functions for the end of the program; before it are four bytes for each thread.
const EXITS: u64 = PAGE;

/// The address of the state of a thread: whether it was joined or detached.
pub(super) fn thread_state(thread: usize) -> u64 {
    SHARED + 4 * thread as u64
}

/// Memory of each thread: bases and distances.
pub(super) const THREAD_AREAS: [(u64, u64); 2] = [(SHARED, 4), (OWN, OWN_SIZE)];

/// The name of memory that threads may share.
pub(super) fn name(program: &NativeProgram, address: u64) -> Option<String> {
    let offset = address.checked_sub(SHARED).filter(|offset| *offset < SHARED_SIZE)?;
    Some(match offset.checked_sub(EXITS) {
        None => format!("state of {}", program.thread_name(ThreadId::new(offset as usize / 4))),
        Some(offset) => format!("functions for the end+{offset}"),
    })
}

/// The address of the list of functions for the end of the program, which has room for [`exits_room`] bytes.
pub(super) const fn exits() -> u64 {
    SHARED + EXITS
}

/// The size of the list of functions for the end of the program.
pub(super) const fn exits_room() -> u64 {
    SHARED_SIZE - EXITS
}

/// The address of memory that belongs to the thread. It is zero in the beginning.
pub(super) fn own(call: &mut Call<'_>) -> u64 {
    let thread = call.program.thread().guest;
    let start = OWN + thread.index() as u64 * OWN_SIZE;
    map(&mut call.program.process, start, OWN_SIZE, State::Private(thread));
    start
}

/// Returns `true` if an address is in the memory of [`own`] of some thread.
pub(super) fn is_own(address: u64) -> bool {
    (OWN..OWN + MAX_THREADS as u64 * OWN_SIZE).contains(&address)
}

/// Maps the memory that threads may share.
pub(super) fn map_shared(process: &mut Process) {
    map(process, SHARED, SHARED_SIZE, nobody());
}

fn map(process: &mut Process, start: u64, size: u64, state: State) {
    let memory = process.memory_mut();
    if memory.region(start).is_none() {
        // Nothing else is mapped there, so this cannot fail.
        let _ = memory.map(start..start + size, RegionKind::Data, state, "modelled functions");
    }
}
