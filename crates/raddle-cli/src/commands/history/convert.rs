//! `raddle verify --convert`: a history in another format.

use std::fs;
use std::path::Path;

use raddle_consistency::history::{self, Format};

use crate::args::VerifyArgs;
use crate::input;
use crate::output::{Output, OutputError, complain};
use crate::status::Status;

/// Writes each history named (there is one) in the format.
pub(crate) fn run(
    args: &VerifyArgs,
    format: Format,
    output: &mut Output,
) -> Result<Status, OutputError> {
    let mut status = Status::Good;
    for path in &args.histories {
        let input = input::load(path);
        match input.content {
            Ok(execution) => {
                let text = history::write(&execution, format);
                write(&text, args.output.as_deref(), output)?;
            }
            Err(error) => {
                complain(error.message(&input.name));
                status = Status::Failed;
            }
        }
    }
    Ok(status)
}

fn write(text: &str, to: Option<&Path>, output: &mut Output) -> Result<(), OutputError> {
    match to {
        Some(path) => fs::write(path, text).map_err(|error| OutputError::file(path, error)),
        None => output.text(text),
    }
}
