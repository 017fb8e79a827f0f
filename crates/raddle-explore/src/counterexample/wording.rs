//! The words for events, values, locations and places.

use super::joint;
use super::style::{Style, cut_end};
use raddle_core::execution::{LocationId, MemoryOrder, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::C11Orders;
use raddle_core::program::{Guard, Naming, OpKind, PlaceId, is_pointer};
use raddle_core::trace::{NamedTrace, ObjectState, Observed, Trace, TraceEvent, TraceNames};

/// The words for one trace.
pub(super) struct Wording<'a> {
    pub(super) names: &'a dyn Naming,
    values: Option<&'a TraceNames>,
    pub(super) model: Model,
    pub(super) trace: &'a Trace,
    style: &'a Style,
    /// By event, the number of its row.
    steps: Vec<usize>,
    /// By event: whether it is a part of a joint access, but not the first one.
    continues: Vec<bool>,
}

/// The maximal length of a message in the table, in characters.
const MESSAGE: usize = 60;

/// Returns `true` if the table has a row for the event. Initial values have none, and joint accesses have one for each part.
pub(super) fn is_shown(event: &TraceEvent) -> bool {
    !matches!(event.op.kind, OpKind::Init { .. } | OpKind::Joint(_))
}

impl<'a> Wording<'a> {
    /// The words for a trace with the names and the model of another one. `steps` has the number of each event.
    pub(super) fn of(
        names: &'a NamedTrace,
        trace: &'a Trace,
        steps: Vec<usize>,
        style: &'a Style,
    ) -> Self {
        let (values, model, continues) = (Some(&names.names), names.model, joint::continues(trace));
        Wording { names, values, model, trace, style, steps, continues }
    }

    /// The words for a trace without special values, whose events have no numbers.
    pub(super) fn of_ops(names: &'a dyn Naming, trace: &'a Trace, style: &'a Style) -> Self {
        let (values, model, steps) = (None, Model::Sc, vec![0; trace.events.len()]);
        let continues = joint::continues(trace);
        Wording { names, values, model, trace, style, steps, continues }
    }

    /// `step 3`: the event in the row with the number 3.
    pub(super) fn name(&self, at: usize) -> String {
        format!("step {}", self.steps[at])
    }

    /// The number of the row of an event.
    pub(super) fn step(&self, at: usize) -> usize {
        self.steps[at]
    }

    /// The name of the thread of an event.
    pub(super) fn thread(&self, at: usize) -> String {
        self.names.thread_name(self.trace.events[at].thread)
    }

    /// `load x = 1 (step 2)`: what an event did and what it observed.
    pub(super) fn event(&self, at: usize) -> String {
        self.event_missing(at, None)
    }

    /// `load x = 0 (initial, not step 2)`: the same, with a store that it does not observe.
    pub(super) fn event_missing(&self, at: usize, missed: Option<usize>) -> String {
        let event = &self.trace.events[at];
        let source = match (event.observed, event.op.kind) {
            (None | Some(Observed::Choice(_)), _) | (_, OpKind::Join { .. }) => None,
            (Some(Observed::Initial), OpKind::Lock { .. }) => None,
            (Some(Observed::Initial), _) => Some(String::from("initial")),
            (Some(Observed::Event(source)), _) => Some(self.name(source)),
        };
        let missed = missed.map(|store| format!("not {}", self.name(store)));
        let remarks: Vec<String> = source.into_iter().chain(missed).collect();
        let and = if self.continues[at] { "& " } else { "" };
        let action = format!("{and}{}", self.action(event));
        if remarks.is_empty() { action } else { format!("{action} ({})", remarks.join(", ")) }
    }

    /// What the value of a synchronization object stands for.
    pub(super) fn object_state(&self, location: LocationId, value: Value) -> Option<&ObjectState> {
        self.values?.object_states.get(&(location, value))
    }

    /// A value of an access.
    pub(super) fn accessed(&self, kind: &OpKind, value: Option<Value>) -> String {
        let Some(value) = value else { return String::from("?") };
        let state = kind.location().and_then(|location| self.object_state(location, value));
        state.map_or_else(|| self.value_of(kind, value), |state| state.short.clone())
    }

    /// A value that an op reads or writes, as the source would write it.
    pub(super) fn value_of(&self, kind: &OpKind, value: Value) -> String {
        let text = kind.location().and_then(|it| self.values?.values.get(&(it, value)));
        text.cloned().unwrap_or_else(|| self.value(value))
    }

    fn action(&self, event: &TraceEvent) -> String {
        let at = self.location_of(&event.op.kind);
        let [read, written] =
            [event.read, event.written].map(|value| self.accessed(&event.op.kind, value));
        match event.op.kind {
            OpKind::Init { value, .. } => {
                format!("initially {at} = {}", self.value_of(&event.op.kind, value))
            }
            OpKind::Store { value, order, .. } => {
                format!(
                    "store {at}{} = {}",
                    self.order(order),
                    self.value_of(&event.op.kind, value)
                )
            }
            OpKind::Fence { order } => format!("fence {order}"),
            OpKind::StoreFence => String::from("store fence"),
            OpKind::Joint(_) => String::from("accesses of one moment"),
            OpKind::Unlock { .. } => format!("unlock {at}"),
            OpKind::Spawn { thread } => format!("spawn {}", self.names.thread_name(thread)),
            OpKind::WriteCell { .. } => format!("write {at}"),
            OpKind::Load { order, .. } => format!("load {at}{} = {read}", self.order(order)),
            OpKind::Rmw { order, .. } => format!("{at}{}: {read} -> {written}", self.order(order)),
            OpKind::CompareExchange { success, .. } if event.written.is_some() => {
                format!("{at}{}: {read} -> {written}", self.order(success))
            }
            OpKind::CompareExchange { failure, .. } => {
                let how = if event.is_spurious() { "fails spuriously" } else { "fails" };
                format!("exchange {at}{} {how}, {read}", self.order(failure))
            }
            OpKind::Lock { .. } => format!("lock {at}"),
            OpKind::Sync { guard, .. } if guard != Guard::Always && read == written => {
                format!("wait for {at} = {read}")
            }
            OpKind::Sync { .. } => format!("{at}: {read} -> {written}"),
            OpKind::Join { thread } => format!("join {}", self.names.thread_name(thread)),
            OpKind::Choose { options } => match event.observed {
                Some(Observed::Choice(choice)) => format!("choose {choice} of 0..{options}"),
                _ => format!("choose of 0..{options}"),
            },
            OpKind::ReadCell { .. } => format!("read {at}"),
        }
    }

    /// The memory order, under the models that distinguish memory orders.
    pub(super) fn order(&self, order: MemoryOrder) -> String {
        let matters = self.model.c11_orders().is_some_and(C11Orders::has_weaker_accesses);
        if matters { format!(" ({order})") } else { String::new() }
    }

    pub(super) fn location(&self, location: LocationId) -> String {
        self.names.location_name(location)
    }

    /// The name of the location of an op, or nothing.
    pub(super) fn location_of(&self, kind: &OpKind) -> String {
        kind.location().map_or(String::new(), |location| self.location(location))
    }

    pub(super) fn initial_value(&self, location: LocationId) -> Value {
        let stated = self.trace.events.iter().find_map(|event| match event.op.kind {
            OpKind::Init { location: its, value } if its == location => Some(value),
            _ => None,
        });
        stated.unwrap_or_else(|| self.names.initial_value(location))
    }

    /// A value: a number, a pointer as `&block+offset`, a special value by its name, and other values that do not
    /// fit into 64 bits by their bits.
    pub(super) fn value(&self, value: Value) -> String {
        let low = value as u64;
        let special = |value| {
            let mut words = self.values?.special_values.iter();
            words.find(|(it, _)| *it == value).map(|(_, word)| word.to_string())
        };
        if let Some(word) = special(value) {
            return word;
        }
        if is_pointer(value) {
            let block = (value >> 64) & ((1 << 56) - 1);
            return if low == 0 { format!("&{block}") } else { format!("&{block}+{low}") };
        }
        match value >> 64 {
            0 | -1 => value.to_string(),
            high if high > 0 && high.count_ones() == 1 => {
                let bit = special(high << 64);
                let bit = bit.unwrap_or_else(|| format!("2^{}", 64 + high.trailing_zeros()));
                if low == 0 { bit } else { format!("{bit}+{low}") }
            }
            _ => format!("{value:#x}"),
        }
    }

    /// A place that is not shortened.
    pub(super) fn full_place(&self, place: PlaceId) -> String {
        self.style.relative(&self.names.place(place)).to_owned()
    }

    pub(super) fn place(&self, place: PlaceId) -> String {
        self.style.place(self.names, place)
    }
}

/// The first line of a message, shortened if it is long.
pub(super) fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    cut_end(line, MESSAGE)
}
