//! Guest memory: states exact to the byte, faults, heap blocks, undo logs.

use crate::random::Random;
use raddle_cpu::memory::{
    Denied, FaultKind, FreeError, MapError, Memory, PAGE, RegionKind, State, Thread, Unmapped,
    layout,
};

const A: Thread = Thread::MAIN;
const DATA: u64 = 0x40_0000;

fn thread(index: usize) -> Thread {
    Thread::new(index).unwrap()
}

fn memory() -> Memory {
    let mut memory = Memory::new();
    memory.map(DATA..DATA + 4 * PAGE, RegionKind::Data, State::Private(A), "data").unwrap();
    memory
}

fn load(memory: &mut Memory, thread: Thread, address: u64, size: usize) -> Result<u64, Denied> {
    let mut bytes = [0; 8];
    memory.load(thread, address, &mut bytes[..size])?;
    Ok(u64::from_le_bytes(bytes))
}

fn store(memory: &mut Memory, address: u64, value: u64, size: usize) -> Result<(), Denied> {
    memory.store(A, address, &value.to_le_bytes()[..size])
}

fn fault(result: Result<impl std::fmt::Debug, Denied>) -> (FaultKind, u64) {
    match result {
        Err(Denied::Fault(fault)) => (fault.kind, fault.address),
        other => panic!("{other:?}"),
    }
}

#[test]
fn mapping_rejects_partial_pages_and_overlaps() {
    let mut memory = memory();
    let mut map = |range| memory.map(range, RegionKind::Data, State::Shared, "other");
    assert_eq!(map(0..1), Err(MapError::NotPages(0..1)));
    assert_eq!(map(PAGE..PAGE), Err(MapError::NotPages(PAGE..PAGE)));
    let end = layout::END;
    assert_eq!(map(end..end + PAGE), Err(MapError::OutOfRange(end..end + PAGE)));
    let overlap = DATA - PAGE..DATA + PAGE;
    assert_eq!(map(overlap.clone()), Err(MapError::Overlap(overlap, "data".into())));
    assert_eq!(map(DATA - PAGE..DATA), Ok(()));
}

#[test]
fn untouched_memory_reads_as_zeros_and_the_image_as_written() {
    let mut memory = memory();
    assert_eq!(load(&mut memory, A, DATA + 8, 8), Ok(0));
    memory.write_initial(DATA + PAGE - 2, &[1, 2, 3, 4]).unwrap();
    assert_eq!(load(&mut memory, A, DATA + PAGE - 2, 4), Ok(0x0403_0201));
    assert_eq!(memory.write_initial(DATA + 4 * PAGE - 1, &[1, 2]), Err(DATA + 4 * PAGE));
    assert_eq!(load(&mut memory, A, DATA + 4 * PAGE - 1, 1), Ok(0));
}

#[test]
fn states_are_exact_to_the_byte() {
    let mut memory = memory();
    let b = thread(1);
    memory.set_state(DATA + 4..DATA + 8, State::Shared);
    memory.set_state(DATA + 8..DATA + 9, State::ReadOnly);
    memory.set_state(DATA + 9..DATA + 10, State::Private(b));
    memory.set_state(DATA + 10..DATA + 11, State::Unmapped(Unmapped::GlobalRedZone));
    for _ in 0..2 {
        assert_eq!(store(&mut memory, DATA, 7, 4), Ok(()));
        assert_eq!(load(&mut memory, A, DATA, 4), Ok(7));
        assert_eq!(load(&mut memory, A, DATA + 4, 4), Err(Denied::Shared));
        assert_eq!(load(&mut memory, A, DATA + 8, 1), Ok(0));
        let read_only = (FaultKind::ReadOnly, DATA + 8);
        assert_eq!(fault(store(&mut memory, DATA + 8, 1, 1)), read_only);
        let owned = Denied::Owned(DATA + 9, State::Private(b));
        assert_eq!(load(&mut memory, A, DATA + 9, 1), Err(owned.clone()));
        assert_eq!(owned.owner(), Some(b));
        assert_eq!(load(&mut memory, b, DATA + 9, 1), Ok(0));
        let red_zone = (FaultKind::Unmapped(Unmapped::GlobalRedZone), DATA + 10);
        assert_eq!(fault(load(&mut memory, A, DATA + 8, 8)), red_zone);
        assert_eq!(load(&mut memory, A, DATA + 11, 8), Ok(0));
        // Own and shared bytes in one access: the own ones must become shared.
        let own = Denied::Owned(DATA, State::Private(A));
        assert_eq!(load(&mut memory, A, DATA, 8), Err(own));
    }
    assert_eq!(memory.state(DATA + 3), State::Private(A));
    assert_eq!(memory.state(DATA + 4), State::Shared);
}

#[test]
fn states_of_huge_ranges_are_set_at_once() {
    let mut memory = memory();
    let block = memory.allocate(A, 1 << 35, 16, State::Private(A)).unwrap();
    store(&mut memory, block + (1 << 30), 5, 8).unwrap();
    store(&mut memory, DATA, 6, 8).unwrap();
    memory.set_state(0..u64::MAX, State::ReadOnly);
    assert_eq!(load(&mut memory, A, block + (1 << 30), 8), Ok(5));
    assert_eq!(fault(store(&mut memory, DATA, 0, 8)), (FaultKind::ReadOnly, DATA));
    assert_eq!(memory.state(DATA + 4 * PAGE), State::Unmapped(Unmapped::Nothing));
    memory.set_state(block..block + 1, State::Shared);
    assert_eq!(memory.state(block), State::Shared);
    assert_eq!(memory.state(block + 1), State::ReadOnly);
}

#[test]
fn a_process_can_move_to_another_thread_of_the_host() {
    fn assert_send<T: Send>() {}
    assert_send::<Memory>();
    assert_send::<raddle_cpu::Cpu>();
    assert_send::<raddle_cpu::Code>();
    assert_send::<raddle_cpu::Snapshot>();
}

#[test]
fn accesses_across_pages_are_checked_on_both_sides() {
    let mut memory = memory();
    let edge = DATA + PAGE;
    store(&mut memory, edge - 3, 0x1122_3344_5566_7788, 8).unwrap();
    assert_eq!(load(&mut memory, A, edge - 3, 8), Ok(0x1122_3344_5566_7788));
    memory.set_state(edge..edge + PAGE, State::ReadOnly);
    assert_eq!(load(&mut memory, A, edge - 3, 8), Ok(0x1122_3344_5566_7788));
    assert_eq!(fault(store(&mut memory, edge - 3, 0, 8)), (FaultKind::ReadOnly, edge));
    assert_eq!(load(&mut memory, A, edge - 3, 8), Ok(0x1122_3344_5566_7788));
    let nothing = FaultKind::Unmapped(Unmapped::Nothing);
    assert_eq!(fault(load(&mut memory, A, u64::MAX - 3, 8)), (nothing, u64::MAX - 3));
    assert_eq!(fault(load(&mut memory, A, DATA + 4 * PAGE - 4, 8)), (nothing, DATA + 4 * PAGE));
}

#[test]
fn heap_addresses_depend_only_on_the_thread() {
    let mut memory = memory();
    let b = thread(1);
    let first = memory.allocate(A, 24, 1, State::Private(A)).unwrap();
    let other = memory.allocate(b, 24, 1, State::Shared).unwrap();
    let second = memory.allocate(A, 100, 64, State::Private(A)).unwrap();
    assert_eq!(first, layout::heap(A) + 16);
    assert_eq!(other, layout::heap(b) + 16);
    assert_eq!(second, layout::heap(A) + 128);
    assert_eq!(memory.allocations(A), 2);
    for size in [u64::MAX, u64::MAX - 64, u64::MAX - second - 200] {
        assert!(memory.allocate(A, size, 16, State::Shared).is_err());
    }
    assert!(memory.allocate(A, layout::HEAP_STRIDE, 16, State::Shared).is_err());
}

#[test]
fn accesses_outside_of_heap_blocks_and_after_free_name_the_block() {
    let mut memory = memory();
    let block = memory.allocate(A, 24, 1, State::Private(A)).unwrap();
    store(&mut memory, block + 16, 5, 8).unwrap();
    let Err(Denied::Fault(fault)) = store(&mut memory, block + 20, 5, 8) else { panic!() };
    assert_eq!(
        fault.to_string(),
        format!(
            "access outside of a heap block: write of 8 bytes at {:#x} in heap, \
             0 bytes after the end of heap block 0 of thread 0 (24 bytes)",
            block + 24
        )
    );
    let Err(Denied::Fault(fault)) = load(&mut memory, A, block - 1, 1) else { panic!() };
    assert_eq!(
        fault.to_string(),
        format!(
            "access outside of a heap block: read of 1 bytes at {:#x} in heap, \
             1 bytes before heap block 0 of thread 0 (24 bytes)",
            block - 1
        )
    );
    assert_eq!(memory.free(A, block + 8), Err(FreeError::NotABlock(block + 8)));
    memory.free(A, block).unwrap();
    let Err(Denied::Fault(fault)) = load(&mut memory, A, block + 8, 4) else { panic!() };
    assert_eq!(fault.kind, FaultKind::Unmapped(Unmapped::Freed));
    assert_eq!(
        fault.nearest.unwrap().to_string(),
        "byte 8 of freed heap block 0 of thread 0 (24 bytes)"
    );
    assert!(matches!(memory.free(A, block), Err(FreeError::DoubleFree(_))));
}

#[test]
fn going_back_undoes_writes_blocks_and_states() {
    let mut memory = memory();
    memory.add_thread(A, 1 << 16).unwrap();
    let kept = memory.allocate(A, 8, 8, State::Private(A)).unwrap();
    store(&mut memory, kept, 1, 8).unwrap();
    let mark = memory.mark(A, layout::stack_end(A));
    for _ in 0..2 {
        store(&mut memory, kept, 2, 8).unwrap();
        let block = memory.allocate(A, 8, 8, State::Private(A)).unwrap();
        store(&mut memory, block, 3, 8).unwrap();
        memory.free(A, kept).unwrap();
        memory.poison(A, DATA..DATA + 3, Unmapped::GlobalRedZone);
        memory.rewind(A, mark);
        assert_eq!(load(&mut memory, A, kept, 8), Ok(1));
        assert_eq!(memory.state(DATA + 2), State::Private(A));
        assert_eq!(memory.state(block), State::Unmapped(Unmapped::HeapRedZone));
        assert_eq!(memory.allocations(A), 1);
        assert_eq!(memory.heap_block(block), None);
    }
}

/// Random writes, snapshots and returns of one thread; the oracle keeps full copies.
fn compare_with_full_copies(seed: u64, steps: usize, spread: u64, rarity: u64) {
    let mut random = Random::new(seed);
    let mut memory = Memory::new();
    let stack = memory.add_thread(A, 64 * PAGE).unwrap();
    let b = thread(1);
    memory.map(DATA..DATA + spread, RegionKind::Data, State::Private(A), "data").unwrap();
    // Bytes of another thread on the same pages: they must survive.
    for page in 0..spread / PAGE {
        memory.set_state(DATA + page * PAGE + 100..DATA + page * PAGE + 108, State::Private(b));
    }
    let all = |memory: &Memory, live: u64| {
        let mut data = vec![0; spread as usize];
        memory.read(DATA, &mut data).unwrap();
        let mut rest = vec![0; (stack.end - live) as usize];
        memory.read(live, &mut rest).unwrap();
        (data, rest)
    };
    let mut foreign = vec![0u64; (spread / PAGE) as usize];
    let mut open = Vec::new();
    let mut pointer = stack.end - 4096;
    for _ in 0..steps {
        // Snapshots and returns are rare if segments are to be long.
        let chance = random.below(rarity);
        match if chance < 5 { chance } else { 5 + random.below(35) } {
            0..=2 => {
                let mark = memory.mark(A, pointer - 128);
                open.push((mark, pointer, all(&memory, pointer - 128)));
            }
            3..=4 if !open.is_empty() => {
                let index = random.below(open.len() as u64) as usize;
                open.truncate(index + 1);
                let (mark, stack_pointer, copy) = open.last().unwrap();
                memory.rewind(A, *mark);
                pointer = *stack_pointer;
                let mut copy = copy.clone();
                for (page, value) in foreign.iter().enumerate() {
                    let start = page * PAGE as usize + 100;
                    copy.0[start..start + 8].copy_from_slice(&value.to_le_bytes());
                }
                assert!(all(&memory, pointer - 128) == copy, "seed {seed}");
            }
            5 => pointer = stack.start + 8192 + 8 * random.below(30_000),
            6 => {
                let page = random.below(spread / PAGE);
                foreign[page as usize] = random.next();
                let bytes = foreign[page as usize].to_le_bytes();
                memory.store(b, DATA + page * PAGE + 100, &bytes).unwrap();
            }
            kind => {
                let size = random.one_of(&[1, 2, 4, 8, 8, 8]);
                let bytes = random.next().to_le_bytes();
                let address = if kind % 2 == 0 {
                    pointer - 128 + random.below(2048)
                } else {
                    DATA + random.below(spread - 8)
                };
                if address + 8 <= stack.end {
                    let _ = memory.store(A, address, &bytes[..size]);
                }
            }
        }
    }
}

#[test]
fn nested_snapshots_restore_what_full_copies_restore() {
    for seed in 0..200 {
        compare_with_full_copies(seed, 400, 2 * PAGE, 40);
    }
    // Few snapshots: segments are long enough to copy pages.
    for seed in 0..5 {
        compare_with_full_copies(1000 + seed, 300_000, 16 * PAGE, 40_000);
    }
}

#[test]
fn a_long_segment_copies_pages_and_needs_bounded_memory() {
    let mut memory = memory();
    memory.add_thread(A, 1 << 16).unwrap();
    store(&mut memory, DATA, 42, 8).unwrap();
    let mark = memory.mark(A, layout::stack_end(A));
    for value in 0..1_000_000u64 {
        store(&mut memory, DATA + 8 * (value % 2048), value, 8).unwrap();
    }
    let bytes = memory.undo_log_bytes(A);
    assert!(bytes <= 4096 * 16 + 4 * 4300 + 1024, "{bytes} bytes");
    memory.rewind(A, mark);
    assert_eq!(load(&mut memory, A, DATA, 8), Ok(42));
    for index in 1..2048 {
        assert_eq!(load(&mut memory, A, DATA + 8 * index, 8), Ok(0));
    }
}

#[test]
fn fresh_pages_of_a_long_segment_are_not_copied() {
    let mut memory = memory();
    memory.add_thread(A, 1 << 16).unwrap();
    let block = memory.allocate(A, 64 << 20, 16, State::Private(A)).unwrap();
    let mark = memory.mark(A, layout::stack_end(A));
    for word in 0..8 << 20 {
        store(&mut memory, block + 8 * word, word + 1, 8).unwrap();
    }
    let bytes = memory.undo_log_bytes(A);
    assert!(bytes < 2 << 20, "{bytes} bytes");
    memory.rewind(A, mark);
    for word in (0..8 << 20).step_by(1000) {
        assert_eq!(load(&mut memory, A, block + 8 * word, 8), Ok(0));
    }
}

#[test]
fn a_write_across_the_limit_of_a_snapshot_is_undone() {
    let mut memory = Memory::new();
    let stack = memory.add_thread(A, 1 << 16).unwrap();
    let middle = stack.start + (1 << 15);
    for distance in 1..8 {
        store(&mut memory, middle, 7, 8).unwrap();
        let mark = memory.mark(A, middle);
        store(&mut memory, middle - distance, u64::MAX, 8).unwrap();
        memory.rewind(A, mark);
        assert_eq!(load(&mut memory, A, middle, 8), Ok(7));
        memory.close_snapshots(A);
    }
}

#[test]
fn writes_below_every_open_snapshot_are_not_logged() {
    let mut memory = Memory::new();
    let stack = memory.add_thread(A, 1 << 16).unwrap();
    let middle = stack.start + (1 << 15);
    memory.mark(A, middle);
    // A write that starts below but may reach beyond is logged.
    for address in [middle - 24, stack.start] {
        store(&mut memory, address, 1, 8).unwrap();
    }
    assert_eq!(memory.undo_log_bytes(A), 0);
    // A snapshot higher up does not change what the first one needs.
    memory.mark(A, stack.end - 8);
    store(&mut memory, middle, 1, 8).unwrap();
    assert_eq!(memory.undo_log_bytes(A), 16);
    memory.close_snapshots(A);
    store(&mut memory, middle, 1, 8).unwrap();
    assert_eq!(memory.undo_log_bytes(A), 0);
}
