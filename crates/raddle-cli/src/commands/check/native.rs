//! Compiled programs: C and C++ files and object files that are linked together, or an executable.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, Outcome, Verdict};
use raddle_explore::parallel::checkpoint::{self, CheckpointWriter};
use raddle_explore::plan::{Language, Plan};
use raddle_native::{
    Checkpoint, Error, MemoryOrders, Object, ParallelOptions, Progress, Request, Source,
};

use super::checkpoint::fingerprint;
use super::front_end::{self, FrontEnd};
use super::progress::ProgressLine;
use crate::args::CheckArgs;
use crate::output::print_error;
use crate::recorded::RecordedBug;
use crate::results::check::{CheckResult, LoadError};

/// Time to explore before an estimate, and time to estimate.
const ESTIMATE_TIME: Duration = Duration::from_secs(1);

/// A compiled program.
struct NativeProgram {
    name: String,
    source: Source,
    object: Object,
}

/// Returns `true` if a file is part of a compiled program: source by its extension, machine code by its contents.
pub(super) fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "cc" | "cpp" | "cxx" | "C" | "c++" | "o" | "so")) || is_elf(path)
}

fn is_elf(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"\x7fELF"
}

/// Compiles a program.
pub(super) fn load(files: &[PathBuf], args: &CheckArgs) -> Result<Box<dyn FrontEnd>, LoadError> {
    let (flags, _) = args.halves();
    let source = Source { files: files.to_vec(), flags: flags.to_vec(), compiler: args.cc.clone() };
    let object = raddle_native::build(&source).map_err(|error| load_error(&error))?;
    let name = front_end::name(files);
    Ok(Box::new(NativeProgram { name, source, object }))
}

fn load_error(error: &Error) -> LoadError {
    match error {
        Error::File { why, .. } => LoadError::new(format!("cannot read: {why}")),
        _ => LoadError::new(error.to_string()),
    }
}

impl NativeProgram {
    fn request(&self, plan: Plan, args: &CheckArgs) -> Request {
        let (limits, defaults) = (args.limits(), Request::new(&[]));
        let timeout =
            limits.deadline.map(|end| end.saturating_duration_since(std::time::Instant::now()));
        Request {
            source: self.source.clone(),
            arguments: args.halves().1.to_vec(),
            model: plan.model,
            explorer: plan.explorer,
            max_executions: limits.classes,
            max_events: limits.events.unwrap_or(defaults.max_events),
            timeout,
            robust: args.robust,
            leaks: args.leaks,
        }
    }

    fn result(&self, request: &Request, outcome: Outcome) -> CheckResult {
        // A replay repeats only the run with the finding.
        let explorer = request.explorer.only_last(outcome.counts.all_classes());
        let replayed = Request { explorer, ..request.clone() };
        let finding = outcome.finding().filter(|finding| finding.schedule.is_some());
        CheckResult {
            program: self.name.clone(),
            plan: Plan { model: request.model, explorer: request.explorer },
            robust: request.robust,
            recorded: finding.map(|finding| RecordedBug::new(&replayed, finding)),
            outcome,
            litmus: None,
        }
    }
}

impl FrontEnd for NativeProgram {
    fn language(&self) -> Language {
        match self.object.memory_orders() {
            MemoryOrders::Known => Language::C,
            MemoryOrders::Unknown { .. } => Language::X86,
        }
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn check(
        &self,
        plan: Plan,
        args: &CheckArgs,
        jobs: NonZero<usize>,
    ) -> Result<CheckResult, LoadError> {
        let request = self.request(plan, args);
        self.warn_about_plain_stores(plan.model);
        let explored = match args.estimate {
            true => self.estimate(request.clone()),
            false => {
                let checkpoints =
                    checkpoints(&self.object, &request, args).map_err(LoadError::new)?;
                self.explore(&request, args, jobs, checkpoints)
            }
        };
        Ok(self.result(&request, explored.unwrap_or_else(|error| not_explored(&error))))
    }
}

/// The outcome if the operating system does not allow the exploration of a program that was compiled.
fn not_explored(error: &Error) -> Outcome {
    Outcome::new(vec![], Counts::default(), Some(Bound::Other(error.to_string())))
}

impl NativeProgram {
    /// Under PSO machine code is not what its author may expect: says so.
    fn warn_about_plain_stores(&self, model: Model) {
        if let (MemoryOrders::Unknown { file }, Model::Pso) = (self.object.memory_orders(), model) {
            print_error(format!(
                "note: {file} is machine code: under pso its stores by plain mov instructions are unordered"
            ));
        }
    }

    fn explore(
        &self,
        request: &Request,
        args: &CheckArgs,
        jobs: NonZero<usize>,
        (resumed, writer): Checkpoints,
    ) -> Result<Outcome, Error> {
        let line = ProgressLine::new(args.json);
        let note = |progress: &Progress<'_>| {
            line.update(progress.classes());
            if let Some(writer) = &writer {
                writer.update(progress.is_last, || progress.checkpoint());
            }
        };
        let options =
            ParallelOptions { jobs, resumed, observer: Some(&note), ..ParallelOptions::default() };
        let size = || {
            raddle_native::estimate(&self.object, request, u64::MAX, ESTIMATE_TIME).ok().flatten()
        };
        let outcome =
            line.show(size, || raddle_native::check_parallel(&self.object, request, options));
        if let Some(error) = writer.as_ref().and_then(CheckpointWriter::error) {
            print_error(error);
        }
        outcome
    }

    /// Explores for a short time and, if that is not enough, estimates the size of the exploration.
    fn estimate(&self, mut request: Request) -> Result<Outcome, Error> {
        request.timeout =
            Some(request.timeout.map_or(ESTIMATE_TIME, |timeout| timeout.min(ESTIMATE_TIME)));
        let outcome = raddle_native::check_built(&self.object, &request)?;
        if outcome.verdict != Verdict::Incomplete {
            return Ok(outcome);
        }
        let estimate = raddle_native::estimate(&self.object, &request, u64::MAX, ESTIMATE_TIME);
        Ok(match estimate? {
            None => outcome,
            estimate => Outcome { estimate, bound: Some(Bound::Estimated), ..outcome },
        })
    }
}

/// The checkpoint of `--resume` and the one of `--checkpoint`.
type Checkpoints = (Option<Checkpoint>, Option<CheckpointWriter>);

/// Reads the checkpoint of `--resume` and opens the one of `--checkpoint`.
fn checkpoints(
    object: &Object,
    request: &Request,
    args: &CheckArgs,
) -> Result<Checkpoints, String> {
    if args.resume.is_none() && args.checkpoint.is_none() {
        return Ok((None, None));
    }
    let program = fingerprint(object, request);
    let resumed = match &args.resume {
        None => None,
        Some(file) => Some(checkpoint::read(file, &program)?),
    };
    let writer = match &args.checkpoint {
        None => None,
        Some(file) => {
            let first: Checkpoint = resumed.clone().unwrap_or_default();
            Some(CheckpointWriter::new(file, args.every(), program, &first)?)
        }
    };
    Ok((resumed, writer))
}
