//! Blocks of memory that are never freed.
//!
//! *Problem.* Whether a block is still reachable when the program ends depends on the memory of all threads together; but
//! threads are run one at a time, and an execution is only known to the explorer.
//!
//! *Idea.* When a thread ends, what matters of its own memory is kept: the blocks that it has not freed, and the pointers
//! in its blocks and variables that nobody shares. The number of that ([`Remains`]) is the value of a last store, to
//! a location that nobody reads. So a complete execution says by its events what its threads left; what is in shared
//! memory are the values of the last stores. Executions in which these are the same are looked at once, after the
//! exploration.
//!
//! A block is reachable if a variable, or a block that is reachable, has a word with an address in it, as usual. If several stores to a
//! location are not ordered, any of them may be the last. Thread-local variables count as long as the thread
//! lives, so only those of the main thread. What libraries allocate for themselves is theirs.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::program::{OpKind, PlaceId};
use raddle_core::trace::{Observed, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::layout::{Location, What};
use crate::native::{GONE, Native};
use crate::slots::Part;

/// What is left of a thread when it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Remains {
    /// Blocks: where they start, how large they are, and where they were allocated.
    blocks: Vec<(usize, usize, PlaceId)>,
    /// Words that are addresses in heaps: where they are, and what they are.
    pointers: Vec<(usize, usize)>,
}

/// What has been left, each once.
#[derive(Debug, Default)]
pub(crate) struct Left {
    all: Vec<Remains>,
    known: FxHashMap<Remains, usize>,
}

/// What an execution leaves: last stores to locations.
pub(crate) type Last = BTreeSet<(LocationId, Value)>;

/// The complete executions of an exploration, one of each kind that may differ in its leaks.
#[derive(Debug, Default)]
pub(crate) struct Leaves {
    seen: FxHashSet<Last>,
    traces: Vec<(Last, Trace)>,
}

/// A block that an execution does not free and that nothing points to in the end.
pub(crate) struct Leak {
    pub(crate) trace: Trace,
    /// Where the block was allocated.
    pub(crate) place: PlaceId,
    /// The size of the block in bytes.
    pub(crate) size: usize,
}

impl Leaves {
    /// Notes a complete execution.
    pub(crate) fn note(&mut self, trace: Trace) {
        let last = last_stores(&trace);
        if self.seen.insert(last.clone()) {
            self.traces.push((last, trace));
        }
    }

    /// The first leak.
    pub(crate) fn leak(self, program: &Native) -> Option<Leak> {
        self.traces.into_iter().find_map(|(last, trace)| {
            let (place, size) = program.leak(&last)?;
            Some(Leak { trace: without_remains(program, &trace), place, size })
        })
    }
}

/// The stores of a trace after which none comes to the same location.
fn last_stores(trace: &Trace) -> Last {
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

/// How many events of each thread come before each event, itself included.
fn clocks(trace: &Trace) -> Vec<BTreeMap<ThreadId, u32>> {
    let mut clocks: Vec<BTreeMap<ThreadId, u32>> = Vec::with_capacity(trace.events.len());
    let mut last: BTreeMap<ThreadId, BTreeMap<ThreadId, u32>> = BTreeMap::new();
    for event in &trace.events {
        let mut clock = last.remove(&event.thread).unwrap_or_default();
        let mut see = |other: &BTreeMap<ThreadId, u32>| {
            for (&thread, &count) in other {
                let known = clock.entry(thread).or_default();
                *known = count.max(*known);
            }
        };
        if let Some(Observed::Event(source)) = event.observed
            && let Some(source) = clocks.get(source)
        {
            see(source);
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

/// The trace without the stores that say what is left.
fn without_remains(program: &Native, trace: &Trace) -> Trace {
    let is_left =
        |location: LocationId| matches!(program.layout.all[location.index()].what, What::Remains);
    trace.only(|event| !event.op.kind.location().is_some_and(is_left)).0
}

impl Native {
    /// Says what the current thread leaves.
    pub(crate) fn leave_remains(&mut self, place: PlaceId) {
        let remains = self.remains();
        let left = &mut self.left;
        let next = left.all.len();
        let number = *left.known.entry(remains.clone()).or_insert(next);
        if number == next {
            left.all.push(remains);
        }
        let location = self.layout.locate_other(What::Remains, self.current.index(), place);
        let (value, order) = (number as Value, MemoryOrder::NonAtomic);
        self.effect_at(OpKind::Store { location, value, order, carries: false }, place);
    }

    fn remains(&self) -> Remains {
        let thread = self.thread();
        let blocks: Vec<(usize, usize, PlaceId)> = thread.heap.live().collect();
        let mut ranges: Vec<(usize, usize)> =
            blocks.iter().map(|&(start, size, _)| (start, start + size)).collect();
        ranges.extend(&thread.owned);
        if self.current.index() == 0 {
            let locals = thread.slot.locals();
            ranges.push((locals, locals + self.module.thread_locals.size));
            let untouched = self.owners.nobodys().flat_map(|(from, to)| {
                self.module.ranges().map(move |range| (from.max(range.0), to.min(range.1)))
            });
            ranges.extend(untouched.filter(|(from, to)| from < to));
        }
        ranges.sort_unstable();
        ranges.dedup();
        let words = ranges.iter().flat_map(|&(from, to)| words(from, to));
        let is_own = |at: usize| !self.layout.is_shared(at, 8);
        let pointers = words.filter(|&(at, word)| self.is_in_heap(word) && is_own(at)).collect();
        Remains { blocks, pointers }
    }

    fn is_in_heap(&self, word: usize) -> bool {
        matches!(self.slots.find(word), Some((_, Part::Heap { .. })))
    }

    /// A block that an execution leaves and that nothing points to: where it was allocated, and how large it is.
    fn leak(&self, last: &Last) -> Option<(PlaceId, usize)> {
        let (mut blocks, mut pointers) = (BTreeMap::new(), self.pointers_in_pieces(last));
        for &(location, value) in last {
            match self.layout.all[location.index()].what {
                What::Remains => {
                    let remains = &self.left.all[value as usize];
                    blocks.extend(remains.blocks.iter().map(|block| (block.0, block)));
                    pointers.extend(&remains.pointers);
                }
                _ => pointers.extend(self.shared_words(location, value)),
            }
        }
        for &(location, value) in last {
            let Location { what, address, .. } = self.layout.all[location.index()];
            if what == What::Block && value != 0 {
                blocks.remove(&address);
            }
        }
        let block_of = |address: usize| {
            let (&start, &&(_, size, _)) = blocks.range(..=address).next_back()?;
            (address < start + size.max(1)).then_some(start)
        };
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = vec![];
        let from = |holder: Option<usize>| {
            let held = pointers.iter().filter(move |&&(at, _)| block_of(at) == holder);
            held.filter_map(|&(_, word)| block_of(word)).collect::<Vec<usize>>()
        };
        open.extend(from(None));
        while let Some(block) = open.pop() {
            if reached.insert(block) {
                open.extend(from(Some(block)));
            }
        }
        let is_lost = |(start, block): &(usize, &(usize, usize, PlaceId))| {
            !reached.contains(start) && self.places.is_users(block.2)
        };
        blocks.into_iter().find(is_lost).map(|(_, &(_, size, place))| (place, size))
    }

    /// The addresses in heaps that are in shared memory in pieces.
    fn pointers_in_pieces(&self, last: &Last) -> Vec<(usize, usize)> {
        let mut bytes = BTreeMap::new();
        for &(location, value) in last {
            let Location { what, address, .. } = self.layout.all[location.index()];
            if let What::Memory(size @ 0..8) = what {
                let value = value.to_le_bytes();
                bytes.extend((0..size).map(|at| (address + at, value[at])));
            }
        }
        let words = bytes.keys().copied().filter(|at| at % 8 == 0);
        let word = |at: usize| {
            let word: Vec<u8> = bytes.range(at..at + 8).map(|(_, &byte)| byte).collect();
            Some((at, usize::from_le_bytes(word.try_into().ok()?)))
        };
        words.filter_map(word).filter(|&(_, word)| self.is_in_heap(word)).collect()
    }

    /// The addresses in heaps that a store of at least 8 bytes leaves in shared memory.
    fn shared_words(&self, location: LocationId, value: Value) -> Vec<(usize, usize)> {
        let Location { what: What::Memory(size), address, .. } = self.layout.all[location.index()]
        else {
            return vec![];
        };
        if value == GONE || size < 8 {
            return vec![];
        }
        let halves =
            [(address, value as u64 as usize), (address + 8, (value >> 64) as u64 as usize)];
        halves[..size / 8].iter().copied().filter(|&(_, word)| self.is_in_heap(word)).collect()
    }
}

/// The words of a range of memory: where they are, and what they are.
fn words(from: usize, to: usize) -> impl Iterator<Item = (usize, usize)> {
    let aligned = from.next_multiple_of(8)..(to.saturating_sub(7)).max(from.next_multiple_of(8));
    // SAFETY: the range is the program's, and none of its code runs.
    aligned.step_by(8).map(|at| (at, unsafe { *(at as *const usize) }))
}
