//! Schedules: executions as values that can be stored and replayed.
//!
//! A [`Schedule`] records what every question of every thread observed, in an order in which the questions
//! can be answered. Threads are named by who spawned them and events by their position in their thread, so
//! a schedule has the same meaning in another process. Its text is one line:
//!
//! ```text
//! fail model=tso events=100 m/0:1=i m:4=m/0:0 m:5=#2
//! ```
//!
//! All parts are optional, in this order:
//!
//! - how the execution ended: `fail`, `deadlock`, `livelock` or `livelock=EVENT,...`, `race=EVENT,EVENT`, or `weak` if it is
//!   reported because SC forbids it;
//! - the memory model, `model=NAME`;
//! - settings of the front end, each a word of lowercase letters or `WORD=NUMBER`;
//! - `THREAD` where a thread starts with something other than a question, and one step `EVENT=SOURCE` for each question. An event is `THREAD:POSITION`; the thread `m` is the main thread,
//!   and `m/0` is the first thread that it spawned. A source is an event, `i` for the initial value, or `#N` for
//!   a choice. `~` after the source marks a compare-exchange that failed spuriously.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::execution::ThreadId;
use crate::model::Model;
use crate::trace::{Ending, Observed, Pending, Trace, TraceEvent};

/// An execution that can be stored and replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Schedule {
    /// How the execution ended.
    pub ending: Option<ScheduledEnding>,
    /// The memory model, if it is not the default of the front end.
    pub model: Option<Model>,
    /// Settings of the front end that differ from its defaults.
    pub settings: Vec<ReplaySetting>,
    /// The answers to all questions, in an order in which they can be given.
    pub steps: Vec<ScheduledStep>,
}

/// How a scheduled execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduledEnding {
    /// A thread failed.
    Failed,
    /// Threads wait for each other.
    Deadlock,
    /// Threads spin forever. The loops of some begin with these events; those of others are recognised by the program.
    Livelock(Vec<EventName>),
    /// These accesses race.
    Race(EventName, EventName),
    /// SC forbids the execution.
    NotRobust,
}

/// A setting of a front end, such as `events=100` or `leaks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySetting {
    /// A word of lowercase letters.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<u32>,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduledStep {
    /// The thread with this path starts, and runs to its first question. Without this step a thread starts when it gets its first
    /// answer, or when another thread observes it.
    Start(String),
    /// A question gets its answer.
    Answer(ScheduledAnswer),
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledAnswer {
    /// The question.
    pub question: EventName,
    /// What it observed.
    pub observed: ScheduledSource,
    /// Whether it is a compare-exchange that failed although it read the expected value.
    pub spurious: bool,
}

/// What a question observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduledSource {
    /// The initial write.
    Initial,
    /// An event.
    Event(EventName),
    /// A choice.
    Choice(u32),
}

/// An event, named independently of the process and the exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// The path of the thread: `main`, or `main/0` for the first thread that it spawned.
    pub thread: String,
    /// The index of the event within its thread.
    pub position: usize,
}

impl Schedule {
    /// The steps of a trace.
    #[must_use]
    pub fn of_trace(trace: &Trace) -> Self {
        let paths = trace.thread_paths();
        let name = |at: usize| EventName::of(trace, at, &paths);
        let step = |(at, event): (usize, &TraceEvent)| {
            let observed = match event.observed {
                None if event.position == 0 && !is_started_by_next(trace, at) => {
                    return paths.get(&event.thread).cloned().map(ScheduledStep::Start);
                }
                observed => match observed? {
                    Observed::Initial => ScheduledSource::Initial,
                    Observed::Event(source) => ScheduledSource::Event(name(source)),
                    Observed::Choice(choice) => ScheduledSource::Choice(choice),
                },
            };
            let (question, spurious) = (name(at), event.is_spurious());
            Some(ScheduledStep::Answer(ScheduledAnswer { question, observed, spurious }))
        };
        let steps = trace.events.iter().enumerate().filter_map(step).collect();
        Schedule { steps, ..Schedule::default() }
    }

    /// The same schedule with the ending of `trace`. An execution that ended without an error is taken to be
    /// reported because SC forbids it.
    #[must_use]
    pub fn ending_as(self, ending: &Ending, trace: &Trace) -> Self {
        let paths = trace.thread_paths();
        let ending = match *ending {
            Ending::Deadlock(_) => ScheduledEnding::Deadlock,
            Ending::Livelock(_) => ScheduledEnding::Livelock(loops(trace, &paths)),
            Ending::Race(first, second) => {
                let [first, second] = [first, second].map(|at| EventName::of(trace, at, &paths));
                ScheduledEnding::Race(first, second)
            }
            Ending::Complete | Ending::Blocked => ScheduledEnding::NotRobust,
            Ending::Failed(..) | Ending::Limit(_) => ScheduledEnding::Failed,
        };
        Schedule { ending: Some(ending), ..self }
    }
}

/// Returns `true` if the next step after the first event of a thread is an answer to its own question, or to one that observes it, so
/// that the thread starts anyway. The main thread starts at the beginning.
fn is_started_by_next(trace: &Trace, first: usize) -> bool {
    let thread = trace.events[first].thread;
    let is_of_thread = |event: &TraceEvent| match event.observed {
        _ if event.thread == thread => true,
        Some(Observed::Event(source)) => trace.events[source].thread == thread,
        _ => false,
    };
    let is_step = |event: &&TraceEvent| event.observed.is_some() || event.position == 0;
    let next = trace.events[first + 1..].iter().find(is_step);
    thread.index() == 0 || next.is_some_and(|event| event.observed.is_some() && is_of_thread(event))
}

/// Where the loops begin that threads repeat.
fn loops(trace: &Trace, paths: &BTreeMap<ThreadId, String>) -> Vec<EventName> {
    let start = |(thread, pending): (&ThreadId, &Pending)| match *pending {
        Pending::Loop(position) => Some(EventName { thread: paths.get(thread)?.clone(), position }),
        Pending::Question(_) => None,
    };
    trace.pending.iter().filter_map(start).collect()
}

impl EventName {
    fn of(trace: &Trace, at: usize, paths: &BTreeMap<ThreadId, String>) -> Self {
        let TraceEvent { thread, position, .. } = trace.events[at];
        EventName { thread: paths.get(&thread).cloned().unwrap_or_default(), position }
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below_main = self.thread.strip_prefix("main").unwrap_or(&self.thread);
        write!(f, "m{below_main}:{}", self.position)
    }
}

impl fmt::Display for ScheduledEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduledEnding::Failed => write!(f, "fail"),
            ScheduledEnding::Deadlock => write!(f, "deadlock"),
            ScheduledEnding::Livelock(loops) => {
                f.write_str("livelock")?;
                let mut separator = '=';
                for event in loops {
                    write!(f, "{separator}{event}")?;
                    separator = ',';
                }
                Ok(())
            }
            ScheduledEnding::NotRobust => write!(f, "weak"),
            ScheduledEnding::Race(first, second) => write!(f, "race={first},{second}"),
        }
    }
}

impl fmt::Display for ReplaySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}={value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for ScheduledStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduledStep::Start(thread) => {
                write!(f, "m{}", thread.strip_prefix("main").unwrap_or(thread))
            }
            ScheduledStep::Answer(answer) => answer.fmt(f),
        }
    }
}

impl fmt::Display for ScheduledAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.question)?;
        match &self.observed {
            ScheduledSource::Initial => write!(f, "i")?,
            ScheduledSource::Event(source) => write!(f, "{source}")?,
            ScheduledSource::Choice(choice) => write!(f, "#{choice}")?,
        }
        f.write_str(if self.spurious { "~" } else { "" })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Schedule { ending, model, settings, steps } = self;
        let ending = ending.iter().map(ToString::to_string);
        let model = model.iter().map(|model| format!("model={model}"));
        let settings = settings.iter().map(ToString::to_string);
        let steps = steps.iter().map(ToString::to_string);
        for (at, word) in ending.chain(model).chain(settings).chain(steps).enumerate() {
            write!(f, "{}{word}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// The error for a text that is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError(String);

impl ScheduleError {
    /// An error with this explanation.
    pub fn new(message: impl Into<String>) -> Self {
        ScheduleError(message.into())
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a schedule of raddle: {}", self.0)
    }
}

impl std::error::Error for ScheduleError {}

impl FromStr for EventName {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(format!("`{text}` is not an event: expected THREAD:POSITION"));
        let (thread, position) = text.rsplit_once(':').ok_or_else(error)?;
        let below_main = thread.strip_prefix('m').ok_or_else(error)?;
        let position = position.parse().map_err(|_| error())?;
        Ok(EventName { thread: format!("main{below_main}"), position })
    }
}

impl FromStr for ScheduledStep {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(format!("`{text}` is not a step: expected EVENT=SOURCE"));
        let Some((question, observed)) = text.split_once('=') else {
            let below_main = text.strip_prefix("m/").ok_or_else(error)?;
            let is_path = below_main.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/');
            let start = ScheduledStep::Start(format!("main/{below_main}"));
            return if is_path { Ok(start) } else { Err(error()) };
        };
        let (observed, spurious) = match observed.strip_suffix('~') {
            Some(observed) => (observed, true),
            None => (observed, false),
        };
        let observed = match observed.strip_prefix('#') {
            Some(choice) => ScheduledSource::Choice(choice.parse().map_err(|_| error())?),
            None if observed == "i" => ScheduledSource::Initial,
            None => ScheduledSource::Event(observed.parse()?),
        };
        let question = question.parse()?;
        Ok(ScheduledStep::Answer(ScheduledAnswer { question, observed, spurious }))
    }
}

impl FromStr for ScheduledEnding {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let expected = "expected fail, deadlock, livelock=EVENT,..., race=EVENT,EVENT or weak";
        let error = || ScheduleError(format!("`{text}` is not an ending: {expected}"));
        match text {
            "fail" => Ok(ScheduledEnding::Failed),
            "deadlock" => Ok(ScheduledEnding::Deadlock),
            "livelock" => Ok(ScheduledEnding::Livelock(vec![])),
            "weak" => Ok(ScheduledEnding::NotRobust),
            _ if text.starts_with("livelock=") => {
                let loops = text["livelock=".len()..].split(',').map(str::parse);
                Ok(ScheduledEnding::Livelock(loops.collect::<Result<_, _>>()?))
            }
            _ => {
                let race = text.strip_prefix("race=").and_then(|race| race.split_once(','));
                let (first, second) = race.ok_or_else(error)?;
                Ok(ScheduledEnding::Race(first.parse()?, second.parse()?))
            }
        }
    }
}

impl FromStr for ReplaySetting {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError(format!("`{text}` is neither a setting nor a step"));
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.parse().map_err(|_| error())?)),
            None => (text, None),
        };
        let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_word { Ok(ReplaySetting { name: name.to_owned(), value }) } else { Err(error()) }
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let is_step = |word: &&str| {
            word.starts_with("m/") || word.split('=').next().is_some_and(|it| it.contains(':'))
        };
        let mut words = text.split_whitespace().peekable();
        let ending = words.next_if(|word| !is_step(word)).map(str::parse).transpose()?;
        let model = words.next_if(|word| word.starts_with("model="));
        let model = model.map(|word| word["model=".len()..].parse::<Model>()).transpose();
        let model = model.map_err(|error| ScheduleError(error.to_string()))?;
        let mut settings = vec![];
        while let Some(word) = words.next_if(|word| !is_step(word)) {
            settings.push(word.parse()?);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive_printing_and_parsing() {
        for text in [
            "",
            "m:1=m/0:1 m:2=i",
            "fail",
            "weak model=tso",
            "fail model=sc events=7",
            "deadlock tried m:3=i",
            "livelock",
            "livelock=m:0,m/1:4 m:1=i",
            "fail m/0 m:1=m/0:0 m/0/1",
            "race=m:1,m/0/12:0 counted m:0=m/3:2~ m/3:4=#7",
        ] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule.to_string(), text);
        }
    }

    #[test]
    fn malformed_schedules_are_refused() {
        for text in [
            "panic",
            "race=m:1",
            "livelock=",
            "fail model=x",
            "fail events=many",
            "fail m=i",
            "fail x:1=i",
            "fail m:1",
            "fail m/x",
            "fail m:1=#x",
            "fail m:1=i leaks",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
