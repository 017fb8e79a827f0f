//! What happened, in words.

use std::collections::BTreeMap;

use super::Style;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::C11Orders;
use raddle_core::program::{Guard, OpKind, PlaceId, Program, is_pointer};
use raddle_core::trace::{Observed, Trace, TraceEvent};

/// Who knows the words for a trace.
pub(super) struct Words<'a> {
    pub(super) program: &'a dyn Program,
    pub(super) model: Model,
    pub(super) trace: &'a Trace,
    pub(super) style: &'a Style,
    /// By event, how many of its thread are shown before it.
    numbers: Vec<usize>,
}

/// Places are cut to so many characters.
const PLACE: usize = 40;

/// Names of locations and threads, and values, are short; a message may be anything.
const MESSAGE: usize = 60;

/// Whether an event is told: statements of initial values are not.
pub(super) fn is_shown(event: &TraceEvent) -> bool {
    !matches!(event.op.kind, OpKind::Init { .. })
}

impl<'a> Words<'a> {
    pub(super) fn new(
        program: &'a dyn Program,
        model: Model,
        trace: &'a Trace,
        style: &'a Style,
    ) -> Self {
        let mut counts: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let number = |event: &TraceEvent| {
            let count = counts.entry(event.thread).or_default();
            let number = *count;
            *count += usize::from(is_shown(event));
            number
        };
        let numbers = trace.events.iter().map(number).collect();
        Words { program, model, trace, style, numbers }
    }

    /// `a.3`: the event of `a` with the number 3.
    pub(super) fn name(&self, at: usize) -> String {
        let thread = self.program.thread_name(self.trace.events[at].thread);
        format!("{thread}.{}", self.numbers[at])
    }

    /// `.3 load x = 1 <- b.2`, in the column of its thread.
    pub(super) fn cell(&self, at: usize) -> String {
        format!(".{} {}", self.numbers[at], self.event(at))
    }

    /// What an event did, and what it observed.
    pub(super) fn event(&self, at: usize) -> String {
        let event = &self.trace.events[at];
        let deed = self.deed(event);
        match (event.observed, event.op.kind) {
            (None | Some(Observed::Choice(_)), _) | (_, OpKind::Join { .. }) => deed,
            (Some(Observed::Initial), OpKind::Lock { .. }) => deed,
            (Some(Observed::Initial), _) => format!("{deed} <- initially"),
            (Some(Observed::Event(source)), _) => format!("{deed} <- {}", self.name(source)),
        }
    }

    fn deed(&self, event: &TraceEvent) -> String {
        let at = self.location_of(&event.op.kind);
        let read = event.read.map_or(String::from("?"), |value| self.value(value));
        let written = event.written.map_or(String::from("?"), |value| self.value(value));
        match event.op.kind {
            OpKind::Init { value, .. } => format!("{at} starts as {}", self.value(value)),
            OpKind::Store { value, order, .. } => {
                format!("store {at}{} = {}", self.order(order), self.value(value))
            }
            OpKind::Fence { order } => format!("fence {order}"),
            OpKind::StoreFence => String::from("store fence"),
            OpKind::Unlock { .. } => format!("unlock {at}"),
            OpKind::Spawn { thread } => format!("spawn {}", self.program.thread_name(thread)),
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
            OpKind::Join { thread } => format!("join {}", self.program.thread_name(thread)),
            OpKind::Choose { options } => match event.observed {
                Some(Observed::Choice(choice)) => format!("choose {choice} of 0..{options}"),
                _ => format!("choose of 0..{options}"),
            },
            OpKind::ReadCell { .. } => format!("read {at}"),
        }
    }

    /// The memory order, under the models that care.
    fn order(&self, order: MemoryOrder) -> String {
        let matters = self.model.c11_orders().is_some_and(C11Orders::has_weaker_accesses);
        if matters { format!(" ({order})") } else { String::new() }
    }

    pub(super) fn location(&self, location: LocationId) -> String {
        self.program.location_name(location)
    }

    /// The location that an op is about.
    pub(super) fn location_of(&self, kind: &OpKind) -> String {
        kind.location().map_or(String::new(), |location| self.location(location))
    }

    pub(super) fn initial_value(&self, location: LocationId) -> Value {
        let stated = self.trace.events.iter().find_map(|event| match event.op.kind {
            OpKind::Init { location: its, value } if its == location => Some(value),
            _ => None,
        });
        stated.unwrap_or_else(|| self.program.initial_value(location))
    }

    /// A number; a pointer as its block and offset; what is too large for a number of the program by
    /// its bits.
    pub(super) fn value(&self, value: Value) -> String {
        let low = value as u64;
        let special = |value| {
            let word = self.style.special_values.iter().find(|(it, _)| *it == value);
            word.map(|&(_, word)| word.to_owned())
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

    pub(super) fn place(&self, place: PlaceId) -> String {
        self.style.place(self.program, place)
    }

    /// The first line of a message, not too long.
    pub(super) fn message(text: &str) -> String {
        let line = text.lines().next().unwrap_or_default();
        cut_end(line, MESSAGE)
    }
}

impl Style {
    /// Where something is in the source: seen from the directory, and not too long.
    pub(crate) fn place(&self, program: &dyn Program, place: PlaceId) -> String {
        let place = program.place(place);
        let directory = self.directory.trim_end_matches('/');
        let below = place.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
        let place = below.filter(|_| !directory.is_empty()).unwrap_or(&place);
        cut_place(place, PLACE)
    }
}

/// Leaves out the first directories of a path that is too long, or else its end.
fn cut_place(place: &str, length: usize) -> String {
    if place.chars().count() <= length {
        return place.to_owned();
    }
    let fits = |at: &usize| place[*at..].chars().count() + "...".len() <= length;
    match place.match_indices('/').map(|(at, _)| at).find(fits) {
        Some(at) => format!("...{}", &place[at..]),
        None => cut_end(place, length),
    }
}

fn cut_end(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let start: String = text.chars().take(length - "...".len()).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_loses_its_first_directories() {
        assert_eq!(cut_place("src/lib.rs:7", 12), "src/lib.rs:7");
        assert_eq!(cut_place("crates/raddle/src/lib.rs:7", 16), ".../src/lib.rs:7");
        assert_eq!(cut_place("crates/raddle/src/lib.rs:7", 15), ".../lib.rs:7");
    }

    #[test]
    fn other_text_loses_its_end() {
        assert_eq!(cut_place("a.0: r = load x", 10), "a.0: r ...");
        assert_eq!(cut_place("a/a_file_with_a_long_name.rs:7", 10), "a/a_fil...");
    }
}
