//! Calls about memory: anonymous mappings, the break, and shared objects for the dynamic linker.
//!
//! The dynamic linker maps a shared object in pieces: the whole file first, then its segments over it. The first call maps all
//! segments with the kinds that the file asks for. The others are checked against that and change nothing.

use super::super::errno::Errno;
use super::super::files::{Contents, File};
use super::super::mappings::{Protection, RemapError, has_shared};
use super::{Answer, Call, Effect, Failure, success};
use crate::load::{Elf, Module};
use raddle_cpu::memory::{PAGE, RegionKind, State, Thread};
use std::ops::Range;
use std::sync::Arc;

const PROT_WRITE: u64 = 2;
const PROT_EXEC: u64 = 4;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MREMAP_MAYMOVE: u64 = 1;
/// More than any guest can have mapped in a row.
const LARGE: u64 = 1 << 32;
const TOO_LARGE: &str = "the range is larger than any mapping";
const SHARED: &str = "unmapping or protecting memory that threads share is not modelled";
const NEW_CODE: &str = "generating code at run time is not modelled";

pub(super) fn mmap(call: &mut Call<'_>) -> Answer {
    let [address, size, protection, flags, descriptor, offset] = call.args;
    if flags & MAP_FIXED != 0 {
        return map_fixed(call, address..address.saturating_add(size));
    }
    if flags & MAP_ANONYMOUS != 0 {
        let Some(protection) = Protection::from_bits(protection) else {
            return call.refuse(NEW_CODE);
        };
        let start = call.kernel.mappings.map(call.memory, call.thread, size, protection)?;
        return Ok(Effect::Return(start));
    }
    let File::Contents(file) = call.file(descriptor)?.clone() else {
        return call.refuse("mapping of the standard streams is not modelled");
    };
    if offset != 0 || protection & PROT_WRITE != 0 {
        return call.refuse("only whole files are mapped, for reading");
    }
    match Elf::parse(file.path.clone(), &file.data) {
        Ok(elf) => map_object(call, elf),
        Err(_) => map_contents(call, &file, size),
    }
}

/// Maps a shared object with all of its segments. One that an execution has mapped that was undone since stays mapped.
fn map_object(call: &mut Call<'_>, elf: Elf) -> Answer {
    let first = elf.segments.first().map_or(0, |segment| segment.range.start / PAGE * PAGE);
    let known = call.kernel.modules.iter().find(|module| *module.path() == elf.name);
    if let Some(module) = known {
        return Ok(Effect::Return(module.base + first));
    }
    let base = call.kernel.next_base();
    match Module::map(elf, base, call.memory) {
        Ok(module) => call.kernel.modules.push(Arc::new(module)),
        Err(_) => return call.refuse("the segments of the shared object do not fit"),
    }
    Ok(Effect::Return(base + first))
}

/// Maps a file that is no shared object.
fn map_contents(call: &mut Call<'_>, file: &Contents, size: u64) -> Answer {
    let start = call.kernel.mappings.map(call.memory, call.thread, size, Protection::ReadWrite)?;
    let len = file.data.len().min(size as usize);
    call.store(start, &file.data[..len])?;
    let range = start..start + size;
    call.kernel.mappings.protect(call.memory, call.thread, range, Protection::Read)?;
    Ok(Effect::Return(start))
}

/// A piece of a shared object that is mapped already.
fn map_fixed(call: &mut Call<'_>, range: Range<u64>) -> Answer {
    let [_, _, protection, flags, descriptor, offset] = call.args;
    let module = call.kernel.modules.iter().find(|module| {
        let start = range.start.wrapping_sub(module.base);
        start <= module.file.end()
            && range.end.wrapping_sub(module.base) <= module.file.end() + PAGE
    });
    let Some(module) = module else {
        return call.refuse("mapping at a fixed address is not modelled");
    };
    let start = range.start - module.base;
    let is_as_in_file = module.file.segments.iter().any(|segment| {
        let first = segment.range.start / PAGE * PAGE;
        let delta = start.wrapping_sub(first);
        let page = segment.file.start as u64 / PAGE * PAGE;
        let is_piece = if flags & MAP_ANONYMOUS != 0 {
            segment.is_writable
                && start < segment.range.end.next_multiple_of(PAGE)
                && start >= first
        } else {
            delta == 0 && page == offset
        };
        is_piece
            && segment.is_writable == (protection & PROT_WRITE != 0)
            && segment.is_executable == (protection & PROT_EXEC != 0)
    });
    let path = module.path().clone();
    if flags & MAP_ANONYMOUS == 0 {
        match call.file(descriptor)? {
            File::Contents(file) if file.path == path => {}
            _ => return call.refuse("mapping over another file is not modelled"),
        }
    }
    if !is_as_in_file {
        return call.refuse("mapping over a segment of a shared object is not modelled");
    }
    Ok(Effect::Return(range.start))
}

pub(super) fn munmap(call: &mut Call<'_>) -> Answer {
    let [address, size, ..] = call.args;
    let range = address..address.checked_add(size).ok_or(Errno::EINVAL)?;
    if size > LARGE {
        return call.refuse(TOO_LARGE);
    }
    if is_in_module(call, address) {
        return call.refuse("unmapping a part of a shared object is not modelled");
    }
    if has_shared(call.memory, range.clone()) {
        return call.refuse(SHARED);
    }
    call.kernel.mappings.unmap(call.memory, call.thread, range)?;
    success()
}

fn is_in_module(call: &Call<'_>, address: u64) -> bool {
    call.kernel.modules.iter().any(|module| module.contains(address))
}

pub(super) fn mprotect(call: &mut Call<'_>) -> Answer {
    let [address, size, bits, ..] = call.args;
    let range = address..address.checked_add(size).ok_or(Errno::EINVAL)?;
    let Some(protection) = Protection::from_bits(bits) else {
        return call.refuse(NEW_CODE);
    };
    if size > LARGE {
        return call.refuse(TOO_LARGE);
    }
    let Some(region) = call.memory.region(address) else {
        // The dynamic linker protects the gaps between segments, in which nothing is.
        let is_gap = protection == Protection::None;
        return if is_gap { success() } else { Err(Errno::ENOMEM.into()) };
    };
    let is_constant = matches!(region.kind, RegionKind::Text | RegionKind::ReadOnlyData)
        || (region.kind == RegionKind::Data && call.memory.state(address) == State::ReadOnly);
    if is_constant && protection == Protection::ReadWrite {
        return call.refuse("constants and code cannot become writable");
    }
    if protection != Protection::ReadWrite && has_shared(call.memory, range.clone()) {
        return call.refuse(SHARED);
    }
    call.kernel.mappings.protect(call.memory, call.thread, range, protection)?;
    success()
}

pub(super) fn brk(call: &mut Call<'_>) -> Answer {
    let to = call.args[0];
    if call.kernel.is_explored && call.thread != Thread::MAIN {
        return call.refuse("only the main thread may move the break");
    }
    Ok(Effect::Return(call.kernel.mappings.set_break(call.memory, call.thread, to)))
}

pub(super) fn mremap(call: &mut Call<'_>) -> Answer {
    let [address, old, new, flags, ..] = call.args;
    if flags != MREMAP_MAYMOVE {
        return call.refuse("only moving to any address is modelled");
    }
    if old > LARGE {
        return call.refuse(TOO_LARGE);
    }
    let range = address..address.checked_add(old).ok_or(Errno::EINVAL)?;
    match call.kernel.mappings.remap(call.memory, call.thread, range, new) {
        Ok(start) => Ok(Effect::Return(start)),
        Err(RemapError::Errno(errno)) => Err(errno.into()),
        Err(RemapError::Denied(denied)) => Err(call.denied(address, &denied)),
    }
}

pub(super) fn madvise(call: &mut Call<'_>) -> Answer {
    /// Contents are dropped and read as zeros; all other advice changes nothing that the guest can see.
    const MADV_DONTNEED: u64 = 4;
    let [address, size, advice, ..] = call.args;
    if advice == MADV_DONTNEED {
        for at in (address..address.saturating_add(size)).step_by(PAGE as usize) {
            match call.store(at, &[0; PAGE as usize]) {
                Ok(()) => {}
                Err(Failure::Errno(_)) => break,
                Err(refused) => return Err(refused),
            }
        }
    }
    success()
}
