//! Barriers at which nobody observes the order of arrival.
//!
//! *Problem.* A barrier that counts has a class for each order in which N threads arrive and leave: N! (N - 1)!.
//!
//! *Idea.* Only the result of `pthread_barrier_wait` tells the order. If it is not used, and N threads have used a barrier of
//! size N, these are its *group*, and the exploration starts again. From then on there is a token for each ordered pair of
//! threads of the group: a thread that arrives sends its tokens to all others, and leaves when it has got theirs. Each
//! token has one sender and one receiver, so there is nothing to choose. If another thread comes, the size changes or a
//! result is used, the barrier counts again.
//!
//! *Why this is the same.* In both cases a thread leaves after all others have arrived, and everything before their arrivals
//! happens before that. A token can be sent again when it was received. Its sender has left the round before then, so the
//! receiver has arrived in that round, and needs nobody to receive it.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{ThreadId, Value};
use raddle_core::program::{Guard, Update};
use serde::{Deserialize, Serialize};

use super::call::{Call, Step, Suspend};
use super::kinds::ObjectKind;

/// How the program uses a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BarrierUse {
    /// These threads have used it; so far, nobody used a result.
    Users(BTreeSet<usize>),
    /// Only these threads use it, as many as its size says, and nobody uses a result.
    Group(BTreeSet<usize>),
    /// Otherwise.
    Counts,
}

/// What is known of barriers, by address.
pub(crate) type Barriers = BTreeMap<u64, BarrierUse>;

impl Call<'_> {
    /// The group of a barrier, if it has one; `None` if it counts. The caller of the modelled function uses its result if
    /// `is_result_used`.
    pub(crate) fn barrier_group(
        &mut self,
        barrier: u64,
        is_result_used: bool,
    ) -> Step<Option<Vec<ThreadId>>> {
        match self.program.barriers.get(&barrier) {
            Some(BarrierUse::Group(group)) => {
                if is_result_used || !group.contains(&self.current().index()) {
                    return Err(self.let_count(barrier));
                }
                Ok(Some(group.iter().copied().map(ThreadId::new).collect()))
            }
            _ if is_result_used => {
                self.program.next_barriers.insert(barrier, BarrierUse::Counts);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Starts again with a barrier that counts.
    fn let_count(&mut self, barrier: u64) -> Suspend {
        self.program.next_barriers.insert(barrier, BarrierUse::Counts);
        self.again()
    }

    /// Notes that the current thread uses a barrier of this size that counts, and does not use the result. Starts again if
    /// the barrier has a group now.
    pub(crate) fn note_barrier_user(&mut self, barrier: u64, size: Value) -> Step<()> {
        let thread = self.current().index();
        let users = BarrierUse::Users(BTreeSet::new());
        let known = self.program.next_barriers.entry(barrier).or_insert(users);
        let BarrierUse::Users(users) = known else { return Ok(()) };
        users.insert(thread);
        if size < 2 || users.len() as Value != size {
            return Ok(());
        }
        *known = BarrierUse::Group(std::mem::take(users));
        Err(self.again())
    }

    /// The tokens of a barrier that is initialised with this size: pairs of sender and receiver. There are none if it counts.
    pub(crate) fn barrier_tokens(
        &mut self,
        barrier: u64,
        size: Value,
    ) -> Step<Vec<(ThreadId, ThreadId)>> {
        let Some(BarrierUse::Group(group)) = self.program.barriers.get(&barrier) else {
            return Ok(vec![]);
        };
        if group.len() as Value != size {
            return Err(self.let_count(barrier));
        }
        let pairs = group.iter().flat_map(|&from| group.iter().map(move |&to| (from, to)));
        let others = pairs.filter(|(from, to)| from != to);
        Ok(others.map(|(from, to)| (ThreadId::new(from), ThreadId::new(to))).collect())
    }

    /// Waits until the guard holds for a token, and updates it. Returns the value before.
    pub(crate) fn sync_token(
        &mut self,
        barrier: u64,
        (from, to): (ThreadId, ThreadId),
        guard: Guard,
        update: Update,
    ) -> Step<Value> {
        let kind = ObjectKind::Token { from: from.index() as u32, to: to.index() as u32 };
        self.sync(kind, barrier, guard, update)
    }
}
