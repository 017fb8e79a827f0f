//! The facts that a violation rests on.
//!
//! A person needs a little less than a derivation tells: what the edges of the circle say themselves
//! is not repeated, and neither is program order.

use super::reason::Words;
use super::{Page, wrap};
use crate::witness::{Edge, Fact, Why};

/// The facts, one on each line, that are neither program order nor among the edges `told` already;
/// nothing if there are none.
pub(super) fn derivation(words: Words<'_>, facts: &[Fact], told: &[Edge], page: Page) -> String {
    let facts: Vec<&Fact> = facts.iter().filter(|fact| !is_plain(fact, told)).collect();
    if facts.is_empty() {
        return String::new();
    }
    let list = page.list(facts.len(), "facts", |at| line(words, facts[at], page));
    format!("\nThis rests on:\n\n{list}")
}

fn is_plain(fact: &Fact, told: &[Edge]) -> bool {
    matches!(fact, Fact::Order(edge) if edge.why == Why::Program || told.contains(edge))
}

fn line(words: Words<'_>, fact: &Fact, page: Page) -> String {
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
