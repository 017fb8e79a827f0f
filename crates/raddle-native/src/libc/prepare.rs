//! What happens between the dynamic linker and the program.

use std::ops::Range;

use raddle_cpu::memory::{Memory, PAGE, RegionKind, State, Thread, layout};
use raddle_cpu::{Register, Stop};

use super::area;
use crate::process::{Event, Process};

/// Bytes for the addresses of host functions.
const HOST_CODE: u64 = 1 << 20;
/// Addresses of memory that the system calls `mmap` and `brk` return.
const MAPPINGS: Range<u64> = 0x2000_0000_0000..0x5000_0000_0000;

/// Prepares a process that stands at its entry.
///
/// - The C++ library counts without atomic updates as long as the C library says that there is one thread. So this variable always
///   says that there are more.
/// - The unwinder of exceptions reads the code at return addresses, also at those of host functions.
/// - When the unwinder is first used it fills tables, and the C library looks for it. That is done here, so that threads only
///   read what it leaves.
pub(super) fn prepare(process: &mut Process) {
    let code = layout::HOST_FUNCTIONS..layout::HOST_FUNCTIONS + HOST_CODE;
    let (kind, state) = (RegionKind::ReadOnlyData, State::ReadOnly);
    // Nothing else is mapped there, so this cannot fail.
    let _ = process.memory_mut().map(code, kind, state, "host functions");
    area::map_shared(process);
    if process.address_of("_Unwind_Backtrace").is_some() {
        use_unwinder(process);
    }
    if let Some(address) = process.address_of("__libc_single_threaded") {
        // The variable is mapped, so this cannot fail.
        let _ = process.memory_mut().write_initial(address, &[0]);
    }
}

/// Calls `backtrace` for one address, which is stored far below the stack pointer. If that is not possible now, threads do what
/// it would have done.
fn use_unwinder(process: &mut Process) {
    const BELOW: u64 = 1 << 16;
    let Some(function) = process.address_of("backtrace") else { return };
    let Some(saved) = process.cpu(Thread::MAIN).cloned() else { return };
    let buffer = saved.register(Register::Rsp) - BELOW;
    if process.begin_call(Thread::MAIN, function, &[buffer, 1]).is_ok() {
        run_to_return(process);
    }
    if let Some(cpu) = process.cpu_mut(Thread::MAIN) {
        *cpu = saved;
    }
}

/// Runs the main thread until the function returns that was called, or cannot run on.
fn run_to_return(process: &mut Process) {
    loop {
        match process.run(Thread::MAIN) {
            Event::Cpu(Stop::Fence(_) | Stop::Pause) | Event::Yield => {}
            event if process.has_returned(&event) => return,
            Event::HostCall(_) => run_library_code(process),
            _ => return,
        }
    }
}

/// Lets the main thread run the code of the library function for which a host function stands. There is none behind a function
/// that no library defines; a jump there is a fault.
pub(super) fn run_library_code(process: &mut Process) {
    if let Some(cpu) = process.cpu_mut(Thread::MAIN) {
        let address = cpu.ip();
        cpu.jump_past_hook(address);
    }
}

/// Memory that libraries have allocated so far.
pub(crate) fn library_memory(process: &Process) -> Vec<Range<u64>> {
    let regions = process.memory().regions().map(|region| region.range.clone());
    let regions = regions.filter(|range| MAPPINGS.contains(&range.start));
    regions.flat_map(|range| mapped_pages(process.memory(), range)).collect()
}

/// The accessible pages of a region. Between two mappings is a page that is not accessible, and after the last one all are.
fn mapped_pages(memory: &Memory, range: Range<u64>) -> Vec<Range<u64>> {
    const GAP: u64 = 2 * PAGE;
    let mut mapped: Vec<Range<u64>> = vec![];
    let mut end = range.start;
    for page in range.clone().step_by(PAGE as usize) {
        if page >= end + GAP {
            break;
        }
        if !matches!(memory.state(page), State::Unmapped(_)) {
            mapped.push(page..page + PAGE);
            end = page + PAGE;
        }
    }
    mapped
}
