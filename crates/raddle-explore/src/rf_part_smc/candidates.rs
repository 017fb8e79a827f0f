//! Candidates for symmetric threads: threads of one kind that another thread starts in a row.
//!
//! Threads with the same argument have the same kind ([`Program::thread_kind`]). If a thread gets memory of its own from its creator,
//! a block with what a closure has captured say, only the shape of its argument is known
//! ([`Program::thread_shape`]). Such threads are candidates if their creator has done the same for all of them.
//!
//! The creator may ask about quiet locations in between, so that it starts the threads in several segments. It goes on
//! there before anybody decides something, so all threads start in the same child.

use super::corresponding_histories::AskedOp;
use super::permutations::Block;
use super::state::PartSearch;
use crate::event_set::EventSet;
use crate::model::IncrementalModel;
use raddle_core::execution::ThreadId;
use raddle_core::program::{End, HistoryId, HistoryStep, Op, OpKind, ThreadExchange};

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// The candidates among the threads that are started up to the end of a history, by blocks.
    pub(super) fn symmetry_candidates(&mut self, history: HistoryId) -> Vec<Block> {
        let ops = self.ops_since_first_spawn(history);
        let spawns = ops.iter().filter(|op| matches!(op, OpKind::Spawn { .. })).count();
        if spawns < 2 {
            return vec![];
        }
        // What is about a thread is only known when its memory is paired.
        let groups = self.grouped(&ops, &[ops.len()]);
        self.exploration.program.pair_given_memory(&groups);
        let is_visible = |op: &OpKind| {
            !matches!(op, OpKind::Spawn { .. } | OpKind::Init { .. })
                && !groups.iter().any(|group| self.is_about(*op, group).is_some())
                && !self.is_of_creator_alone(*op, &groups)
        };
        let visible = ops.iter().enumerate().filter(|(_, op)| is_visible(op));
        let ends: Vec<usize> = visible.map(|(at, _)| at).chain([ops.len()]).collect();
        let groups = self.grouped(&ops, &ends);
        self.exploration.program.pair_given_memory(&groups);
        let blocks = groups.iter().flat_map(|group| self.with_same_past(history, group));
        blocks.filter(|block| block.len() > 1).collect()
    }

    /// What the thread of a history has done since it has started a thread, if it has only asked about quiet locations since then.
    fn ops_since_first_spawn(&self, mut history: HistoryId) -> Vec<OpKind> {
        let mut segments = vec![];
        loop {
            segments.push(history);
            let HistoryStep::After(parent, _) = self.histories.step(history) else { break };
            match self.histories.end(parent) {
                End::Question(op) if self.is_quiet_op(op.kind) => history = parent,
                _ => break,
            }
        }
        let kind = |op: &Op| op.kind;
        let mut ops = vec![];
        for (at, &segment) in segments.iter().enumerate().rev() {
            ops.extend(self.histories.effects(segment).iter().map(kind));
            if at > 0
                && let End::Question(op) = self.histories.end(segment)
            {
                ops.push(op.kind);
            }
        }
        let first = ops.iter().position(|op| matches!(op, OpKind::Spawn { .. }));
        ops.split_off(first.unwrap_or(ops.len()))
    }

    /// The threads that are started by ops, grouped by kind or shape within sections of the ops with these ends.
    fn grouped(&self, ops: &[OpKind], ends: &[usize]) -> Vec<Block> {
        let mut groups = vec![];
        let mut start = 0;
        for &end in ends {
            let threads = ops[start..end].iter().filter_map(|op| match *op {
                OpKind::Spawn { thread } => Some(thread),
                _ => None,
            });
            let is_known = |thread: &ThreadId| {
                let name = self.exploration.program.thread_name(*thread);
                self.exploration.facts.is_asymmetric(&name)
            };
            let threads: Block = threads.filter(|thread| !is_known(thread)).collect();
            groups.extend(self.grouped_threads(&threads));
            start = end;
        }
        groups
    }

    fn grouped_threads(&self, threads: &[ThreadId]) -> Vec<Block> {
        let program = &*self.exploration.program;
        let (mut groups, rest): (Vec<Block>, Vec<Block>) =
            by_key(threads, |thread| program.thread_kind(thread))
                .into_iter()
                .partition(|group| group.len() > 1);
        let of_shapes = by_key(&rest.concat(), |thread| program.thread_shape(thread));
        groups.extend(of_shapes.into_iter().filter(|group| group.len() > 1));
        groups
    }

    /// The threads of a group, divided into those for which their creator has done the same up to the end of a history.
    fn with_same_past(&self, history: HistoryId, group: &Block) -> Vec<Block> {
        let mut blocks: Vec<(Vec<AskedOp>, Block)> = vec![];
        let mut asked = vec![vec![]; group.len()];
        self.asked_up_to(history, group, &mut asked);
        for (&thread, asked) in group.iter().zip(asked) {
            let is_same = |(first, block): &&mut (Vec<AskedOp>, Block)| {
                let threads = ThreadExchange { first: block[0], second: thread };
                self.are_exchanged(threads, first, &asked)
            };
            match blocks.iter_mut().find(is_same) {
                Some((_, block)) => block.push(thread),
                None => blocks.push((asked, vec![thread])),
            }
        }
        blocks.into_iter().map(|(_, block)| block).collect()
    }

    /// Adds what a creator has done about the threads of a group up to the end of a history.
    fn asked_up_to(&self, history: HistoryId, group: &Block, asked: &mut [Vec<AskedOp>]) {
        let mut add = |op: OpKind, answer| {
            if let Some(at) = self.is_about(op, group).and_then(|it| position(group, it)) {
                asked[at].push((op, answer));
            }
        };
        for (history, answer) in self.histories.path_to(history) {
            for op in self.histories.effects(history) {
                add(op.kind, None);
            }
            if let (End::Question(op), Some(answer)) = (self.histories.end(history), answer) {
                add(op.kind, Some(answer));
            }
        }
    }
}

/// The index of a thread in a block.
pub(super) fn position(block: &Block, thread: ThreadId) -> Option<usize> {
    block.iter().position(|&it| it == thread)
}

/// Threads with equal keys, ascending; those without a key are left out.
fn by_key(threads: &[ThreadId], key: impl Fn(ThreadId) -> Option<u64>) -> Vec<Block> {
    let mut groups: Vec<(u64, Block)> = vec![];
    for &thread in threads {
        let Some(key) = key(thread) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(thread),
            None => groups.push((key, vec![thread])),
        }
    }
    let sorted = |(_, mut group): (u64, Block)| {
        group.sort_unstable();
        group
    };
    groups.into_iter().map(sorted).collect()
}
