//! What threads can read, and the reads-value-from classes of a program, by brute force.
//!
//! Two executions are *reads-value-from* equivalent (Agarwal et al., CAV 2021, section 3) if they consist
//! of the same events, if every read gets the same value, and if their causal orders, which are program order
//! and reads-from, agree on the reads. Acquires of locks and updates are reads; starting and joining threads
//! belongs to program order. A reads-from class determines all that, so the classes are those of the
//! [machine](super::by_machine()), looked at again.

use std::collections::{BTreeMap, BTreeSet};

use super::run::World;
use super::{TooLarge, classes};
use crate::script::Script;
use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::{Class, Observed, ThreadEnd, Trace, TraceEvent};

/// What a thread learns from a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Learned {
    /// This value.
    Value(Value),
    /// This value, by a compare-exchange that expected it and failed.
    Spurious(Value),
    /// A choice.
    Choice(u32),
    /// That it has the lock.
    Acquired,
}

/// What one thread has learned from its questions, and how it ended.
pub type LocalHistory = (Vec<Learned>, ThreadEnd);

/// A read: its thread and its position there.
type Read = (ThreadId, usize);

/// A reads-value-from class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueClass {
    /// What the threads have learned. It determines what they do.
    pub histories: BTreeMap<ThreadId, LocalHistory>,
    /// Which reads are before which in the causal order.
    pub causes: BTreeSet<(Read, Read)>,
}

/// The reads-value-from classes of all reads-from classes of a program.
///
/// # Errors
/// If more states than the budget says would have to be visited.
///
/// # Panics
/// If the script mentions what it does not have.
pub fn value_classes(
    script: &Script,
    model: Model,
    budget: usize,
) -> Result<BTreeMap<Class, ValueClass>, TooLarge> {
    let mut world = World::new(script);
    let classes = classes(script, model, budget)?;
    let look_at = |class: Class| {
        let run = world.replay(&class);
        let value_class = value_class(&world.trace(&run, ThreadEnd::Waiting));
        (class, value_class)
    };
    Ok(classes.into_keys().map(look_at).collect())
}

/// All that threads have learned in some of these classes.
#[must_use]
pub fn local_histories<'a>(
    classes: impl IntoIterator<Item = &'a ValueClass>,
) -> BTreeSet<(ThreadId, LocalHistory)> {
    let all = classes.into_iter().flat_map(|class| class.histories.clone());
    all.collect()
}

/// The class of a maximal execution.
#[must_use]
pub fn value_class(trace: &Trace) -> ValueClass {
    let mut class = ValueClass::default();
    for (&thread, &end) in &trace.ends {
        class.histories.insert(thread, (vec![], end));
    }
    let mut pasts = Pasts::default();
    for event in &trace.events {
        let past = pasts.add(event);
        let Some(learned) = learned(event) else { continue };
        if let Some((history, _)) = class.histories.get_mut(&event.thread) {
            history.push(learned);
        }
        if !matches!(learned, Learned::Choice(_)) {
            let read = (event.thread, event.position);
            class.causes.extend(past.iter().map(|&cause| (cause, read)));
            pasts.note_read(read);
        }
    }
    class
}

fn learned(event: &TraceEvent) -> Option<Learned> {
    match (event.op.kind, event.observed?) {
        (OpKind::Join { .. } | OpKind::ReadCell { .. }, _) => None,
        (_, Observed::Choice(choice)) => Some(Learned::Choice(choice)),
        _ => Some(match event.read {
            Some(value) if event.is_spurious() => Learned::Spurious(value),
            Some(value) => Learned::Value(value),
            None => Learned::Acquired,
        }),
    }
}

/// The reads that come before events in the causal order.
#[derive(Default)]
struct Pasts {
    /// By event, itself included.
    by_event: Vec<BTreeSet<Read>>,
    /// By thread, what comes before its next event.
    by_thread: BTreeMap<ThreadId, BTreeSet<Read>>,
}

impl Pasts {
    /// The reads before the next event of the trace.
    fn add(&mut self, event: &TraceEvent) -> BTreeSet<Read> {
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

    /// The last event was a read.
    fn note_read(&mut self, read: Read) {
        self.by_event.last_mut().expect("there is an event").insert(read);
        self.by_thread.entry(read.0).or_default().insert(read);
    }
}
