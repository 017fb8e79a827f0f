//! `notdep` sequences: what an execution would do without one of its events.
//!
//! To reverse a race, an explorer returns to the point where its first event happened, executes everything that does
//! not depend on that event, and then the second event: the sequence `v = notdep(e, E).p` of the paper. As
//! happens-before is represented by event sets, such a sequence is a set of events of the current execution, followed
//! by one step.
//!
//! A process is an *initial* of the sequence if its step may come first in it, and a *weak initial* if its step may
//! come first in it or is independent of all of it. Explorers ask that of processes whose steps they know as footprints
//! ([`Footprint`]) and not as events, because these belong to other executions.
//!
//! *Paper.* Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction*, POPL 2014, section 4.

use smallvec::SmallVec;

use super::footprint::{Footprint, FootprintAccess, NONE};
use super::state::{DporEvent, DporLocation, DporState, DporStore};
use crate::event_index::EventIndex;
use crate::event_set::EventSet;

/// Steps that can follow a prefix of the current execution.
pub(super) struct NotDep<R> {
    /// First event after the prefix.
    pub(super) prefix: EventIndex,
    /// Events of the current execution, in their order.
    pub(super) events: R,
    /// Step that follows them, and the events that happen before it.
    pub(super) last: Option<(Footprint, R)>,
    /// Threads and indices of the stores that were flushed between the prefix and the sequence.
    flushed: SmallVec<[(u32, u32); 8]>,
}

/// Whether a step is a weak initial of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initial {
    /// It is not: it depends on an earlier step of the sequence.
    No,
    /// It is this event, which may come first.
    Event(EventIndex),
    /// It is the last step, which may come first.
    Last,
    /// It is not in the sequence, and independent of it.
    Independent,
}

impl<R: EventSet> NotDep<R> {
    /// Returns `true` if no step is left.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.last.is_none()
    }

    /// Moves a step, which is a weak initial in this way, from the sequence to the prefix.
    pub(super) fn take(&mut self, footprint: &Footprint, initial: Initial) {
        match initial {
            Initial::Event(event) => self.events.remove(event),
            Initial::Last => self.last = None,
            Initial::Independent | Initial::No => {}
        }
        if footprint.flushed != NONE {
            self.flushed.push((footprint.thread, footprint.flushed));
        }
    }
}

impl<R: EventSet> DporState<'_, R> {
    /// Returns the events after `first` that do not depend on it, followed by a step before which `base` happens.
    #[inline]
    pub(super) fn not_dep(&self, first: EventIndex, last: Footprint, base: R) -> NotDep<R> {
        let mut events = R::default();
        for (at, event) in self.events.iter().enumerate().skip(first.index() + 1) {
            if !event.before.has(first) {
                events.insert(EventIndex::new(at));
            }
        }
        NotDep { prefix: first, events, last: Some((last, base)), flushed: SmallVec::new() }
    }

    /// Returns whether the step is a weak initial of the sequence, and in which way.
    #[inline]
    pub(super) fn weak_initial(&self, sequence: &NotDep<R>, footprint: &Footprint) -> Initial {
        let own = sequence.events.and(&self.processes[footprint.process as usize].events);
        if let Some(event) = own.first() {
            return self.event_initial(sequence, footprint, event);
        }
        match &sequence.last {
            Some((last, base)) if last.process == footprint.process => {
                let is_initial = last.choice == footprint.choice
                    && !base.meets(&sequence.events)
                    && !self.depends(sequence, last, false);
                if is_initial { Initial::Last } else { Initial::No }
            }
            _ if self.depends(sequence, footprint, true) => Initial::No,
            _ => Initial::Independent,
        }
    }

    /// The same for the first event of the step's process in the sequence.
    fn event_initial(
        &self,
        sequence: &NotDep<R>,
        footprint: &Footprint,
        event: EventIndex,
    ) -> Initial {
        let &DporEvent { ref before, footprint: known, .. } = &self.events[event.index()];
        let earlier = before.minus(&R::one(event));
        if known.choice == footprint.choice && !earlier.meets(&sequence.events) {
            Initial::Event(event)
        } else {
            Initial::No
        }
    }

    /// Returns `true` if a step, whose process has no event in the sequence, depends on an event of the sequence, or,
    /// if `with_last`, on its last step.
    #[inline]
    fn depends(&self, sequence: &NotDep<R>, footprint: &Footprint, with_last: bool) -> bool {
        if footprint.access == FootprintAccess::Silent {
            return false;
        }
        if let Some((last, _)) = sequence.last.clone().filter(|_| with_last)
            && footprint.conflicts(&last)
            && self.accesses_memory_at_end(sequence, footprint)
        {
            return true;
        }
        let DporLocation { accesses, writes, .. } = &self.locations[footprint.location as usize];
        let writes = sequence.events.and(writes);
        if footprint.access == FootprintAccess::Write {
            let mut reads = sequence.events.and(accesses).minus(&writes).iter();
            return !writes.is_empty()
                || reads.any(|read| {
                    self.accesses_memory(sequence, &self.events[read.index()].footprint)
                });
        }
        if self.accesses_memory(sequence, footprint) {
            return !writes.is_empty();
        }
        // The load accesses memory once its own store is flushed.
        let flush = self.flush_event(footprint).filter(|&at| sequence.events.has(at));
        flush.is_some_and(|at| !writes.minus(&R::below(at.next())).is_empty())
    }

    /// Returns `true` if the step would access memory before the sequence, or after its events.
    #[inline]
    fn accesses_memory_at_end(&self, sequence: &NotDep<R>, footprint: &Footprint) -> bool {
        self.accesses_memory(sequence, footprint)
            || self.flush_event(footprint).is_some_and(|at| sequence.events.has(at))
    }

    /// Returns `true` if the step would access memory before the sequence, and not the store buffer of its thread.
    #[inline]
    fn accesses_memory(&self, sequence: &NotDep<R>, footprint: &Footprint) -> bool {
        footprint.own_store == NONE
            || self.flush_event(footprint).is_some_and(|at| at < sequence.prefix)
            || sequence.flushed.contains(&(footprint.thread, footprint.own_store))
    }

    /// Returns the event of the current execution that flushed the store which a load observes.
    fn flush_event(&self, footprint: &Footprint) -> Option<EventIndex> {
        let stores = &self.stores[footprint.thread as usize];
        let DporStore { flushed_by, .. } = *stores.get(footprint.own_store as usize)?;
        (flushed_by != NONE).then(|| EventIndex::new(flushed_by as usize))
    }

    /// Returns `true` if two steps that are both possible now depend on each other.
    #[inline]
    pub(super) fn conflict(&self, one: &Footprint, other: &Footprint) -> bool {
        one.process == other.process
            || one.conflicts(other)
                && self.accesses_memory_now(one)
                && self.accesses_memory_now(other)
    }

    #[inline]
    fn accesses_memory_now(&self, footprint: &Footprint) -> bool {
        footprint.own_store == NONE || self.flush_event(footprint).is_some()
    }
}
