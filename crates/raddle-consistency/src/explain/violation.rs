//! A violation: in one sentence, and explained.

use super::derivation::derivation;
use super::edge_cycles;
use super::part::part;
use super::phrases::Phrases;
use super::{Page, axiom, race, shorten, wrap};
use crate::witness::{CoreSize, Fact, OrderEdge, Violation};
use raddle_core::execution::{EventId, Execution, ThreadId};
use raddle_core::model::Model;
use raddle_core::model::relations::is_sc_fence;

/// Why the model forbids the execution, in one sentence without a full stop.
#[must_use]
pub fn sentence(execution: &Execution, model: Model, violation: &Violation) -> String {
    let words = Phrases { execution, model };
    match violation {
        Violation::UnwrittenValue { read } => {
            format!("{}, a value that no other event writes there", words.observes(*read))
        }
        Violation::Cycle { cycle, .. } => {
            edge_cycles::sentence(words, cycle).unwrap_or_else(|| cycle_sentence(execution, cycle))
        }
        Violation::NoSource { read, .. } => {
            format!("{}, but each of its possible sources is ruled out", words.observes(*read))
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
    let words = Phrases { execution, model };
    match violation {
        Violation::UnwrittenValue { read } => {
            format!("{sentence}:\n\n{}", words.event_line(*read))
        }
        Violation::Cycle { cycle, derivation: facts } => {
            let list = page.list(cycle.len(), "events", |at| link(words, &cycle[at], page));
            let end = cycle.last().map_or_else(String::new, |edge| {
                format!("  {}  again: a cycle\n", execution.name(edge.to))
            });
            let rest = derivation(words, facts, cycle, page);
            let (end_of_sentence, so) = match edge_cycles::sentence(words, cycle) {
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
            format!("{sentence}:\n\n{}{sources}{rest}", words.event_line(*read))
        }
        Violation::Axiom { axiom, cycle, derivation: facts } => {
            axiom::explanation(words, *axiom, cycle, facts, page)
        }
        Violation::Race { first, second, .. } => race::explanation(words, *first, *second, page),
        Violation::Core { lens, size } => core(words, lens, *size, page),
    }
}

/// What an exhaustive search under a C11-style model varied.
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

/// `P0.0 -> P1.0 -> P1.1 -> P0.0 must each come before the next`.
fn cycle_sentence(execution: &Execution, cycle: &[OrderEdge]) -> String {
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

/// An event of a cycle, and why it precedes the next.
fn link(words: Phrases<'_>, edge: &OrderEdge, page: Page) -> String {
    let name = words.name(edge.from);
    let indent = name.chars().count() + 4;
    let precedes = words.precedes(edge.from, edge.to);
    let line = words.event_line(edge.from);
    let reason = format!("{}{precedes}: {}", " ".repeat(indent), words.why(edge));
    format!("{line}{}", wrap(&reason, indent + 2, page))
}

fn excludes(fact: &Fact, of: EventId) -> bool {
    matches!(fact, Fact::Excluded { read, .. } if *read == of)
}

/// Each possible source of the read, and why it is excluded.
fn excluded_sources(words: Phrases<'_>, of: EventId, facts: &[Fact], page: Page) -> String {
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

fn core(words: Phrases<'_>, lens: &[usize], size: CoreSize, page: Page) -> String {
    let Phrases { execution, model } = words;
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
