//! Maximal executions: how they ended, and what happened in them.

use super::super::{Control, Extent, Leaf, Visitor, ending_of};
use super::memo::Ask;
use super::state::{Explorer, Role, Stop};
use crate::event_map::EventMap;
use crate::event_set::EventSet;
use crate::model::{IncrementalModel, Sources};
use raddle_core::execution::ThreadId;
use raddle_core::program::{Answer, End, HistoryId, HistoryStep, Op, OpKind, Origin};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};

struct Maximal<'e, 's, 'a, R: EventSet, F> {
    explorer: &'e Explorer<'s, 'a, R, F>,
    ending: &'e Ending,
}

impl<R: EventSet, F: IncrementalModel<R>> Leaf for Maximal<'_, '_, '_, R, F> {
    fn ending(&self) -> &Ending {
        self.ending
    }

    fn trace(&self) -> Trace {
        TraceMaker::new(self.explorer).make()
    }

    fn alternatives(&self) -> Option<Vec<Vec<Observed>>> {
        F::BY_VALUE.then(|| TraceMaker::new(self.explorer).alternatives())
    }
}

impl<R: EventSet, F: IncrementalModel<R>> Explorer<'_, '_, R, F> {
    /// The current execution is maximal: counts it, shows it to the visitor.
    #[inline]
    pub(super) fn leaf(&mut self) {
        self.leaves += 1;
        let regular = self.race.is_none() && self.survived.is_none() && self.cut.is_none();
        if regular && self.asking.is_empty() && self.unfinished == 0 {
            self.classes += 1;
            self.show(&Ending::Complete);
        } else {
            self.unusual_leaf();
        }
        if self.stop.is_none() {
            self.check_limits();
        }
    }

    #[cold]
    fn unusual_leaf(&mut self) {
        let ending = self.unusual_ending();
        match ending {
            Ending::Blocked => self.blocked += 1,
            _ => self.classes += 1,
        }
        if self.race.is_some() || self.cut.is_some() {
            self.clock += 1;
            self.unexplored = self.clock;
        }
        self.show(&ending);
    }

    /// Shows a leaf to the visitor, unless it has seen it before this exploration started again.
    #[inline]
    fn show(&mut self, ending: &Ending) {
        if self.leaves <= self.outer.visited {
            return;
        }
        self.outer.visited = self.leaves;
        let Some(mut audience) = self.outer.audience.take() else { return };
        let control = audience.visit(&Maximal { explorer: self, ending });
        self.outer.audience = Some(audience);
        if control == Control::Stop {
            self.stop = Some(Stop::Extent(Extent::Stopped));
        }
    }

    /// How the execution ended, if not all threads finished.
    #[cold]
    fn unusual_ending(&mut self) -> Ending {
        if let Some((first, second)) = self.race.or(self.survived) {
            let made = TraceMaker::new(self).index_events();
            return Ending::Race(made[first], made[second]);
        }
        if let Some(thread) = self.cut {
            return Ending::Limit(ThreadId::new(thread));
        }
        let ends = self.ends().collect();
        let end = |thread: ThreadId| self.histories.end(self.threads[thread.index()].node).clone();
        let repeating = match ending_of(&ends, end) {
            Ok(ending) => return ending,
            Err(repeating) => repeating,
        };
        if self.repeats_for_ever(&repeating) {
            Ending::Livelock(repeating)
        } else {
            Ending::Blocked
        }
    }

    /// How each thread that was started ended.
    fn ends(&self) -> impl Iterator<Item = (ThreadId, ThreadEnd)> + '_ {
        let started = self.threads.iter().enumerate().filter(|(at, _)| self.was_started(*at));
        started.map(|(at, thread)| {
            let end = match self.histories.end(thread.node) {
                End::Finished => ThreadEnd::Finished,
                End::Assume => ThreadEnd::Assume,
                End::Repeats(_) => ThreadEnd::Repeats,
                End::Failed(_) => ThreadEnd::Failed,
                End::Limit => ThreadEnd::Limit,
                End::Question(_) if matches!(thread.ask, Ask::Lock | Ask::Sync | Ask::Join) => {
                    ThreadEnd::Waiting
                }
                End::Question(_) => ThreadEnd::Open,
            };
            (ThreadId::new(at), end)
        })
    }

    fn was_started(&self, thread: usize) -> bool {
        let histories = &self.histories;
        let thread = ThreadId::new(thread);
        self.past.iter().any(|&node| histories.thread(node) == thread)
    }

    /// Whether these threads, each of which went round a loop, may go on so: every location that they
    /// read may keep the value that they read last.
    fn repeats_for_ever(&mut self, repeating: &[ThreadId]) -> bool {
        let mut last: Vec<(usize, Sources<R>)> = vec![];
        for &thread in repeating {
            let Some(reads) = self.reads_of_loop(thread) else { return false };
            for (location, source) in reads {
                let same = self.same(location, source);
                match last.iter().find(|&&(known, _)| known == location) {
                    Some(&(_, known)) if known != same => return false,
                    Some(_) => {}
                    None => last.push((location, same)),
                }
            }
        }
        self.face.can_be_last_of(&last)
    }

    /// What the thread read on its last way round; nothing, if that depended on a compare-exchange that
    /// failed for no reason, which does not happen for ever.
    fn reads_of_loop(&self, thread: ThreadId) -> Option<Vec<(usize, u32)>> {
        let histories = &self.histories;
        let node = self.threads[thread.index()].node;
        let End::Repeats(start) = *histories.end(node) else {
            unreachable!("the thread repeats itself")
        };
        let mut reads = vec![];
        let mut at = node;
        while at != start {
            let reached = self.past.iter().rposition(|&past| past == at).expect("it was reached");
            // The question that led here was added just before.
            let asked = (self.first_events[reached] as usize).wrapping_sub(1);
            let led_here = Origin { node: at, index: 0 };
            match self.events.first(self.len).get(asked) {
                Some(event) if event.origin != led_here => {}
                Some(event) if event.role == Role::Read => {
                    reads.push((event.location, event.source));
                }
                Some(event) if event.role == Role::Update => {
                    reads.push((event.location, asked as u32));
                }
                _ => {}
            }
            let HistoryStep::After(before, answer) = histories.step(at) else { break };
            if matches!(answer, Answer::Spurious(_) | Answer::SpuriousFrom(_)) {
                return None;
            }
            at = before;
        }
        let last = |(location, write)| (location as usize, self.last_of_chain(location, write));
        Some(reads.into_iter().map(last).collect())
    }

    /// The last of the updates that follow a write without changing the value: threads that try to
    /// get something by updates that change nothing read from each other.
    fn last_of_chain(&self, location: u32, write: u32) -> u32 {
        let value = self.value(location as usize, write);
        let mut last = write;
        let follows = |last: u32| {
            self.events.first(self.len).iter().position(|event| {
                event.role == Role::Update
                    && event.location == location
                    && event.source == last
                    && event.value == value
            })
        };
        while let Some(next) = follows(last) {
            last = next as u32;
        }
        last
    }
}

/// Makes a trace of the current execution.
struct TraceMaker<'e, 's, 'a, R: EventSet, F> {
    explorer: &'e Explorer<'s, 'a, R, F>,
    trace: Trace,
    /// By event, its index in the trace, if it is there.
    index: Vec<usize>,
    /// By thread, how many ops it has done, and its last event in the trace.
    done: Vec<(usize, Option<usize>)>,
}

impl<'e, 's, 'a, R: EventSet, F: IncrementalModel<R>> TraceMaker<'e, 's, 'a, R, F> {
    fn new(explorer: &'e Explorer<'s, 'a, R, F>) -> Self {
        let done = vec![(0, None); explorer.threads.len()];
        TraceMaker { explorer, trace: Trace::default(), index: vec![], done }
    }

    fn make(mut self) -> Trace {
        let explorer = self.explorer;
        self.trace.ends = explorer.ends().collect();
        let pending = |&thread: &ThreadId| {
            let node = explorer.threads[thread.index()].node;
            Some((thread, Pending::of(&explorer.histories, node)?))
        };
        self.trace.pending = self.trace.ends.keys().filter_map(pending).collect();
        self.add_all();
        self.trace
    }

    /// By event of the trace, all that it may have observed.
    fn alternatives(mut self) -> Vec<Vec<Observed>> {
        self.add_all();
        let mut all: Vec<Vec<Observed>> =
            self.trace.events.iter().map(|event| event.observed.into_iter().collect()).collect();
        let events = self.index.iter().enumerate().take(self.explorer.len);
        let made = events.filter(|&(_, &at)| at != usize::MAX);
        for (event, &at) in made {
            if matches!(self.explorer.events[event].role, Role::Read | Role::Update) {
                let Sources { writes, initial } = self.explorer.good_writes(event);
                let write = |write: usize| Observed::Event(self.index[write]);
                let initial = initial.then_some(Observed::Initial);
                all[at] = initial.into_iter().chain(writes.iter().map(write)).collect();
            }
        }
        all
    }

    fn index_events(mut self) -> Vec<usize> {
        self.add_all();
        self.index
    }

    fn add_all(&mut self) {
        for at in self.explorer.causal_past() {
            self.add_history(self.explorer.past[at], self.explorer.first_events[at] as usize);
        }
    }

    /// Adds what belongs to a history; its effects have the events from `first` on, its question the one before.
    fn add_history(&mut self, node: HistoryId, first: usize) {
        let histories = &self.explorer.histories;
        let thread = histories.thread(node);
        if let HistoryStep::After(before, answer) = histories.step(node) {
            let End::Question(op) = histories.end(before) else {
                unreachable!("a history goes on after a question")
            };
            self.add_question(thread, *op, answer, first.wrapping_sub(1));
        }
        let mut event = first;
        for op in histories.effects(node) {
            let is_event = match op.kind {
                OpKind::Init { .. } | OpKind::Spawn { .. } => false,
                OpKind::Fence { .. } | OpKind::StoreFence => F::FENCES_ARE_EVENTS,
                _ => true,
            };
            let written = match op.kind {
                OpKind::Store { value, .. } => Some(value),
                _ => None,
            };
            if is_event {
                self.add_index(event);
                event += 1;
            }
            self.add(thread, *op, None, None, written);
        }
    }

    /// The event is the next one of the trace.
    fn add_index(&mut self, event: usize) {
        let len = self.index.len().max(event + 1);
        self.index.resize(len, usize::MAX);
        self.index[event] = self.trace.events.len();
    }

    fn add_question(&mut self, thread: ThreadId, op: Op, answer: Answer, event: usize) {
        match op.kind {
            OpKind::Choose { .. } => {
                let Answer::Choice(choice) = answer else { unreachable!("a choice was made") };
                self.add(thread, op, Some(Observed::Choice(choice)), None, None);
            }
            OpKind::Join { thread: child } => {
                let last = self.done[child.index()].1;
                let observed = last.map_or(Observed::Initial, Observed::Event);
                self.add(thread, op, Some(observed), None, None);
            }
            _ => self.add_read(thread, op, event),
        }
    }

    fn add_read(&mut self, thread: ThreadId, op: Op, at: usize) {
        let event = self.explorer.events[at];
        self.add_index(at);
        let observed = match self.explorer.observed(at) {
            None => Observed::Initial,
            Some(source) => Observed::Event(self.index[source]),
        };
        let has_value = !matches!(op.kind, OpKind::ReadCell { .. } | OpKind::Lock { .. });
        let values = &self.explorer.memo.values;
        let value = self.explorer.value(event.location as usize, event.source);
        let read = has_value.then(|| values.get(value));
        let writes = has_value && event.role == Role::Update;
        let written = writes.then(|| values.get(event.value));
        self.add(thread, op, Some(observed), read, written);
    }

    fn add(
        &mut self,
        thread: ThreadId,
        op: Op,
        observed: Option<Observed>,
        read: Option<raddle_core::execution::Value>,
        written: Option<raddle_core::execution::Value>,
    ) {
        let at = self.trace.events.len();
        let (position, last) = &mut self.done[thread.index()];
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
