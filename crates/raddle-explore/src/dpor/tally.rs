//! Counts of an exploration, calls of the visitor, and early stops.

use std::time::Instant;

use super::leaf::{DporLeaf, ending};
use super::state::{DporState, EarlyEnd};
use crate::driver::Restart;
use crate::event_set::EventSet;
use crate::facts::EventBound;
use crate::{Control, Extent, Limits, Unsupported, Visitor};
use raddle_core::program::LocalHistories;
use raddle_core::trace::Ending;

/// Why an exploration stops early.
#[derive(Clone, Copy)]
enum EarlyStop {
    Extent(Extent),
    Restart(Restart),
}

/// Counts of an exploration.
pub(super) struct DporTally<'a> {
    limits: &'a Limits,
    visitor: &'a mut dyn Visitor,
    /// Local histories, while no state has them.
    pub(super) histories: LocalHistories,
    /// Number of executions that the visitor has seen. Event sets of any size lead to the same order of executions.
    visited: u64,
    /// Number of executions, including those begun in vain.
    ends: u64,
    /// Number of maximal executions.
    leaves: u64,
    pub(super) classes: u64,
    pub(super) blocked: u64,
    hit_limit: bool,
    stop: Option<EarlyStop>,
}

impl<'a> DporTally<'a> {
    pub(super) fn new(limits: &'a Limits, visitor: &'a mut dyn Visitor) -> Self {
        DporTally {
            limits,
            visitor,
            histories: LocalHistories::new(),
            visited: 0,
            ends: 0,
            leaves: 0,
            classes: 0,
            blocked: 0,
            hit_limit: false,
            stop: None,
        }
    }

    /// How many events an execution may have.
    pub(super) fn bound(&self) -> usize {
        self.limits.events.unwrap_or(EventBound::FIRST) as usize
    }

    /// Resets everything except for the number of visited executions and the local histories.
    pub(super) fn begin_attempt(&mut self) {
        (self.ends, self.leaves, self.classes, self.blocked) = (0, 0, 0, 0);
        (self.hit_limit, self.stop) = (false, None);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Takes the local histories back from a state whose exploration has ended.
    pub(super) fn finish<R: EventSet>(&mut self, state: DporState<'_, R>) -> Result<(), Restart> {
        self.histories = state.histories;
        match self.stop {
            Some(EarlyStop::Restart(why)) => Err(why),
            _ => Ok(()),
        }
    }

    /// Returns the extent of the exploration.
    pub(super) fn extent(&self) -> Extent {
        match self.stop {
            Some(EarlyStop::Extent(extent)) => extent,
            _ if self.hit_limit => Extent::Events,
            _ => Extent::All,
        }
    }

    /// Counts an execution, maximal or not, and looks at the clock from time to time.
    pub(super) fn count_execution(&mut self) {
        let due = self.ends.is_multiple_of(256);
        self.ends += 1;
        if due && self.limits.deadline.is_some_and(|end| Instant::now() >= end) {
            self.stop = Some(EarlyStop::Extent(Extent::Deadline));
        }
    }

    /// Counts the current execution, which is maximal, and shows it to the visitor.
    pub(super) fn visit<R: EventSet>(&mut self, state: &DporState<'_, R>) {
        self.count_execution();
        match state.early_end {
            Some(EarlyEnd::Events(_)) if state.bound > R::BITS => {
                self.stop = Some(EarlyStop::Restart(Restart::WiderSets));
            }
            Some(EarlyEnd::Malformed) => {
                self.stop = Some(EarlyStop::Extent(Extent::Unsupported(Unsupported::Malformed)));
            }
            _ if self.limits.classes.is_some_and(|most| self.classes >= most) => {
                self.stop.get_or_insert(EarlyStop::Extent(Extent::Classes));
            }
            _ => {}
        }
        if self.is_stopped() {
            return;
        }
        let ending = ending(state);
        self.leaves += 1;
        match ending {
            Ending::Limit(_) if state.early_end.is_some() => {}
            Ending::Blocked => self.blocked += 1,
            _ => self.classes += 1,
        }
        self.hit_limit |= state.hit_limit();
        self.show(&DporLeaf { state, ending });
    }

    /// Shows an execution to the visitor, unless it was shown before the exploration started again.
    fn show<R: EventSet>(&mut self, leaf: &DporLeaf<'_, '_, R>) {
        if self.leaves <= self.visited {
            return;
        }
        self.visited = self.leaves;
        if self.visitor.visit(leaf) == Control::Stop {
            self.stop = Some(EarlyStop::Extent(Extent::Stopped));
        }
    }
}
