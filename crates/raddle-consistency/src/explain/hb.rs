//! Why one event happens before another: a path of program order, spawn, join and synchronization.
//!
//! Evidence states *that* an event happens before another under a C11-style model; the report shows how. The path is
//! searched backwards from the later event. When an event is reached, so are all earlier events of its thread; so each
//! thread is walked once, from its end, and the path has as few steps between threads as possible. Synchronization follows
//! figure 2 of Tunç et al., PLDI 2023; under RC11 the release sequences are those of Lahav et al., PLDI 2017. Each chain of
//! updates, and the reads before each fence, are followed once, so that a path costs O(n) for n events.
//!
//! Only reads with a single possible source are followed. So a path holds in every case, but there may be none to show.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use raddle_core::execution::{Action, EventId, Execution, LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::model::orders::C11Orders;
use raddle_core::model::relations::{effective_order, writes};

/// How a step of a path gets from an event to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// In program order; an initial write comes before everything.
    Program,
    /// By spawn or join.
    Thread,
    /// The first releases, the second acquires: `read`, which is the second or stands before it,
    /// reads from the end of a chain of updates that starts with `write`, which is the first or
    /// stands after it.
    Synchronizes {
        /// The start of the chain.
        write: EventId,
        /// The read at its end.
        read: EventId,
    },
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HbStep {
    pub(super) from: EventId,
    pub(super) to: EventId,
    pub(super) how: How,
}

/// The parts of an execution that determine happens-before under one model.
pub(super) struct HappensBefore<'a> {
    execution: &'a Execution,
    model: Model,
    /// Later writes of a thread continue the release sequences of its earlier ones.
    own_writes_continue: bool,
    /// By event, its only possible source.
    rf: Vec<Option<EventId>>,
    /// By event, the last release fence before it in its thread.
    fence_before: Vec<Option<EventId>>,
    /// By event, the last release of its location before it in its thread, if own writes continue release sequences.
    release_before: Vec<Option<EventId>>,
}

impl<'a> HappensBefore<'a> {
    pub(super) fn new(execution: &'a Execution, model: Model) -> Self {
        let none = vec![None; execution.event_count()];
        let mut this = HappensBefore {
            execution,
            model,
            own_writes_continue: model
                .c11_orders()
                .is_some_and(C11Orders::own_writes_continue_release_sequences),
            rf: only_sources(execution),
            fence_before: none.clone(),
            release_before: none,
        };
        for thread in execution.threads() {
            this.note_releases(thread);
        }
        this
    }

    /// The only possible source of an event.
    pub(super) fn source(&self, event: EventId) -> Option<EventId> {
        self.rf[event.index()]
    }

    fn note_releases(&mut self, thread: ThreadId) {
        let mut fence = None;
        let mut last: FxHashMap<LocationId, EventId> = FxHashMap::default();
        for event in self.execution.thread_events(thread) {
            self.fence_before[event.index()] = fence;
            match self.execution.action(event).location() {
                None if self.releases(event) => fence = Some(event),
                Some(location) if self.own_writes_continue => {
                    self.release_before[event.index()] = last.get(&location).copied();
                    if self.releases(event) {
                        last.insert(location, event);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns `true` if the event releases, alone or as a fence.
    fn releases(&self, event: EventId) -> bool {
        let action = self.execution.action(event);
        let can = writes(action) || matches!(action, Action::Fence | Action::StoreFence);
        can && effective_order(self.execution, self.model, event).is_release()
    }

    /// Returns `true` if the event acquires, alone or as a fence.
    fn acquires(&self, event: EventId) -> bool {
        let action = self.execution.action(event);
        let can = action.has_source() || *action == Action::Fence;
        can && effective_order(self.execution, self.model, event).is_acquire()
    }

    /// The releases that synchronize with an acquire that reads `write`.
    fn releases_of(&self, write: EventId) -> impl Iterator<Item = EventId> + use<> {
        let own = self.releases(write).then_some(write);
        let at = write.index();
        own.into_iter().chain(self.release_before[at]).chain(self.fence_before[at])
    }

    /// A shortest path that shows that an event happens before another, if there is one.
    pub(super) fn path(&self, from: EventId, to: EventId) -> Option<Vec<HbStep>> {
        let (start, end) = (self.execution.thread_of(from), self.execution.thread_of(to));
        if end.is_none() || from == to {
            return None;
        }
        if start.is_none() || (start == end && from < to) {
            return Some(vec![HbStep { from, to, how: How::Program }]);
        }
        let mut walk = HbWalk::new(self, to);
        while walk.reached[from.index()].is_none() && walk.advance() {}
        walk.path(from)
    }

    /// A wanted event that happens before `to` or is it.
    pub(super) fn any_before(
        &self,
        to: EventId,
        mut wanted: impl FnMut(EventId) -> bool,
    ) -> Option<EventId> {
        let mut walk = HbWalk::new(self, to);
        while walk.advance() {}
        self.execution.events().find(|&e| walk.reached[e.index()].is_some() && wanted(e))
    }
}

/// By event, its only possible source. A release observes the acquire before it.
fn only_sources(execution: &Execution) -> Vec<Option<EventId>> {
    let mut held: FxHashMap<(ThreadId, LocationId), EventId> = FxHashMap::default();
    let source = |event: EventId| match (*execution.action(event), execution.thread_of(event)) {
        (Action::Unlock { lock }, Some(thread)) => held.get(&(thread, lock)).copied(),
        (action, thread) => {
            if let (Action::Lock { lock }, Some(thread)) = (action, thread) {
                held.insert((thread, lock), event);
            }
            let mut sources = execution.sources(event).iter().filter(|&&source| source != event);
            sources.next().copied().filter(|_| sources.next().is_none())
        }
    };
    execution.events().map(source).collect()
}

/// A search backwards from the end of a path.
struct HbWalk<'a> {
    order: &'a HappensBefore<'a>,
    end: EventId,
    /// By thread, how many of its events have been reached.
    reached_len: Vec<usize>,
    /// By thread, the number of its events that have been followed because of an acquire fence after them.
    fenced_len: Vec<usize>,
    /// By event, whether the chain that ends with it has been followed.
    followed: Vec<bool>,
    /// By event, the event of its thread with which it was reached.
    reached: Vec<Option<EventId>>,
    /// By event with which others were reached, the step from it.
    next: Vec<Option<HbStep>>,
    queue: VecDeque<EventId>,
}

impl<'a> HbWalk<'a> {
    fn new(order: &'a HappensBefore<'a>, end: EventId) -> Self {
        let (events, threads) = (order.execution.event_count(), order.execution.thread_count());
        HbWalk {
            order,
            end,
            reached_len: vec![0; threads],
            fenced_len: vec![0; threads],
            followed: vec![false; events],
            reached: vec![None; events],
            next: vec![None; events],
            queue: VecDeque::from([end]),
        }
    }

    /// Reaches another event with all earlier events of its thread. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        let Some(last) = self.queue.pop_front() else { return false };
        if let Some((thread, position)) = self.order.execution.position(last) {
            let known = self.reached_len[thread.index()];
            self.reached_len[thread.index()] = known.max(position + 1);
            for at in known..=position {
                self.enter(thread, at, last);
            }
        }
        true
    }

    /// Marks an event as reached with the event `last` of its thread, and follows everything that leads to it from other
    /// threads.
    fn enter(&mut self, thread: ThreadId, position: usize, last: EventId) {
        let execution = self.order.execution;
        let Some(event) = execution.event_at(thread, position) else { return };
        self.reached[event.index()] = Some(last);
        if let Some(spawn) = execution.spawned_by(thread).filter(|_| position == 0) {
            self.push(HbStep { from: spawn, to: event, how: How::Thread });
        }
        match *execution.action(event) {
            Action::Join { thread: child } => {
                let last = execution.thread_events(child).next_back();
                if let Some(from) = last.or_else(|| execution.spawned_by(child)) {
                    self.push(HbStep { from, to: event, how: How::Thread });
                }
            }
            Action::Fence if self.order.acquires(event) => {
                self.follow_fence(event, thread, position);
            }
            _ if self.order.acquires(event) => self.follow(event, event),
            _ => {}
        }
    }

    /// Follows the reads before an acquire fence.
    fn follow_fence(&mut self, fence: EventId, thread: ThreadId, position: usize) {
        let known = self.fenced_len[thread.index()];
        self.fenced_len[thread.index()] = known.max(position);
        let before = (known..position).filter_map(|at| self.order.execution.event_at(thread, at));
        for read in before {
            if self.order.execution.order(read).is_atomic() {
                self.follow(read, fence);
            }
        }
    }

    /// Follows the chain of updates whose end `read` observes, for the acquire `to`.
    fn follow(&mut self, read: EventId, to: EventId) {
        let mut link = self.order.source(read);
        while let Some(write) = link {
            if std::mem::replace(&mut self.followed[write.index()], true) {
                return;
            }
            if self.order.execution.order(write).is_atomic() {
                for from in self.order.releases_of(write) {
                    self.push(HbStep { from, to, how: How::Synchronizes { write, read } });
                }
            }
            link = self.order.source(write);
        }
    }

    fn push(&mut self, step: HbStep) {
        let Some((thread, position)) = self.order.execution.position(step.from) else { return };
        let is_new = position >= self.reached_len[thread.index()];
        if is_new && self.next[step.from.index()].is_none() {
            self.next[step.from.index()] = Some(step);
            self.queue.push_back(step.from);
        }
    }

    /// The path from an event that has been reached.
    fn path(&self, from: EventId) -> Option<Vec<HbStep>> {
        let mut path = vec![];
        let mut at = from;
        loop {
            let last = self.reached[at.index()]?;
            if last != at {
                path.push(HbStep { from: at, to: last, how: How::Program });
            }
            if last == self.end {
                return Some(path);
            }
            let step = self.next[last.index()]?;
            path.push(step);
            at = step.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history;
    use raddle_core::execution::Coherence;
    use raddle_core::model::relations::Relations;
    use raddle_core::random::Random;

    /// A write: its name, location and value.
    type NamedWrite = (String, usize, usize);

    /// An event as in a text history, and the location that it writes; a read names one of `writes`.
    fn event(random: &mut Random, value: usize, writes: &[NamedWrite]) -> (String, Option<usize>) {
        let any = |random: &mut Random, all: &[&str]| all[random.below(all.len())].to_owned();
        let location = random.below(2);
        let sources: Vec<&NamedWrite> = writes.iter().filter(|write| write.1 == location).collect();
        match (random.below(8), random.pick(&sources)) {
            (0, _) => (any(random, &["F", "F.acq", "F.rel", "F.ar", "F.ss"]), None),
            (1..=2, Some((name, _, read))) => {
                let order = any(random, &["rlx", "acq", "rel", "ar", "sc"]);
                let text = format!("RMW.{order} x{location} {read} {value} <- {name}");
                (text, Some(location))
            }
            (3..=5, Some((name, _, read))) => {
                let order = any(random, &["na", "rlx", "acq", "sc"]);
                (format!("R.{order} x{location} {read} <- {name}"), None)
            }
            _ => {
                let order = any(random, &["na", "rlx", "rel", "sc"]);
                (format!("W.{order} x{location} {value}"), Some(location))
            }
        }
    }

    /// A random history of three threads.
    fn history(random: &mut Random) -> String {
        let mut threads = ["SPAWN P2".to_owned(), "LOCK m".to_owned(), "F.ss".to_owned()];
        let mut lens = [1; 3];
        let mut writes = vec![];
        for value in 1..14 {
            let thread = random.below(3);
            let (text, written) = event(random, value, &writes);
            let name = format!("P{thread}.{}", lens[thread]);
            writes.extend(written.map(|location| (name, location, value)));
            threads[thread].push_str(&format!("; {text}"));
            lens[thread] += 1;
        }
        let [zero, one, two] = threads;
        let release = lens[1];
        format!("P0: {zero}; JOIN P2; LOCK m <- P1.{release}\nP1: {one}; UNLOCK m\nP2: {two}\n")
    }

    /// Checks that every step is in the relation that it names, and that there is a path exactly for hb.
    fn compare(execution: &Execution, model: Model) {
        let order = HappensBefore::new(execution, model);
        let open = Coherence { rf: order.rf.clone(), mo: vec![], fences: vec![] };
        let relations = Relations::new(execution, model, &open);
        for from in execution.events() {
            for to in execution.events().filter(|&to| to != from) {
                let path = order.path(from, to);
                assert_eq!(path.is_some(), relations.hb.contains(from.index(), to.index()));
                let mut at = from;
                for step in path.into_iter().flatten() {
                    let relation = match step.how {
                        How::Program => &relations.po,
                        How::Thread => &relations.asw,
                        How::Synchronizes { .. } => &relations.sw,
                    };
                    assert!(relation.contains(step.from.index(), step.to.index()));
                    assert_eq!(std::mem::replace(&mut at, step.to), step.from);
                }
            }
        }
    }

    #[test]
    fn paths_are_what_the_axioms_say() {
        let mut random = Random::new(11);
        let mut compared = 0;
        while compared < 300 {
            let Ok(execution) = history::parse(history(&mut random).as_bytes()) else { continue };
            for model in Model::C11 {
                compare(&execution, model);
            }
            compared += 1;
        }
    }
}
