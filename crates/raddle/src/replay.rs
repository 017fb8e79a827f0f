//! Replays: one execution of a test once more.

use std::collections::BTreeMap;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome};
use raddle_core::program::{
    Answer, End, Failure, HistoryId, LocalHistories, Op, OpKind, Origin, PlaceId, is_pointer,
};
use raddle_core::schedule::{
    EventName, Schedule, ScheduleError, ScheduledEnding, ScheduledSource, ScheduledStep,
};
use raddle_core::trace::{Counterexample, Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};
use raddle_explore::robustness;
use raddle_runtime::{Caller, Names, Settings, ops};

use crate::report::outcome_of_one;
use crate::schedule::{DEFAULT_MODEL, from_replay_settings};
use crate::{Test, TestProgram};

/// Runs one execution of a test again, as the schedule in a report says. If it shows no error, or if the test no
/// longer matches the schedule, the verdict is `Incomplete`: other executions may show an error.
///
/// # Panics
/// If the text is not a schedule, or if this is called in a test that is being explored.
#[track_caller]
pub fn replay<F: Fn()>(schedule: &str, f: F) -> Outcome {
    assert!(!ops::is_running(), "raddle: a test that is being explored cannot replay another");
    follow_text(schedule, Test::of(&f))
}

#[track_caller]
fn follow_text(schedule: &str, test: Test<'_>) -> Outcome {
    let followed = schedule.parse().and_then(|schedule: Schedule| {
        let settings = from_replay_settings(&schedule.settings)?;
        raddle_runtime::on_large_stack(|| follow(&schedule, settings, test))
    });
    followed.unwrap_or_else(|error| panic!("{error}"))
}

fn follow(
    schedule: &Schedule,
    settings: Settings,
    test: Test<'_>,
) -> Result<Outcome, ScheduleError> {
    let Some(scheduled) = &schedule.ending else {
        return Err(ScheduleError::new("it does not say how the execution ended"));
    };
    let model = schedule.model.unwrap_or(DEFAULT_MODEL);
    let mut replay = Replay::new(test.program(settings));
    replay.start(ThreadId::new(0), None);
    let differs = |how: String| format!("the test does not match the schedule: {how}");
    let difference = schedule.steps.iter().find_map(|step| replay.step(step).err());
    if difference.is_none() && *scheduled == ScheduledEnding::NotRobust {
        return Ok(replay.compared_with_sc(model));
    }
    let ending = match difference {
        Some(Different::Fails(thread, failure)) => Ok(Ending::Failed(thread, failure)),
        Some(Different::Otherwise(how)) => Err(differs(how)),
        None => replay.ending(scheduled).or_else(|()| {
            let leak = leak(&mut replay.program).map(|leak| leak.ending(&replay.program.names()));
            let why = "the scheduled execution shows no error";
            leak.ok_or_else(|| String::from(why))
        }),
    };
    let found = ending.map(|ending| Counterexample::new(ending, replay.trace));
    Ok(outcome_of_one(&replay.program, model, found))
}

/// An object that still has owners when a run has ended.
pub(crate) struct Leak {
    owners: usize,
    made: Caller,
}

impl Leak {
    /// The leak as the ending of an execution.
    pub(crate) fn ending(&self, names: &Names) -> Ending {
        let Leak { owners, made } = *self;
        let have = if owners == 1 { "owner" } else { "owners" };
        let message =
            format!("leak: an Arc still has {owners} {have} when all threads have finished");
        let place = names.place(made);
        Ending::Failed(ThreadId::new(0), Failure { kind: FindingKind::Leak, message, place })
    }
}

/// The first leak of a run that has ended.
fn leak(program: &mut TestProgram<'_>) -> Option<Leak> {
    program.leaks().first().map(|&(owners, made)| Leak { owners, made })
}

/// Runs an execution of a test again and returns its leak, or another error if the test behaves differently.
pub(crate) fn leak_of(
    schedule: &Schedule,
    settings: Settings,
    test: Test<'_>,
    names: &Names,
) -> Option<Ending> {
    let settings = Settings { joins_carry: true, ..settings };
    let mut replay = Replay::new(test.program(settings));
    replay.start(ThreadId::new(0), None);
    let step = |step| replay.step(step).err();
    match schedule.steps.iter().find_map(step) {
        None => match replay.ending(&ScheduledEnding::Failed) {
            Ok(ending) => Some(ending),
            Err(()) => leak(&mut replay.program).map(|leak| leak.ending(names)),
        },
        Some(Different::Fails(thread, failure)) => Some(Ending::Failed(thread, failure)),
        Some(Different::Otherwise(how)) => {
            let message = format!("the test behaves differently when it is run again: {how}");
            let (kind, place) = (FindingKind::Nondeterminism, PlaceId::default());
            Some(Ending::Failed(ThreadId::new(0), Failure { kind, message, place }))
        }
    }
}

/// How a test differs from a schedule.
enum Different {
    /// A thread fails before the end.
    Fails(ThreadId, Failure),
    /// It behaves differently.
    Otherwise(String),
}

impl Different {
    fn otherwise(how: &str) -> Self {
        Different::Otherwise(how.to_owned())
    }
}

/// An event that was performed.
#[derive(Clone, Copy)]
struct Event {
    /// Its index in the trace.
    at: usize,
    origin: Origin,
}

struct Replay<'f> {
    program: TestProgram<'f>,
    histories: LocalHistories,
    past: Vec<HistoryId>,
    trace: Trace,
    threads: BTreeMap<String, Thread>,
    initial: BTreeMap<LocationId, Value>,
}

struct Thread {
    id: ThreadId,
    node: HistoryId,
    events: Vec<Event>,
}

impl<'f> Replay<'f> {
    fn new(program: TestProgram<'f>) -> Self {
        Replay {
            program,
            histories: LocalHistories::new(),
            past: vec![],
            trace: Trace::default(),
            threads: BTreeMap::new(),
            initial: BTreeMap::new(),
        }
    }

    fn start(&mut self, thread: ThreadId, spawned_by: Option<Origin>) {
        let node = self.histories.start(&mut self.program, &self.past, thread, spawned_by);
        let path = self.program.names().thread_path(thread);
        self.threads.insert(path.clone(), Thread { id: thread, node, events: vec![] });
        self.reach(&path, node);
    }

    /// A thread has reached a history: its effects happen.
    fn reach(&mut self, path: &str, node: HistoryId) {
        self.past.push(node);
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
            self.add(path, op, origin, None, None, written);
            if let OpKind::Spawn { thread } = op.kind {
                self.start(thread, Some(origin));
            }
        }
    }

    fn add(
        &mut self,
        path: &str,
        op: Op,
        origin: Origin,
        observed: Option<Observed>,
        read: Option<Value>,
        written: Option<Value>,
    ) {
        let at = self.trace.events.len();
        let Some(thread) = self.threads.get_mut(path) else { return };
        let position = thread.events.len();
        thread.events.push(Event { at, origin });
        let thread = thread.id;
        self.trace.events.push(TraceEvent { thread, position, op, observed, read, written });
    }

    /// Answers a question. The error says how the program differs from the schedule.
    fn step(&mut self, step: &ScheduledStep) -> Result<(), Different> {
        let ScheduledStep { question: EventName { thread: path, position }, .. } = step;
        let Some(thread) = self.threads.get(path) else {
            return Err(Different::Otherwise(format!("there is no thread {path}")));
        };
        let (id, node) = (thread.id, thread.node);
        if let End::Failed(failure) = self.histories.end(node) {
            return Err(Different::Fails(id, failure.clone()));
        }
        let End::Question(op) = *self.histories.end(node) else {
            return Err(Different::Otherwise(format!(
                "thread {path} does not wait for an answer there"
            )));
        };
        if thread.events.len() != *position {
            return Err(Different::Otherwise(format!(
                "thread {path} has performed another number of operations"
            )));
        }
        let (answer, observed, read) = self.answer(&op, step)?;
        let written = written(&op, read, step.spurious);
        let next = self.histories.after(&mut self.program, &self.past, node, answer);
        if let Some(thread) = self.threads.get_mut(path) {
            thread.node = next;
        }
        self.add(path, op, Origin { node: next, index: 0 }, Some(observed), read, written);
        self.reach(path, next);
        Ok(())
    }

    /// The answer to a question, what it observes in the trace, and the value that it reads.
    fn answer(
        &self,
        op: &Op,
        step: &ScheduledStep,
    ) -> Result<(Answer, Observed, Option<Value>), Different> {
        let source = match &step.observed {
            ScheduledSource::Choice(choice) => {
                return Ok((Answer::Choice(*choice), Observed::Choice(*choice), None));
            }
            ScheduledSource::Initial => None,
            ScheduledSource::Event(name) => Some(
                self.event(name)
                    .ok_or_else(|| Different::Otherwise(format!("there is no event {name}")))?,
            ),
        };
        let observed = source.map_or(Observed::Initial, |source| Observed::Event(source.at));
        if let OpKind::Join { thread } = op.kind {
            let joined = self.threads.values().find(|joined| joined.id == thread);
            let joined = joined
                .filter(|joined| *self.histories.end(joined.node) == End::Finished)
                .ok_or_else(|| Different::otherwise("the joined thread has not finished"))?;
            let index = self.histories.effects(joined.node).len() as u32;
            return Ok((Answer::From(Origin { node: joined.node, index }), observed, None));
        }
        let identity = source.map_or(Answer::Initial, |source| Answer::From(source.origin));
        let value = self.value(op, source);
        let answer = match op.kind {
            OpKind::Lock { .. } | OpKind::ReadCell { .. } => return Ok((identity, observed, None)),
            OpKind::Sync { .. } => identity,
            _ => match source {
                Some(Event { origin, .. }) if is_pointer(value) && step.spurious => {
                    Answer::SpuriousFrom(origin)
                }
                Some(Event { origin, .. }) if is_pointer(value) => Answer::From(origin),
                _ if step.spurious => Answer::Spurious(value),
                _ => Answer::Value(value),
            },
        };
        Ok((answer, observed, Some(value)))
    }

    fn value(&self, op: &Op, source: Option<Event>) -> Value {
        let initial = || op.kind.location().and_then(|at| self.initial.get(&at)).copied();
        match source {
            Some(source) => self.trace.events[source.at].written.unwrap_or(0),
            None => initial().unwrap_or(0),
        }
    }

    fn event(&self, name: &EventName) -> Option<Event> {
        self.threads.get(&name.thread)?.events.get(name.position).copied()
    }

    /// How the execution ended after all steps. The error: not as scheduled.
    fn ending(&mut self, scheduled: &ScheduledEnding) -> Result<Ending, ()> {
        let end = |thread: &Thread| self.histories.end(thread.node);
        let of_threads = |wanted: fn(&End) -> bool| -> Vec<ThreadId> {
            let threads = self.threads.values().filter(|thread| wanted(end(thread)));
            threads.map(|thread| thread.id).collect()
        };
        self.trace.ends =
            (self.threads.values()).map(|thread| (thread.id, thread_end(end(thread)))).collect();
        let pending =
            |thread: &Thread| Some((thread.id, Pending::of(&self.histories, thread.node)?));
        self.trace.pending = self.threads.values().filter_map(pending).collect();
        let failed = self.threads.values().find_map(|thread| match end(thread) {
            End::Failed(failure) => Some(Ending::Failed(thread.id, failure.clone())),
            _ => None,
        });
        if let Some(failed) = failed {
            return Ok(failed);
        }
        let some = |threads: Vec<ThreadId>| if threads.is_empty() { Err(()) } else { Ok(threads) };
        match scheduled {
            ScheduledEnding::Failed | ScheduledEnding::NotRobust => Err(()),
            ScheduledEnding::Deadlock => some(of_threads(waits)).map(Ending::Deadlock),
            ScheduledEnding::Livelock => {
                some(of_threads(|end| matches!(end, End::Repeats(_)))).map(Ending::Livelock)
            }
            ScheduledEnding::Race(first, second) => self.race(first, second).ok_or(()),
        }
    }

    /// The outcome of comparing the execution with SC.
    fn compared_with_sc(mut self, model: Model) -> Outcome {
        let found = match self.ending(&ScheduledEnding::NotRobust) {
            Ok(ending) => Ok(Counterexample::new(ending, self.trace)),
            Err(()) => robustness::compare(&self.program, model, Ending::Complete, self.trace)
                .ok_or_else(|| String::from("sc allows the scheduled execution")),
        };
        outcome_of_one(&self.program, model, found)
    }

    /// The race of two events, if they are accesses of one location by two threads.
    fn race(&self, first: &EventName, second: &EventName) -> Option<Ending> {
        let (first, second) = (self.event(first)?.at, self.event(second)?.at);
        let [one, other] = [first, second].map(|at| &self.trace.events[at]);
        let location = one.op.kind.location()?;
        let is_race = one.thread != other.thread && other.op.kind.location() == Some(location);
        is_race.then_some(Ending::Race(first, second))
    }
}

/// Returns `true` if a thread that ends like this waits for another one.
fn waits(end: &End) -> bool {
    let End::Question(op) = end else { return false };
    matches!(op.kind, OpKind::Lock { .. } | OpKind::Sync { .. } | OpKind::Join { .. })
}

fn thread_end(end: &End) -> ThreadEnd {
    match end {
        End::Finished => ThreadEnd::Finished,
        End::Assume => ThreadEnd::Assume,
        End::Repeats(_) => ThreadEnd::Repeats,
        End::Failed(_) => ThreadEnd::Failed,
        End::Limit | End::Unrolled(_) => ThreadEnd::Limit,
        End::Question(_) => ThreadEnd::Waiting,
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
