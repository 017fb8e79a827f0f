//! Maximal executions: how they ended, and their traces.

use super::execution::{EventRole, SearchThread};
use super::history_cache::PendingKind;
use super::state::{PartSearch, SearchStop};
use rustc_hash::FxHashMap;

use crate::driver::Restart;
use crate::event_index::{EventIndex, RfSource};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, RfSources};
use crate::{Control, Extent, Leaf, Visitor, ending_of};
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, HistoryId, HistoryStep, Op, OpKind, Origin};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent, map_of};

/// The current execution of a search, which is maximal.
struct PartLeaf<'e, 's, 'a, R: EventSet, M> {
    search: &'e PartSearch<'s, 'a, R, M>,
    ending: &'e Ending,
}

impl<R: EventSet, M: IncrementalModel<R>> Leaf for PartLeaf<'_, '_, '_, R, M> {
    fn ending(&self) -> &Ending {
        self.ending
    }

    fn trace(&self) -> Trace {
        PartTraceBuilder::new(self.search).build()
    }

    fn alternatives(&self) -> Option<Vec<Vec<Observed>>> {
        self.search
            .model
            .observes_by_value()
            .then(|| PartTraceBuilder::new(self.search).alternatives())
    }
}

impl<R: EventSet, M: IncrementalModel<R>> PartSearch<'_, '_, R, M> {
    /// Counts the current execution, which is maximal, and shows it to the visitor.
    #[inline]
    pub(super) fn leaf(&mut self) {
        if !self.quiet.conflicts.is_empty() {
            return self.learn_conflicts();
        }
        let orbit = match self.symmetry.is_active {
            false => 1,
            true => match self.orbit() {
                Some(orbit) => orbit,
                None => return,
            },
        };
        let (classes, blocked) = (self.classes, self.blocked);
        self.leaves += 1;
        let is_regular = self.race.is_none() && self.survived_race.is_none() && self.cut.is_none();
        if is_regular && self.waiting.is_empty() && self.unfinished == 0 {
            self.classes += 1;
            self.show(&Ending::Complete);
        } else {
            self.unusual_leaf();
        }
        if self.symmetry.is_active {
            self.symmetry.count(orbit, self.classes - classes, self.blocked - blocked);
        }
        if self.stop.is_none() {
            self.check_limits();
        }
    }

    /// Starts over with the conflicts of the execution, which has ended.
    #[cold]
    pub(super) fn learn_conflicts(&mut self) {
        let conflicts = std::mem::take(&mut self.quiet.conflicts);
        self.exploration.note_conflicts(&conflicts);
        self.stop = Some(SearchStop::Restart(Restart::ExplorationFacts));
    }

    #[cold]
    fn unusual_leaf(&mut self) {
        if self.cut.is_some() {
            self.cut_executions += 1;
            if self.learn_long_execution() {
                return;
            }
        }
        let ending = self.unusual_ending();
        match ending {
            Ending::Limit(thread) if self.cut.is_some() || self.is_cut(thread) => {}
            Ending::Blocked => self.blocked += 1,
            _ => self.classes += 1,
        }
        if self.race.is_some() {
            self.clock += 1;
            self.unexplored = self.clock;
        }
        self.show(&ending);
    }

    /// Returns `true` if a thread has ended because it seems to store forever, or because the rounds of loops are bounded.
    fn is_cut(&self, thread: ThreadId) -> bool {
        let history = self.thread(thread).history;
        self.histories.is_cut(history) || matches!(self.histories.end(history), End::Unrolled(_))
    }

    /// Shows a leaf to the visitor, unless it has seen it in an earlier attempt.
    #[inline]
    fn show(&mut self, ending: &Ending) {
        if self.leaves <= self.exploration.visited {
            return;
        }
        self.exploration.visited = self.leaves;
        if self.exploration.is_silent && (self.leaves > 1 || self.quiet.is_active) {
            return;
        }
        if std::mem::take(&mut self.exploration.is_silent) {
            self.exploration.options.quiet = false;
        }
        if self.exploration.recognition.is_active() && self.recognises_leaf(ending) {
            return;
        }
        let Some(mut consumer) = self.exploration.consumer.take() else { return };
        let control = consumer.visit(&PartLeaf { search: self, ending });
        self.exploration.consumer = Some(consumer);
        if control == Control::Stop {
            self.stop = Some(SearchStop::Extent(Extent::Stopped));
        }
    }

    /// Returns `true` if the visitor must not see the leaf, as it has seen its class before a restart with other quiet
    /// locations.
    #[cold]
    fn recognises_leaf(&mut self, ending: &Ending) -> bool {
        let class = PartLeaf { search: self, ending }.trace().class();
        let recognised = self.exploration.recognition.recognises(&class);
        if self.exploration.recognition.is_complete() {
            self.stop = Some(SearchStop::Extent(Extent::Stopped));
        }
        recognised
    }

    /// How the execution ended, if not all threads finished.
    #[cold]
    pub(super) fn unusual_ending(&mut self) -> Ending {
        if let Some((first, second)) = self.race.or(self.survived_race) {
            let positions = PartTraceBuilder::new(self).positions();
            return Ending::Race(positions[first.index()], positions[second.index()]);
        }
        let ends = map_of(self.ends());
        let end = |thread: ThreadId| self.histories.end(self.thread(thread).history).clone();
        let repeating = match ending_of(&ends, end) {
            Ok(ending) => return ending,
            Err(repeating) => repeating,
        };
        let is_livelock = !self.rounds.is_stuck && self.repeats_forever(&repeating);
        if is_livelock { Ending::Livelock(repeating) } else { Ending::Blocked }
    }

    /// How each started thread ended.
    fn ends(&self) -> impl Iterator<Item = (ThreadId, ThreadEnd)> + '_ {
        let threads = (0..self.threads.len()).map(ThreadId::new);
        threads.filter(|&thread| self.was_started(thread)).map(|thread| {
            let SearchThread { history, pending, .. } = *self.thread(thread);
            let end = match self.histories.end(history) {
                End::Finished => ThreadEnd::Finished,
                End::Assume => ThreadEnd::Assume,
                End::Repeats(_) => ThreadEnd::Repeats,
                End::Failed(_) => ThreadEnd::Failed,
                End::Limit | End::Unrolled(_) => ThreadEnd::Limit,
                End::Question(_) => match pending {
                    // It was taken and released in a round that is left out.
                    PendingKind::Lock | PendingKind::Sync
                        if self.rounds.is_stuck && self.is_free(thread) =>
                    {
                        ThreadEnd::Repeats
                    }
                    PendingKind::Lock | PendingKind::Sync | PendingKind::Join => ThreadEnd::Waiting,
                    PendingKind::Ended => ThreadEnd::Limit,
                    _ if self.rounds.is_stuck => ThreadEnd::Repeats,
                    _ => ThreadEnd::Open,
                },
            };
            (thread, end)
        })
    }

    fn was_started(&self, thread: ThreadId) -> bool {
        self.past.iter().any(|&history| self.histories.thread(history) == thread)
    }

    /// Returns `true` if these threads, each of which went around a loop, may continue to do so: every location that
    /// they read may keep the value that they read last.
    pub(super) fn repeats_forever(&mut self, repeating: &[ThreadId]) -> bool {
        let mut last: Vec<(LocationId, RfSources<R>)> = vec![];
        for &thread in repeating {
            let Some(reads) = self.reads_of_loop(thread) else { return false };
            for (location, source) in reads {
                let same = self.same(location, source);
                match last.iter().find(|(known, _)| *known == location) {
                    Some((_, known)) if *known != same => return false,
                    Some(_) => {}
                    None => last.push((location, same)),
                }
            }
        }
        self.model.can_be_last_of(&last)
    }

    /// What the thread read in its last iteration; `None` if that depended on a spurious failure of a compare-exchange,
    /// which does not happen forever.
    fn reads_of_loop(&self, thread: ThreadId) -> Option<Vec<(LocationId, RfSource)>> {
        let histories = &self.histories;
        let history = self.thread(thread).history;
        let End::Repeats(start) = *histories.end(history) else {
            unreachable!("the thread repeats itself")
        };
        let mut reads = vec![];
        let mut at = history;
        while at != start {
            let HistoryStep::After(before, answer) = histories.step(at) else { break };
            let reached = self.past.iter().rposition(|&past| past == at);
            let reached = reached.expect("the history is part of the execution");
            // The read that led here was added directly before.
            let read = (self.first_events[reached] as usize).wrapping_sub(1);
            let led_here = Origin { node: at, index: 0 };
            match self.events.first(self.len).get(read) {
                Some(event) if event.origin != led_here => {}
                // Every round takes the lock and releases it.
                _ if self.cache.segment(before).pending == PendingKind::Lock => {}
                Some(event) if event.role == EventRole::Read => {
                    reads.push((event.location, event.source));
                }
                Some(event) if event.role == EventRole::Update => {
                    reads.push((event.location, EventIndex::new(read).into()));
                }
                _ => {}
            }
            if matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_)) {
                return None;
            }
            at = before;
        }
        let last = |(location, write)| (location, self.last_of_chain(location, write));
        Some(reads.into_iter().map(last).collect())
    }

    /// The last of the updates that follow a write without changing the value: threads that spin with updates that
    /// change nothing read from each other.
    fn last_of_chain(&self, location: LocationId, write: RfSource) -> RfSource {
        let value = self.value(location, write);
        let mut last = write;
        let next = |last: RfSource| {
            self.events.first(self.len).iter().position(|event| {
                event.role == EventRole::Update
                    && event.location == location
                    && event.source == last
                    && event.value == value
            })
        };
        while let Some(next) = next(last) {
            last = EventIndex::new(next).into();
        }
        last
    }
}

/// Builds a trace of the current execution.
struct PartTraceBuilder<'e, 's, 'a, R: EventSet, M> {
    search: &'e PartSearch<'s, 'a, R, M>,
    trace: Trace,
    /// By event: its position in the trace; `usize::MAX` if it has none.
    positions: Vec<usize>,
    /// By thread: how many ops it has performed, and its last event in the trace.
    performed: Vec<(usize, Option<usize>)>,
    /// By quiet location: its last write, as a position in the trace, and its value.
    quiet_writes: FxHashMap<LocationId, (usize, Option<Value>)>,
}

impl<'e, 's, 'a, R: EventSet, M: IncrementalModel<R>> PartTraceBuilder<'e, 's, 'a, R, M> {
    fn new(search: &'e PartSearch<'s, 'a, R, M>) -> Self {
        let performed = vec![(0, None); search.threads.len()];
        let (trace, positions, quiet_writes) = (Trace::default(), vec![], FxHashMap::default());
        PartTraceBuilder { search, trace, positions, performed, quiet_writes }
    }

    fn build(mut self) -> Trace {
        let search = self.search;
        self.trace.ends = map_of(search.ends());
        let pending = |&thread: &ThreadId| {
            let history = search.thread(thread).history;
            Some((thread, Pending::of(&search.histories, history)?))
        };
        self.trace.pending = map_of(self.trace.ends.keys().filter_map(pending));
        self.add_all();
        self.trace
    }

    /// By event of the trace: all that it may have observed.
    fn alternatives(mut self) -> Vec<Vec<Observed>> {
        self.add_all();
        let mut all: Vec<Vec<Observed>> =
            self.trace.events.iter().map(|event| event.observed.into_iter().collect()).collect();
        let events = self.positions.iter().enumerate().take(self.search.len);
        for (event, &position) in events.filter(|&(_, &position)| position != usize::MAX) {
            let event = EventIndex::new(event);
            if matches!(self.search.events[event].role, EventRole::Read | EventRole::Update) {
                let RfSources { writes, initial } = self.search.good_writes(event);
                let write = |write: EventIndex| Observed::Event(self.positions[write.index()]);
                let initial = initial.then_some(Observed::Initial);
                all[position] = initial.into_iter().chain(writes.iter().map(write)).collect();
            }
        }
        all
    }

    /// By event: its position in the trace; `usize::MAX` if it has none.
    fn positions(mut self) -> Vec<usize> {
        self.add_all();
        self.positions
    }

    fn add_all(&mut self) {
        for at in self.search.causal_past() {
            self.add_history(self.search.past[at], self.search.first_events[at] as usize);
        }
    }

    /// Adds the last segment of a history. Its effects have the events from `first` on, its question the one before.
    fn add_history(&mut self, history: HistoryId, first: usize) {
        let histories = &self.search.histories;
        let thread = histories.thread(history);
        if let HistoryStep::After(before, answer) = histories.step(history) {
            let End::Question(op) = histories.end(before) else {
                unreachable!("a history continues after a question")
            };
            self.add_question(thread, *op, answer, first.wrapping_sub(1));
        }
        let mut event = first;
        for op in histories.effects(history) {
            let is_quiet = self.is_quiet(op);
            let is_event = match op.kind {
                _ if is_quiet => false,
                OpKind::Init { .. } | OpKind::Spawn { .. } | OpKind::Joint(_) => false,
                OpKind::Fence { .. } | OpKind::StoreFence => self.search.model.fences_are_events(),
                _ => true,
            };
            let written = match op.kind {
                OpKind::Store { value, .. } => Some(value),
                _ => None,
            };
            if is_event {
                self.set_position(event);
                event += 1;
            }
            if let Some(location) = op.kind.location().filter(|_| is_quiet) {
                let is_write = !matches!(op.kind, OpKind::Init { .. } | OpKind::Joint(_));
                let value = match op.kind {
                    OpKind::Unlock { .. } => Some(0),
                    _ => written,
                };
                if is_write {
                    self.quiet_writes.insert(location, (self.trace.events.len(), value));
                }
            }
            self.add(thread, *op, None, None, written);
        }
    }

    /// Records that the event is the next one of the trace.
    fn set_position(&mut self, event: usize) {
        let len = self.positions.len().max(event + 1);
        self.positions.resize(len, usize::MAX);
        self.positions[event] = self.trace.events.len();
    }

    fn add_question(&mut self, thread: ThreadId, op: Op, answer: Answer, event: usize) {
        match op.kind {
            OpKind::Choose { .. } => {
                let Answer::Choice(choice) = answer else {
                    unreachable!("a choice is answered with an option")
                };
                self.add(thread, op, Some(Observed::Choice(choice)), None, None);
            }
            OpKind::Join { thread: child } => {
                let last = self.performed[child.index()].1;
                let observed = last.map_or(Observed::Initial, Observed::Event);
                self.add(thread, op, Some(observed), None, None);
            }
            _ if self.is_quiet(&op) => self.add_quiet_question(thread, op, answer),
            _ => self.add_read(thread, op, EventIndex::new(event)),
        }
    }

    fn is_quiet(&self, op: &Op) -> bool {
        op.kind.location().is_some_and(|location| self.search.is_quiet(location))
    }

    /// Adds a question about a quiet location: it observes the last write.
    fn add_quiet_question(&mut self, thread: ThreadId, op: Op, answer: Answer) {
        let Some(location) = op.kind.location() else { return };
        let last = self.quiet_writes.get(&location).copied();
        let observed = last.map_or(Observed::Initial, |(position, _)| Observed::Event(position));
        let initial = self.search.location(location).initial;
        let value = match last {
            Some((_, value)) => value,
            None => Some(self.search.cache.values.get(initial)),
        };
        let has_value = !matches!(op.kind, OpKind::ReadCell { .. } | OpKind::Lock { .. });
        let is_spurious = matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_));
        let written = value.and_then(|value| match op.kind {
            OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => Some(update.apply(value)),
            OpKind::CompareExchange { expected, desired, .. } => {
                (value == expected && !is_spurious).then_some(desired)
            }
            OpKind::Lock { .. } => Some(1),
            _ => None,
        });
        if written.is_some() {
            self.quiet_writes.insert(location, (self.trace.events.len(), written));
        }
        let (read, written) = (value.filter(|_| has_value), written.filter(|_| has_value));
        self.add(thread, op, Some(observed), read, written);
    }

    fn add_read(&mut self, thread: ThreadId, op: Op, read: EventIndex) {
        let event = self.search.events[read];
        self.set_position(read.index());
        let observed = match self.search.observed(read).event() {
            None => Observed::Initial,
            Some(source) => Observed::Event(self.positions[source.index()]),
        };
        let has_value = !matches!(op.kind, OpKind::ReadCell { .. } | OpKind::Lock { .. });
        let values = &self.search.cache.values;
        let value = self.search.value(event.location, event.source);
        let read = has_value.then(|| values.get(value));
        let writes = has_value && event.role == EventRole::Update;
        let written = writes.then(|| values.get(event.value));
        self.add(thread, op, Some(observed), read, written);
    }

    fn add(
        &mut self,
        thread: ThreadId,
        op: Op,
        observed: Option<Observed>,
        read: Option<Value>,
        written: Option<Value>,
    ) {
        let at = self.trace.events.len();
        let (position, last) = &mut self.performed[thread.index()];
        self.trace.events.push(TraceEvent {
            thread,
            position: *position,
            op,
            observed,
            read,
            written,
        });
        *position += 1;
        *last = Some(at);
    }
}
