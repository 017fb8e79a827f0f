//! Sorts the chains of a location by their forced order: a modification order.
//!
//! A depth-first topological sort; O(nk) for n writes and k threads. A chain that is reached again while its predecessors
//! are being sorted closes a cycle.

use super::by_location::LocationAccess;
use super::graph::{NONE, id};
use raddle_core::execution::EventId;

/// Why the chains of a location have no order.
pub(super) enum ChainContradiction {
    /// An event has seen a write that comes after the write that it observes or is: a later one of the same chain, or any
    /// one if it observes or is part of the initial chain.
    Stale {
        read: u32,
        /// The write that it has seen.
        write: u32,
        /// The read by which it has seen it, or [`NONE`].
        by: u32,
    },
    /// A cycle: each write must come before the chain with this top, to which the next write
    /// belongs; the last one before the chain of the first.
    Cycle(Vec<(u32, u32)>),
}

impl ChainContradiction {
    /// A contradiction between an access and a write that it has seen, through the read `by` unless that is [`NONE`]. All
    /// three are indices of accesses.
    pub(super) fn stale(
        accesses: &[LocationAccess],
        read: u32,
        write: u32,
        by: u32,
    ) -> ChainContradiction {
        let event = |index: u32| accesses[index as usize].event;
        let by = if by == NONE { NONE } else { event(by) };
        ChainContradiction::Stale { read: event(read), write: event(write), by }
    }
}

/// The chains of a location, the initial one first. The tables are reused for the next location.
#[derive(Default)]
pub(super) struct ChainNumbers {
    /// The first write of each chain.
    pub(super) tops: Vec<u32>,
    /// By access that writes: its chain.
    pub(super) chain_of: Vec<u32>,
}

impl ChainNumbers {
    /// ChainNumbers the chains of a location.
    pub(super) fn fill(&mut self, accesses: &[LocationAccess]) {
        self.tops.clear();
        self.chain_of.clear();
        self.chain_of.resize(accesses.len(), NONE);
        for (access, index) in accesses.iter().zip(0..) {
            if access.top == index {
                self.chain_of[index as usize] = self.tops.len() as u32;
                self.tops.push(index);
            }
        }
        for (access, index) in accesses.iter().zip(0..).filter(|(access, _)| access.is_write()) {
            self.chain_of[index] = self.chain_of[access.top as usize];
        }
    }
}

/// The chains of a location, and for each some writes that must come before it. Writes are indices among the accesses of
/// the location.
pub(super) trait Predecessors {
    /// The chains.
    fn numbers(&self) -> &ChainNumbers;
    /// The number of entries for predecessors of a chain.
    fn degree(&self, chain: usize) -> usize;
    /// The write in an entry, if there is one, and its chain.
    fn get(&self, chain: usize, at: usize) -> Option<(u32, usize)>;
}

/// A chain whose predecessors are being sorted.
struct SortFrame {
    chain: usize,
    /// The next entry to visit.
    at: usize,
    /// The write of this chain that comes before the chain of the frame below.
    through: u32,
}

/// How far the search is with a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SortState {
    New,
    Open,
    Done,
}

/// The writes of a location in a modification order.
///
/// # Errors
/// If the forced order has a cycle.
pub(super) fn sort(
    forced: &impl Predecessors,
    accesses: &[LocationAccess],
) -> Result<Vec<EventId>, ChainContradiction> {
    let tops = &forced.numbers().tops;
    let mut order = Vec::with_capacity(tops.len());
    for chain in sort_chains(forced, accesses)? {
        let mut write = tops[chain as usize];
        while write != NONE {
            let access = accesses[write as usize];
            order.push(id(access.event));
            write = access.next;
        }
    }
    Ok(order)
}

/// The chains of a location in a modification order.
///
/// # Errors
/// If the forced order has a cycle.
pub(super) fn sort_chains(
    forced: &impl Predecessors,
    accesses: &[LocationAccess],
) -> Result<Vec<u32>, ChainContradiction> {
    let count = forced.numbers().tops.len();
    let mut state = vec![SortState::New; count];
    let mut order = Vec::with_capacity(count);
    let mut stack: Vec<SortFrame> = vec![];
    for root in 0..count {
        if state[root] == SortState::New {
            state[root] = SortState::Open;
            stack.push(SortFrame { chain: root, at: 0, through: NONE });
        }
        while let Some(frame) = stack.last_mut() {
            if frame.at == forced.degree(frame.chain) {
                state[frame.chain] = SortState::Done;
                order.push(frame.chain as u32);
                stack.pop();
                continue;
            }
            let (chain, at) = (frame.chain, frame.at);
            frame.at += 1;
            let Some((write, before)) = forced.get(chain, at) else { continue };
            match state[before] {
                SortState::New => {
                    state[before] = SortState::Open;
                    stack.push(SortFrame { chain: before, at: 0, through: write });
                }
                SortState::Open => {
                    return Err(closing_cycle(forced, accesses, &stack, before, write));
                }
                SortState::Done => {}
            }
        }
    }
    Ok(order)
}

/// The cycle that closes when a write of an open chain comes before the chain on top of the stack.
fn closing_cycle(
    forced: &impl Predecessors,
    accesses: &[LocationAccess],
    stack: &[SortFrame],
    chain: usize,
    write: u32,
) -> ChainContradiction {
    let event = |write: u32| accesses[write as usize].event;
    let start = stack.iter().position(|frame| frame.chain == chain).unwrap_or(0);
    let mut cycle = vec![];
    let mut through = write;
    for frame in stack[start..].iter().rev() {
        cycle.push((event(through), event(forced.numbers().tops[frame.chain])));
        through = frame.through;
    }
    ChainContradiction::Cycle(cycle)
}
