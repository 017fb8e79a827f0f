//! The facts that a violation rests on.
//!
//! Edges of the cycle itself and program order are left out.

use super::hb::HappensBefore;
use super::phrases::Phrases;
use super::synchronization::in_brackets;
use super::{Page, wrap};
use crate::witness::{CycleLink, Fact, MoFact, OrderEdge, Relation, Why, WhyMo};
use raddle_core::execution::EventId;

/// The facts, one on each line, that are neither program order nor among the edges `shown` already. Empty if there are
/// none.
pub(super) fn derivation(
    words: Phrases<'_>,
    facts: &[Fact],
    shown: &[OrderEdge],
    page: Page,
) -> String {
    let facts: Vec<&Fact> = facts.iter().filter(|fact| !is_plain(fact, shown)).collect();
    if facts.is_empty() {
        return String::new();
    }
    let list = page.list(facts.len(), "facts", |at| line(words, facts[at], page));
    format!("\nThis rests on:\n\n{list}")
}

fn is_plain(fact: &Fact, shown: &[OrderEdge]) -> bool {
    matches!(fact, Fact::Order(edge) if edge.why == Why::Program || shown.contains(edge))
}

fn line(words: Phrases<'_>, fact: &Fact, page: Page) -> String {
    let text = match *fact {
        Fact::Order(edge) => {
            let precedes = words.precedes(edge.from, edge.to);
            format!("  {} {precedes}: {}", words.name(edge.from), words.why(&edge))
        }
        Fact::Excluded { read, source, why } => {
            let not = words.does_not_observe(read, source);
            format!("  {not}: {}", words.not_from(read, source, why))
        }
    };
    wrap(&text, 4, page)
}

/// The facts about modification orders, one on each line, that are not obvious and not `shown` with the links of the
/// cycle. Empty if there are none.
pub(super) fn mo_facts(
    words: Phrases<'_>,
    order: &HappensBefore<'_>,
    facts: &[MoFact],
    shown: &[CycleLink],
    page: Page,
) -> String {
    let shown: Vec<_> = shown.iter().filter_map(|link| ordered(order, link)).collect();
    let is_plain = |fact: &&MoFact| {
        words.execution.is_init(fact.from) || shown.contains(&(fact.from, fact.to))
    };
    let facts: Vec<&MoFact> = facts.iter().filter(|fact| !is_plain(fact)).collect();
    if facts.is_empty() {
        return String::new();
    }
    let list = page.list(facts.len(), "facts", |at| {
        let fact = facts[at];
        let (from, to, location) =
            (words.name(fact.from), words.name(fact.to), words.location(fact.from));
        let why = mo_why(words, order, fact);
        let text =
            format!("  {from} comes before {to} in the modification order of {location}: {why}");
        wrap(&text, 4, page)
    });
    format!("\nThis rests on:\n\n{list}")
}

/// The writes whose modification order a link states, the earlier one first.
fn ordered(order: &HappensBefore<'_>, link: &CycleLink) -> Option<(EventId, EventId)> {
    match link.relation {
        Relation::Mo => Some((link.from, link.to)),
        Relation::Fr => Some((order.source(link.from)?, link.to)),
        _ => None,
    }
}

/// Why a write comes before another in the modification order, as the end of a sentence. Empty if that is obvious or
/// takes several facts.
pub(super) fn mo_reason(
    words: Phrases<'_>,
    order: &HappensBefore<'_>,
    facts: &[MoFact],
    from: EventId,
    to: EventId,
) -> String {
    let fact = facts.iter().find(|fact| (fact.from, fact.to) == (from, to));
    match fact.filter(|_| !words.execution.is_init(from)) {
        Some(fact) => format!(": {}", mo_why(words, order, fact)),
        None => String::new(),
    }
}

fn mo_why(words: Phrases<'_>, order: &HappensBefore<'_>, fact: &MoFact) -> String {
    let MoFact { from, to, why } = *fact;
    match why {
        WhyMo::HappensBefore => in_brackets(words, order, from, to),
        WhyMo::Update if words.is_lock(to) => words.reads(to, from),
        WhyMo::Update => format!("{} in an atomic update", words.reads(to, from)),
        WhyMo::Read { read } => {
            let clash = match words.is_lock(read) {
                true => format!("{} cannot come in between", words.name(from)),
                false => {
                    format!("later than {}, {} would hide it", words.name(to), words.name(from))
                }
            };
            let before = seen_before(words, order, from, read);
            format!("{before}, and {}: {clash}", words.reads(read, to))
        }
        WhyMo::Chains => "their chains of updates come in this order, and no other write comes \
                          between a write and the update that reads it"
            .to_owned(),
    }
}

/// How a write, or a read that observes it, happens before `read`.
fn seen_before(
    words: Phrases<'_>,
    order: &HappensBefore<'_>,
    write: EventId,
    read: EventId,
) -> String {
    if order.path(write, read).is_some() {
        return in_brackets(words, order, write, read);
    }
    match order.any_before(read, |event| order.source(event) == Some(write)) {
        Some(other) => {
            let before = in_brackets(words, order, other, read);
            format!("{}, {before}", words.reads(other, write))
        }
        None => {
            let (write, read) = (words.name(write), words.name(read));
            format!("{write}, or a read of it, happens before {read}")
        }
    }
}
