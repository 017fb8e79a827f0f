//! Unordered accesses of different sizes.
//!
//! Under SC and TSO, scalars that are accessed in pieces are cut as long as all these accesses are ordered. A race on the cells
//! that represent the pieces shows that some are not. Then the exploration starts again with joint accesses.
//!
//! Under models where races are errors, a plain access of a part of an atomic variable is one of all of it (`program/parts.rs`).
//! A race of two such accesses may be none. Then the exploration starts again and refuses them.

use raddle_core::execution::{LocationId, MemoryOrder};
use raddle_core::outcome::FindingKind;
use raddle_core::program::{OpKind, PlaceId};
use raddle_core::trace::{Counterexample, Ending, Trace};

use super::meaning;
use crate::program::NativeProgram;

/// Learns from races on memory that is accessed in parts.
pub(super) fn learn(program: &mut NativeProgram, found: &[Counterexample]) {
    for Counterexample { ending, trace, .. } in found {
        let &Ending::Race(first, second) = ending else { continue };
        let is_new = match meaning::kind(ending, trace) {
            FindingKind::Unsupported => program.layout.learn_joint(),
            _ => match (plain_access(trace, first), plain_access(trace, second)) {
                (Some((location, first)), Some((_, second))) => {
                    program.layout.learn_divided(location, [first, second])
                }
                _ => false,
            },
        };
        if is_new {
            program.want_restart();
        }
    }
}

/// The location and the place of a plain access.
fn plain_access(trace: &Trace, event: usize) -> Option<(LocationId, PlaceId)> {
    let op = trace.events.get(event)?.op;
    match op.kind {
        OpKind::Load { location, order: MemoryOrder::NonAtomic }
        | OpKind::Store { location, order: MemoryOrder::NonAtomic, .. } => {
            Some((location, op.place))
        }
        _ => None,
    }
}
