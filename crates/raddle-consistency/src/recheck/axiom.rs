//! Rechecking broken axioms.
//!
//! Reads with one possible source observe it. The others are treated as if they observed nothing: a cycle without them
//! exists whatever they observe. The facts about modification orders are accepted one by one, each by its rule, into a
//! matrix that is kept transitive. Then every link of the cycle must hold, and the relations must come in a sequence that
//! the axiom forbids. Where the model orders sequentially consistent fences, happens-before is computed without that order:
//! the cycle exists whatever the order is.
//!
//! f facts over n events cost O((f + n) n^2 / 64).

use crate::witness::{CycleLink, MoFact, Relation, WhyMo};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::reference::{fences_update_hidden_location, has_modification_orders};
use raddle_core::model::relations::{Relations, own_acquire};
use raddle_core::model::{Axiom, Model, axioms};

use super::coherence::LIMIT;
use super::{RecheckError, Rechecked, conclude};

/// Checks that the links close a cycle that an axiom of the model forbids.
pub(super) fn check_axiom(
    execution: &Execution,
    model: Model,
    axiom: Axiom,
    cycle: &[CycleLink],
    facts: &[MoFact],
) -> Result<Rechecked, RecheckError> {
    if model.has_store_buffers() {
        return Err(RecheckError::OtherModel);
    }
    conclude(follows(model, axiom), "the model has no such axiom")?;
    if execution.event_count() > LIMIT {
        return Ok(Rechecked::TooLarge);
    }
    let rf = execution.events().map(|event| only_source(execution, event)).collect();
    let coherence = Coherence { rf, mo: vec![], fences: vec![] };
    let mut proof = Proof::new(execution, model, &coherence);
    for (index, fact) in facts.iter().enumerate() {
        proof.accept(fact).map_err(|why| RecheckError::Fact { index, why })?;
    }
    proof.relations.fr = proof.relations.from_read();
    let holds = cycle.iter().all(|link| proof.holds(link));
    conclude(holds, "a link of the cycle does not hold")?;
    conclude(is_cycle(axiom, cycle), "the cycle does not close")?;
    conclude(proof.forbids(axiom, cycle), "the axiom does not forbid such a cycle")?;
    Ok(Rechecked::Proved)
}

/// All events that such a violation mentions.
pub(super) fn events_of_axiom(cycle: &[CycleLink], facts: &[MoFact]) -> Vec<EventId> {
    let read = |why| match why {
        WhyMo::Read { read } => Some(read),
        WhyMo::HappensBefore | WhyMo::Update | WhyMo::Chains => None,
    };
    let links = cycle.iter().flat_map(|link| [link.from, link.to]);
    links.chain(facts.iter().flat_map(|f| [f.from, f.to].into_iter().chain(read(f.why)))).collect()
}

/// Returns `true` if a model has or implies an axiom: atomicity implies weak-atomicity, and if fences are
/// updates of a hidden location, their order is one that `psc_F` respects.
fn follows(model: Model, axiom: Axiom) -> bool {
    let has = |axiom| axioms(model).contains(&axiom);
    match axiom {
        Axiom::WeakAtomicity => has(axiom) || has(Axiom::Atomicity),
        Axiom::SeqCst => {
            has(axiom) || fences_update_hidden_location(model) && has(Axiom::ReadCoherence)
        }
        Axiom::PoRf
        | Axiom::WriteCoherence
        | Axiom::StrongWriteCoherence
        | Axiom::ReadCoherence
        | Axiom::WeakReadCoherence
        | Axiom::Atomicity
        | Axiom::SequentialConsistency => has(axiom),
    }
}

/// The source of an event, if it has only one.
fn only_source(execution: &Execution, event: EventId) -> Option<EventId> {
    let others: Vec<EventId> =
        execution.sources(event).iter().copied().filter(|&source| source != event).collect();
    match others.as_slice() {
        [source] => Some(*source),
        _ => own_acquire(execution, event),
    }
}

/// Returns `true` if every link ends where the next one starts. Two updates of one write are no cycle.
fn is_cycle(axiom: Axiom, cycle: &[CycleLink]) -> bool {
    let next = cycle.iter().cycle().skip(1);
    let closed = cycle.iter().zip(next).all(|(link, next)| link.to == next.from);
    axiom == Axiom::WeakAtomicity || closed && !cycle.is_empty()
}

/// The relations known so far: `mo` has the accepted facts and is transitive.
struct Proof {
    relations: Relations,
    model: Model,
    /// By event, what it observes.
    source: Vec<Option<usize>>,
    /// By event, the first write of the chain to which it belongs.
    first: Vec<usize>,
}

impl Proof {
    fn new(execution: &Execution, model: Model, coherence: &Coherence) -> Self {
        let relations = Relations::new(execution, model, coherence);
        let source = coherence.rf.iter().map(|source| source.map(EventId::index)).collect();
        let mut proof = Proof { relations, model, source, first: vec![] };
        proof.first = (0..proof.source.len()).map(|event| proof.first_of(event)).collect();
        proof
    }

    fn accept(&mut self, fact: &MoFact) -> Result<(), &'static str> {
        let (from, to) = (fact.from.index(), fact.to.index());
        let r = &self.relations;
        if !has_modification_orders(self.model) {
            return Err("the model has no modification orders");
        }
        if from == to || !r.writes[from] || !r.writes[to] || !r.same_location.contains(from, to) {
            return Err("it is not about two writes of one location");
        }
        let (follows, why) = match fact.why {
            WhyMo::HappensBefore => (self.seen_by(from, to), "it does not happen before"),
            WhyMo::Update => (self.updates(from, to), "it is not observed by the update"),
            WhyMo::Read { read } => {
                (self.read_before(from, to, read.index()), "the read does not see both")
            }
            WhyMo::Chains => (self.chains(from, to), "no earlier fact orders the chains"),
        };
        if !follows {
            return Err(why);
        }
        self.relations.mo.insert_closed(from, to);
        Ok(())
    }

    /// Returns `true` if the second is an update that observes the first.
    fn updates(&self, from: usize, to: usize) -> bool {
        self.relations.rf.contains(from, to) && self.relations.updates[to]
    }

    /// Returns `true` if a write, or a read of it, happens before an event.
    fn seen_by(&self, write: usize, event: usize) -> bool {
        let r = &self.relations;
        r.rf.successors(write).chain([write]).any(|seen| r.hb.contains(seen, event))
    }

    /// Returns `true` if `from`, or a read of it, happens before a read of `to`.
    fn read_before(&self, from: usize, to: usize, read: usize) -> bool {
        read != from && self.relations.rf.contains(to, read) && self.seen_by(from, read)
    }

    /// Returns `true` if the two are in different chains of which some writes are ordered.
    fn chains(&self, from: usize, to: usize) -> bool {
        let (r, first, second) = (&self.relations, self.first[from], self.first[to]);
        if first == second {
            // Two updates of one write: parts of chains that have nothing in common will do.
            return self.part(from, to).iter().any(|&a| r.mo.contains(a, to))
                || self.part(to, from).iter().any(|&b| r.mo.contains(from, b));
        }
        let mut chain = (0..self.first.len()).filter(|&e| self.first[e] == first);
        chain.any(|a| r.mo.successors(a).any(|b| self.first[b] == second))
    }

    /// The writes that updates connect with a write, other than through another one.
    fn part(&self, write: usize, other: usize) -> Vec<usize> {
        let mut part = vec![write];
        let mut next = 0;
        while let Some(&write) = part.get(next) {
            let source = self.source[write].filter(|&source| self.updates(source, write));
            let observed = self.relations.rf.successors(write);
            let updates = observed.filter(|&update| self.updates(write, update));
            let new = |e: &usize| *e != other && !part.contains(e);
            let found: Vec<usize> = source.into_iter().chain(updates).filter(new).collect();
            part.extend(found);
            next += 1;
        }
        part
    }

    /// The first write of the chain of a write.
    fn first_of(&self, mut write: usize) -> usize {
        // Bounded by the number of events: updates may observe each other in a cycle.
        for _ in 0..self.source.len() {
            match self.source[write] {
                Some(source) if self.updates(source, write) => write = source,
                _ => break,
            }
        }
        write
    }

    fn holds(&self, link: &CycleLink) -> bool {
        let (r, from, to) = (&self.relations, link.from.index(), link.to.index());
        match link.relation {
            Relation::Po => r.po.contains(from, to),
            Relation::Asw => r.asw.contains(from, to),
            Relation::Rf => r.rf.contains(from, to),
            Relation::RfInverse => r.rf.contains(to, from),
            Relation::Mo => r.mo.contains(from, to),
            Relation::Fr => r.fr.contains(from, to),
            Relation::Hb => r.hb.contains(from, to),
        }
    }

    /// Returns `true` if an axiom forbids these relations in a cycle, wherever it starts.
    fn forbids(&self, axiom: Axiom, cycle: &[CycleLink]) -> bool {
        use Relation::*;
        let only = |allowed: &[Relation]| cycle.iter().all(|l| allowed.contains(&l.relation));
        let matches_rotated = |patterns: &[&[Relation]]| {
            rotations(cycle).any(|links| {
                let mut relations: Vec<Relation> = links.iter().map(|l| l.relation).collect();
                relations.dedup_by(|a, b| a == b && matches!(a, Hb | Mo));
                patterns.contains(&&relations[..])
            })
        };
        match axiom {
            Axiom::PoRf => only(&[Po, Asw, Rf]),
            Axiom::WriteCoherence => matches_rotated(&[&[Mo], &[Mo, Rf], &[Mo, Hb], &[Mo, Rf, Hb]]),
            Axiom::StrongWriteCoherence => only(&[Hb, Mo]),
            Axiom::ReadCoherence => matches_rotated(&[&[Fr, Hb], &[Fr, Rf, Hb]]),
            Axiom::WeakReadCoherence => rotations(cycle).any(|links| self.overwritten(&links)),
            Axiom::Atomicity => matches_rotated(&[&[Fr, Mo]]),
            Axiom::WeakAtomicity => self.share_source(cycle),
            Axiom::SeqCst => self.breaks_psc(cycle),
            Axiom::SequentialConsistency => false,
        }
    }

    /// `hbloc; [W]; hb; rf⁻¹`
    fn overwritten(&self, links: &[CycleLink]) -> bool {
        let [first, second, third] = links else { return false };
        let relations = [first.relation, second.relation, third.relation];
        relations == [Relation::Hb, Relation::Hb, Relation::RfInverse]
            && self.relations.writes[first.to.index()]
            && self.relations.same_location.contains(first.from.index(), first.to.index())
    }

    /// Two updates that observe one write.
    fn share_source(&self, links: &[CycleLink]) -> bool {
        let [first, second] = links else { return false };
        let observes = |link: &CycleLink| {
            link.relation == Relation::Rf && self.relations.updates[link.to.index()]
        };
        first.from == second.from && first.to != second.to && observes(first) && observes(second)
    }

    /// The events of the cycle are in a cycle of psc, as far as that is known.
    fn breaks_psc(&self, cycle: &[CycleLink]) -> bool {
        let mut on_cycle = vec![false; self.source.len()];
        cycle.iter().for_each(|link| on_cycle[link.from.index()] = true);
        let psc = match fences_update_hidden_location(self.model) {
            true => self.relations.psc_fences(),
            false => self.relations.psc(),
        };
        psc.between(&on_cycle, &on_cycle).cycle().is_some()
    }
}

/// A cycle, from each of its links on.
fn rotations(cycle: &[CycleLink]) -> impl Iterator<Item = Vec<CycleLink>> + '_ {
    (0..cycle.len()).map(|start| [&cycle[start..], &cycle[..start]].concat())
}
