//! From what is forced to a modification order: sorting the chains of a location.
//!
//! Depth first, a chain after those that must come before it; O(nk) for n writes and k threads. A
//! chain that is reached again while its predecessors are being sorted closes a cycle.

use super::by_location::Access;
use super::graph::{NONE, id};
use raddle_core::execution::EventId;

/// Why the chains of a location have no order.
pub(super) enum Clash {
    /// An event observes a write, or is one, that comes before another write of the same chain, or
    /// before all if it is of the initial chain, which the event has seen.
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

impl Clash {
    /// A clash of an access with a write that it has seen, by a read or [`NONE`]; all told by their
    /// indices.
    pub(super) fn stale(accesses: &[Access], read: u32, write: u32, by: u32) -> Clash {
        let event = |index: u32| accesses[index as usize].event;
        let by = if by == NONE { NONE } else { event(by) };
        Clash::Stale { read: event(read), write: event(write), by }
    }
}

/// The chains of a location, the initial one first. The tables are used again for the next location.
#[derive(Default)]
pub(super) struct Numbers {
    /// The first write of each chain.
    pub(super) tops: Vec<u32>,
    /// By access that writes: its chain.
    pub(super) chain_of: Vec<u32>,
}

impl Numbers {
    /// Numbers the chains of a location.
    pub(super) fn fill(&mut self, accesses: &[Access]) {
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

/// The chains of a location, and for each some writes that must come before it. Writes are told by
/// their indices among the accesses of the location.
pub(super) trait Predecessors {
    /// The chains.
    fn numbers(&self) -> &Numbers;
    /// How many places for predecessors a chain has.
    fn degree(&self, chain: usize) -> usize;
    /// The write at a place, if there is one, and its chain.
    fn get(&self, chain: usize, at: usize) -> Option<(u32, usize)>;
}

/// A chain whose predecessors are being sorted.
struct Frame {
    chain: usize,
    /// The next place to look at.
    at: usize,
    /// The write of this chain that comes before the chain of the frame below.
    through: u32,
}

/// Whether a chain has been reached, and left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// The writes of a location in a modification order.
///
/// # Errors
/// If what is forced has a cycle.
pub(super) fn sort(forced: &impl Predecessors, accesses: &[Access]) -> Result<Vec<EventId>, Clash> {
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
/// If what is forced has a cycle.
pub(super) fn sort_chains(
    forced: &impl Predecessors,
    accesses: &[Access],
) -> Result<Vec<u32>, Clash> {
    let count = forced.numbers().tops.len();
    let mut state = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    let mut stack: Vec<Frame> = vec![];
    for root in 0..count {
        if state[root] == State::New {
            state[root] = State::Open;
            stack.push(Frame { chain: root, at: 0, through: NONE });
        }
        while let Some(frame) = stack.last_mut() {
            if frame.at == forced.degree(frame.chain) {
                state[frame.chain] = State::Done;
                order.push(frame.chain as u32);
                stack.pop();
                continue;
            }
            let (chain, at) = (frame.chain, frame.at);
            frame.at += 1;
            let Some((write, before)) = forced.get(chain, at) else { continue };
            match state[before] {
                State::New => {
                    state[before] = State::Open;
                    stack.push(Frame { chain: before, at: 0, through: write });
                }
                State::Open => return Err(closing_cycle(forced, accesses, &stack, before, write)),
                State::Done => {}
            }
        }
    }
    Ok(order)
}

/// The cycle that closes when a write of an open chain comes before the chain on top.
fn closing_cycle(
    forced: &impl Predecessors,
    accesses: &[Access],
    stack: &[Frame],
    chain: usize,
    write: u32,
) -> Clash {
    let event = |write: u32| accesses[write as usize].event;
    let start = stack.iter().position(|frame| frame.chain == chain).unwrap_or(0);
    let mut cycle = vec![];
    let mut through = write;
    for frame in stack[start..].iter().rev() {
        cycle.push((event(through), event(forced.numbers().tops[frame.chain])));
        through = frame.through;
    }
    Clash::Cycle(cycle)
}
