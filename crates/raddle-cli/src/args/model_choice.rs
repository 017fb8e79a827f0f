//! Values of `--model`.

use std::str::FromStr;

use raddle_core::model::Model;

/// The models that the values of `--model` select, in the order given and each once.
pub(crate) fn chosen_models(choices: &[ModelChoice]) -> Vec<Model> {
    let mut models = vec![];
    for choice in choices {
        let named = match choice {
            ModelChoice::One(model) => std::slice::from_ref(model),
            ModelChoice::All => &Model::ALL,
        };
        for &model in named {
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    models
}

/// A value of `--model`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModelChoice {
    /// One model by its name.
    One(Model),
    /// Every model.
    All,
}

impl FromStr for ModelChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "all" => Ok(ModelChoice::All),
            _ => name.parse().map(ModelChoice::One).map_err(|error| format!("{error} or all")),
        }
    }
}
