//! A violation: in one sentence, and explained.

use super::clash::clash;
use super::derivation::derivation;
use super::part::part;
use super::reason::Words;
use super::{Page, axiom, race, shorten, wrap};
use crate::history;
use crate::witness::{CoreSize, Fact, OrderEdge, Violation};
use raddle_core::execution::{Action, EventId, Execution, ThreadId};
use raddle_core::model::Model;
use raddle_core::model::relations::is_sc_fence;

/// Why the model forbids the execution, in one sentence without a full stop.
#[must_use]
pub fn sentence(execution: &Execution, model: Model, violation: &Violation) -> String {
    let words = Words { execution, model };
    match violation {
        Violation::UnwrittenValue { read } => {
            format!("{}, a value that no other event writes there", observes(execution, *read))
        }
        Violation::Cycle { cycle, .. } => {
            clash(words, cycle).unwrap_or_else(|| circle(execution, cycle))
        }
        Violation::NoSource { read, .. } => {
            format!("{}, but each of its possible sources is ruled out", observes(execution, *read))
        }
        Violation::Axiom { axiom, cycle, .. } => axiom::sentence(words, *axiom, cycle),
        Violation::Race { first, second, .. } => race::sentence(execution, *first, *second),
        Violation::Core { lens, .. } if model.has_store_buffers() => {
            format!("{model} has no order for {}", extent(execution, lens))
        }
        Violation::Core { lens, .. } => {
            let open = left_open(execution, model);
            format!("no choice of {open} makes {} fit the axioms", extent(execution, lens))
        }
    }
}

/// Why the model forbids the execution, explained event by event.
#[must_use]
pub fn violation(execution: &Execution, model: Model, violation: &Violation, page: Page) -> String {
    let sentence = sentence(execution, model, violation);
    let words = Words { execution, model };
    match violation {
        Violation::UnwrittenValue { read } => {
            format!("{sentence}:\n\n{}", event_line(words, *read))
        }
        Violation::Cycle { cycle, derivation: facts } => {
            let list = page.list(cycle.len(), "events", |at| link(words, &cycle[at], page));
            let end = cycle.last().map_or_else(String::new, |edge| {
                format!("  {}  again: a circle\n", execution.name(edge.to))
            });
            let rest = derivation(words, facts, cycle, page);
            let (end_of_sentence, so) = match clash(words, cycle) {
                Some(_) => (".", "\nSo these two must each come before the other:\n"),
                None => (":", ""),
            };
            let sentence = wrap(&format!("{sentence}{end_of_sentence}"), 2, page);
            format!("{sentence}{so}\n{list}{end}{rest}")
        }
        Violation::NoSource { read, derivation: facts } => {
            let sources = excluded_sources(words, *read, facts, page);
            let others: Vec<Fact> =
                facts.iter().filter(|fact| !excludes(fact, *read)).copied().collect();
            let rest = derivation(words, &others, &[], page);
            format!("{sentence}:\n\n{}{sources}{rest}", event_line(words, *read))
        }
        Violation::Axiom { axiom, cycle, derivation: facts } => {
            axiom::explanation(words, *axiom, cycle, facts, page)
        }
        Violation::Race { first, second, .. } => race::explanation(words, *first, *second, page),
        Violation::Core { lens, size } => core(words, lens, *size, page),
    }
}

/// What a complete search under a C11 model has tried.
fn left_open(execution: &Execution, model: Model) -> String {
    let fence = |event| is_sc_fence(execution, event);
    let fences = model.fences_update_hidden_location() && execution.events().any(fence);
    let sources = !execution.has_reads_from_map() || !model.has_modification_order() && !fences;
    let open = [
        (sources, "sources"),
        (model.has_modification_order(), "modification orders"),
        (fences, "an order of the sc fences"),
    ];
    let open: Vec<&str> = open.into_iter().filter(|&(is, _)| is).map(|(_, what)| what).collect();
    open.join(" and ")
}

/// `P0.1 reads x = 7`, `P0.1 acquires m`.
pub(super) fn observes(execution: &Execution, read: EventId) -> String {
    let name = execution.name(read);
    let action = execution.action(read);
    let location = action.location().map_or("", |location| &execution.location(location).name);
    match action.read_value() {
        Some(value) => format!("{name} reads {location} = {value}"),
        None => format!("{name} acquires {location}"),
    }
}

/// `P0.0 -> P1.0 -> P1.1 -> P0.0 must each come before the next`.
fn circle(execution: &Execution, cycle: &[OrderEdge]) -> String {
    if let [one, other] = cycle {
        let (one, other) = (execution.name(one.from), execution.name(other.from));
        return format!("{one} and {other} must each come before the other");
    }
    let mut names: Vec<String> = cycle.iter().map(|edge| execution.name(edge.from)).collect();
    names.extend(cycle.last().map(|edge| execution.name(edge.to)));
    format!("{} must each come before the next", shorten(names, "events").join(" -> "))
}

/// `the first 2 events of P0 and the first event of P1`.
fn extent(execution: &Execution, lens: &[usize]) -> String {
    let parts: Vec<String> = execution
        .threads()
        .filter(|thread| lens[thread.index()] > 0)
        .map(|thread| {
            let (name, len) = (&execution.thread(thread).name, lens[thread.index()]);
            match len {
                _ if len == execution.thread_len(thread) => format!("all of {name}"),
                1 => format!("the first event of {name}"),
                _ => format!("the first {len} events of {name}"),
            }
        })
        .collect();
    let is_whole = |thread: ThreadId| lens[thread.index()] == execution.thread_len(thread);
    match parts.as_slice() {
        _ if execution.threads().all(is_whole) => "the whole execution".to_owned(),
        [] => "no events".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// An event with its name, on a line of its own.
pub(super) fn event_line(words: Words<'_>, event: EventId) -> String {
    let what = match *words.execution.action(event) {
        Action::Init { .. } if words.is_lock(event) => "the lock is free".to_owned(),
        Action::Init { value, .. } => format!("the initial value {value}"),
        _ => history::write_event(words.execution, event),
    };
    format!("  {}  {what}\n", words.name(event))
}

/// An event of a circle, and why it precedes the next.
fn link(words: Words<'_>, edge: &OrderEdge, page: Page) -> String {
    let name = words.name(edge.from);
    let indent = name.chars().count() + 4;
    let precedes = words.precedes(edge.from, edge.to);
    let line = event_line(words, edge.from);
    let reason = format!("{}{precedes}: {}", " ".repeat(indent), words.why(edge));
    format!("{line}{}", wrap(&reason, indent + 2, page))
}

fn excludes(fact: &Fact, of: EventId) -> bool {
    matches!(fact, Fact::Excluded { read, .. } if *read == of)
}

/// Each source of the read, and why it is not the one.
fn excluded_sources(words: Words<'_>, of: EventId, facts: &[Fact], page: Page) -> String {
    let lines: Vec<String> = facts
        .iter()
        .filter_map(|fact| match *fact {
            Fact::Excluded { read, source, why } if read == of => Some(format!(
                "    not from {}: {}\n",
                words.name(source),
                words.not_from(read, source, why)
            )),
            _ => None,
        })
        .collect();
    page.list(lines.len(), "sources", |at| lines[at].clone())
}

fn core(words: Words<'_>, lens: &[usize], size: CoreSize, page: Page) -> String {
    let Words { execution, model } = words;
    let size = match size {
        CoreSize::Smallest => " It does allow every part of the execution with fewer events.",
        CoreSize::Minimal => " It does allow every smaller part of them.",
        CoreSize::Unknown => "",
    };
    let claim = if model.has_store_buffers() {
        format!("{model} allows no order of these events")
    } else {
        format!("{model} allows no choice of {} for these events", left_open(execution, model))
    };
    let claim = format!("{claim}, as an exhaustive search found.{size}");
    let part = part(execution, lens, &[], page);
    format!("{}\n{part}", wrap(&claim, 0, page))
}
