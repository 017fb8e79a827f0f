//! Spin loops, exactly.
//!
//! A thread that comes back to a hook with the same registers and the same bytes on its stack, and has
//! only read meanwhile, does the same for ever without anybody's help. No syntax is looked at and no
//! iterations are counted, and a loop that counts is not taken for one that spins, as the counter is in its
//! registers or on its stack.
//!
//! At every question the stack is copied, as long as the thread has only read since the copies before.
//! Fences, and updates that write what they read, count as reading. A thread that has written private
//! memory other than its stack, or called a library function that is not a single op, starts anew.
//!
//! Differs from the Rust front end (`raddle-runtime`), where writes of private memory are not seen, and the
//! program is run once more in order to find them.

use std::collections::VecDeque;

use raddle_core::execution::Value;
use raddle_core::program::{NodeId, Op, OpKind};

use crate::switch::Caller;

/// At most so many copies are kept of a thread: the last ones.
const COPIES: usize = 32;

/// A thread at a question.
struct Copy {
    node: NodeId,
    question: Op,
    /// Where it is in its code: several such places have one in the user's sources.
    caller: Caller,
    stack: Vec<u8>,
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
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.copies.is_empty() {
            self.spare.extend(self.copies.drain(..).map(|copy| copy.stack));
        }
    }

    /// Remembers the thread at the question with which the history ends. Returns an earlier history at
    /// whose end the thread was the same.
    pub(crate) fn note(
        &mut self,
        node: NodeId,
        question: Op,
        caller: Caller,
        stack: &[u8],
    ) -> Option<NodeId> {
        let same = |copy: &&Copy| {
            copy.question == question && copy.caller == caller && copy.stack == stack
        };
        let earlier = self.copies.iter().find(same).map(|copy| copy.node);
        if self.copies.len() == COPIES {
            self.spare.extend(self.copies.pop_front().map(|copy| copy.stack));
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(stack);
        self.copies.push_back(Copy { node, question, caller, stack: bytes });
        earlier
    }
}

/// Whether a question that read this value has only read.
pub(crate) fn only_reads(question: &Op, read: Value, is_spurious: bool) -> bool {
    match question.kind {
        OpKind::Load { .. } | OpKind::ReadCell { .. } => true,
        OpKind::CompareExchange { expected, .. } => read != expected || is_spurious,
        OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => update.apply(read) == read,
        _ => false,
    }
}

/// Whether an effect changes nothing that others can see.
pub(crate) fn is_harmless(effect: &Op) -> bool {
    matches!(effect.kind, OpKind::Init { .. } | OpKind::Fence { .. } | OpKind::StoreFence)
}
