//! Blocks of memory that are never freed.
//!
//! *Problem.* Whether a block is still reachable when the program ends depends on the memory of all threads together. But
//! threads run one at a time, and only the explorer knows an execution.
//!
//! *Idea.* When a thread ends, what matters of its private memory is kept: the blocks that it has not freed, and the pointers to heaps in
//! its blocks and variables ([`Remains`]). The number of that is the value of a last store, to a location that
//! no thread reads. So the events of a complete execution determine what its threads left, and its last stores determine
//! shared memory.
//!
//! A block is reachable if a variable, or a reachable block, contains a word with an address in it, as usual. If several stores to
//! a location are unordered, any of them may be the last. Thread-local variables count as long as their thread lives, so
//! only those of the main thread. Blocks that libraries allocate for themselves do not count.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::{End, OpKind, PlaceId};
use raddle_core::trace::{Observed, Trace};
use raddle_cpu::memory::{RegionKind, State};
use rustc_hash::FxHashMap;

use super::call::{Call, Suspend};
use super::heap::heap_owner;
use super::layout::{Location, LocationKind};
use super::{GONE, NativeProgram, sharing};

const WORD: u64 = 8;

/// What is left of a thread when it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Remains {
    blocks: Vec<RemainingBlock>,
    /// Words that are addresses in heaps: where they are, and the address.
    pointers: Vec<(u64, u64)>,
}

/// A block that its thread has not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RemainingBlock {
    start: u64,
    size: u64,
    /// Where it was allocated.
    made: PlaceId,
}

/// Everything that threads have left in some execution, each once.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    all: Vec<Remains>,
    numbers: FxHashMap<Remains, usize>,
}

/// The last stores to locations in an execution.
pub(crate) type LastStores = BTreeSet<(LocationId, Value)>;

/// A block that an execution does not free and that nothing points to at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leak {
    /// Where it was allocated.
    pub(crate) place: PlaceId,
    /// Its size in bytes.
    pub(crate) size: u64,
}

/// The stores of a trace after which no store to the same location is ordered.
pub(crate) fn last_stores(trace: &Trace) -> LastStores {
    let clocks = clocks(trace);
    let mut writes: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        if let (Some(location), Some(_)) = (event.op.kind.location(), event.written) {
            let others = writes.entry(location).or_default();
            let is_before = |other: usize| {
                let earlier = &trace.events[other];
                clocks[at].get(&earlier.thread).is_some_and(|&seen| seen > earlier.position as u32)
            };
            others.retain(|&other| !is_before(other));
            others.push(at);
        }
    }
    let value = |at: usize| trace.events[at].written.unwrap_or(0);
    let of =
        |(location, at): (LocationId, Vec<usize>)| at.into_iter().map(move |at| (location, at));
    writes.into_iter().flat_map(of).map(|(location, at)| (location, value(at))).collect()
}

/// The number of events of each thread that are ordered before each event, itself included.
fn clocks(trace: &Trace) -> Vec<BTreeMap<ThreadId, u32>> {
    let mut clocks: Vec<BTreeMap<ThreadId, u32>> = Vec::with_capacity(trace.events.len());
    let mut last: BTreeMap<ThreadId, BTreeMap<ThreadId, u32>> = BTreeMap::new();
    for event in &trace.events {
        let mut clock = last.remove(&event.thread).unwrap_or_default();
        if let Some(Observed::Event(source)) = event.observed
            && let Some(source) = clocks.get(source)
        {
            for (&thread, &count) in source {
                let known = clock.entry(thread).or_default();
                *known = count.max(*known);
            }
        }
        clock.insert(event.thread, event.position as u32 + 1);
        if let OpKind::Spawn { thread } = event.op.kind {
            last.insert(thread, clock.clone());
        }
        last.insert(event.thread, clock.clone());
        clocks.push(clock);
    }
    clocks
}

impl Call<'_> {
    /// Ends the thread. If leaks are looked for, its last op tells what it leaves.
    pub(crate) fn end_of_thread(&mut self) -> Suspend {
        if self.program.settings.leaks {
            let number = self.program.note_remains();
            let place = self.program.place();
            let (kind, thread) = (LocationKind::Remains, self.program.current.index() as u64);
            let location = self.program.layout.locate_object(kind, thread, place);
            let (value, order) = (number as Value, MemoryOrder::NonAtomic);
            self.effect(OpKind::Store { location, value, order, carries: false });
        }
        Suspend::End(End::Finished)
    }
}

impl NativeProgram {
    /// The number of what the current thread leaves.
    fn note_remains(&mut self) -> usize {
        let remains = self.remains();
        let next = self.remaining.all.len();
        let number = *self.remaining.numbers.entry(remains.clone()).or_insert(next);
        if number == next {
            self.remaining.all.push(remains);
        }
        number
    }

    fn remains(&self) -> Remains {
        let (guest, heap) = (self.thread().guest, &self.thread().own.heap);
        let live = heap.blocks.iter().filter(|(_, block)| block.freed.is_none());
        let block = |(&start, block): (&u64, &super::heap::Block)| RemainingBlock {
            start,
            size: block.size,
            made: block.made,
        };
        let blocks: Vec<RemainingBlock> = live.map(block).collect();
        let is_main = self.current.index() == 0;
        let memory = self.process.memory();
        let mut ranges: Vec<(u64, u64)> =
            blocks.iter().map(|block| (block.start, block.start + block.size)).collect();
        let has_variables =
            |kind: RegionKind| kind == RegionKind::Data || is_main && kind == RegionKind::Tls;
        let regions = memory.regions().filter(|region| has_variables(region.kind));
        ranges.extend(regions.map(|region| (region.range.start, region.range.end)));
        ranges.extend(self.table.library_memory.iter().map(|range| (range.start, range.end)));
        let is_own = |at: u64| {
            let state = memory.state(at);
            state == State::Private(guest) || is_main && state == sharing::nobody()
        };
        let words = ranges.into_iter().flat_map(|(from, to)| {
            (from.next_multiple_of(WORD)..to.saturating_sub(WORD - 1)).step_by(WORD as usize)
        });
        let pointer = |at: u64| {
            let mut bytes = [0; WORD as usize];
            memory.read(at, &mut bytes).ok()?;
            Some((at, u64::from_le_bytes(bytes)))
        };
        let pointers = words.filter(|&at| is_own(at)).filter_map(pointer);
        let pointers = pointers.filter(|&(_, word)| heap_owner(word).is_some()).collect();
        Remains { blocks, pointers }
    }

    /// Returns `true` if an event on a location only tells what a thread leaves.
    pub(crate) fn is_remains(&self, location: LocationId) -> bool {
        self.layout.all[location.index()].kind == LocationKind::Remains
    }

    /// A block that an execution with these last stores leaves and that nothing points to.
    pub(crate) fn leak(&self, last: &LastStores) -> Option<Leak> {
        let (mut blocks, mut pointers) = (BTreeMap::new(), self.pointers_in_pieces(last));
        for &(location, value) in last {
            match self.layout.all[location.index()].kind {
                LocationKind::Remains => {
                    let remains = &self.remaining.all[value as usize];
                    blocks.extend(remains.blocks.iter().map(|block| (block.start, *block)));
                    pointers.extend(&remains.pointers);
                }
                _ => pointers.extend(self.shared_words(location, value)),
            }
        }
        for &(location, value) in last {
            let Location { kind, address, .. } = self.layout.all[location.index()];
            if kind == LocationKind::Block && value != 0 {
                blocks.remove(&address);
            }
        }
        let reached = reachable(&blocks, &pointers);
        let is_lost = |block: &RemainingBlock| {
            !reached.contains(&block.start) && self.places.is_users(block.made)
        };
        let lost = blocks.into_values().find(is_lost);
        lost.map(|block| Leak { place: block.made, size: block.size })
    }

    /// The addresses in heaps that are in shared memory in pieces.
    fn pointers_in_pieces(&self, last: &LastStores) -> Vec<(u64, u64)> {
        let mut bytes = BTreeMap::new();
        for &(location, value) in last {
            let Location { kind, address, .. } = self.layout.all[location.index()];
            if let LocationKind::Memory(size @ 0..WORD) = kind {
                let value = value.to_le_bytes();
                bytes.extend((0..size).map(|at| (address + at, value[at as usize])));
            }
        }
        let words = bytes.keys().copied().filter(|at| at % WORD == 0);
        let word = |at: u64| {
            let word: Vec<u8> = bytes.range(at..at + WORD).map(|(_, &byte)| byte).collect();
            Some((at, u64::from_le_bytes(word.try_into().ok()?)))
        };
        words.filter_map(word).filter(|&(_, word)| heap_owner(word).is_some()).collect()
    }

    /// The addresses in heaps that a store of at least 8 bytes leaves in shared memory.
    fn shared_words(&self, location: LocationId, value: Value) -> Vec<(u64, u64)> {
        let Location { kind: LocationKind::Memory(size), address, .. } =
            self.layout.all[location.index()]
        else {
            return vec![];
        };
        if value == GONE || size < WORD {
            return vec![];
        }
        let halves = [(address, value as u64), (address + WORD, (value >> 64) as u64)];
        let words = halves[..(size / WORD) as usize].iter().copied();
        words.filter(|&(_, word)| heap_owner(word).is_some()).collect()
    }
}

/// The starts of the blocks to which pointers outside of blocks lead, directly or through other blocks.
fn reachable(blocks: &BTreeMap<u64, RemainingBlock>, pointers: &[(u64, u64)]) -> BTreeSet<u64> {
    let block_of = |address: u64| {
        let (&start, block) = blocks.range(..=address).next_back()?;
        (address < start + block.size.max(1)).then_some(start)
    };
    let held_by = |holder: Option<u64>| {
        let held = pointers.iter().filter(move |&&(at, _)| block_of(at) == holder);
        held.filter_map(|&(_, word)| block_of(word)).collect::<Vec<u64>>()
    };
    let (mut reached, mut open) = (BTreeSet::new(), held_by(None));
    while let Some(block) = open.pop() {
        if reached.insert(block) {
            open.extend(held_by(Some(block)));
        }
    }
    reached
}
