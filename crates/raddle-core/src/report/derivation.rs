//! The facts that a violation rests on.
//!
//! A derivation lists everything that was inferred. A person needs less: what the edges of the
//! circle say themselves is not repeated, and neither is what the history says (program order, and
//! that a read with one source comes after it).

use super::reason::Words;
use super::{Page, wrap};
use crate::witness::{Edge, Fact, Why};

/// The facts, one on each line, that are neither plain from the history nor among the edges `told`
/// already; nothing if there are none.
pub(super) fn derivation(words: Words<'_>, facts: &[Fact], told: &[Edge], page: Page) -> String {
    let facts: Vec<&Fact> = facts.iter().filter(|fact| !is_plain(words, fact, told)).collect();
    if facts.is_empty() {
        return String::new();
    }
    let list = page.list(facts.len(), "facts", |at| line(words, facts[at], page));
    format!("\nThis rests on:\n\n{list}")
}

fn is_plain(words: Words<'_>, fact: &Fact, told: &[Edge]) -> bool {
    let Fact::Order(edge) = fact else { return false };
    match edge.why {
        Why::Program => true,
        Why::ReadsFrom | Why::FirstSource if words.execution.sources(edge.to).len() == 1 => true,
        _ => told.contains(edge),
    }
}

fn line(words: Words<'_>, fact: &Fact, page: Page) -> String {
    let text = match *fact {
        Fact::Order(edge) => {
            let precedes = words.precedes(edge.from, edge.to);
            format!("  {} {precedes}: {}", words.name(edge.from), words.why(&edge))
        }
        Fact::Excluded { read, source, why } => {
            let not = format!("{} does not observe {}", words.name(read), words.name(source));
            format!("  {not}: {}", words.not_from(read, source, why))
        }
    };
    wrap(&text, 4, page)
}
