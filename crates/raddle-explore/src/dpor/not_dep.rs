//! What an execution would do without one of its events.
//!
//! To turn a race round, an explorer goes back to where its first event happened, does everything that
//! does not depend on that event, and then the second one: a *word*. As happens-before is kept in rows, a
//! word is a row of events of the current execution, and the step at its end.
//!
//! A process is an *initial* of a word if its step may come first there, and a *weak* initial if its step
//! may come first there or does not depend on anything in it. Explorers ask that of processes that they
//! know as steps ([`Footprint`]) and not as events, because these belong to other executions.

use smallvec::SmallVec;

use super::footprint::{Access, Footprint, NONE};
use super::state::{Event, Location, State, Store};
use crate::event_set::EventSet;

/// Steps that can follow a prefix of the current execution.
pub(super) struct NotDep<R> {
    /// The length of the prefix.
    pub(super) prefix: usize,
    /// Events of the current execution, in their order.
    pub(super) rest: R,
    /// The step that comes after them, and what happened before it.
    pub(super) last: Option<(Footprint, R)>,
    /// The stores that reached memory between the prefix and the word, with their threads.
    moved: SmallVec<[(u32, u32); 8]>,
}

/// How a step relates to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It cannot come first.
    No,
    /// It is this event, which can come first.
    Event(usize),
    /// It is the last one, which can come first.
    Last,
    /// It is not in the word, and does not depend on it.
    Beside,
}

impl<R: EventSet> NotDep<R> {
    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.last.is_none()
    }

    /// Puts a step that can come first before the word.
    pub(super) fn take(&mut self, foot: &Footprint, place: Place) {
        match place {
            Place::Event(event) => self.rest.remove(event),
            Place::Last => self.last = None,
            Place::Beside | Place::No => {}
        }
        if foot.store != NONE {
            self.moved.push((foot.thread, foot.store));
        }
    }
}

impl<R: EventSet> State<'_, R> {
    /// What does not depend on an event, and then a step before which `base` happened.
    #[inline]
    pub(super) fn word(&self, first: usize, last: Footprint, base: R) -> NotDep<R> {
        let mut rest = R::default();
        for (at, event) in self.events.iter().enumerate().skip(first + 1) {
            if !event.before.has(first) {
                rest.insert(at);
            }
        }
        NotDep { prefix: first, rest, last: Some((last, base)), moved: SmallVec::new() }
    }

    /// Whether the step is a weak initial of the word, and how.
    #[inline]
    pub(super) fn place(&self, word: &NotDep<R>, foot: &Footprint) -> Place {
        let own = word.rest.and(self.processes[foot.process as usize].events);
        if let Some(event) = own.first() {
            return self.place_of_event(word, foot, event);
        }
        match word.last {
            Some((last, base)) if last.process == foot.process => {
                let first = last.choice == foot.choice
                    && !base.meets(&word.rest)
                    && !self.depends(word, &last, false);
                if first { Place::Last } else { Place::No }
            }
            _ if self.depends(word, foot, true) => Place::No,
            _ => Place::Beside,
        }
    }

    fn place_of_event(&self, word: &NotDep<R>, foot: &Footprint, event: usize) -> Place {
        let Event { before, foot: known, .. } = &self.events[event];
        let earlier = before.minus(R::one(event));
        if known.choice == foot.choice && !earlier.meets(&word.rest) {
            Place::Event(event)
        } else {
            Place::No
        }
    }

    /// Whether a step of a process without a step in the word depends on an event of the word; `whole`: or
    /// on its last step.
    #[inline]
    fn depends(&self, word: &NotDep<R>, foot: &Footprint, whole: bool) -> bool {
        if foot.access == Access::Silent {
            return false;
        }
        if let Some((last, _)) = word.last.filter(|_| whole)
            && foot.conflicts(&last)
            && self.meets_at_end(word, foot)
        {
            return true;
        }
        let Location { accesses, writes, .. } = self.locations[foot.location as usize];
        let writes = word.rest.and(writes);
        if foot.access == Access::Write {
            let mut reads = word.rest.and(accesses).minus(writes).iter();
            return !writes.is_empty()
                || reads.any(|read| self.meets_memory(word, &self.events[read].foot));
        }
        if self.meets_memory(word, foot) {
            return !writes.is_empty();
        }
        // It meets memory after its store has.
        let reached = self.reached(foot).filter(|&at| word.rest.has(at));
        reached.is_some_and(|at| !writes.minus(R::below(at + 1)).is_empty())
    }

    /// Whether a step meets memory before the word or after its events.
    #[inline]
    fn meets_at_end(&self, word: &NotDep<R>, foot: &Footprint) -> bool {
        self.meets_memory(word, foot) || self.reached(foot).is_some_and(|at| word.rest.has(at))
    }

    /// Whether a step before the word would meet memory, not the store buffer of its thread.
    #[inline]
    fn meets_memory(&self, word: &NotDep<R>, foot: &Footprint) -> bool {
        foot.own == NONE
            || self.reached(foot).is_some_and(|at| at < word.prefix)
            || word.moved.contains(&(foot.thread, foot.own))
    }

    /// The event with which the store that a load observes reached memory in the current execution.
    fn reached(&self, foot: &Footprint) -> Option<usize> {
        let Store { reached, .. } = *self.stores[foot.thread as usize].get(foot.own as usize)?;
        (reached != NONE).then_some(reached as usize)
    }

    /// Whether two steps that are both possible now depend on each other.
    #[inline]
    pub(super) fn conflict(&self, one: &Footprint, other: &Footprint) -> bool {
        one.process == other.process
            || one.conflicts(other) && self.meets_now(one) && self.meets_now(other)
    }

    #[inline]
    fn meets_now(&self, foot: &Footprint) -> bool {
        foot.own == NONE || self.reached(foot).is_some()
    }
}
