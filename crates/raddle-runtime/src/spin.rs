//! Spin loops, exactly.
//!
//! A thread that comes back to a question with the same registers and the same bytes on its stack,
//! and has changed no memory meanwhile, has done nothing but read: without anybody's help it does the
//! same forever. No syntax is looked at and no iterations are counted, and a loop that counts is not
//! taken for one that spins, as the counter is on its stack.
//!
//! At every question the stack is copied, as long as the thread has only read since the copies before.
//! (Fences, and updates that write what they read, count as reading: taking them out of an
//! execution leaves one that is allowed as well.) Where two copies agree the program is run once more,
//! in order to see whether the thread changed memory elsewhere: a block, or the stack of another thread.
//! What is not seen: memory that the program got from outside of the exploration.

use std::collections::VecDeque;

use raddle_core::program::{Answer, HistoryId, Op, OpKind};

use crate::heap::Heap;
use crate::state::Reply;

/// At most so many copies are kept of a thread: the last ones.
const COPIES: usize = 32;

/// A thread at a question.
struct Copy {
    node: HistoryId,
    question: Op,
    /// Registers and stack.
    bytes: Vec<u8>,
}

/// What a thread was at its last questions, since it last did more than read.
#[derive(Default)]
pub(crate) struct Spin {
    copies: VecDeque<Copy>,
    /// Copies that can be used again.
    spare: Vec<Vec<u8>>,
}

impl Spin {
    /// The thread has done more than read.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(self.copies.drain(..).map(|copy| copy.bytes));
    }

    /// Remembers the thread at the question with which the history ends. Returns an earlier history
    /// at whose end the thread was the same.
    pub(crate) fn note(
        &mut self,
        node: HistoryId,
        question: Op,
        stack: &[u8],
    ) -> Option<HistoryId> {
        let same = |copy: &&Copy| copy.question == question && copy.bytes == stack;
        let earlier = self.copies.iter().find(same).map(|copy| copy.node);
        if self.copies.len() == COPIES {
            self.spare.extend(self.copies.pop_front().map(|copy| copy.bytes));
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(stack);
        self.copies.push_back(Copy { node, question, bytes });
        earlier
    }
}

/// Whether a question, with its reply, has only read.
pub(crate) fn only_reads(question: &Op, answer: Answer, reply: Reply) -> bool {
    match question.kind {
        OpKind::Load { .. } | OpKind::ReadCell { .. } => true,
        OpKind::CompareExchange { expected, .. } => {
            reply.value != expected
                || matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_))
        }
        OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => {
            update.apply(reply.value) == reply.value
        }
        _ => false,
    }
}

/// Whether an effect changes nothing that others can see.
pub(crate) fn is_harmless(effect: &Op) -> bool {
    matches!(effect.kind, OpKind::Init { .. } | OpKind::Fence { .. } | OpKind::StoreFence)
}

/// The memory of the program outside of one thread's stack: all blocks, and the other stacks.
pub(crate) fn memory(heap: &Heap, stacks: impl Iterator<Item = (usize, usize)>) -> Vec<u8> {
    let mut bytes = vec![];
    let mut add = |from: usize, length: usize| {
        // SAFETY: nothing is freed before the run ends, and stacks stay mapped; the program stands
        // still. Bytes that are not initialised are only copied and compared.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(from as *const u8, length) });
    };
    heap.for_each(&mut add);
    stacks.for_each(|(from, to)| add(from, to - from));
    bytes
}
