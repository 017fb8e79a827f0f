//! Runs of a program: the events of its threads, independent of their interleaving.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::script::{Script, ScriptProgram, ThreadState};
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, Op, OpKind, Origin};
use raddle_core::trace::Source;
use raddle_core::trace::{Class, Observed, ThreadEnd, Trace, TraceEvent};

use super::FinalRegisters;

/// Source of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OracleSource {
    Initial,
    /// Event, by thread and index within the thread.
    Event(ThreadId, usize),
    Choice(u32),
}

/// Event of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OracleEvent {
    origin: Origin,
    pub(super) seen: Option<OracleSource>,
    read: Option<Value>,
    pub(super) written: Option<Value>,
}

/// Events of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OracleThread {
    node: HistoryId,
    /// Number of effects of the last segment that are done.
    effects: usize,
    pub(super) events: Vec<OracleEvent>,
}

/// Events of all threads that were started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OracleRun {
    pub(super) threads: BTreeMap<ThreadId, Rc<OracleThread>>,
}

/// Next step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OracleStep {
    Effect(OpKind),
    Question(OpKind),
    Nothing(ThreadEnd),
}

impl OracleRun {
    /// Returns the index of the next event of the thread.
    pub(super) fn position(&self, thread: ThreadId) -> usize {
        self.threads[&thread].events.len()
    }
}

/// Linearization of a run that respects reads-from.
struct TraceOrder<'a> {
    run: &'a OracleRun,
    /// Index of events in the order, by thread and index within the thread.
    placed: BTreeMap<(ThreadId, usize), usize>,
    events: Vec<TraceEvent>,
}

impl TraceOrder<'_> {
    /// Returns what an event observed, in terms of the order; `None` if the source is not placed yet.
    fn observed(&self, event: &OracleEvent) -> Option<Option<Observed>> {
        Some(match event.seen {
            None => None,
            Some(OracleSource::Initial) => Some(Observed::Initial),
            Some(OracleSource::Choice(choice)) => Some(Observed::Choice(choice)),
            Some(OracleSource::Event(thread, position)) => {
                Some(Observed::Event(*self.placed.get(&(thread, position))?))
            }
        })
    }
}

/// Program with its local histories.
pub(super) struct OracleProgram {
    pub(super) program: ScriptProgram,
    histories: LocalHistories,
}

impl OracleProgram {
    pub(super) fn new(script: &Script) -> Self {
        OracleProgram { program: ScriptProgram::new(script), histories: LocalHistories::new() }
    }

    /// Returns the run in which only the main thread has been started.
    pub(super) fn start(&mut self) -> OracleRun {
        let mut run = OracleRun { threads: BTreeMap::new() };
        self.spawn(&mut run, ThreadId::new(0), None);
        run
    }

    fn spawn(&mut self, run: &mut OracleRun, thread: ThreadId, by: Option<Origin>) {
        let node = self.histories.start(&mut self.program, &[], thread, by);
        let new = Rc::new(OracleThread { node, effects: 0, events: vec![] });
        assert!(run.threads.insert(thread, new).is_none(), "a thread is started only once");
    }

    pub(super) fn next(&self, run: &OracleRun, thread: ThreadId) -> OracleStep {
        let OracleThread { node, effects, .. } = *run.threads[&thread];
        if let Some(op) = self.histories.effects(node).get(effects) {
            return OracleStep::Effect(op.kind);
        }
        match self.histories.end(node) {
            End::Question(op) => OracleStep::Question(op.kind),
            End::Finished => OracleStep::Nothing(ThreadEnd::Finished),
            End::Assume => OracleStep::Nothing(ThreadEnd::Assume),
            End::Failed(_) => OracleStep::Nothing(ThreadEnd::Failed),
            End::Repeats(_) => OracleStep::Nothing(ThreadEnd::Repeats),
            End::Limit | End::Unrolled(_) => OracleStep::Nothing(ThreadEnd::Limit),
        }
    }

    /// Returns the state of a thread whose effects are done, and the end of its last segment.
    pub(super) fn state(&self, run: &OracleRun, thread: ThreadId) -> (ThreadState, End) {
        let node = run.threads[&thread].node;
        (self.program.state_of(node), self.histories.end(node).clone())
    }

    /// Returns the number of questions that a thread has got answers to.
    pub(super) fn answered(&self, run: &OracleRun, thread: ThreadId) -> usize {
        run.threads[&thread].events.iter().filter(|event| event.seen.is_some()).count()
    }

    /// Returns `true` if the thread has been started and is finished.
    pub(super) fn is_finished(&self, run: &OracleRun, thread: ThreadId) -> bool {
        run.threads.contains_key(&thread)
            && self.next(run, thread) == OracleStep::Nothing(ThreadEnd::Finished)
    }

    /// Executes the next effect of the thread.
    pub(super) fn effect(&mut self, run: &OracleRun, thread: ThreadId) -> OracleRun {
        let mut run = run.clone();
        let own = Rc::make_mut(run.threads.get_mut(&thread).expect("the thread was started"));
        let op = self.histories.effects(own.node)[own.effects];
        own.effects += 1;
        let origin = Origin { node: own.node, index: own.effects as u32 };
        let written = match op.kind {
            OpKind::Store { value, .. } => Some(value),
            _ => None,
        };
        own.events.push(OracleEvent { origin, seen: None, read: None, written });
        if let OpKind::Spawn { thread } = op.kind {
            self.spawn(&mut run, thread, Some(origin));
        }
        run
    }

    /// Answers the question of the thread. If `spurious`, a weak compare-exchange fails although the value matches.
    pub(super) fn answer(
        &mut self,
        run: &OracleRun,
        thread: ThreadId,
        seen: OracleSource,
        spurious: bool,
    ) -> OracleRun {
        let OracleStep::Question(kind) = self.next(run, thread) else {
            unreachable!("the thread has a question")
        };
        let read = match kind {
            OpKind::Load { location, .. }
            | OpKind::Rmw { location, .. }
            | OpKind::CompareExchange { location, .. }
            | OpKind::Sync { location, .. } => Some(self.value(run, location, seen)),
            _ => None,
        };
        let written = match kind {
            OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => {
                read.map(|value| update.apply(value))
            }
            OpKind::CompareExchange { expected, desired, .. } => {
                (read == Some(expected) && !spurious).then_some(desired)
            }
            _ => None,
        };
        let answer = match (kind, read, seen) {
            (OpKind::Join { thread }, ..) => Answer::From(self.last_origin(run, thread)),
            (OpKind::Lock { .. } | OpKind::Sync { .. }, _, OracleSource::Initial) => {
                Answer::Initial
            }
            (
                OpKind::Lock { .. } | OpKind::Sync { .. },
                _,
                OracleSource::Event(thread, position),
            ) => Answer::From(run.threads[&thread].events[position].origin),
            (_, _, OracleSource::Choice(choice)) => Answer::Choice(choice),
            (_, Some(value), _) if spurious => Answer::Spurious(value),
            (_, Some(value), _) => Answer::Value(value),
            (_, None, _) => unreachable!("{kind:?} observes nothing"),
        };
        let mut run = run.clone();
        let own = Rc::make_mut(run.threads.get_mut(&thread).expect("the thread was started"));
        own.node = self.histories.after(&mut self.program, &[], own.node, answer);
        own.effects = 0;
        let origin = Origin { node: own.node, index: 0 };
        own.events.push(OracleEvent { origin, seen: Some(seen), read, written });
        run
    }

    /// Returns the origin of the last event of a thread.
    fn last_origin(&self, run: &OracleRun, thread: ThreadId) -> Origin {
        let OracleThread { node, effects, .. } = *run.threads[&thread];
        Origin { node, index: effects as u32 }
    }

    /// Returns the value that a source has at a location.
    pub(super) fn value(&self, run: &OracleRun, location: LocationId, seen: OracleSource) -> Value {
        match seen {
            OracleSource::Initial => self.program.initial_values()[location.index()],
            OracleSource::Event(thread, position) => {
                run.threads[&thread].events[position].written.expect("the source is a write")
            }
            OracleSource::Choice(_) => unreachable!("a choice is not a write"),
        }
    }

    /// Returns the op of an event.
    pub(super) fn op(&self, event: &OracleEvent) -> Op {
        let Origin { node, index } = event.origin;
        if index > 0 {
            return self.histories.effects(node)[index as usize - 1];
        }
        let raddle_core::program::HistoryStep::After(parent, _) = self.histories.step(node) else {
            unreachable!("a question comes before its answer")
        };
        match self.histories.end(parent) {
            End::Question(op) => *op,
            _ => unreachable!("only a question has answers"),
        }
    }

    /// Returns all events with their threads and indices.
    pub(super) fn events<'a>(
        &'a self,
        run: &'a OracleRun,
    ) -> impl Iterator<Item = (ThreadId, usize, &'a OracleEvent, Op)> {
        run.threads.iter().flat_map(move |(&thread, own)| {
            let numbered = own.events.iter().enumerate();
            numbered.map(move |(position, event)| (thread, position, event, self.op(event)))
        })
    }

    /// Returns the run as a trace, in some order. `open` is the end of threads that could continue.
    pub(super) fn trace(&self, run: &OracleRun, open: ThreadEnd) -> Trace {
        let end = |&thread: &ThreadId| match self.next(run, thread) {
            OracleStep::Nothing(end) => (thread, end),
            _ => (thread, open),
        };
        let ends = run.threads.keys().map(end).collect();
        let mut order = TraceOrder { run, placed: BTreeMap::new(), events: vec![] };
        while self.place_some(&mut order) {}
        Trace { events: order.events, ends, ..Trace::default() }
    }

    /// Places all events whose predecessors are placed. Returns whether there were any.
    fn place_some(&self, order: &mut TraceOrder<'_>) -> bool {
        let before = order.events.len();
        for (thread, position, event, op) in self.events(order.run) {
            let is_new = !order.placed.contains_key(&(thread, position));
            if let Some(observed) = order.observed(event).filter(|_| is_new)
                && self.is_predecessor_placed(order, thread, position)
            {
                let OracleEvent { read, written, .. } = *event;
                order.placed.insert((thread, position), order.events.len());
                order.events.push(TraceEvent { thread, position, op, observed, read, written });
            }
        }
        order.events.len() > before
    }

    /// Returns `true` if the preceding event of the thread, or its spawn, is placed.
    fn is_predecessor_placed(
        &self,
        order: &TraceOrder<'_>,
        thread: ThreadId,
        position: usize,
    ) -> bool {
        let starts = |event: &TraceEvent| event.op.kind == OpKind::Spawn { thread };
        match position.checked_sub(1) {
            Some(last) => order.placed.contains_key(&(thread, last)),
            None => thread.index() == 0 || order.events.iter().any(starts),
        }
    }

    /// Returns the run of a class.
    pub(super) fn replay(&mut self, class: &Class) -> OracleRun {
        let mut run = self.start();
        loop {
            let threads: Vec<ThreadId> = run.threads.keys().copied().collect();
            let next = threads.into_iter().find_map(|thread| self.replay_step(&run, class, thread));
            match next {
                Some(next) => run = next,
                None => return run,
            }
        }
    }

    /// Executes the next event of a thread, if its source exists.
    fn replay_step(
        &mut self,
        run: &OracleRun,
        class: &Class,
        thread: ThreadId,
    ) -> Option<OracleRun> {
        let kind = match self.next(run, thread) {
            OracleStep::Effect(_) => return Some(self.effect(run, thread)),
            OracleStep::Question(kind) => kind,
            OracleStep::Nothing(_) => return None,
        };
        if let OpKind::Join { thread: other } = kind {
            let last = run.threads.get(&other)?.events.len().checked_sub(1);
            let seen = last.map_or(OracleSource::Initial, |last| OracleSource::Event(other, last));
            return self.is_finished(run, other).then(|| self.answer(run, thread, seen, false));
        }
        let is_counted = |event: &&OracleEvent| {
            event.seen.is_some() && !matches!(self.op(event).kind, OpKind::Join { .. })
        };
        let answered = run.threads[&thread].events.iter().filter(is_counted).count();
        let (seen, spurious) = match *class.get(&thread)?.0.get(answered)? {
            Source::Initial => (OracleSource::Initial, false),
            Source::SpuriousInitial => (OracleSource::Initial, true),
            Source::Choice(choice) => (OracleSource::Choice(choice), false),
            Source::Event { thread, position, spurious } => {
                run.threads.get(&thread)?.events.get(position)?;
                (OracleSource::Event(thread, position), spurious)
            }
        };
        Some(self.answer(run, thread, seen, spurious))
    }

    /// Returns the class of a maximal run, and its final registers.
    pub(super) fn class(&self, run: &OracleRun) -> (Class, FinalRegisters) {
        let registers = |own: &OracleThread| self.program.registers(own.node).to_vec();
        let outcome = run.threads.iter().map(|(&thread, own)| (thread, registers(own)));
        (self.trace(run, ThreadEnd::Waiting).class(), outcome.collect())
    }
}
