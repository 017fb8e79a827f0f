//! Runs a sequential program as a guest: `run EXECUTABLE [ARGUMENT..]`. Prints what it writes, and on the standard error how it
//! ended, the number of instructions and the time for loading and running.

use raddle_native::process::{Ending, Options, Process, Status};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const BUDGET: u64 = 1 << 40;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(executable) = args.next() else {
        eprintln!("usage: run EXECUTABLE [ARGUMENT..]");
        return ExitCode::from(2);
    };
    let options = Options { args: args.collect(), ..Options::default() };
    let start = Instant::now();
    let mut process = match Process::start(Path::new(&executable), &options) {
        Ok(process) => process,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let loaded = start.elapsed();
    let linked = process.instructions();
    let ending = process.run_alone(BUDGET);
    let output = process.output();
    let _ = std::io::stdout().write_all(&output.stdout);
    let _ = std::io::stderr().write_all(&output.stderr);
    let total = start.elapsed();
    let run = process.instructions() - linked;
    eprintln!("start {linked} instructions in {loaded:?}, program {run} in {:?}", total - loaded);
    match ending {
        Ending::Exited(Status::Exited(status)) => ExitCode::from(status),
        Ending::Exited(status) => {
            eprintln!("{status}");
            ExitCode::from(134)
        }
        Ending::Stopped(event) => {
            eprintln!("{event}");
            ExitCode::from(2)
        }
    }
}
