//! Normal form of cycles: a starting point that does not depend on rotation.
//!
//! Of all starts of threads, it is the one with the smallest sequence of threads, compared by their first and last
//! accesses in the order below; among these the one with the shortest first thread, and then with the smallest
//! relaxations.

use super::edge::{AccessDirection, CycleEdge};

use AccessDirection::{Read, Write};

/// First access of a thread, and last access if it has more than one.
pub(super) type Ends = (AccessDirection, Option<AccessDirection>);

/// Order of diy.
const ORDER: [Ends; 6] = [
    (Write, None),
    (Write, Some(Write)),
    (Read, Some(Read)),
    (Read, Some(Write)),
    (Write, Some(Read)),
    (Read, None),
];

/// Returns the relaxations of each thread. The last one of each leads to the next thread.
pub(super) fn threads(edges: &[CycleEdge]) -> Vec<&[CycleEdge]> {
    edges.split_inclusive(|edge| edge.external).collect()
}

/// Returns the first and the last access of a thread.
pub(super) fn ends(thread: &[CycleEdge]) -> Ends {
    let last = thread.last().map(|edge| edge.source);
    (thread[0].source, last.filter(|_| thread.len() > 1))
}

/// Rotates the cycle to its normal form.
pub(super) fn normal(edges: &[CycleEdge]) -> Vec<CycleEdge> {
    let starts =
        (0..edges.len()).filter(|&at| edges[(at + edges.len() - 1) % edges.len()].external);
    let turned = starts.map(|start| {
        let mut turned = edges.to_vec();
        turned.rotate_left(start);
        turned
    });
    turned.min_by_key(|turned| key(turned)).unwrap_or_else(|| edges.to_vec())
}

fn key(edges: &[CycleEdge]) -> (Vec<usize>, usize, Vec<CycleEdge>) {
    let threads = threads(edges);
    let rank =
        |thread: &&[CycleEdge]| ORDER.iter().position(|known| *known == ends(thread)).unwrap_or(0);
    (threads.iter().map(rank).collect(), threads[0].len(), edges.to_vec())
}
