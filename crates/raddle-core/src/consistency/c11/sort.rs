//! From what is forced to a modification order: sorting the chains of a location.
//!
//! Depth first, a chain after those that must come before it; O(nk) for n writes and k threads. A
//! chain that is reached again while its predecessors are being sorted closes a circle.

use super::chains::Chains;
use super::graph::{NONE, id};
use crate::execution::EventId;

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
    /// A circle: each write must come before the chain with this top, to which the next write
    /// belongs; the last one before the chain of the first.
    Circle(Vec<(u32, u32)>),
}

/// The chains of a location, the initial one first, and for each some writes that must come before
/// it.
pub(super) trait Predecessors {
    /// The first write of each chain.
    fn tops(&self) -> &[u32];
    /// How many places for predecessors a chain has.
    fn degree(&self, chain: usize) -> usize;
    /// The write at a place, if there is one, and its chain.
    fn get(&self, chains: &Chains, chain: usize, at: usize) -> Option<(u32, usize)>;
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
/// If what is forced has a circle.
pub(super) fn sort(forced: &impl Predecessors, chains: &Chains) -> Result<Vec<EventId>, Clash> {
    let tops = forced.tops();
    let mut state = vec![State::New; tops.len()];
    let mut order = Vec::with_capacity(tops.len());
    let mut stack: Vec<Frame> = vec![];
    for root in 0..tops.len() {
        if state[root] == State::New {
            state[root] = State::Open;
            stack.push(Frame { chain: root, at: 0, through: NONE });
        }
        while let Some(frame) = stack.last_mut() {
            if frame.at == forced.degree(frame.chain) {
                state[frame.chain] = State::Done;
                order.extend(chains.from(tops[frame.chain]).map(id));
                stack.pop();
                continue;
            }
            let (chain, at) = (frame.chain, frame.at);
            frame.at += 1;
            let Some((write, before)) = forced.get(chains, chain, at) else { continue };
            match state[before] {
                State::New => {
                    state[before] = State::Open;
                    stack.push(Frame { chain: before, at: 0, through: write });
                }
                State::Open => return Err(circle(tops, &stack, before, write)),
                State::Done => {}
            }
        }
    }
    Ok(order)
}

/// The circle that closes when a write of an open chain comes before the chain on top.
fn circle(tops: &[u32], stack: &[Frame], chain: usize, write: u32) -> Clash {
    let start = stack.iter().position(|frame| frame.chain == chain).unwrap_or(0);
    let mut circle = vec![];
    let mut through = write;
    for frame in stack[start..].iter().rev() {
        circle.push((through, tops[frame.chain]));
        through = frame.through;
    }
    Clash::Circle(circle)
}
