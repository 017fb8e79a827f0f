//! Properties of the memory models.

use raddle_core::model::{Axiom, Model, axioms};
use serde::Serialize;

/// Properties of a model, as `raddle models` prints them.
#[derive(Serialize)]
pub(crate) struct ModelFacts {
    pub(crate) model: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) axioms: Vec<AxiomEntry>,
    pub(crate) cost: &'static str,
    pub(crate) witness: &'static str,
    pub(crate) races: bool,
    pub(crate) generate: bool,
}

/// An axiom of a model.
#[derive(Serialize)]
pub(crate) struct AxiomEntry {
    pub(crate) name: &'static str,
    pub(crate) formula: &'static str,
}

/// The properties of a model.
pub(crate) fn facts(model: Model) -> ModelFacts {
    let entry = |axiom: &Axiom| {
        let definition = axiom.definition();
        AxiomEntry { name: definition.name, formula: definition.formula }
    };
    ModelFacts {
        model: model.name(),
        summary: model.summary(),
        axioms: axioms(model).iter().map(entry).collect(),
        cost: model.cost(),
        witness: witness(model),
        races: !model.has_store_buffers(),
        generate: model.has_store_buffers(),
    }
}

/// The kind of evidence that a model allows an execution.
fn witness(model: Model) -> &'static str {
    match model {
        _ if model.has_store_buffers() => "run",
        _ if model.has_modification_order() => "modification orders",
        _ => "sources",
    }
}
