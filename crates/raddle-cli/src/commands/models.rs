//! `raddle models`: the memory models, their axioms, and the explorers that support them.

use raddle_core::model::Model;

use crate::args::ModelsArgs;
use crate::output::{Output, OutputError};
use crate::render::text;
use crate::results::models;
use crate::status::Status;

/// Prints the models.
pub(crate) fn run(args: &ModelsArgs, output: &mut Output) -> Result<Status, OutputError> {
    if args.json {
        for model in Model::ALL {
            output.json(&models::facts(model))?;
        }
    } else {
        output.text(&text::models::text())?;
    }
    Ok(Status::Good)
}
