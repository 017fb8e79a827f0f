//! Executions to report, independent of the program that was explored.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{CallStacks, Ending, FenceSearch, Frame, NotRobust, Pending, Trace, map_of};
use crate::execution::{LocationId, ThreadId, Value};
use crate::model::Model;
use crate::program::{Naming, OpKind, PlaceId};

/// An execution that an explorer picked to be reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// How the execution ended.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
    /// Why SC forbids the execution, if that is what is to be reported.
    pub not_robust: Option<NotRobust>,
}

impl Counterexample {
    /// An execution that is reported because of how it ended.
    #[must_use]
    pub fn new(ending: Ending, trace: Trace) -> Self {
        Counterexample { ending, trace, not_robust: None }
    }

    /// Adds copies of the names that a report on this execution under `model` needs.
    #[must_use]
    pub fn named(self, names: &(impl Naming + ?Sized), model: Model) -> NamedTrace {
        let names = TraceNames::of(&self, names);
        let Counterexample { ending, trace, not_robust } = self;
        let (objects, threads, printed) = (vec![], vec![], String::new());
        let stacks = CallStacks::default();
        NamedTrace { model, ending, trace, not_robust, names, threads, objects, stacks, printed }
    }
}

/// An execution with everything that a report needs. It does not refer to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct NamedTrace {
    /// The model that allows the execution.
    pub model: Model,
    /// How the execution ended.
    pub ending: Ending,
    /// The execution.
    pub trace: Trace,
    /// Why SC forbids the execution, if that is what is reported.
    pub not_robust: Option<NotRobust>,
    /// The names of everything that `trace`, `ending` and `not_robust` mention.
    pub names: TraceNames,
    /// Which thread is which, where the names do not tell.
    pub threads: Vec<ThreadNote>,
    /// The objects on heaps that the names mention.
    pub objects: Vec<ObjectNote>,
    /// The call stacks of the steps, as far as they are known.
    pub stacks: CallStacks,
    /// What the program wrote to standard output and standard error in this execution.
    pub printed: String,
}

/// Names of threads, locations, places and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TraceNames {
    threads: BTreeMap<ThreadId, String>,
    locations: BTreeMap<LocationId, (String, Value)>,
    places: BTreeMap<PlaceId, String>,
    /// Values, or single bits above the 64 of the program's values, that stand for something else.
    pub special_values: Vec<(Value, Cow<'static, str>)>,
    /// What values of synchronization objects stand for, if they encode several things.
    pub object_states: BTreeMap<(LocationId, Value), ObjectState>,
    /// Values of locations as the source would write them, unless that is the number.
    pub values: BTreeMap<(LocationId, Value), String>,
}

/// How an object on a heap came into being and to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ObjectNote {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its allocation.
    pub allocated: ObjectChange,
    /// Its deallocation, if there is one in the execution.
    pub freed: Option<ObjectChange>,
}

/// The allocation or the deallocation of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ObjectChange {
    /// The thread.
    pub thread: ThreadId,
    /// The innermost place in the sources of the program.
    pub place: String,
    /// The call stack, innermost frame first; empty if it is not known.
    pub stack: Vec<Frame>,
}

/// Which thread it is that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ThreadNote {
    /// The thread.
    pub thread: ThreadId,
    /// Its path: `main`, `main/0` for the first thread that main creates. Schedules have these.
    pub path: String,
    /// The function that it runs, if it is known.
    pub function: Option<String>,
    /// Where it was created.
    pub created: Option<String>,
}

/// What a value of a synchronization object stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ObjectState {
    /// The value in a few characters: `2 of 3`.
    pub short: String,
    /// A clause: `2 of 3 threads have arrived`.
    pub clause: String,
}

impl TraceNames {
    fn of(counterexample: &Counterexample, names: &(impl Naming + ?Sized)) -> Self {
        let Counterexample { ending, trace, not_robust } = counterexample;
        let mut used = UsedIds::default();
        used.add_trace(trace);
        used.add_ending(ending);
        if let Some(NotRobust { fences: FenceSearch::Found(fences), .. }) = not_robust {
            used.places.extend(fences.iter().map(|fence| fence.place));
        }
        let thread = |id: ThreadId| (id, names.thread_name(id));
        let location = |id: LocationId| (id, (names.location_name(id), names.initial_value(id)));
        let place = |id: PlaceId| (id, names.place(id));
        TraceNames {
            threads: map_of(used.threads.into_iter().map(thread)),
            locations: map_of(used.locations.into_iter().map(location)),
            places: map_of(used.places.into_iter().map(place)),
            special_values: vec![],
            object_states: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }

    /// Returns `true` if the location has a name.
    #[must_use]
    pub fn has_location(&self, location: LocationId) -> bool {
        self.locations.contains_key(&location)
    }

    /// The name of a thread, if it has one.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> Option<&str> {
        self.threads.get(&thread).map(String::as_str)
    }

    /// Gives a thread that has a name another one.
    pub fn rename_thread(&mut self, thread: ThreadId, name: String) {
        if let Some(known) = self.threads.get_mut(&thread) {
            *known = name;
        }
    }

    /// Gives a location that has a name another one.
    pub fn rename_location(&mut self, location: LocationId, name: String) {
        if let Some(known) = self.locations.get_mut(&location) {
            known.0 = name;
        }
    }
}

/// The ids that an execution mentions.
#[derive(Default)]
struct UsedIds {
    threads: BTreeSet<ThreadId>,
    locations: BTreeSet<LocationId>,
    places: BTreeSet<PlaceId>,
}

impl UsedIds {
    fn add_trace(&mut self, trace: &Trace) {
        self.threads.extend(trace.ends.keys());
        let pending = trace.pending.values().filter_map(|pending| match pending {
            Pending::Question(op) => Some(op),
            Pending::Loop(_) => None,
        });
        for event in &trace.events {
            self.threads.insert(event.thread);
        }
        for op in trace.events.iter().map(|event| &event.op).chain(pending) {
            self.places.insert(op.place);
            self.locations.extend(op.kind.location());
            if let OpKind::Spawn { thread } | OpKind::Join { thread } = op.kind {
                self.threads.insert(thread);
            }
        }
    }

    fn add_ending(&mut self, ending: &Ending) {
        match ending {
            Ending::Failed(thread, failure) => {
                self.threads.insert(*thread);
                self.places.insert(failure.place);
            }
            Ending::Deadlock(threads) | Ending::Livelock(threads) => self.threads.extend(threads),
            Ending::Limit(thread) => {
                self.threads.insert(*thread);
            }
            Ending::Complete | Ending::Blocked | Ending::Race(..) => {}
        }
    }
}

impl Naming for NamedTrace {
    fn place(&self, place: PlaceId) -> String {
        self.names.places.get(&place).cloned().unwrap_or_default()
    }

    fn location_name(&self, location: LocationId) -> String {
        self.names.locations.get(&location).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.names.threads.get(&thread).cloned().unwrap_or_default()
    }

    fn initial_value(&self, location: LocationId) -> Value {
        self.names.locations.get(&location).map_or(0, |&(_, value)| value)
    }
}
