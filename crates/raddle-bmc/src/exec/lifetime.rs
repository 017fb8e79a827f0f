//! Lifetimes of objects: freed heap blocks and ended scopes.

use raddle_core::outcome::FindingKind;

use super::access::{AccessOrder, CellConditions};
use super::{Result, SymbolicExecutor};
use crate::address_space::{ObjectId, ObjectKey};
use crate::term::{FALSE, Term};

/// The message for accesses to automatic variables after the end of their scope.
const SCOPE_ENDED: &str = "a variable is used after the end of its block";

impl SymbolicExecutor<'_> {
    /// Adds checks that the scopes of automatic variables have not ended, and removes variables whose scope has.
    ///
    /// Which scopes of this thread and its ancestors have ended is known here. For variables of other threads it
    /// depends on the schedule: they get a flag (see [`Self::check_not_dead`]).
    pub(super) fn check_scopes(&mut self, cells: &mut CellConditions) {
        for ((object, at), condition) in std::mem::take(cells) {
            if let Some(owner) = self.space.owner(object) {
                let is_own_or_ancestor =
                    owner == self.thread || self.concurrent_from(owner, self.thread).is_some();
                if is_own_or_ancestor && self.ended_objects.contains(&object) {
                    self.fails_if(condition, FindingKind::UseAfterReturn, SCOPE_ENDED);
                    continue;
                }
                if owner != self.thread {
                    self.observed.freed.insert(object);
                }
            }
            cells.push(((object, at), condition));
        }
    }

    /// Ends the lifetime of automatic variables: sets the flags of those that other threads access.
    pub(super) fn end_variables(&mut self, objects: &[ObjectId]) -> Result<()> {
        for &object in objects {
            if self.assumed.freed.contains(&object) && !self.is_dead() {
                let (flag, one) = (self.dead_flag(object), self.terms.constant(1, 8));
                self.write(flag, one, AccessOrder::Plain)?;
            }
        }
        Ok(())
    }

    /// Adds checks that the objects are alive. A check and the access are separate statements: if the object dies
    /// between them, there is another execution in which it dies before the check.
    pub(super) fn check_not_dead(&mut self, cells: &CellConditions) -> Result<()> {
        for &((object, _), condition) in cells {
            if !self.assumed.freed.contains(&object) {
                continue;
            }
            let flag = self.dead_flag(object);
            let is_dead = self.read(flag, 8)?;
            let is_dead = self.terms.truth(is_dead);
            let dead = self.terms.and(condition, is_dead);
            match self.space.objects[object].is_block {
                true => self.fails_if(
                    dead,
                    FindingKind::UseAfterFree,
                    "memory is used after it was freed",
                ),
                false => self.fails_if(dead, FindingKind::UseAfterReturn, SCOPE_ENDED),
            }
        }
        Ok(())
    }

    /// The address of the flag that an object is dead.
    fn dead_flag(&mut self, object: ObjectId) -> Term {
        let name = format!("freed({})", self.space.objects[object].name);
        let flag = self.space.object(ObjectKey::DeadFlag(object), &name, 1, true);
        self.address(flag)
    }

    /// `free`
    pub(super) fn free(&mut self, pointer: Term) -> Result<()> {
        let values = self.terms.values(pointer);
        let Some(few) = values.few().map(<[u64]>::to_vec) else {
            return self.unsupported(
                "`free` of a pointer that may have any value: only pointers to known blocks are supported",
            );
        };
        let mut valid = self.terms.is(pointer, 0);
        for value in few {
            let Some((object, 0)) = self.space.object_at(value) else { continue };
            let condition = self.terms.is(pointer, value);
            if condition == FALSE || !self.space.objects[object].is_block {
                continue;
            }
            valid = self.terms.or(valid, condition);
            self.observed.freed.insert(object);
            let flag = self.dead_flag(object);
            self.branch(condition, |exec| exec.free_block(flag), |_| Ok(()))?;
        }
        let invalid = self.terms.not(valid);
        self.fails_if(
            invalid,
            FindingKind::Misuse,
            "`free` of a pointer that is not the start of a heap block",
        );
        Ok(())
    }

    fn free_block(&mut self, flag: Term) -> Result<()> {
        let freed = self.read(flag, 8)?;
        let freed = self.terms.truth(freed);
        self.fails_if(freed, FindingKind::DoubleFree, "memory is freed twice");
        let one = self.terms.constant(1, 8);
        self.write(flag, one, AccessOrder::Plain)
    }
}
