//! Reads-value-from classes of a program, by brute force.
//!
//! Two executions are *reads-value-from* equivalent (Agarwal et al., CAV 2021, section 3) if they have the same events,
//! every read gets the same value, and their causal orders (program order and reads-from) agree on the reads. Acquires
//! of locks and read-modify-writes are reads; spawns and joins belong to program order. A reads-from class determines
//! all that, so the classes are computed from those of the [machine](super::by_machine()).

use std::collections::{BTreeMap, BTreeSet};

use super::run::OracleProgram;
use super::{TooLarge, classes};
use crate::script::Script;
use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::{Class, Observed, ThreadEnd, Trace, TraceEvent};

/// Result of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuestionResult {
    /// Value that was read.
    Value(Value),
    /// Value that was read by a compare-exchange that failed spuriously.
    Spurious(Value),
    /// Alternative that was chosen.
    Choice(u32),
    /// The lock was acquired.
    Acquired,
}

/// Results of the questions of one thread, and how it ended.
pub type LocalHistory = (Vec<QuestionResult>, ThreadEnd);

/// Read, by thread and index within the thread.
type ReadEvent = (ThreadId, usize);

/// Reads-value-from class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueClass {
    /// Results of the questions, which determine the ops of the threads.
    pub histories: BTreeMap<ThreadId, LocalHistory>,
    /// Causal order on reads.
    pub causes: BTreeSet<(ReadEvent, ReadEvent)>,
}

/// Returns the reads-value-from class of each reads-from class of a program.
///
/// # Errors
/// If there are more states than `budget`.
///
/// # Panics
/// If the script uses variables or threads that it does not define.
pub fn value_classes(
    script: &Script,
    model: Model,
    budget: usize,
) -> Result<BTreeMap<Class, ValueClass>, TooLarge> {
    let mut world = OracleProgram::new(script);
    let classes = classes(script, model, budget)?;
    let with_value_class = |class: Class| {
        let run = world.replay(&class);
        let value_class = value_class(&world.trace(&run, ThreadEnd::Waiting));
        (class, value_class)
    };
    Ok(classes.into_keys().map(with_value_class).collect())
}

/// Returns all local histories of threads in these classes.
#[must_use]
pub fn local_histories<'a>(
    classes: impl IntoIterator<Item = &'a ValueClass>,
) -> BTreeSet<(ThreadId, LocalHistory)> {
    let all = classes.into_iter().flat_map(|class| class.histories.clone());
    all.collect()
}

/// Returns the class of a maximal execution.
#[must_use]
pub fn value_class(trace: &Trace) -> ValueClass {
    let mut class = ValueClass::default();
    for (&thread, &end) in &trace.ends {
        class.histories.insert(thread, (vec![], end));
    }
    let mut pasts = CausalPasts::default();
    for event in &trace.events {
        let past = pasts.add(event);
        let Some(question_result) = question_result(event) else { continue };
        if let Some((history, _)) = class.histories.get_mut(&event.thread) {
            history.push(question_result);
        }
        if !matches!(question_result, QuestionResult::Choice(_)) {
            let read = (event.thread, event.position);
            class.causes.extend(past.iter().map(|&cause| (cause, read)));
            pasts.note_read(read);
        }
    }
    class
}

fn question_result(event: &TraceEvent) -> Option<QuestionResult> {
    match (event.op.kind, event.observed?) {
        (OpKind::Join { .. } | OpKind::ReadCell { .. }, _) => None,
        (_, Observed::Choice(choice)) => Some(QuestionResult::Choice(choice)),
        _ => Some(match event.read {
            Some(value) if event.is_spurious() => QuestionResult::Spurious(value),
            Some(value) => QuestionResult::Value(value),
            None => QuestionResult::Acquired,
        }),
    }
}

/// Reads that precede events in the causal order.
#[derive(Default)]
struct CausalPasts {
    /// By event, including the event itself.
    by_event: Vec<BTreeSet<ReadEvent>>,
    /// By thread: reads before its next event.
    by_thread: BTreeMap<ThreadId, BTreeSet<ReadEvent>>,
}

impl CausalPasts {
    /// Adds the next event of the trace. Returns the reads before it.
    fn add(&mut self, event: &TraceEvent) -> BTreeSet<ReadEvent> {
        let mut past = self.by_thread.get(&event.thread).cloned().unwrap_or_default();
        if let Some(Observed::Event(source)) = event.observed {
            past.extend(&self.by_event[source]);
        }
        self.by_thread.insert(event.thread, past.clone());
        if let OpKind::Spawn { thread } = event.op.kind {
            self.by_thread.insert(thread, past.clone());
        }
        self.by_event.push(past.clone());
        past
    }

    /// Notes that the last event was a read.
    fn note_read(&mut self, read: ReadEvent) {
        self.by_event.last_mut().expect("an event was added").insert(read);
        self.by_thread.entry(read.0).or_default().insert(read);
    }
}
