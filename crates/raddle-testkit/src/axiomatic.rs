//! Models with an axiomatic definition.

use raddle_core::model::Model;

/// SC and the C11-style models, in the order of [`Model::ALL`].
pub const MODELS: [Model; 1 + Model::C11.len()] = {
    let mut models = [Model::Sc; 1 + Model::C11.len()];
    let mut at = 0;
    while at < Model::C11.len() {
        models[at + 1] = Model::C11[at];
        at += 1;
    }
    models
};
