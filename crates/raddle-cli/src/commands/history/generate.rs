//! `raddle verify --generate`: random histories from a seed.
//!
//! The same options give the same history again, so a text history starts with a comment that
//! says how it was made. That line names every option, whatever its default is.

use std::fs;
use std::path::Path;

use raddle_consistency::history::{self, Format};
use raddle_consistency::reference::generate::{HistoryShape, generate, perturb};

use crate::args::VerifyArgs;
use crate::output::{Output, OutputError};
use crate::status::Status;

/// Prints a history, or writes some to files.
pub(crate) fn run(args: &VerifyArgs, output: &mut Output) -> Result<Status, OutputError> {
    let options = &args.generate;
    let shape = options.shape(args.generate_for(), &args.shares);
    let text = |seed| history(args, &shape, seed);
    match &args.output {
        Some(directory) if options.count.get() > 1 => {
            fs::create_dir_all(directory).map_err(|error| OutputError::file(directory, error))?;
            let seeds = (0..).map(|i| options.seed.wrapping_add(i));
            for seed in seeds.take(options.count.get()) {
                write_file(&directory.join(options.file_name(seed)), &text(seed))?;
            }
        }
        Some(file) => write_file(file, &text(options.seed))?,
        None => output.text(&text(options.seed))?,
    }
    Ok(Status::Good)
}

fn write_file(path: &Path, text: &str) -> Result<(), OutputError> {
    fs::write(path, text).map_err(|error| OutputError::file(path, error))
}

/// The history with this seed, in the format asked for.
fn history(args: &VerifyArgs, shape: &HistoryShape, seed: u64) -> String {
    let options = &args.generate;
    let mut execution = generate(shape, seed);
    if options.perturb > 0 {
        execution = perturb(&execution, seed, options.perturb);
    }
    let text = history::write(&execution, options.format);
    match options.format {
        Format::Text => {
            format!("# {}\n{text}", options.command(shape.model, &args.shares, seed))
        }
        Format::JsonLines => text,
    }
}
