//! Permutations of symmetric threads.
//!
//! The search may use any set of them: with all, it explores one class of each orbit; with some, a few more. All of them
//! are used if they are at most [`MOST`], otherwise those that exchange two threads. Exchanging neighbours alone leaves up to
//! 2.4 times as many classes.

use raddle_core::execution::ThreadId;
use raddle_core::program::ThreadExchange;

/// The largest number of permutations of which all are used: those of six threads.
const MOST: u128 = 720;

/// Threads that are symmetric, ascending.
pub(super) type Block = Vec<ThreadId>;

/// A permutation of threads: `renamed` is what a thread of the program is called, `named` the inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    renamed: Vec<ThreadId>,
    named: Vec<ThreadId>,
}

impl Permutation {
    /// The permutation that renames no thread.
    fn identity(blocks: &[Block]) -> Self {
        let last = blocks.iter().flatten().max().map_or(0, |last| last.index() + 1);
        let all: Vec<ThreadId> = (0..last).map(ThreadId::new).collect();
        Permutation { renamed: all.clone(), named: all }
    }

    /// What a thread is called.
    #[inline]
    pub(super) fn renamed(&self, thread: ThreadId) -> ThreadId {
        self.renamed.get(thread.index()).copied().unwrap_or(thread)
    }

    /// The thread that is called so.
    #[inline]
    pub(super) fn named(&self, thread: ThreadId) -> ThreadId {
        self.named.get(thread.index()).copied().unwrap_or(thread)
    }

    fn rename(&mut self, thread: ThreadId, name: ThreadId) {
        self.renamed[thread.index()] = name;
        self.named[name.index()] = thread;
    }

    fn is_identity(&self) -> bool {
        self.renamed.iter().enumerate().all(|(at, it)| at == it.index())
    }
}

/// The number of all permutations of the threads of blocks.
pub(super) fn group_order(blocks: &[Block]) -> u128 {
    let factorial = |block: &Block| (1..=block.len() as u128).fold(1, u128::saturating_mul);
    blocks.iter().map(factorial).fold(1, u128::saturating_mul)
}

/// Returns `true` if the search uses all permutations.
pub(super) fn uses_all(blocks: &[Block]) -> bool {
    group_order(blocks) <= MOST
}

/// The permutations that the search uses, without the identity.
pub(super) fn permutations(blocks: &[Block]) -> Vec<Permutation> {
    if !uses_all(blocks) {
        return exchanges(blocks).map(|exchange| of_exchange(blocks, exchange)).collect();
    }
    let mut all = vec![Permutation::identity(blocks)];
    for block in blocks {
        let of_block = arrangements(block);
        let with_block = |permutation: &Permutation| {
            let permutation = permutation.clone();
            of_block.iter().map(move |names| {
                let mut permutation = permutation.clone();
                for (&thread, &name) in block.iter().zip(names) {
                    permutation.rename(thread, name);
                }
                permutation
            })
        };
        all = all.iter().flat_map(with_block).collect();
    }
    all.retain(|permutation| !permutation.is_identity());
    all
}

/// The permutation that exchanges two threads.
pub(super) fn of_exchange(blocks: &[Block], threads: ThreadExchange) -> Permutation {
    let mut permutation = Permutation::identity(blocks);
    permutation.rename(threads.first, threads.second);
    permutation.rename(threads.second, threads.first);
    permutation
}

/// All pairs of threads of one block.
pub(super) fn exchanges(blocks: &[Block]) -> impl Iterator<Item = ThreadExchange> + '_ {
    let pair = |block: &'_ Block, first: usize, second: usize| ThreadExchange {
        first: block[first],
        second: block[second],
    };
    blocks.iter().flat_map(move |block| {
        let firsts = 0..block.len();
        firsts.flat_map(move |first| {
            (first + 1..block.len()).map(move |second| pair(block, first, second))
        })
    })
}

/// All orders of some threads.
fn arrangements(threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    if threads.is_empty() {
        return vec![vec![]];
    }
    let with_first = |at: usize| {
        let mut rest = threads.to_vec();
        let first = rest.remove(at);
        arrangements(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..threads.len()).flat_map(with_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(threads: std::ops::Range<usize>) -> Block {
        threads.map(ThreadId::new).collect()
    }

    #[test]
    fn small_groups_are_used_as_a_whole() {
        assert_eq!(permutations(&[block(1..7)]).len(), 719);
        assert_eq!(permutations(&[block(1..4), block(5..7)]).len(), 11);
        assert_eq!(permutations(&[]).len(), 0);
    }

    #[test]
    fn of_large_groups_exchanges_are_used() {
        let blocks = [block(1..8), block(8..10)];
        assert_eq!(group_order(&blocks), 5040 * 2);
        assert_eq!(permutations(&blocks).len(), 21 + 1);
    }

    #[test]
    fn a_permutation_has_an_inverse() {
        for permutation in permutations(&[block(1..4), block(4..6)]) {
            for thread in (0..8).map(ThreadId::new) {
                assert_eq!(permutation.named(permutation.renamed(thread)), thread);
            }
        }
    }
}
