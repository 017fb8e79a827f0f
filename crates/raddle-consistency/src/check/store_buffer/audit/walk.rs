//! The audit of one search space.
//!
//! The walk takes all moves from all states, merging none that differ, and compares every state
//! with the truth.

use rustc_hash::{FxHashMap, FxHashSet};

use super::AuditStop;
use super::truth::Truth;
use crate::check::store_buffer::search::Space;
use crate::witness::MachineStep;

/// Audits a space. Returns the number of states that share their key with an earlier one.
pub(super) fn audit<'i>(
    mut space: impl Space<'i>,
    truth: &mut Truth<'_>,
) -> Result<usize, AuditStop> {
    let mut walk = AuditWalk {
        space: &mut space,
        truth,
        seen: FxHashSet::default(),
        first: FxHashMap::default(),
        merged: 0,
    };
    walk.visit()?;
    let merged = walk.merged;
    truth.undo_to(0);
    Ok(merged)
}

struct AuditWalk<'a, 't, 'i> {
    space: &'a mut dyn Space<'i>,
    /// Follows the run of the space.
    truth: &'a mut Truth<'t>,
    /// The visited states, after their free steps.
    seen: FxHashSet<Vec<u32>>,
    /// By key: whether the first state with it can be completed, and how it was reached.
    first: FxHashMap<Vec<u32>, (bool, Vec<MachineStep>)>,
    merged: usize,
}

impl AuditWalk<'_, '_, '_> {
    /// Visits the current state and all states reachable from it. Returns whether it can be completed. Leaves the space in
    /// an arbitrary state.
    fn visit(&mut self) -> Result<bool, AuditStop> {
        let before = self.can_complete()?;
        self.space.run_free_steps();
        let after = self.can_complete()?;
        if before != after {
            return self.fault("a free step makes the run incompletable");
        }
        if self.seen.insert(self.truth.state()) && !self.space.run().is_complete() {
            self.compare_with_first(after)?;
            if self.visit_moves()? != after {
                return self.fault("no move completes the run");
            }
        }
        Ok(after)
    }

    /// The steps of the run so far.
    fn steps(&self) -> Vec<MachineStep> {
        self.space.run().steps()
    }

    /// Whether the run can be completed.
    fn can_complete(&mut self) -> Result<bool, AuditStop> {
        let steps = self.steps();
        self.truth.follow(&steps)?;
        self.truth.can_complete()
    }

    /// Compares a state with the first one that has the same key.
    fn compare_with_first(&mut self, can_complete: bool) -> Result<(), AuditStop> {
        let mut key = vec![];
        self.space.key(&mut key);
        let Some((other, steps)) = self.first.get(&key) else {
            self.first.insert(key, (can_complete, self.steps()));
            return Ok(());
        };
        self.merged += 1;
        if *other != can_complete {
            let what = format!("it is merged with a state of another fate, {steps:?}");
            return self.fault(&what);
        }
        Ok(())
    }

    /// Visits what the moves lead to. Returns whether one of them leads to a complete run.
    fn visit_moves(&mut self) -> Result<bool, AuditStop> {
        let mark = self.space.run().mark();
        let mut moves = vec![];
        self.space.moves(&mut moves);
        let mut found = false;
        for step in moves {
            if self.space.apply(step) {
                found |= self.visit()?;
            }
            self.space.run_mut().undo_to(mark);
            self.truth.undo_to(mark);
        }
        Ok(found)
    }

    fn fault<T>(&self, what: &str) -> Result<T, AuditStop> {
        Err(AuditStop::Fault(format!("{what}; after {:?}", self.steps())))
    }
}
