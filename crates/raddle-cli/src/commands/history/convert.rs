//! `raddle history convert`: a history in another format.

use std::fs;

use raddle_consistency::history;

use crate::args::ConvertArgs;
use crate::input;
use crate::output::{Output, OutputError, print_error};
use crate::status::Status;

/// Writes the history in the requested format.
pub(crate) fn run(args: &ConvertArgs, output: &mut Output) -> Result<Status, OutputError> {
    let input = input::load(&args.history);
    let execution = match input.content {
        Ok(execution) => execution,
        Err(error) => {
            print_error(error.message(&input.name));
            return Ok(Status::Failed);
        }
    };
    let text = history::write(&execution, args.format);
    match &args.output {
        Some(path) => fs::write(path, text).map_err(|error| OutputError::file(path, error))?,
        None => output.text(&text)?,
    }
    Ok(Status::Good)
}
