//! What corresponds to what if symmetric threads exchange their roles.

use std::rc::Rc;

use super::permutations::Block;
use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::{Answer, HistoryId, OpKind, ThreadExchange};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the search knows of the histories of symmetric threads.
pub(super) struct CorrespondingHistories {
    /// The thread that has started them.
    pub(super) creator: Option<ThreadId>,
    pub(super) blocks: Vec<Block>,
    /// Pairs of neighbours in a block.
    pub(super) exchanges: Vec<ThreadExchange>,
    /// By exchange: for each history the one that corresponds to it.
    pub(super) images: Vec<Vec<HistoryId>>,
    /// What the creator has asked about its threads, by history.
    pub(super) asked: FxHashMap<HistoryId, Asked>,
    /// The last of these that is known to be the same for all threads of a block.
    pub(super) same: Option<Asked>,
    /// Locations that the creator has accessed while it had not asked the same about all threads. Nobody else may access them.
    pub(super) of_creator: FxHashSet<LocationId>,
    /// Locations that others access.
    pub(super) of_others: FxHashSet<LocationId>,
}

impl Default for CorrespondingHistories {
    /// There are no symmetric threads.
    fn default() -> Self {
        CorrespondingHistories::new(None, &[])
    }
}

impl CorrespondingHistories {
    /// The threads of these blocks, which a creator has started.
    pub(super) fn new(creator: Option<ThreadId>, blocks: &[Block]) -> Self {
        let exchange = |pair: &[ThreadId]| ThreadExchange { first: pair[0], second: pair[1] };
        let exchanges: Vec<ThreadExchange> =
            blocks.iter().flat_map(|block| block.windows(2).map(exchange)).collect();
        let images = vec![vec![]; exchanges.len()];
        CorrespondingHistories {
            creator,
            blocks: blocks.to_vec(),
            exchanges,
            images,
            asked: FxHashMap::default(),
            same: None,
            of_creator: FxHashSet::default(),
            of_others: FxHashSet::default(),
        }
    }
}

/// An op of a creator that is about one of its threads, and the answer to a question.
pub(super) type AskedOp = (OpKind, Option<Answer>);

/// What a creator has asked about the threads of each block, by block and thread.
pub(super) type Asked = Rc<Vec<Vec<Vec<AskedOp>>>>;
