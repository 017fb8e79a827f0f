//! Replays: one execution of a program, as a schedule says.
//!
//! *Problem.* Somebody who has found an execution wants to see it again, in another process, without another exploration.
//!
//! *Idea.* A [`Schedule`] has the answers to all questions, in an order in which they can be given. The program gets these
//! answers and no others, so each thread runs once, from its start to the question or the end where the execution stops. A
//! program that asks something else does not match the schedule; the error says where.
//!
//! A schedule may come from somebody else. What it says about the ending is checked: that a thread fails, that nobody can go on,
//! that a loop leads back to the same state, that two accesses conflict. [`is_allowed`] asks the checker of the model whether it
//! allows the execution.
//!
//! *Cost.* One run of each thread.

use std::collections::BTreeMap;

use raddle_consistency::check::CheckOptions;
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, Origin, Program,
    is_pointer,
};
use raddle_core::schedule::{
    EventName, Schedule, ScheduledAnswer, ScheduledEnding, ScheduledSource, ScheduledStep,
};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};

use crate::ending_of;

/// An execution that a schedule led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// How it ended. No error, if it does not show what the schedule says.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
}

/// How a program differs from a schedule, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl Mismatch {
    fn new(how: impl Into<String>) -> Self {
        Mismatch(how.into())
    }
}

/// Runs one execution of a program. If a thread fails before the end of the schedule, the execution ends there.
///
/// # Errors
/// If the program asks other questions than the schedule answers.
pub fn replay(program: &mut dyn Program, schedule: &Schedule) -> Result<Replayed, Mismatch> {
    let mut replay = Replay {
        program,
        histories: LocalHistories::new(),
        past: vec![],
        trace: Trace::default(),
        threads: BTreeMap::new(),
        initial: BTreeMap::new(),
    };
    replay.add_thread(String::from("main"), ThreadId::new(0), None);
    replay.start("main");
    for step in &schedule.steps {
        match step {
            ScheduledStep::Start(thread) => replay.start(thread),
            ScheduledStep::Answer(answer) if replay.step(answer)? => {}
            ScheduledStep::Answer(_) => break,
        }
    }
    replay.start_all();
    let ending = replay.ending(schedule.ending.as_ref())?;
    Ok(Replayed { ending, trace: replay.trace })
}

/// Returns `false` if a model does not allow an execution, and `true` if it does, or if that is not known.
#[must_use]
pub fn is_allowed(names: &dyn Naming, model: Model, trace: &Trace) -> bool {
    let is_joint = |event: &TraceEvent| matches!(event.op.kind, OpKind::Joint(_));
    let Ok(execution) = trace.to_execution(names) else {
        // The checkers do not know joint accesses.
        return trace.events.iter().any(is_joint);
    };
    let options = CheckOptions { shrink: false, ..CheckOptions::default() };
    match raddle_consistency::check(&execution, model, &options) {
        ConsistencyVerdict::Inconsistent(Violation::Race { .. })
        | ConsistencyVerdict::Consistent(_)
        | ConsistencyVerdict::Unknown { .. } => true,
        ConsistencyVerdict::Inconsistent(_) => false,
    }
}

/// An event that was performed.
#[derive(Clone, Copy)]
struct Event {
    /// Its index in the trace.
    at: usize,
    origin: Origin,
}

struct Thread {
    id: ThreadId,
    spawned_by: Option<Origin>,
    /// Its history, if it has started.
    node: Option<HistoryId>,
    events: Vec<Event>,
    /// How many threads it has spawned.
    spawned: usize,
}

struct Replay<'p> {
    program: &'p mut dyn Program,
    histories: LocalHistories,
    past: Vec<HistoryId>,
    trace: Trace,
    /// By path.
    threads: BTreeMap<String, Thread>,
    initial: BTreeMap<LocationId, Value>,
}

impl Replay<'_> {
    fn add_thread(&mut self, path: String, id: ThreadId, spawned_by: Option<Origin>) {
        let thread = Thread { id, spawned_by, node: None, events: vec![], spawned: 0 };
        self.threads.insert(path, thread);
    }

    /// Starts a thread, unless it has started. Without a step of its own a thread starts as late as possible.
    fn start(&mut self, path: &str) {
        let Some(&Thread { id, spawned_by, node: None, .. }) = self.threads.get(path) else {
            return;
        };
        let node = self.histories.start(self.program, &self.past, id, spawned_by);
        self.reach(path, node);
    }

    fn start_all(&mut self) {
        let is_new =
            |(path, thread): (&String, &Thread)| thread.node.is_none().then(|| path.clone());
        while let Some(path) = self.threads.iter().find_map(is_new) {
            self.start(&path);
        }
    }

    /// A thread has reached a history: its effects happen.
    fn reach(&mut self, path: &str, node: HistoryId) {
        self.past.push(node);
        if let Some(thread) = self.threads.get_mut(path) {
            thread.node = Some(node);
        }
        for (index, op) in self.histories.effects(node).to_vec().into_iter().enumerate() {
            let origin = Origin { node, index: index as u32 + 1 };
            let written = match op.kind {
                OpKind::Init { location, value } => {
                    self.initial.insert(location, value);
                    Some(value)
                }
                OpKind::Store { value, .. } => Some(value),
                _ => None,
            };
            self.add(path, origin, &TraceEvent { written, ..event(op) });
            if let (OpKind::Spawn { thread: id }, Some(parent)) =
                (op.kind, self.threads.get_mut(path))
            {
                let child = format!("{path}/{}", parent.spawned);
                parent.spawned += 1;
                self.add_thread(child, id, Some(origin));
            }
        }
    }

    /// Adds an event of a thread to the trace.
    fn add(&mut self, path: &str, origin: Origin, event: &TraceEvent) {
        let at = self.trace.events.len();
        let Some(thread) = self.threads.get_mut(path) else { return };
        let (id, position) = (thread.id, thread.events.len());
        thread.events.push(Event { at, origin });
        self.trace.events.push(TraceEvent { thread: id, position, ..event.clone() });
    }

    /// Answers a question. Returns `false` if its thread has failed.
    fn step(&mut self, step: &ScheduledAnswer) -> Result<bool, Mismatch> {
        let ScheduledAnswer { question: EventName { thread: path, position }, .. } = step;
        self.start(path);
        if let ScheduledSource::Event(name) = &step.observed {
            self.start(&name.thread);
        }
        let node = |thread: &Thread| Some((thread.node?, thread.events.len()));
        let Some((node, performed)) = self.threads.get(path).and_then(node) else {
            return Err(Mismatch(format!("there is no thread {path}")));
        };
        let op = match *self.histories.end(node) {
            End::Question(op) => op,
            End::Failed(_) => return Ok(false),
            _ => {
                let how = format!("thread {path} does not wait for an answer there");
                return Err(Mismatch(how));
            }
        };
        if performed != *position {
            let how = format!("thread {path} has performed another number of operations");
            return Err(Mismatch(how));
        }
        let (answer, observed, read) = self.answer(&op, step)?;
        let written = written(&op, read, step.spurious);
        let next = self.histories.after(self.program, &self.past, node, answer);
        let origin = Origin { node: next, index: 0 };
        let observed = Some(observed);
        self.add(path, origin, &TraceEvent { observed, read, written, ..event(op) });
        self.reach(path, next);
        Ok(true)
    }

    /// The answer to a question, what it observes in the trace, and the value that it reads.
    fn answer(
        &mut self,
        op: &Op,
        step: &ScheduledAnswer,
    ) -> Result<(Answer, Observed, Option<Value>), Mismatch> {
        let source = match &step.observed {
            ScheduledSource::Choice(choice) => {
                return Ok((Answer::Choice(*choice), Observed::Choice(*choice), None));
            }
            ScheduledSource::Initial => None,
            ScheduledSource::Event(name) => {
                let event = self.event(name);
                Some(event.ok_or_else(|| Mismatch(format!("there is no event {name}")))?)
            }
        };
        let observed = source.map_or(Observed::Initial, |source| Observed::Event(source.at));
        let shares_memory = self.program.shares_memory();
        let identity = match source {
            Some(source) if shares_memory => Answer::From(source.origin),
            _ => Answer::Initial,
        };
        if let OpKind::Join { thread } = op.kind {
            return Ok((self.joined(thread)?, observed, None));
        }
        if matches!(op.kind, OpKind::Lock { .. } | OpKind::ReadCell { .. }) {
            return Ok((identity, observed, None));
        }
        let value = self.value(op, source);
        if let OpKind::Sync { guard, .. } = op.kind
            && !guard.admits(value)
        {
            return Err(Mismatch::new("a thread waits for another value"));
        }
        let answer = match (op.kind, source) {
            (OpKind::Sync { .. }, _) if shares_memory => identity,
            (_, Some(Event { origin, .. })) if shares_memory && is_pointer(value) => {
                if step.spurious { Answer::SpuriousFrom(origin) } else { Answer::From(origin) }
            }
            _ if step.spurious => Answer::Spurious(value),
            _ => Answer::Value(value),
        };
        Ok((answer, observed, Some(value)))
    }

    /// The answer to a join.
    fn joined(&mut self, id: ThreadId) -> Result<Answer, Mismatch> {
        let path = self.threads.iter().find(|(_, thread)| thread.id == id);
        if let Some(path) = path.map(|(path, _)| path.clone()) {
            self.start(&path);
        }
        let thread = self.threads.values().find(|thread| thread.id == id);
        let node = thread.and_then(|thread| thread.node);
        let node = node.filter(|&node| *self.histories.end(node) == End::Finished);
        let node = node.ok_or_else(|| Mismatch::new("the joined thread has not finished"))?;
        Ok(self.histories.joined(node))
    }

    fn value(&self, op: &Op, source: Option<Event>) -> Value {
        match (source, op.kind.location()) {
            (Some(source), _) => self.trace.events[source.at].written.unwrap_or(0),
            (None, Some(location)) => {
                let stated = self.initial.get(&location).copied();
                stated.unwrap_or_else(|| self.program.initial_value(location))
            }
            (None, None) => 0,
        }
    }

    fn event(&self, name: &EventName) -> Option<Event> {
        self.threads.get(&name.thread)?.events.get(name.position).copied()
    }

    /// How the execution ended after all steps.
    fn ending(&mut self, scheduled: Option<&ScheduledEnding>) -> Result<Ending, Mismatch> {
        if let Some(ScheduledEnding::Livelock(loops)) = scheduled {
            loops.iter().try_for_each(|start| self.close_loop(start))?;
        }
        let nodes: Vec<(ThreadId, HistoryId)> =
            self.threads.values().filter_map(|thread| Some((thread.id, thread.node?))).collect();
        let end = |node: HistoryId| thread_end(self.histories.end(node));
        self.trace.ends = nodes.iter().map(|&(thread, node)| (thread, end(node))).collect();
        let pending = |&(thread, node)| Some((thread, Pending::of(&self.histories, node)?));
        self.trace.pending = nodes.iter().filter_map(pending).collect();
        let end_of = |thread: ThreadId| {
            let node = nodes.iter().find(|(id, _)| *id == thread).map(|&(_, node)| node);
            node.map_or(End::Limit, |node| self.histories.end(node).clone())
        };
        let natural = || match ending_of(&self.trace.ends, end_of) {
            Ok(Ending::Deadlock(_)) if self.can_go_on() => Ending::Blocked,
            Ok(Ending::Deadlock(waiting)) if waiting.is_empty() => Ending::Complete,
            Ok(ending) => ending,
            Err(_) => Ending::Blocked,
        };
        match (scheduled, natural()) {
            // An execution ends with its race, whatever the threads do with what they read.
            (Some(ScheduledEnding::Race(first, second)), natural) => {
                Ok(self.race(first, second).unwrap_or(natural))
            }
            (_, failed @ Ending::Failed(..)) => Ok(failed),
            (Some(ScheduledEnding::Livelock(_)), Ending::Blocked) => {
                let repeats = |(thread, end): (&ThreadId, &ThreadEnd)| {
                    (*end == ThreadEnd::Repeats).then_some(*thread)
                };
                let threads: Vec<ThreadId> = self.trace.ends.iter().filter_map(repeats).collect();
                Ok(if threads.is_empty() { Ending::Blocked } else { Ending::Livelock(threads) })
            }
            (_, natural) => Ok(natural),
        }
    }

    /// Lets a thread end because it is in the state again in which it was before this event.
    fn close_loop(&mut self, start: &EventName) -> Result<(), Mismatch> {
        let EventName { thread: path, position } = start;
        let node = self.threads.get(path).and_then(|thread| thread.node);
        let Some(node) = node else {
            return Err(Mismatch(format!("there is no thread {path}")));
        };
        if matches!(self.histories.end(node), End::Repeats(_)) {
            return Ok(());
        }
        let mut at = node;
        while let HistoryStep::After(before, _) = self.histories.step(at) {
            at = before;
            if self.histories.events(at) as usize == *position {
                break;
            }
        }
        if at == node || !self.program.is_same_state(&self.histories, at, node) {
            return Err(Mismatch(format!("thread {path} does not repeat its loop")));
        }
        let _ = self.histories.end_with(node, End::Repeats(at));
        Ok(())
    }

    /// Returns `true` if a thread that has not ended can continue.
    fn can_go_on(&self) -> bool {
        self.threads.values().filter_map(|thread| thread.node).any(|node| {
            match *self.histories.end(node) {
                End::Question(op) => self.has_answer(&op),
                _ => false,
            }
        })
    }

    /// Returns `true` if a question has an answer.
    fn has_answer(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::Lock { lock } => {
                let of_lock = |event: &&TraceEvent| event.op.kind.location() == Some(lock);
                let events = self.trace.events.iter().filter(of_lock);
                let change = |event: &TraceEvent| match event.op.kind {
                    OpKind::Lock { .. } => 1,
                    OpKind::Unlock { .. } => -1,
                    _ => 0,
                };
                events.map(change).sum::<i64>() <= 0
            }
            OpKind::Sync { location, guard, .. } => {
                let value = self.last_of_object(location);
                guard.admits(value)
            }
            OpKind::Join { thread } => {
                let joined = self.threads.values().find(|joined| joined.id == thread);
                let node = joined.and_then(|joined| joined.node);
                node.is_some_and(|node| *self.histories.end(node) == End::Finished)
            }
            _ => true,
        }
    }

    /// The value of a synchronization object after the execution: nobody has observed the event that wrote it.
    fn last_of_object(&self, location: LocationId) -> Value {
        let events = &self.trace.events;
        let is_of_object = |event: &TraceEvent| {
            event.op.kind.location() == Some(location) && event.written.is_some()
        };
        let is_last = |at: usize| {
            !events
                .iter()
                .any(|event| is_of_object(event) && event.observed == Some(Observed::Event(at)))
        };
        let last = (0..events.len()).rev().find(|&at| is_of_object(&events[at]) && is_last(at));
        let initial = || {
            let stated = self.initial.get(&location).copied();
            stated.unwrap_or_else(|| self.program.initial_value(location))
        };
        last.and_then(|at| events[at].written).unwrap_or_else(initial)
    }

    /// The race of two events, if they are conflicting accesses of one location by two threads, of which one is not atomic.
    fn race(&self, first: &EventName, second: &EventName) -> Option<Ending> {
        let (first, second) = (self.event(first)?.at, self.event(second)?.at);
        let [one, other] = [first, second].map(|at| &self.trace.events[at]);
        let location = one.op.kind.location()?;
        let same = other.op.kind.location() == Some(location);
        let is_race = one.thread != other.thread
            && same
            && (writes(one) || writes(other))
            && !(is_atomic(&one.op) && is_atomic(&other.op));
        is_race.then_some(Ending::Race(first, second))
    }
}

/// An event of which nothing is known but the op.
fn event(op: Op) -> TraceEvent {
    let thread = ThreadId::new(0);
    TraceEvent { thread, position: 0, op, observed: None, read: None, written: None }
}

fn writes(event: &TraceEvent) -> bool {
    event.written.is_some() || matches!(event.op.kind, OpKind::WriteCell { .. })
}

fn is_atomic(op: &Op) -> bool {
    match op.kind {
        OpKind::Store { order, .. } | OpKind::Load { order, .. } => order != MemoryOrder::NonAtomic,
        OpKind::WriteCell { .. } | OpKind::ReadCell { .. } => false,
        _ => true,
    }
}

fn thread_end(end: &End) -> ThreadEnd {
    match end {
        End::Finished => ThreadEnd::Finished,
        End::Assume => ThreadEnd::Assume,
        End::Repeats(_) => ThreadEnd::Repeats,
        End::Failed(_) => ThreadEnd::Failed,
        End::Limit | End::Unrolled(_) => ThreadEnd::Limit,
        End::Question(op) => match op.kind {
            OpKind::Lock { .. } | OpKind::Sync { .. } | OpKind::Join { .. } => ThreadEnd::Waiting,
            _ => ThreadEnd::Open,
        },
    }
}

/// The value that a question writes.
fn written(op: &Op, read: Option<Value>, spurious: bool) -> Option<Value> {
    match op.kind {
        OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => Some(update.apply(read?)),
        OpKind::CompareExchange { expected, desired, .. } => {
            (read == Some(expected) && !spurious).then_some(desired)
        }
        _ => None,
    }
}
