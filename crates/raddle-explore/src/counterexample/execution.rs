//! The table of an execution, with a heading and notes.

use std::collections::{BTreeMap, BTreeSet};

use raddle_consistency::page::wrap;
use raddle_core::execution::ThreadId;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::program::Naming;
use raddle_core::trace::{Ending, NamedTrace, ObjectChange, ObjectNote, Trace};

use super::cycle;
use super::event_order::{self, EventOrder, OrderKind, Row};
use super::fold;
use super::joint;
use super::relevant_part::relevant_part;
use super::style::{PLACE, Style, Weight, cut_place};
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
        None if style.full => Shown::new(trace, &trace.trace, trace.ending.clone(), style).text(),
        None => {
            let (part, ending) = relevant_part(&trace.trace, &trace.ending);
            let omitted = omitted(&trace.trace, &part);
            let (part, ending) = joint::gathered(part, ending);
            Shown { omitted, ..Shown::new(trace, &part, ending, style) }.text()
        }
        Some(not_robust) => {
            let shown = Shown::new(trace, &not_robust.part, Ending::Complete, style);
            let wording = shown.wording();
            shown.text() + &cycle::explanation(trace, not_robust, &wording, style)
        }
    }
}

/// An execution that is shown as a whole.
struct Shown<'a> {
    names: &'a NamedTrace,
    trace: &'a Trace,
    ending: Ending,
    order: EventOrder,
    /// The number of events that were left out before.
    omitted: usize,
    style: &'a Style,
}

impl<'a> Shown<'a> {
    fn new(names: &'a NamedTrace, trace: &'a Trace, ending: Ending, style: &'a Style) -> Self {
        let order = event_order::event_order(names, names.model, trace);
        Shown { names, trace, ending, order, omitted: 0, style }
    }

    fn wording(&self) -> Wording<'_> {
        let steps = self.order.steps(self.trace.events.len());
        Wording::of(self.names, self.trace, steps, self.style)
    }

    fn text(&self) -> String {
        let Shown { names, order, ending, style, omitted, .. } = self;
        let wording = self.wording();
        let table = table(&wording, ending, order, style);
        let mut out = String::new();
        if !table.lines.is_empty() {
            out += &wrap(&heading(&wording, order), 0, style.page);
            out += "\n";
            out += &table.render(style.page(), style.paint());
        }
        let mut notes = notes(&wording, ending, order, *omitted);
        let is_mentioned = |object: &&ObjectNote| table.mentions(&object.name);
        let objects = names.objects.iter().filter(is_mentioned);
        notes.extend(objects.map(|object| life(names, object, style)));
        if !notes.is_empty() {
            out += "\n";
        }
        out.extend(notes.iter().map(|note| wrap(note, 2, style.page)));
        out
    }
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
                true => "; `not step 1`: the read does not observe that step, although it is above",
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

fn table(wording: &Wording<'_>, ending: &Ending, order: &EventOrder, style: &Style) -> Table {
    let failed = match ending {
        Ending::Failed(thread, failure) => Some((*thread, failure)),
        _ => None,
    };
    let acts = |thread| wording.trace.events.iter().any(|event| event.thread == thread);
    let fails = |thread| failed.is_some_and(|(failed, _)| failed == thread);
    let mut threads: Vec<ThreadId> = wording.trace.ends.keys().copied().collect();
    threads.retain(|&thread| acts(thread) || fails(thread));
    let column = |thread: ThreadId| threads.iter().position(|&other| other == thread);
    let rows = match style.full {
        true => order.rows.iter().map(|&row| fold::Shown::Row(row)).collect(),
        false => fold::fold(wording.trace, ending, order),
    };
    let rows = rows.into_iter().map(|row| match row {
        fold::Shown::Row(row) => line(wording, ending, order, row, column),
        fold::Shown::Run { first, last, count, is_start } => {
            let thread = column(wording.trace.events[first].thread);
            run(wording, [first, last], count, is_start, thread)
        }
    });
    let failure = failed.map(|(thread, failure)| Line {
        column: column(thread),
        text: format!("! {}", wording::first_line(&failure.message)),
        place: wording.full_place(failure.place),
        weight: Weight::Error,
        ..Line::default()
    });
    let mut lines: Vec<Line> = rows.chain(failure).collect();
    shorten_places(&mut lines);
    let heads = threads.iter().map(|&thread| wording.names.thread_name(thread)).collect();
    Table { heads, has_memory: order.kind == OrderKind::StoreBuffers, lines }
}

/// A row for several accesses of a thread.
fn run(
    wording: &Wording<'_>,
    [first, last]: [usize; 2],
    count: usize,
    is_start: bool,
    column: Option<usize>,
) -> Line {
    let [from, to] = [first, last].map(|at| wording.full_place(wording.trace.events[at].op.place));
    let when = if is_start { " before the threads start" } else { "" };
    Line {
        step: format!("{}-{}", wording.step(first), wording.step(last)),
        column,
        text: format!("{count} accesses{when}"),
        place: if from == to { from } else { String::new() },
        weight: Weight::Minor,
        ..Line::default()
    }
}

/// Leaves out the directories of the files where their names alone tell the files apart.
fn shorten_places(lines: &mut [Line]) {
    let file = |place: &str| {
        let (file, line) = place.rsplit_once(':')?;
        line.parse::<u32>().ok().map(|_| file.to_owned())
    };
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in lines.iter().filter_map(|line| file(&line.place)) {
        let name = file.rsplit('/').next().unwrap_or_default().to_owned();
        by_name.entry(name).or_default().insert(file);
    }
    for line in lines {
        if let Some(file) = file(&line.place) {
            let name = file.rsplit('/').next().unwrap_or_default();
            if by_name.get(name).is_some_and(|files| files.len() == 1) {
                line.place.drain(..file.len() - name.len());
            }
        }
        line.place = cut_place(&line.place, PLACE);
    }
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
            let races = races_with(ending, at);
            let remark = races.map(|other| format!(" <- races with {}", wording.name(other)));
            let missed = match order.kind {
                OrderKind::Listed { .. } => event_order::missed_store(wording.trace, at),
                OrderKind::Interleaving | OrderKind::StoreBuffers => None,
            };
            Line {
                step: wording.step(at).to_string(),
                column: column(event.thread),
                text: wording.event_missing(at, missed) + &remark.unwrap_or_default(),
                memory: if is_shown { memory_update(wording, at) } else { String::new() },
                place: wording.full_place(event.op.place),
                weight: if races.is_some() { Weight::Error } else { Weight::Normal },
            }
        }
    }
}

/// The access that an access races with.
fn races_with(ending: &Ending, at: usize) -> Option<usize> {
    match *ending {
        Ending::Race(first, second) if at == first => Some(second),
        Ending::Race(first, second) if at == second => Some(first),
        _ => None,
    }
}

/// `x = 1 (step 2)`: the effect of a write on memory.
fn memory_update(wording: &Wording<'_>, at: usize) -> String {
    let event = &wording.trace.events[at];
    let Some(value) = event.written else { return String::new() };
    let location = wording.location_of(&event.op.kind);
    format!("{location} = {} ({})", wording.value_of(&event.op.kind, value), wording.name(at))
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
