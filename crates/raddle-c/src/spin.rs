//! Spin loops, exactly.
//!
//! A thread that comes back to a hook with the same registers and the same bytes on its stack, and has
//! only read meanwhile, does the same forever unless another thread intervenes. No syntax is looked at and no
//! iterations are counted, and a loop that counts is not taken for one that spins, as the counter is in its
//! registers or on its stack.
//!
//! At every question the stack is copied, and compared with the copies since which the thread has only read (`past`).
//! Fences, and updates that write what they read, count as reading. A thread that has written private
//! memory other than its stack, or called a library function that is not a single op, starts anew.
//!
//! Differs from the Rust front end (`raddle-runtime`), where writes of private memory are not seen, and the
//! program is run once more in order to find them.

use raddle_core::execution::Value;
use raddle_core::program::{Op, OpKind};

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
