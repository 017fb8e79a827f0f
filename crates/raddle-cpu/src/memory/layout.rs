//! Where things are in the guest's address space of 47 bits.
//!
//! All bases are constants, and everything that belongs to a thread lies at `base + thread * stride`. So an address
//! depends only on the history of the thread that it belongs to, never on the schedule or on the host.

use super::state::Thread;

/// Bytes per page.
pub const PAGE: u64 = 4096;
/// The first address that is not part of the guest's address space.
pub const END: u64 = 1 << 47;
/// Base of an executable that can be loaded anywhere.
pub const EXECUTABLE: u64 = 0x5500_0000_0000;
/// Base of the first shared object.
pub const OBJECTS: u64 = 0x7000_0000_0000;
/// Distance between the bases of two shared objects.
pub const OBJECT_STRIDE: u64 = 1 << 32;
/// Base of the heap of thread 0. The low bits differ from those of stacks and thread-local storage, so that their first pages have
/// different places in the caches of threads.
pub const HEAPS: u64 = 0x1000_0004_0000;
/// Distance between the heaps of two threads, and so the largest size of a heap.
pub const HEAP_STRIDE: u64 = 1 << 36;
/// Base of the anonymous mappings of thread 0.
pub const MAPPINGS: u64 = 0x2000_0000_0000;
/// Distance between the anonymous mappings of two threads.
pub const MAPPING_STRIDE: u64 = 1 << 36;
/// Base of the stack area of thread 0. The stack ends at the end of the area.
pub const STACKS: u64 = 0x6000_0000_0000;
/// Distance between the stacks of two threads.
pub const STACK_STRIDE: u64 = 1 << 32;
/// Bytes below the stack pointer that leaf functions use.
pub const RED_ZONE: u64 = 128;
/// Base of the thread-local storage of thread 0.
pub const TLS: u64 = 0x6800_0002_0000;
/// Distance between the thread-local storage of two threads.
pub const TLS_STRIDE: u64 = 1 << 32;
/// Base of the addresses that stand for host functions. A jump there is a host call.
pub const HOST_FUNCTIONS: u64 = 0x7f80_0000_0000;
/// Distance between the addresses of two host functions.
pub const HOST_FUNCTION_STRIDE: u64 = 16;

/// First address of the heap of `thread`.
pub fn heap(thread: Thread) -> u64 {
    HEAPS + thread.index() as u64 * HEAP_STRIDE
}

/// First address of the anonymous mappings of `thread`.
pub fn mapping(thread: Thread) -> u64 {
    MAPPINGS + thread.index() as u64 * MAPPING_STRIDE
}

/// First address after the stack of `thread`.
pub fn stack_end(thread: Thread) -> u64 {
    STACKS + (thread.index() as u64 + 1) * STACK_STRIDE - (1 << 16)
}

/// First address of the thread-local storage of `thread`.
pub fn tls(thread: Thread) -> u64 {
    TLS + thread.index() as u64 * TLS_STRIDE
}

/// Base of shared object `index`, in order of loading.
pub fn object(index: usize) -> u64 {
    OBJECTS + index as u64 * OBJECT_STRIDE
}

/// The address that stands for host function `id`.
pub fn host_function(id: u32) -> u64 {
    HOST_FUNCTIONS + u64::from(id) * HOST_FUNCTION_STRIDE
}

/// The host function at `address`, if one starts there.
pub fn host_function_at(address: u64) -> Option<u32> {
    let offset = address.checked_sub(HOST_FUNCTIONS)?;
    let id = u32::try_from(offset / HOST_FUNCTION_STRIDE).ok()?;
    (offset % HOST_FUNCTION_STRIDE == 0).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MAX_THREADS;

    #[test]
    fn areas_of_threads_do_not_overlap() {
        let count = MAX_THREADS as u64;
        let areas = [
            (HEAPS, HEAPS + count * HEAP_STRIDE),
            (MAPPINGS, MAPPINGS + count * MAPPING_STRIDE),
            (EXECUTABLE, EXECUTABLE + OBJECT_STRIDE),
            (STACKS, STACKS + count * STACK_STRIDE),
            (TLS, TLS + count * TLS_STRIDE),
            (OBJECTS, OBJECTS + 1024 * OBJECT_STRIDE),
            (HOST_FUNCTIONS, END),
        ];
        for pair in areas.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{pair:x?}");
        }
    }
}
