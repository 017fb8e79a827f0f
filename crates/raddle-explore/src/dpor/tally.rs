//! Counting what an exploration sees, showing it, and stopping in time.

use std::time::Instant;

use super::super::{Control, Extent, Limits, Unsupported, Visitor};
use super::leaf::{Maximal, ending};
use super::state::{Cut, State};
use crate::driver::Restart;
use crate::event_set::{EventSet, WideSet};
use raddle_core::program::LocalHistories;
use raddle_core::trace::Ending;

/// Why an exploration ends early.
#[derive(Clone, Copy)]
enum Stop {
    Extent(Extent),
    Restart(Restart),
}

/// What an exploration has seen.
pub(super) struct Tally<'a> {
    limits: &'a Limits,
    visitor: &'a mut dyn Visitor,
    /// The remembered histories, while nothing explores.
    pub(super) histories: LocalHistories,
    /// How many executions the visitor has seen. Rows of any width lead to the same order.
    visited: u64,
    /// How many executions ended, and how many of them count.
    ends: u64,
    leaves: u64,
    pub(super) classes: u64,
    pub(super) blocked: u64,
    hit_limit: bool,
    stop: Option<Stop>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(limits: &'a Limits, visitor: &'a mut dyn Visitor) -> Self {
        Tally {
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

    /// Resets everything but the number of executions that the visitor has seen.
    pub(super) fn begin_attempt(&mut self) {
        (self.ends, self.leaves, self.classes, self.blocked) = (0, 0, 0, 0);
        (self.hit_limit, self.stop) = (false, None);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// An exploration has ended.
    pub(super) fn keep<R: EventSet>(&mut self, state: State<'_, R>) -> Result<(), Restart> {
        self.histories = state.histories;
        match self.stop {
            Some(Stop::Restart(why)) => Err(why),
            _ => Ok(()),
        }
    }

    /// How far it got.
    pub(super) fn extent(&self) -> Extent {
        match self.stop {
            Some(Stop::Extent(extent)) => extent,
            _ if self.hit_limit => Extent::Events,
            _ => Extent::All,
        }
    }

    /// An execution ended, maximal or not: looks at the clock now and then.
    pub(super) fn end(&mut self) {
        let due = self.ends.is_multiple_of(256);
        self.ends += 1;
        if due && self.limits.deadline.is_some_and(|end| Instant::now() >= end) {
            self.stop = Some(Stop::Extent(Extent::Deadline));
        }
    }

    /// The current execution is maximal: counts it and shows it.
    pub(super) fn leaf<R: EventSet>(&mut self, state: &State<'_, R>) {
        self.end();
        match state.cut {
            Some(Cut::Events(_)) if R::BITS < WideSet::BITS => {
                self.stop = Some(Stop::Restart(Restart::WiderSets));
            }
            Some(Cut::Malformed) => {
                self.stop = Some(Stop::Extent(Extent::Unsupported(Unsupported::Malformed)));
            }
            _ if self.limits.classes.is_some_and(|most| self.classes >= most) => {
                self.stop.get_or_insert(Stop::Extent(Extent::Classes));
            }
            _ => {}
        }
        if self.is_stopped() {
            return;
        }
        let ending = ending(state);
        self.leaves += 1;
        match ending {
            Ending::Blocked => self.blocked += 1,
            _ => self.classes += 1,
        }
        self.hit_limit |= state.hit_limit();
        self.show(&Maximal { state, ending });
    }

    /// Shows an execution, unless that was done before the exploration started again.
    fn show<R: EventSet>(&mut self, leaf: &Maximal<'_, '_, R>) {
        if self.leaves <= self.visited {
            return;
        }
        self.visited = self.leaves;
        if self.visitor.visit(leaf) == Control::Stop {
            self.stop = Some(Stop::Extent(Extent::Stopped));
        }
    }
}
