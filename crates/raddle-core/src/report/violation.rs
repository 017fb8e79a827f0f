//! A violation: in one sentence, and explained.

use super::clash::clash;
use super::derivation::derivation;
use super::part::part;
use super::reason::Words;
use super::{Page, left_out, wrap};
use crate::execution::{Action, EventId, Execution, ThreadId};
use crate::history;
use crate::model::Model;
use crate::witness::{CoreSize, Edge, Fact, Violation};

/// A longer circle is cut in the middle when it is told in one sentence.
const NAMES_IN_A_SENTENCE: usize = 12;

/// Why the model forbids the execution, in one sentence without a full stop.
#[must_use]
pub fn sentence(execution: &Execution, model: Model, violation: &Violation) -> String {
    match violation {
        Violation::UnwrittenValue { read } => {
            format!("{}, a value that no other event writes there", observes(execution, *read))
        }
        Violation::Cycle { cycle, .. } => {
            clash(Words { execution, model }, cycle).unwrap_or_else(|| circle(execution, cycle))
        }
        Violation::NoSource { read, .. } => {
            format!("{}, but each of its possible sources is ruled out", observes(execution, *read))
        }
        Violation::Core { lens, .. } => {
            format!("{model} has no order for {}", extent(execution, lens))
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
            format!("{sentence}:\n\n{}", event_line(execution, *read))
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
            format!("{sentence}:\n\n{}{sources}{rest}", event_line(execution, *read))
        }
        Violation::Core { lens, size } => core(words, lens, *size, page),
    }
}

/// `P0.1 reads x = 7`, `P0.1 acquires m`.
fn observes(execution: &Execution, read: EventId) -> String {
    let name = execution.name(read);
    let action = execution.action(read);
    let location = action.location().map_or("", |location| &execution.location(location).name);
    match action.read_value() {
        Some(value) => format!("{name} reads {location} = {value}"),
        None => format!("{name} acquires {location}"),
    }
}

/// `P0.0 -> P1.0 -> P1.1 -> P0.0 must each come before the next`.
fn circle(execution: &Execution, cycle: &[Edge]) -> String {
    if let [one, other] = cycle {
        let (one, other) = (execution.name(one.from), execution.name(other.from));
        return format!("{one} and {other} must each come before the other");
    }
    let mut names: Vec<String> = cycle.iter().map(|edge| execution.name(edge.from)).collect();
    names.extend(cycle.last().map(|edge| execution.name(edge.to)));
    if names.len() > NAMES_IN_A_SENTENCE {
        let cut = names.len() - NAMES_IN_A_SENTENCE + 1;
        let start = NAMES_IN_A_SENTENCE / 2;
        names.splice(start..start + cut, [left_out(cut, "events")]);
    }
    format!("{} must each come before the next", names.join(" -> "))
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

fn event_line(execution: &Execution, event: EventId) -> String {
    format!("  {}  {}\n", execution.name(event), history::write_event(execution, event))
}

/// An event of a circle, and why it precedes the next.
fn link(words: Words<'_>, edge: &Edge, page: Page) -> String {
    let name = words.name(edge.from);
    let indent = name.chars().count() + 4;
    let precedes = words.precedes(edge.from, edge.to);
    let line = match *words.execution.action(edge.from) {
        Action::Init { .. } if words.is_lock(edge.from) => format!("  {name}  the lock is free\n"),
        Action::Init { value, .. } => format!("  {name}  the initial value {value}\n"),
        _ => event_line(words.execution, edge.from),
    };
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
    let claim =
        format!("{model} allows no order of these events, as an exhaustive search found.{size}");
    format!("{}\n{}", wrap(&claim, 0, page), part(execution, lens, page))
}
