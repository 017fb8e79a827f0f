//! What went wrong in an execution, for people.
//!
//! A report says in one sentence what went wrong, and then shows the execution: threads side by side,
//! a row for each event, in an order in which they can happen. A read says which store it observed,
//! `<- a.3`: the event of thread `a` with the number 3. What had no influence on what went wrong is left
//! out (`past`); the order (`order`) is an ordinary interleaving if there is one. Under TSO and PSO a
//! column shows when delayed stores reach memory. Threads that wait or spin are told one by one
//! (`waits`).
//!
//! Cost: at most three searches with a bound, and the square of the number of events.

mod order;
pub(crate) mod past;
mod table;
mod waits;
mod words;

use raddle_consistency::explain::{Page, wrap};
use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::model::orders::StoreBuffers;
use raddle_core::program::{Op, PlaceId, Program};
use raddle_core::trace::{Ending, Pending, Trace, TraceEvent};

use order::{EventSet, Kind, Order};
use table::{Line, Table};
use words::Words;

/// How a report looks.
#[derive(Clone, Debug)]
pub struct Style {
    /// How much room it takes.
    pub page: Page,
    /// Places below this directory are shown as seen from there.
    pub directory: String,
    /// Values, or bits above those of numbers, that mean something else, with what they are called.
    pub special_values: Vec<(Value, &'static str)>,
}

impl Default for Style {
    fn default() -> Self {
        let page = Page { width: 120, lines: 200 };
        Style { page, directory: String::new(), special_values: vec![] }
    }
}

/// What went wrong, where, and the execution in which it did.
#[must_use]
pub fn report(
    program: &dyn Program,
    model: Model,
    ending: &Ending,
    trace: &Trace,
    style: &Style,
) -> String {
    let sentence = sentence(program, ending, trace, style);
    let at = place(ending, trace);
    let at = at.map_or(String::new(), |at| format!("  at {}\n", style.place(program, at)));
    format!("{sentence}\n{at}\n{}", execution(program, model, ending, trace, style))
}

/// What went wrong, in one sentence.
#[must_use]
pub fn sentence(program: &dyn Program, ending: &Ending, trace: &Trace, style: &Style) -> String {
    let name = |thread: ThreadId| program.thread_name(thread);
    let do_for_ever = |threads: &[ThreadId], one: &str, many: &str| {
        let names: Vec<String> = threads.iter().map(|&thread| name(thread)).collect();
        format!("{} {} for ever", names.join(", "), if names.len() == 1 { one } else { many })
    };
    match ending {
        Ending::Complete => String::from("all is well"),
        Ending::Blocked => String::from("no thread can go on"),
        Ending::Deadlock(threads) => format!("deadlock: {}", do_for_ever(threads, "waits", "wait")),
        Ending::Livelock(threads) => {
            format!("livelock: {}", do_for_ever(threads, "spins", "spin"))
        }
        Ending::Failed(thread, failure) => format!("thread {}: {}", name(*thread), failure.message),
        Ending::Race(first, second) => race(program, trace, [*first, *second], style),
        Ending::Limit(thread) => format!("thread {} reached the limit of events", name(*thread)),
    }
}

fn race(program: &dyn Program, trace: &Trace, accesses: [usize; 2], style: &Style) -> String {
    let [first, second] = accesses.map(|at| match trace.events.get(at) {
        Some(event) => {
            let thread = program.thread_name(event.thread);
            format!("{thread} ({})", style.place(program, event.op.place))
        }
        None => String::from("somebody"),
    });
    let location = trace.events.get(accesses[0]).and_then(|event| event.op.kind.location());
    let on = location.map_or(String::new(), |at| format!(" on {}", program.location_name(at)));
    format!("data race{on} between {first} and {second}")
}

/// Where it went wrong, if that is one place.
#[must_use]
pub fn place(ending: &Ending, trace: &Trace) -> Option<PlaceId> {
    let last = |thread| {
        let last = trace.events.iter().rfind(|event| event.thread == thread);
        last.map(|event| event.op.place)
    };
    match ending {
        Ending::Complete | Ending::Blocked => None,
        Ending::Failed(_, failure) => Some(failure.place),
        Ending::Race(_, second) => trace.events.get(*second).map(|event| event.op.place),
        Ending::Limit(thread) => last(*thread),
        Ending::Deadlock(threads) | Ending::Livelock(threads) => {
            let thread = *threads.first()?;
            let at = |position| {
                let mut events = trace.events.iter();
                events.find(|event| event.thread == thread && event.position >= position)
            };
            match trace.pending.get(&thread) {
                Some(Pending::Question(op)) => Some(op.place),
                Some(&Pending::Loop(start)) => at(start).map(|event| event.op.place),
                None => last(thread),
            }
        }
    }
}

/// What an op does, if nobody knows what it observes.
#[must_use]
pub fn op(program: &dyn Program, op: &Op) -> String {
    let (thread, position) = (ThreadId::new(0), 0);
    let event = TraceEvent { thread, position, op: *op, observed: None, read: None, written: None };
    let trace = Trace { events: vec![event], ..Trace::default() };
    Words::new(program, Model::Sc, &trace, &Style::default()).event(0)
}

/// The name of an event of a trace that is shown as a whole, and what it does: `a.3 load x = 1`.
pub(crate) fn event(
    program: &dyn Program,
    model: Model,
    trace: &Trace,
    at: usize,
    style: &Style,
) -> String {
    let words = Words::new(program, model, trace, style);
    format!("{} {}", words.name(at), words.event(at))
}

/// The execution in which it went wrong.
#[must_use]
pub fn execution(
    program: &dyn Program,
    model: Model,
    ending: &Ending,
    trace: &Trace,
    style: &Style,
) -> String {
    let (part, ending) = past::part_that_matters(trace, ending);
    let words = Words::new(program, model, &part, style);
    let order = order::order(program, model, &part);
    let mut out = wrap(&heading(&words, &order), 0, style.page);
    out += "\n";
    out += &table(&words, &ending, &order).render(style.page);
    let notes = notes(&words, &ending, &order, left_out(trace, &part));
    if !notes.is_empty() {
        out += "\n";
    }
    out.extend(notes.iter().map(|note| wrap(note, 2, style.page)));
    out
}

fn heading(words: &Words<'_>, order: &Order) -> String {
    let model = words.model;
    let is_sequential = model.store_buffers() == Some(StoreBuffers::None);
    let misses = |at| order::missed(words.trace, at).is_some();
    match order.kind {
        Kind::Interleaving if is_sequential => String::from("The execution:"),
        Kind::Interleaving => String::from("The execution, an ordinary interleaving:"),
        Kind::Buffers => format!(
            "The execution, which {model} allows but sc does not; `memory` shows when stores reach \
             memory:"
        ),
        Kind::Listed { needed } => {
            let but = if needed { " but sc does not" } else { "" };
            let not = match (0..words.trace.events.len()).any(misses) {
                true => "; `not a.0`: the read does not see a.0, though that stands above it",
                false => "",
            };
            format!("The execution, which {model} allows{but}{not}:")
        }
    }
}

/// How many events are not shown.
fn left_out(trace: &Trace, part: &Trace) -> usize {
    let count = |trace: &Trace| trace.events.iter().filter(|event| words::is_shown(event)).count();
    count(trace) - count(part)
}

fn table(words: &Words<'_>, ending: &Ending, order: &Order) -> Table {
    let failed = match ending {
        Ending::Failed(thread, failure) => Some((*thread, failure)),
        _ => None,
    };
    let acts = |thread| words.trace.events.iter().any(|event| event.thread == thread);
    let fails = |thread| failed.is_some_and(|(failed, _)| failed == thread);
    let mut threads: Vec<ThreadId> = words.trace.ends.keys().copied().collect();
    threads.retain(|&thread| acts(thread) || fails(thread));
    let column = |thread: ThreadId| threads.iter().position(|&other| other == thread);
    let rows = order.rows.iter().map(|&row| line(words, ending, order, row, column));
    let failure = failed.map(|(thread, failure)| Line {
        column: column(thread),
        text: format!("! {}", Words::message(&failure.message)),
        place: words.place(failure.place),
        ..Line::default()
    });
    let lines = rows.chain(failure).collect();
    let heads = threads.iter().map(|&thread| words.program.thread_name(thread)).collect();
    Table { heads, has_memory: order.kind == Kind::Buffers, lines }
}

fn line(
    words: &Words<'_>,
    ending: &Ending,
    order: &Order,
    row: EventSet,
    column: impl Fn(ThreadId) -> Option<usize>,
) -> Line {
    match row {
        EventSet::Arrival { at } => Line { memory: arrival(words, at), ..Line::default() },
        EventSet::Event { at, arrives } => {
            let event = &words.trace.events[at];
            let is_told = arrives && order.kind == Kind::Buffers;
            Line {
                column: column(event.thread),
                text: words.cell(at) + &remark(words, ending, order, at),
                memory: if is_told { arrival(words, at) } else { String::new() },
                place: words.place(event.op.place),
            }
        }
    }
}

/// What a write changes in memory.
fn arrival(words: &Words<'_>, at: usize) -> String {
    let event = &words.trace.events[at];
    let Some(value) = event.written else { return String::new() };
    let location = words.location_of(&event.op.kind);
    format!("{location} = {} ({})", words.value(value), words.name(at))
}

/// What is remarkable about an event.
fn remark(words: &Words<'_>, ending: &Ending, order: &Order, at: usize) -> String {
    let missed = match order.kind {
        Kind::Listed { .. } => order::missed(words.trace, at),
        Kind::Interleaving | Kind::Buffers => None,
    };
    let missed = missed.map_or(String::new(), |store| format!(", not {}", words.name(store)));
    let races = match *ending {
        Ending::Race(first, second) if at == first => Some(second),
        Ending::Race(first, second) if at == second => Some(first),
        _ => None,
    };
    missed + &races.map_or(String::new(), |other| format!(" (races with {})", words.name(other)))
}

/// What is to be said below the table, a line each.
fn notes(words: &Words<'_>, ending: &Ending, order: &Order, left_out: usize) -> Vec<String> {
    let list = |writes: &[usize]| {
        let writes: Vec<String> = writes.iter().map(|&at| arrival(words, at)).collect();
        writes.join(", ")
    };
    let mut notes = vec![];
    if !order.delayed.is_empty() {
        notes.push(format!("Still delayed in the end: {}.", list(&order.delayed)));
    }
    for (location, writes) in &order.modifications {
        let location = words.location(*location);
        notes.push(format!("{location} is modified in this order: {}.", list(writes)));
    }
    let sentences = waits::sentences(words, ending);
    notes.extend(sentences.into_iter().map(|sentence| format!("{sentence}.")));
    match left_out {
        0 => {}
        1 => notes.push(String::from("1 event that had no influence is left out.")),
        n => notes.push(format!("{n} events that had no influence are left out.")),
    }
    notes
}
