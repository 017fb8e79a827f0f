//! Unordered accesses of different sizes.
//!
//! Under SC and TSO, scalars that are accessed in pieces are cut as long as all these accesses are ordered. A race on the cells
//! that represent the pieces shows that some are not. Then the exploration starts again with joint accesses.

use raddle_core::outcome::FindingKind;
use raddle_core::trace::{Counterexample, Ending};

use super::meaning;
use crate::program::NativeProgram;

/// Learns from races on pieces of memory that accesses of several pieces must be joint ones.
pub(super) fn learn(program: &mut NativeProgram, found: &[Counterexample]) {
    let is_race = |found: &Counterexample| {
        matches!(found.ending, Ending::Race(..))
            && meaning::kind(&found.ending, &found.trace) == FindingKind::Unsupported
    };
    if found.iter().any(is_race) && program.layout.learn_joint() {
        program.want_restart();
    }
}
