//! The models that axioms define, strongest first as far as they are comparable.

use raddle_core::model::Model;

/// SC and the models that axioms define.
pub const MODELS: [Model; 8] = [
    Model::Sc,
    Model::Sra,
    Model::Ra,
    Model::Wra,
    Model::Rc20,
    Model::Relaxed,
    Model::Rc11,
    Model::C20,
];
