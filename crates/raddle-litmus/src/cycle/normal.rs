//! Where a cycle starts: always at the same place, however it is turned.
//!
//! Of all starts of threads, take the one with the smallest sequence of threads, each seen as its first
//! and last access, in the order below; and of these the one with the shortest first thread and the
//! smallest relaxations.

use super::edge::{Direction, Edge};

use Direction::{Read, Write};

/// The first and the last access of a thread, if it has two.
pub(super) type Ends = (Direction, Option<Direction>);

/// In the order of diy.
const ORDER: [Ends; 6] = [
    (Write, None),
    (Write, Some(Write)),
    (Read, Some(Read)),
    (Read, Some(Write)),
    (Write, Some(Read)),
    (Read, None),
];

/// The relaxations of each thread; the last one of each leads to the next thread.
pub(super) fn threads(edges: &[Edge]) -> Vec<&[Edge]> {
    edges.split_inclusive(|edge| edge.external).collect()
}

/// The first and the last access of a thread.
pub(super) fn ends(thread: &[Edge]) -> Ends {
    let last = thread.last().map(|edge| edge.source);
    (thread[0].source, last.filter(|_| thread.len() > 1))
}

/// The cycle, turned.
pub(super) fn normal(edges: &[Edge]) -> Vec<Edge> {
    let starts =
        (0..edges.len()).filter(|&at| edges[(at + edges.len() - 1) % edges.len()].external);
    let turned = starts.map(|start| {
        let mut turned = edges.to_vec();
        turned.rotate_left(start);
        turned
    });
    turned.min_by_key(|turned| key(turned)).unwrap_or_else(|| edges.to_vec())
}

fn key(edges: &[Edge]) -> (Vec<usize>, usize, Vec<Edge>) {
    let threads = threads(edges);
    let rank =
        |thread: &&[Edge]| ORDER.iter().position(|known| *known == ends(thread)).unwrap_or(0);
    (threads.iter().map(rank).collect(), threads[0].len(), edges.to_vec())
}
