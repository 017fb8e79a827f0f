//! The axioms of the models, in the notation of the papers.
//!
//! A model allows an execution if there are `rf` (from the sources of each read) and `mo` (a total
//! order of the writes of each location) with which the relations obey all axioms of the model. See
//! figure 2 of Tunç et al., PLDI 2023; `seq-cst` is from Lahav et al., PLDI 2017. TSO and PSO are
//! defined by a machine and have no axioms here.

use std::fmt;

use super::Model;
use super::relation::{Matrix, round};
use super::relations::Relations;

/// An axiom of a model. `Display` writes its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axiom {
    /// No value comes out of thin air.
    PoRf,
    /// Modification orders agree with happens-before.
    WriteCoherence,
    /// All modification orders together agree with happens-before.
    StrongWriteCoherence,
    /// No read observes an overwritten write.
    ReadCoherence,
    /// As [`Axiom::ReadCoherence`], with happens-before instead of modification orders.
    WeakReadCoherence,
    /// No write comes between an update and its source.
    Atomicity,
    /// No two updates observe the same write.
    WeakAtomicity,
    /// Sequentially consistent events have one total order.
    SeqCst,
    /// All events have one total order.
    SequentialConsistency,
}

/// The definition of an axiom.
#[derive(Clone, Copy, Debug)]
pub struct AxiomDefinition {
    /// The axiom.
    pub axiom: Axiom,
    /// The name.
    pub name: &'static str,
    /// The formula, in the notation of the papers.
    pub formula: &'static str,
    /// Returns the events of a cycle that breaks the axiom, if there is one.
    broken: fn(&Relations) -> Option<Vec<usize>>,
}

const DEFINITIONS: [AxiomDefinition; 9] = [
    AxiomDefinition {
        axiom: Axiom::PoRf,
        name: "po-rf",
        formula: "acyclic(po ∪ asw ∪ rf) ∧ irreflexive(rf?; hb)",
        broken: |r| {
            let rf = r.visible_rf();
            r.po.or(&r.asw).or(&rf).cycle().or_else(|| round(&[&rf.optional(), &r.hb]))
        },
    },
    AxiomDefinition {
        axiom: Axiom::WriteCoherence,
        name: "write-coherence",
        formula: "irreflexive(mo; rf?; hb?)",
        broken: |r| round(&[&r.mo, &r.rf.optional(), &r.hb.optional()]),
    },
    AxiomDefinition {
        axiom: Axiom::StrongWriteCoherence,
        name: "strong-write-coherence",
        formula: "acyclic(hb ∪ mo)",
        broken: |r| r.hb.or(&r.mo).cycle(),
    },
    AxiomDefinition {
        axiom: Axiom::ReadCoherence,
        name: "read-coherence",
        formula: "irreflexive(fr; rf?; hb)",
        broken: |r| round(&[&r.fr, &r.rf.optional(), &r.hb]),
    },
    AxiomDefinition {
        axiom: Axiom::WeakReadCoherence,
        name: "weak-read-coherence",
        formula: "irreflexive(hbloc; [W]; hb; rf⁻¹)",
        broken: |r| {
            let overwritten = r.hbloc().compose(&Matrix::diagonal(&r.writes));
            round(&[&overwritten, &r.hb, &r.rf.inverse()])
        },
    },
    AxiomDefinition {
        axiom: Axiom::Atomicity,
        name: "atomicity",
        formula: "irreflexive(fr; mo)",
        broken: |r| round(&[&r.fr, &r.mo]),
    },
    AxiomDefinition {
        axiom: Axiom::WeakAtomicity,
        name: "weak-atomicity",
        formula: "irreflexive(rf; [RMW]; ≠; [RMW]; rf⁻¹)",
        broken: |r| {
            let observed = r.rf.compose(&Matrix::diagonal(&r.updates));
            let other = Matrix::diagonal(&r.updates);
            let all = Matrix::of(other.size(), pairs(&r.updates));
            round(&[&observed, &all.minus(&other), &observed.inverse()])
        },
    },
    AxiomDefinition {
        axiom: Axiom::SeqCst,
        name: "seq-cst",
        formula: "acyclic(psc_base ∪ psc_F)",
        broken: |r| r.psc().cycle(),
    },
    AxiomDefinition {
        axiom: Axiom::SequentialConsistency,
        name: "sequential-consistency",
        formula: "acyclic(po ∪ asw ∪ rf ∪ mo ∪ fr)",
        broken: |r| r.po.or(&r.asw).or(&r.rf).or(&r.mo).or(&r.fr).cycle(),
    },
];

/// All pairs of members of a set.
fn pairs(set: &[bool]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let members = || (0..set.len()).filter(|&i| set[i]);
    members().flat_map(move |a| members().map(move |b| (a, b)))
}

impl Axiom {
    /// The definition of the axiom.
    #[must_use]
    pub fn definition(self) -> &'static AxiomDefinition {
        // Tested: the definitions are in the order of the variants.
        &DEFINITIONS[self as usize]
    }

    /// Returns the events of a cycle that breaks the axiom, if there is one.
    #[must_use]
    pub fn broken(self, relations: &Relations) -> Option<Vec<usize>> {
        (self.definition().broken)(relations)
    }
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.definition().name)
    }
}

/// The axioms of a model; empty if a machine defines it.
#[must_use]
pub fn axioms(model: Model) -> &'static [Axiom] {
    use Axiom::*;
    match model {
        Model::Sc => &[SequentialConsistency],
        Model::Tso | Model::Pso => &[],
        // Where all accesses are atomic, strong-write-coherence implies write-coherence.
        Model::Sra => &[PoRf, WriteCoherence, StrongWriteCoherence, ReadCoherence, Atomicity],
        Model::Wra => &[PoRf, WeakReadCoherence, WeakAtomicity],
        Model::Ra | Model::Rc20 | Model::Relaxed => {
            &[PoRf, WriteCoherence, ReadCoherence, Atomicity]
        }
        Model::Rc11 | Model::C20 => &[PoRf, WriteCoherence, ReadCoherence, Atomicity, SeqCst],
    }
}

/// The first axiom of a model that the relations break, with the events of a cycle.
#[must_use]
pub fn broken(model: Model, relations: &Relations) -> Option<(Axiom, Vec<usize>)> {
    axioms(model).iter().find_map(|&axiom| Some((axiom, axiom.broken(relations)?)))
}

#[cfg(test)]
mod tests {
    use super::DEFINITIONS;

    #[test]
    fn every_axiom_has_its_definition() {
        for definition in &DEFINITIONS {
            assert_eq!(definition.axiom.definition().axiom, definition.axiom);
        }
    }
}
