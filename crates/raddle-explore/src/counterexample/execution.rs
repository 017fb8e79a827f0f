//! The table of an execution, with a heading and notes.

use raddle_consistency::page::wrap;
use raddle_core::execution::ThreadId;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::program::Naming;
use raddle_core::trace::{Ending, NamedTrace, ObjectChange, ObjectNote, Trace};

use super::cycle;
use super::event_order::{self, EventOrder, OrderKind, Row};
use super::joint;
use super::relevant_part::relevant_part;
use super::style::Style;
use super::table::{Line, Table};
use super::waits;
use super::wording::{self, Wording};

/// What a report says about loads that observe a store buffer and memory.
const COMBINED: &str = "A load takes bytes that are in the store buffer of its thread from there, and the others from memory. \
     The x86 processors that are known wait instead (--store-forwarding wait).";

/// The part of an execution that led to its error, as a table; and why SC forbids it, if that is the error.
#[must_use]
pub fn execution(trace: &NamedTrace, style: &Style) -> String {
    match &trace.not_robust {
        None => plain_execution(trace, &trace.trace, &trace.ending, style),
        Some(not_robust) => {
            let execution = plain_execution(trace, &not_robust.part, &Ending::Complete, style);
            execution + &cycle::explanation(trace, not_robust, style)
        }
    }
}

fn plain_execution(names: &NamedTrace, trace: &Trace, ending: &Ending, style: &Style) -> String {
    let (part, ending) = relevant_part(trace, ending);
    let (part, ending) = joint::gathered(part, ending);
    let wording = Wording::of(names, &part, style);
    let order = event_order::event_order(names, names.model, &part);
    let mut out = wrap(&heading(&wording, &order), 0, style.page);
    out += "\n";
    let table = table(&wording, &ending, &order);
    out += &table.render(style.page);
    let mut notes = notes(&wording, &ending, &order, omitted(trace, &part));
    let is_mentioned = |object: &&ObjectNote| table.mentions(&object.name);
    notes
        .extend(names.objects.iter().filter(is_mentioned).map(|object| life(names, object, style)));
    if !notes.is_empty() {
        out += "\n";
    }
    out.extend(notes.iter().map(|note| wrap(note, 2, style.page)));
    out
}

fn heading(wording: &Wording<'_>, order: &EventOrder) -> String {
    let model = wording.model;
    let is_sequential = model.store_buffers() == Some(StoreBuffers::None);
    let misses = |at| event_order::missed_store(wording.trace, at).is_some();
    match order.kind {
        OrderKind::Interleaving if is_sequential => String::from("The execution:"),
        OrderKind::Interleaving => String::from("The execution, an ordinary interleaving:"),
        OrderKind::StoreBuffers => format!(
            "The execution, which {model} allows but sc does not; `memory` shows when stores reach \
             memory:"
        ),
        OrderKind::Listed { is_weak } => {
            let but = if is_weak { " but sc does not" } else { "" };
            let not = match (0..wording.trace.events.len()).any(misses) {
                true => "; `not a.0`: the read does not observe a.0, although a.0 is above it",
                false => "",
            };
            format!("The execution, which {model} allows{but}{not}:")
        }
    }
}

/// How an object came into being and to its end: `Node#1: 16 bytes, allocated by a at q.c:7.`
fn life(names: &NamedTrace, object: &ObjectNote, style: &Style) -> String {
    let ObjectNote { name, size, allocated, freed } = object;
    let by = |verb: &str, change: &ObjectChange| {
        let (thread, place) = (names.thread_name(change.thread), style.relative(&change.place));
        format!(", {verb} by {thread} at {place}")
    };
    let freed = freed.as_ref().map_or(String::new(), |freed| by("freed", freed));
    format!("{name}: {size} bytes{}{freed}.", by("allocated", allocated))
}

/// The number of events that the table omits.
fn omitted(trace: &Trace, part: &Trace) -> usize {
    let count =
        |trace: &Trace| trace.events.iter().filter(|event| wording::is_shown(event)).count();
    count(trace) - count(part)
}

fn table(wording: &Wording<'_>, ending: &Ending, order: &EventOrder) -> Table {
    let failed = match ending {
        Ending::Failed(thread, failure) => Some((*thread, failure)),
        _ => None,
    };
    let acts = |thread| wording.trace.events.iter().any(|event| event.thread == thread);
    let fails = |thread| failed.is_some_and(|(failed, _)| failed == thread);
    let mut threads: Vec<ThreadId> = wording.trace.ends.keys().copied().collect();
    threads.retain(|&thread| acts(thread) || fails(thread));
    let column = |thread: ThreadId| threads.iter().position(|&other| other == thread);
    let rows = order.rows.iter().map(|&row| line(wording, ending, order, row, column));
    let failure = failed.map(|(thread, failure)| Line {
        column: column(thread),
        text: format!("! {}", wording::first_line(&failure.message)),
        place: wording.place(failure.place),
        ..Line::default()
    });
    let lines = rows.chain(failure).collect();
    let heads = threads.iter().map(|&thread| wording.names.thread_name(thread)).collect();
    Table { heads, has_memory: order.kind == OrderKind::StoreBuffers, lines }
}

fn line(
    wording: &Wording<'_>,
    ending: &Ending,
    order: &EventOrder,
    row: Row,
    column: impl Fn(ThreadId) -> Option<usize>,
) -> Line {
    match row {
        Row::MemoryUpdate { at } => Line { memory: memory_update(wording, at), ..Line::default() },
        Row::Event { at, updates_memory } => {
            let event = &wording.trace.events[at];
            let is_shown = updates_memory && order.kind == OrderKind::StoreBuffers;
            Line {
                column: column(event.thread),
                text: wording.cell(at) + &remark(wording, ending, order, at),
                memory: if is_shown { memory_update(wording, at) } else { String::new() },
                place: wording.place(event.op.place),
            }
        }
    }
}

/// `x = 1 (a.0)`: the effect of a write on memory.
fn memory_update(wording: &Wording<'_>, at: usize) -> String {
    let event = &wording.trace.events[at];
    let Some(value) = event.written else { return String::new() };
    let location = wording.location_of(&event.op.kind);
    format!("{location} = {} ({})", wording.value_of(&event.op.kind, value), wording.name(at))
}

/// The latest store that a read misses, and the access that an access races with.
fn remark(wording: &Wording<'_>, ending: &Ending, order: &EventOrder, at: usize) -> String {
    let missed = match order.kind {
        OrderKind::Listed { .. } => event_order::missed_store(wording.trace, at),
        OrderKind::Interleaving | OrderKind::StoreBuffers => None,
    };
    let missed = missed.map_or(String::new(), |store| format!(", not {}", wording.name(store)));
    let races = match *ending {
        Ending::Race(first, second) if at == first => Some(second),
        Ending::Race(first, second) if at == second => Some(first),
        _ => None,
    };
    missed + &races.map_or(String::new(), |other| format!(" (races with {})", wording.name(other)))
}

/// The sentences below the table.
fn notes(
    wording: &Wording<'_>,
    ending: &Ending,
    order: &EventOrder,
    omitted: usize,
) -> Vec<String> {
    let list = |writes: &[usize]| {
        let writes: Vec<String> = writes.iter().map(|&at| memory_update(wording, at)).collect();
        writes.join(", ")
    };
    let mut notes = vec![];
    if !order.delayed.is_empty() {
        notes.push(format!("Still in store buffers at the end: {}.", list(&order.delayed)));
    }
    for (location, writes) in &order.modification_orders {
        let location = wording.location(*location);
        notes.push(format!("Modification order of {location}: {}.", list(writes)));
    }
    let has_buffers = wording.model.store_buffers() != Some(StoreBuffers::None);
    if has_buffers && joint::combines(wording.trace) {
        notes.push(String::from(COMBINED));
    }
    let sentences = waits::sentences(wording, ending);
    notes.extend(sentences.into_iter().map(|sentence| format!("{sentence}.")));
    match omitted {
        0 => {}
        1 => notes.push(String::from("1 event without influence on the error is omitted.")),
        n => notes.push(format!("{n} events without influence on the error are omitted.")),
    }
    notes
}
