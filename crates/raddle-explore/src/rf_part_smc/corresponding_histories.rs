//! What corresponds to what if symmetric threads exchange their roles.

use std::rc::Rc;

use super::permutations::Block;
use raddle_core::execution::ThreadId;
use raddle_core::program::{Answer, HistoryId, OpKind, ThreadExchange};
use rustc_hash::FxHashMap;

/// What the search knows of the histories of symmetric threads.
pub(super) struct CorrespondingHistories {
    /// The thread that has started them.
    pub(super) creator: ThreadId,
    /// Pairs of neighbours in a block.
    pub(super) exchanges: Vec<ThreadExchange>,
    /// By exchange: for each history the one that corresponds to it.
    pub(super) images: Vec<Vec<HistoryId>>,
    /// What the creator has asked about its threads, by history.
    pub(super) asked: FxHashMap<HistoryId, Asked>,
}

impl Default for CorrespondingHistories {
    /// There are no symmetric threads.
    fn default() -> Self {
        CorrespondingHistories::new(ThreadId::new(0), &[])
    }
}

impl CorrespondingHistories {
    /// The threads of these blocks, which a creator has started.
    pub(super) fn new(creator: ThreadId, blocks: &[Block]) -> Self {
        let exchange = |pair: &[ThreadId]| ThreadExchange { first: pair[0], second: pair[1] };
        let exchanges: Vec<ThreadExchange> =
            blocks.iter().flat_map(|block| block.windows(2).map(exchange)).collect();
        let images = vec![vec![]; exchanges.len()];
        CorrespondingHistories { creator, exchanges, images, asked: FxHashMap::default() }
    }
}

/// What a creator has asked about the threads of each block, by block and thread.
pub(super) type Asked = Rc<Vec<Vec<Vec<(OpKind, Option<Answer>)>>>>;
