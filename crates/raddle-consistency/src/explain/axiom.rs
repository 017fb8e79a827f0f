//! What an axiom of a C11 model forbids: in one sentence, and as a cycle with reasons.

use super::axiom_cycles;
use super::derivation::{mo_facts, mo_reason};
use super::hb::HappensBefore;
use super::phrases::Phrases;
use super::synchronization::{happens_before, threads};
use super::{Page, shorten, wrap};
use crate::witness::{Axiom, CycleLink, MoFact, Relation};
use raddle_core::model::orders::Synchronization;
use raddle_core::model::{Model, axioms};

/// The name of a relation in the papers.
pub(super) fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Po => "po",
        Relation::Rf => "rf",
        Relation::RfInverse => "rf⁻¹",
        Relation::Mo => "mo",
        Relation::Fr => "fr",
        Relation::Hb => "hb",
        Relation::Asw => "asw",
    }
}

/// What breaks the axiom, in one sentence without a full stop.
pub(super) fn sentence(words: Phrases<'_>, axiom: Axiom, cycle: &[CycleLink]) -> String {
    let text =
        axiom_cycles::sentence(words, axiom, cycle).unwrap_or_else(|| cycle_sentence(words, cycle));
    format!("{axiom}: {text}")
}

/// `a cycle P1.1 -fr-> P0.0 -hb-> P1.1`, cut in the middle if it is long.
fn cycle_sentence(words: Phrases<'_>, cycle: &[CycleLink]) -> String {
    let arrow =
        |link: &CycleLink| format!("{} -{}->", words.name(link.from), relation_name(link.relation));
    let mut parts = shorten(cycle.iter().map(arrow).collect(), "events");
    parts.extend(cycle.last().map(|link| words.name(link.to)));
    format!("a cycle {}", parts.join(" "))
}

/// The axiom in plain words, the events of the cycle, and why they are related.
pub(super) fn explanation(
    words: Phrases<'_>,
    axiom: Axiom,
    cycle: &[CycleLink],
    facts: &[MoFact],
    page: Page,
) -> String {
    let sentence = wrap(&format!("{}.", sentence(words, axiom, cycle)), 2, page);
    let demand = format!(
        "{}: {}.{}",
        demands(words.model, axiom),
        meaning(words.model, axiom),
        orders(words.model)
    );
    let order = HappensBefore::new(words.execution, words.model);
    let explanation = CycleExplanation { words, order: &order, facts, page };
    let list = match axiom {
        // These links form no cycle: only their targets matter.
        Axiom::WeakAtomicity => cycle.iter().map(|link| words.event_line(link.to)).collect(),
        _ => explanation.cycle_lines(cycle),
    };
    let rest = mo_facts(words, &order, facts, cycle, page);
    format!("{sentence}\n{}\n{list}{rest}", wrap(&demand, 2, page))
}

/// Whether the axiom is one of the model, or follows from those.
fn demands(model: Model, axiom: Axiom) -> String {
    match axioms(model).contains(&axiom) {
        true => format!("{model} demands {axiom}"),
        false => format!("The axioms of {model} imply {axiom}"),
    }
}

/// What an axiom demands of an execution under a model.
fn meaning(model: Model, axiom: Axiom) -> &'static str {
    match axiom {
        Axiom::PoRf => {
            "there is no cycle of program order and reads, in which a value would come out of \
             thin air"
        }
        Axiom::WriteCoherence => {
            "the writes of a location have one order, the modification order, in which a write \
             comes before another if it happens before it, or is read before it"
        }
        Axiom::StrongWriteCoherence => {
            "happens-before and the modification orders of all locations together have no cycle"
        }
        Axiom::ReadCoherence => {
            "no read observes a value after a newer one was written or read, where \"after\" means \
             happens-before and \"newer\" means later in the modification order"
        }
        Axiom::WeakReadCoherence => {
            "no read observes a write if another write of the location happens after that one and \
             before the read"
        }
        Axiom::Atomicity => {
            "in the modification order, no write comes between an atomic update and the write that \
             it reads"
        }
        Axiom::WeakAtomicity => "no two atomic updates read the same write",
        // These models have no sequentially consistent accesses.
        Axiom::SeqCst if model.fences_update_hidden_location() => {
            "all sequentially consistent fences have one order, which agrees with happens-before, \
             with the modification orders and with what is read"
        }
        Axiom::SeqCst => {
            "all sequentially consistent accesses and fences have one order, which agrees with \
             happens-before, with the modification orders and with what is read"
        }
        Axiom::SequentialConsistency => {
            "all events have one order, in which every read observes the last write before it"
        }
    }
}

/// How the model changes memory orders, if it does.
fn orders(model: Model) -> String {
    let Some(orders) = model.c11_orders() else { return String::new() };
    match orders.synchronization {
        Synchronization::EveryAtomicAccess => {
            format!(" Under {model}, every atomic read acquires and every atomic write releases.")
        }
        Synchronization::LocksOnly => {
            format!(" Under {model}, only locks, spawn and join order what different threads do.")
        }
        Synchronization::AsAnnotated => String::new(),
    }
}

/// What the explanation of a cycle needs.
struct CycleExplanation<'a> {
    words: Phrases<'a>,
    order: &'a HappensBefore<'a>,
    facts: &'a [MoFact],
    page: Page,
}

impl CycleExplanation<'_> {
    /// The events of a cycle.
    fn cycle_lines(&self, cycle: &[CycleLink]) -> String {
        let list = self.page.list(cycle.len(), "events", |at| self.link(&cycle[at]));
        let last = cycle.last().map(|link| self.words.name(link.to));
        let end = last.map(|name| format!("  {name}  again: a cycle\n"));
        format!("{list}{}", end.unwrap_or_default())
    }

    /// An event of a cycle, and how it is related to the next.
    fn link(&self, link: &CycleLink) -> String {
        let indent = self.words.name(link.from).chars().count() + 4;
        let arrow = format!("-{}-> {}", relation_name(link.relation), self.words.name(link.to));
        let mut reasons = self.reasons(link).into_iter();
        let reason = reasons.next().unwrap_or_default();
        let first = format!("{}{arrow}: {reason}", " ".repeat(indent));
        let mut out = self.words.event_line(link.from);
        out.push_str(&wrap(&first, indent + 2, self.page));
        for more in reasons {
            out.push_str(&wrap(
                &format!("{}{more}", " ".repeat(indent + 2)),
                indent + 4,
                self.page,
            ));
        }
        out
    }

    /// Why the link holds: a first reason, and further ones that are listed below it.
    fn reasons(&self, link: &CycleLink) -> Vec<String> {
        let (words, CycleLink { from, to, relation }) = (self.words, *link);
        match relation {
            Relation::Po if words.execution.is_init(from) => {
                vec!["initial values are there from the start".to_owned()]
            }
            Relation::Po => vec!["program order".to_owned()],
            Relation::Asw => vec![threads(words, from, to)],
            Relation::Rf => vec![words.reads(to, from)],
            Relation::RfInverse => vec![words.reads(from, to)],
            Relation::Hb => happens_before(words, self.order, from, to),
            Relation::Mo => {
                let location = words.location(from);
                let why = mo_reason(words, self.order, self.facts, from, to);
                vec![format!("it comes earlier in the modification order of {location}{why}")]
            }
            Relation::Fr => vec![self.overwritten(link)],
        }
    }

    /// Why a write comes after the source of a read in the modification order.
    fn overwritten(&self, link: &CycleLink) -> String {
        let (words, CycleLink { from: read, to: write, .. }) = (self.words, *link);
        let Some(source) = self.order.source(read) else {
            return format!("{} overwrites what it reads", words.name(write));
        };
        let why = mo_reason(words, self.order, self.facts, source, write);
        let reads = words.reads(read, source);
        let later = match words.is_lock(read) {
            true => format!("and {} comes later", words.name(write)),
            false => format!("which {} overwrites", words.name(write)),
        };
        format!("{reads}, {later}{why}")
    }
}
