//! What the threads of a program have done so far, independent of the order in which they did it.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::script::{Script, ScriptProgram};
use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::program::{Answer, End, HistoryId, LocalHistories, Op, OpKind, Origin};
use raddle_core::trace::Source;
use raddle_core::trace::{Class, Observed, ThreadEnd, Trace, TraceEvent};

use super::Outcome;

/// What a question observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seen {
    Initial,
    /// An event: its thread and its position there.
    Event(ThreadId, usize),
    Choice(u32),
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Event {
    origin: Origin,
    pub(super) seen: Option<Seen>,
    read: Option<Value>,
    pub(super) written: Option<Value>,
}

/// What one thread has done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ThreadRun {
    node: HistoryId,
    /// How many effects of its last segment it has done.
    effects: usize,
    pub(super) events: Vec<Event>,
}

/// What all threads that were started have done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) threads: BTreeMap<ThreadId, Rc<ThreadRun>>,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Effect(OpKind),
    Question(OpKind),
    Nothing(ThreadEnd),
}

impl Run {
    /// Where the next event of the thread will be.
    pub(super) fn position(&self, thread: ThreadId) -> usize {
        self.threads[&thread].events.len()
    }
}

/// Some events of a run, in an order that respects what they observe.
struct Order<'a> {
    run: &'a Run,
    /// Where events are, by thread and position.
    placed: BTreeMap<(ThreadId, usize), usize>,
    events: Vec<TraceEvent>,
}

impl Order<'_> {
    /// What an event observed, in terms of the order; `None` if that is not placed.
    fn observed(&self, event: &Event) -> Option<Option<Observed>> {
        Some(match event.seen {
            None => None,
            Some(Seen::Initial) => Some(Observed::Initial),
            Some(Seen::Choice(choice)) => Some(Observed::Choice(choice)),
            Some(Seen::Event(thread, position)) => {
                Some(Observed::Event(*self.placed.get(&(thread, position))?))
            }
        })
    }
}

/// A program and what is known of it.
pub(super) struct World {
    pub(super) program: ScriptProgram,
    histories: LocalHistories,
}

impl World {
    pub(super) fn new(script: &Script) -> Self {
        World { program: ScriptProgram::new(script), histories: LocalHistories::new() }
    }

    /// The main thread has been started and nothing has happened yet.
    pub(super) fn start(&mut self) -> Run {
        let mut run = Run { threads: BTreeMap::new() };
        self.spawn(&mut run, ThreadId::new(0), None);
        run
    }

    fn spawn(&mut self, run: &mut Run, thread: ThreadId, by: Option<Origin>) {
        let node = self.histories.start(&mut self.program, &[], thread, by);
        let new = Rc::new(ThreadRun { node, effects: 0, events: vec![] });
        assert!(run.threads.insert(thread, new).is_none(), "a thread is started once");
    }

    pub(super) fn next(&self, run: &Run, thread: ThreadId) -> Next {
        let ThreadRun { node, effects, .. } = *run.threads[&thread];
        if let Some(op) = self.histories.effects(node).get(effects) {
            return Next::Effect(op.kind);
        }
        match self.histories.end(node) {
            End::Question(op) => Next::Question(op.kind),
            End::Finished => Next::Nothing(ThreadEnd::Finished),
            End::Assume => Next::Nothing(ThreadEnd::Assume),
            End::Failed(_) => Next::Nothing(ThreadEnd::Failed),
            End::Repeats(_) => Next::Nothing(ThreadEnd::Repeats),
            End::Limit => Next::Nothing(ThreadEnd::Limit),
        }
    }

    /// Whether the thread has been started and is finished.
    pub(super) fn is_finished(&self, run: &Run, thread: ThreadId) -> bool {
        run.threads.contains_key(&thread)
            && self.next(run, thread) == Next::Nothing(ThreadEnd::Finished)
    }

    /// The thread does its next effect.
    pub(super) fn effect(&mut self, run: &Run, thread: ThreadId) -> Run {
        let mut run = run.clone();
        let own = Rc::make_mut(run.threads.get_mut(&thread).expect("it runs"));
        let op = self.histories.effects(own.node)[own.effects];
        own.effects += 1;
        let origin = Origin { node: own.node, index: own.effects as u32 };
        let written = match op.kind {
            OpKind::Store { value, .. } => Some(value),
            _ => None,
        };
        own.events.push(Event { origin, seen: None, read: None, written });
        if let OpKind::Spawn { thread } = op.kind {
            self.spawn(&mut run, thread, Some(origin));
        }
        run
    }

    /// The thread's question observes something; a weak compare-exchange may be `spurious` and fail.
    pub(super) fn answer(
        &mut self,
        run: &Run,
        thread: ThreadId,
        seen: Seen,
        spurious: bool,
    ) -> Run {
        let Next::Question(kind) = self.next(run, thread) else {
            unreachable!("the thread asks nothing")
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
            (OpKind::Lock { .. } | OpKind::Sync { .. }, _, Seen::Initial) => Answer::Initial,
            (OpKind::Lock { .. } | OpKind::Sync { .. }, _, Seen::Event(thread, position)) => {
                Answer::From(run.threads[&thread].events[position].origin)
            }
            (_, _, Seen::Choice(choice)) => Answer::Choice(choice),
            (_, Some(value), _) if spurious => Answer::Spurious(value),
            (_, Some(value), _) => Answer::Value(value),
            (_, None, _) => unreachable!("{kind:?} observes nothing"),
        };
        let mut run = run.clone();
        let own = Rc::make_mut(run.threads.get_mut(&thread).expect("it runs"));
        own.node = self.histories.after(&mut self.program, &[], own.node, answer);
        own.effects = 0;
        let origin = Origin { node: own.node, index: 0 };
        own.events.push(Event { origin, seen: Some(seen), read, written });
        run
    }

    /// The end of the last history of a thread.
    fn last_origin(&self, run: &Run, thread: ThreadId) -> Origin {
        let ThreadRun { node, effects, .. } = *run.threads[&thread];
        Origin { node, index: effects as u32 }
    }

    /// What was observed of a location.
    pub(super) fn value(&self, run: &Run, location: LocationId, seen: Seen) -> Value {
        match seen {
            Seen::Initial => self.program.initial_values()[location.index()],
            Seen::Event(thread, position) => {
                run.threads[&thread].events[position].written.expect("a source writes")
            }
            Seen::Choice(_) => unreachable!("a choice is no write"),
        }
    }

    /// What an event did.
    pub(super) fn op(&self, event: &Event) -> Op {
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

    /// All events with their threads and positions.
    pub(super) fn events<'a>(
        &'a self,
        run: &'a Run,
    ) -> impl Iterator<Item = (ThreadId, usize, &'a Event, Op)> {
        run.threads.iter().flat_map(move |(&thread, own)| {
            let numbered = own.events.iter().enumerate();
            numbered.map(move |(position, event)| (thread, position, event, self.op(event)))
        })
    }

    /// The run in some order. Threads that could still go on are `open` or wait.
    pub(super) fn trace(&self, run: &Run, open: ThreadEnd) -> Trace {
        let end = |&thread: &ThreadId| match self.next(run, thread) {
            Next::Nothing(end) => (thread, end),
            _ => (thread, open),
        };
        let ends = run.threads.keys().map(end).collect();
        let mut order = Order { run, placed: BTreeMap::new(), events: vec![] };
        while self.place_some(&mut order) {}
        Trace { events: order.events, ends, ..Trace::default() }
    }

    /// Places all events that come after none but placed ones; whether there were any.
    fn place_some(&self, order: &mut Order<'_>) -> bool {
        let before = order.events.len();
        for (thread, position, event, op) in self.events(order.run) {
            let is_new = !order.placed.contains_key(&(thread, position));
            if let Some(observed) = order.observed(event).filter(|_| is_new)
                && self.has_begun(order, thread, position)
            {
                let Event { read, written, .. } = *event;
                order.placed.insert((thread, position), order.events.len());
                order.events.push(TraceEvent { thread, position, op, observed, read, written });
            }
        }
        order.events.len() > before
    }

    /// Whether what comes before an event in its thread, or has started it, is placed.
    fn has_begun(&self, order: &Order<'_>, thread: ThreadId, position: usize) -> bool {
        let starts = |event: &TraceEvent| event.op.kind == OpKind::Spawn { thread };
        match position.checked_sub(1) {
            Some(last) => order.placed.contains_key(&(thread, last)),
            None => thread.index() == 0 || order.events.iter().any(starts),
        }
    }

    /// The run of a class.
    pub(super) fn replay(&mut self, class: &Class) -> Run {
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

    /// The next event of a thread, if all that it observes has happened.
    fn replay_step(&mut self, run: &Run, class: &Class, thread: ThreadId) -> Option<Run> {
        let kind = match self.next(run, thread) {
            Next::Effect(_) => return Some(self.effect(run, thread)),
            Next::Question(kind) => kind,
            Next::Nothing(_) => return None,
        };
        if let OpKind::Join { thread: other } = kind {
            let last = run.threads.get(&other)?.events.len().checked_sub(1);
            let seen = last.map_or(Seen::Initial, |last| Seen::Event(other, last));
            return self.is_finished(run, other).then(|| self.answer(run, thread, seen, false));
        }
        let is_counted = |event: &&Event| {
            event.seen.is_some() && !matches!(self.op(event).kind, OpKind::Join { .. })
        };
        let answered = run.threads[&thread].events.iter().filter(is_counted).count();
        let (seen, spurious) = match *class.get(&thread)?.0.get(answered)? {
            Source::Initial => (Seen::Initial, false),
            Source::SpuriousInitial => (Seen::Initial, true),
            Source::Choice(choice) => (Seen::Choice(choice), false),
            Source::Event { thread, position, spurious } => {
                run.threads.get(&thread)?.events.get(position)?;
                (Seen::Event(thread, position), spurious)
            }
        };
        Some(self.answer(run, thread, seen, spurious))
    }

    /// The class of a maximal run, and what its threads computed.
    pub(super) fn class(&self, run: &Run) -> (Class, Outcome) {
        let registers = |own: &ThreadRun| self.program.registers(own.node).to_vec();
        let outcome = run.threads.iter().map(|(&thread, own)| (thread, registers(own)));
        (self.trace(run, ThreadEnd::Waiting).class(), outcome.collect())
    }
}
