//! `raddle history generate`: random histories from a seed.
//!
//! The same options give the same history, so a text history starts with a comment that contains the command.

use std::fs;
use std::path::Path;

use raddle_consistency::history::{self, Format};
use raddle_consistency::reference::generate::{HistoryShape, generate, perturb};

use crate::args::GenerateArgs;
use crate::output::{Output, OutputError};
use crate::status::Status;

/// Prints a history, or writes one or several to files.
pub(crate) fn run(args: &GenerateArgs, output: &mut Output) -> Result<Status, OutputError> {
    let shape = args.shape();
    let text = |seed| history(args, &shape, seed);
    match &args.output {
        Some(directory) if args.count.get() > 1 => {
            fs::create_dir_all(directory).map_err(|error| OutputError::file(directory, error))?;
            let seeds = (0..).map(|i| args.seed.wrapping_add(i));
            for seed in seeds.take(args.count.get()) {
                write_file(&directory.join(args.file_name(seed)), &text(seed))?;
            }
        }
        Some(file) => write_file(file, &text(args.seed))?,
        None => output.text(&text(args.seed))?,
    }
    Ok(Status::Good)
}

fn write_file(path: &Path, text: &str) -> Result<(), OutputError> {
    fs::write(path, text).map_err(|error| OutputError::file(path, error))
}

/// The history with this seed, in the requested format.
fn history(args: &GenerateArgs, shape: &HistoryShape, seed: u64) -> String {
    let mut execution = generate(shape, seed);
    if args.perturb > 0 {
        execution = perturb(&execution, seed, args.perturb);
    }
    let text = history::write(&execution, args.format);
    match args.format {
        Format::Text => format!("# {}\n{text}", args.command(seed)),
        Format::JsonLines => text,
    }
}
