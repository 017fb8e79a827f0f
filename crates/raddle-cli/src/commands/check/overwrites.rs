//! Output files that would overwrite inputs or each other.

use std::path::{Path, PathBuf};

use raddle_explore::parallel::checkpoint;

use super::checkpoint::lock_file;
use crate::args::CheckArgs;
use crate::input;

/// Why an output file cannot be written, if that would overwrite something that this run reads or writes elsewhere. A
/// checkpoint may replace the one that the run continues from.
pub(super) fn refusal(args: &CheckArgs, files: &[PathBuf]) -> Option<String> {
    let overwritten = |output: &Path, is_trace: bool| {
        let is_in = |others: &[&Path]| input::is_one_of(output, others);
        let resumed = args.resume.as_deref().filter(|_| is_trace);
        let written = args.checkpoint.as_deref().filter(|_| is_trace);
        match () {
            () if is_in(&paths(files)) => Some("one of the programs"),
            () if is_in(&paths(args.expect.as_slice())) => Some("the table of --expect"),
            () if is_in(resumed.as_slice()) => Some("the file of --resume"),
            () if is_in(written.as_slice()) => Some("the file of --checkpoint"),
            () => None,
        }
    };
    let error =
        |option: &str, what: &str| format!("{option} would overwrite {what}: name another file");
    if let Some(what) = args.trace.as_deref().and_then(|file| overwritten(file, true)) {
        return Some(error("--trace", what));
    }
    if let Some(what) = args.output.file().and_then(|file| overwritten(file, true)) {
        return Some(error("--output", what));
    }
    let (trace, file) = (args.trace.as_deref(), args.output.file());
    if file.zip(trace).is_some_and(|(file, trace)| file == trace) {
        return Some(error("--output", "the file of --trace"));
    }
    let checkpoint = args.checkpoint.as_deref()?;
    let written = [checkpoint.to_owned(), checkpoint::new_file(checkpoint), lock_file(checkpoint)];
    let what = written.iter().find_map(|file| overwritten(file, false))?;
    Some(error("--checkpoint", what))
}

fn paths(files: &[PathBuf]) -> Vec<&Path> {
    files.iter().map(PathBuf::as_path).collect()
}
