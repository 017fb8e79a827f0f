//! One execution again.
//!
//! A [`Schedule`] says what every question of every thread observed, in an order in which that can be
//! done. Threads are named by who spawned them, and events by their position in their thread, so it
//! means the same in another process. It is written as one line of text:
//!
//! ```text
//! fail model=tso m/0:1=i m:4=m/0:0 m:5=#2
//! ```
//!
//! What went wrong (with the two accesses, if it is a race). Then, where it is not as usual, the model
//! (`model=tso`) and how many events a thread may have (`events=100`), whether mutexes can be tried (`tried`),
//! owners are counted (`counted`) and leaks are sought (`leaks`). Then for each question the thread (`m` is main, `m/0` the first
//! thread that it spawned), the position, and what it observed: the initial value (`i`), an event, or
//! a choice; with `~` if a compare-exchange failed without reason.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use raddle_core::execution::{LocationId, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    Answer, End, Failure, HistoryId, LocalHistories, Op, OpKind, Origin, PlaceId, is_pointer,
};
use raddle_core::trace::{Ending, Observed, Pending, ThreadEnd, Trace, TraceEvent};
use raddle_explore::robustness::{self, Finding};
use raddle_runtime::{Caller, Names, Native, Settings, ops};
use serde::{Deserialize, Serialize};

use crate::checker::{self, Outcome};

/// An execution, as a value that can be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule {
    ending: ScheduledEnding,
    model: Model,
    settings: Settings,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ScheduledEnding {
    /// A thread fails.
    Failed,
    Deadlock,
    Livelock,
    Race(Name, Name),
    /// The execution is one that SC does not allow.
    NotRobust,
}

/// An event: its thread and its position there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    thread: String,
    position: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    question: Name,
    observed: Seen,
    spurious: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Initial,
    Event(Name),
    Choice(u32),
}

impl Schedule {
    /// The schedule of an execution that was explored.
    pub(crate) fn new(
        names: &Names,
        settings: Settings,
        model: Model,
        ending: &Ending,
        trace: &Trace,
    ) -> Self {
        let name = |at: usize| {
            let TraceEvent { thread, position, .. } = trace.events[at];
            Name { thread: names.thread_path(thread), position }
        };
        let ending = match *ending {
            Ending::Deadlock(_) => ScheduledEnding::Deadlock,
            Ending::Livelock(_) => ScheduledEnding::Livelock,
            Ending::Race(first, second) => ScheduledEnding::Race(name(first), name(second)),
            Ending::Complete | Ending::Blocked => ScheduledEnding::NotRobust,
            _ => ScheduledEnding::Failed,
        };
        let steps = (trace.events.iter().enumerate())
            .filter_map(|(at, event)| {
                let observed = match event.observed? {
                    Observed::Initial => Seen::Initial,
                    Observed::Event(source) => Seen::Event(name(source)),
                    Observed::Choice(choice) => Seen::Choice(choice),
                };
                Some(Step { question: name(at), observed, spurious: event.is_spurious() })
            })
            .collect();
        let settings = Settings { joins_carry: true, ..settings };
        Schedule { ending, model, settings, steps }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below_main = self.thread.strip_prefix("main").unwrap_or(&self.thread);
        write!(f, "m{below_main}:{}", self.position)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending {
            ScheduledEnding::Failed => write!(f, "fail")?,
            ScheduledEnding::Deadlock => write!(f, "deadlock")?,
            ScheduledEnding::Livelock => write!(f, "livelock")?,
            ScheduledEnding::NotRobust => write!(f, "weak")?,
            ScheduledEnding::Race(first, second) => write!(f, "race={first},{second}")?,
        }
        if self.model != Model::C20 {
            write!(f, " model={}", self.model)?;
        }
        if self.settings.max_events != Settings::default().max_events {
            write!(f, " events={}", self.settings.max_events)?;
        }
        if self.settings.mutexes_can_be_tried {
            write!(f, " tried")?;
        }
        if self.settings.owners_are_counted {
            write!(f, " counted")?;
        }
        if self.settings.leaks_are_sought {
            write!(f, " leaks")?;
        }
        for Step { question, observed, spurious } in &self.steps {
            match observed {
                Seen::Initial => write!(f, " {question}=i")?,
                Seen::Event(source) => write!(f, " {question}={source}")?,
                Seen::Choice(choice) => write!(f, " {question}=#{choice}")?,
            }
            if *spurious {
                write!(f, "~")?;
            }
        }
        Ok(())
    }
}

/// What is wrong with the text of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError(String);

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a schedule of raddle: {}", self.0)
    }
}

impl std::error::Error for ScheduleError {}

impl FromStr for Name {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(format!("`{text}` is not an event"));
        let (thread, position) = text.rsplit_once(':').ok_or_else(error)?;
        let below_main = thread.strip_prefix('m').ok_or_else(error)?;
        let position = position.parse().map_err(|_| error())?;
        Ok(Name { thread: format!("main{below_main}"), position })
    }
}

impl FromStr for Step {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(format!("`{text}` is not a step"));
        let (question, observed) = text.split_once('=').ok_or_else(error)?;
        let (observed, spurious) = match observed.strip_suffix('~') {
            Some(observed) => (observed, true),
            None => (observed, false),
        };
        let observed = match observed.strip_prefix('#') {
            Some(choice) => Seen::Choice(choice.parse().map_err(|_| error())?),
            None if observed == "i" => Seen::Initial,
            None => Seen::Event(observed.parse()?),
        };
        Ok(Step { question: question.parse()?, observed, spurious })
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut words = text.split_whitespace().peekable();
        let ending = match words.next().unwrap_or_default() {
            "fail" => ScheduledEnding::Failed,
            "deadlock" => ScheduledEnding::Deadlock,
            "livelock" => ScheduledEnding::Livelock,
            "weak" => ScheduledEnding::NotRobust,
            word => {
                let race = word.strip_prefix("race=").and_then(|race| race.split_once(','));
                let (first, second) =
                    race.ok_or_else(|| ScheduleError(format!("`{word}` is no way to end")))?;
                ScheduledEnding::Race(first.parse()?, second.parse()?)
            }
        };
        let mut option = |name: &str| {
            let word = words.next_if(|word| word.starts_with(name));
            word.map(|word| &word[name.len()..])
        };
        let model = option("model=").map_or(Ok(Model::C20), str::parse);
        let model = model.map_err(|error| ScheduleError(error.to_string()))?;
        let events = option("events=").map(|events| {
            events.parse().map_err(|_| ScheduleError(format!("`{events}` is no number of events")))
        });
        let settings = Settings {
            max_events: events.transpose()?.unwrap_or(Settings::default().max_events),
            mutexes_can_be_tried: words.next_if_eq(&"tried").is_some(),
            owners_are_counted: words.next_if_eq(&"counted").is_some(),
            leaks_are_sought: words.next_if_eq(&"leaks").is_some(),
            joins_carry: true,
        };
        let steps = words.map(str::parse).collect::<Result<_, _>>()?;
        Ok(Schedule { ending, model, settings, steps })
    }
}

impl TryFrom<String> for Schedule {
    type Error = ScheduleError;

    fn try_from(text: String) -> Result<Self, ScheduleError> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.to_string()
    }
}

/// Runs one execution of a test again, as the schedule in a report says. If nothing goes wrong in it, or if
/// the test no longer does what the schedule says, that is `Incomplete`: other executions may go wrong.
///
/// # Panics
/// If the text is not a schedule, or if this is called in a test that is being explored.
#[track_caller]
pub fn replay<F: Fn()>(schedule: &str, f: F) -> Outcome {
    assert!(!ops::is_running(), "raddle: a test that is being explored cannot replay another");
    match schedule.parse::<Schedule>() {
        Ok(schedule) => raddle_runtime::on_large_stack(|| follow(&schedule, &f)),
        Err(error) => panic!("{error}"),
    }
}

fn follow<F: Fn()>(schedule: &Schedule, f: &F) -> Outcome {
    let mut replay = Replay::new(Native::new(f, schedule.settings));
    replay.start(ThreadId::new(0), None);
    let differs = |how: String| format!("the test is not the one of the schedule ({how})");
    let difference = schedule.steps.iter().find_map(|step| replay.step(step).err());
    if difference.is_none() && schedule.ending == ScheduledEnding::NotRobust {
        return replay.compared_with_sc(schedule.model);
    }
    let ending = match difference {
        Some(Different::Fails(thread, failure)) => Ok(Ending::Failed(thread, failure)),
        Some(Different::Otherwise(how)) => Err(differs(how)),
        None => replay.ending(&schedule.ending).or_else(|()| {
            let leak = leak(&mut replay.program).map(|leak| leak.ending(&replay.program.names()));
            let why = "nothing goes wrong any more in the execution of the schedule";
            leak.ok_or_else(|| String::from(why))
        }),
    };
    let wrong = ending.map(|ending| Finding::Wrong(ending, replay.trace));
    checker::outcome_of_one(&replay.program, schedule.model, wrong)
}

/// Something that still has owners when a run has ended.
pub(crate) struct Leak {
    owners: usize,
    made: Caller,
}

impl Leak {
    /// The leak as what went wrong.
    pub(crate) fn ending(&self, names: &Names) -> Ending {
        let Leak { owners, made } = *self;
        let have = if owners == 1 { "owner" } else { "owners" };
        let message =
            format!("leak: an Arc still has {owners} {have} when all threads have finished");
        let place = names.place(made);
        Ending::Failed(ThreadId::new(0), Failure { kind: FindingKind::Leak, message, place })
    }
}

/// What is left when the run of a program ends.
fn leak<F: Fn()>(program: &mut Native<F>) -> Option<Leak> {
    program.leaks().first().map(|&(owners, made)| Leak { owners, made })
}

/// Runs an execution of a test again, and says what it leaves, or why that cannot be said.
pub(crate) fn leak_of<F: Fn()>(schedule: &Schedule, f: &F, names: &Names) -> Option<Ending> {
    let mut replay = Replay::new(Native::new(f, schedule.settings));
    replay.start(ThreadId::new(0), None);
    let step = |step| replay.step(step).err();
    match schedule.steps.iter().find_map(step) {
        None => match replay.ending(&ScheduledEnding::Failed) {
            Ok(ending) => Some(ending),
            Err(()) => leak(&mut replay.program).map(|leak| leak.ending(names)),
        },
        Some(Different::Fails(thread, failure)) => Some(Ending::Failed(thread, failure)),
        Some(Different::Otherwise(how)) => {
            let message = format!("the test does something else when it is run again ({how})");
            let (kind, place) = (FindingKind::Nondeterminism, PlaceId::default());
            Some(Ending::Failed(ThreadId::new(0), Failure { kind, message, place }))
        }
    }
}

/// How a test differs from a schedule.
enum Different {
    /// A thread fails before the end.
    Fails(ThreadId, Failure),
    /// It does something else.
    Otherwise(String),
}

impl Different {
    fn otherwise(how: &str) -> Self {
        Different::Otherwise(how.to_owned())
    }
}

/// An event that happened.
#[derive(Clone, Copy)]
struct Event {
    /// Its index in the trace.
    at: usize,
    origin: Origin,
}

struct Replay<F> {
    program: Native<F>,
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

impl<F: Fn()> Replay<F> {
    fn new(program: Native<F>) -> Self {
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

    /// A question gets its answer. An error says how the program differs from the schedule.
    fn step(&mut self, step: &Step) -> Result<(), Different> {
        let Step { question: Name { thread: path, position }, .. } = step;
        let Some(thread) = self.threads.get(path) else {
            return Err(Different::Otherwise(format!("there is no thread {path}")));
        };
        let (id, node) = (thread.id, thread.node);
        if let End::Failed(failure) = self.histories.end(node) {
            return Err(Different::Fails(id, failure.clone()));
        }
        let End::Question(op) = *self.histories.end(node) else {
            return Err(Different::Otherwise(format!("{path} asks no question")));
        };
        if thread.events.len() != *position {
            return Err(Different::Otherwise(format!("{path} is somewhere else")));
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
    fn answer(&self, op: &Op, step: &Step) -> Result<(Answer, Observed, Option<Value>), Different> {
        let source = match &step.observed {
            Seen::Choice(choice) => {
                return Ok((Answer::Choice(*choice), Observed::Choice(*choice), None));
            }
            Seen::Initial => None,
            Seen::Event(name) => Some(
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

    fn event(&self, name: &Name) -> Option<Event> {
        self.threads.get(&name.thread)?.events.get(name.position).copied()
    }

    /// How the execution ended, now that all steps are done. An error: it did not go wrong like that.
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

    /// Whether SC allows the execution, in which nothing should go wrong.
    fn compared_with_sc(mut self, model: Model) -> Outcome {
        let wrong = match self.ending(&ScheduledEnding::NotRobust) {
            Ok(ending) => Ok(Finding::Wrong(ending, self.trace)),
            Err(()) => robustness::compare(&self.program, model, Ending::Complete, self.trace)
                .map(Finding::NotRobust)
                .ok_or_else(|| String::from("sc allows the execution of the schedule")),
        };
        checker::outcome_of_one(&self.program, model, wrong)
    }

    /// The race of two events, if they are accesses of one location by two threads.
    fn race(&self, first: &Name, second: &Name) -> Option<Ending> {
        let (first, second) = (self.event(first)?.at, self.event(second)?.at);
        let [one, other] = [first, second].map(|at| &self.trace.events[at]);
        let location = one.op.kind.location()?;
        let is_race = one.thread != other.thread && other.op.kind.location() == Some(location);
        is_race.then_some(Ending::Race(first, second))
    }
}

/// Whether a thread that ends like this waits for another one.
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
        End::Limit => ThreadEnd::Limit,
        End::Question(_) => ThreadEnd::Waiting,
    }
}

/// What a question writes.
fn written(op: &Op, read: Option<Value>, spurious: bool) -> Option<Value> {
    match op.kind {
        OpKind::Rmw { update, .. } | OpKind::Sync { update, .. } => Some(update.apply(read?)),
        OpKind::CompareExchange { expected, desired, .. } => {
            (read == Some(expected) && !spurious).then_some(desired)
        }
        _ => None,
    }
}
