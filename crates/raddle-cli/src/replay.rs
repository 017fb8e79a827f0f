//! `raddle replay`: one recorded counterexample again.
//!
//! What `raddle check --trace` writes for a C or C++ program is an object that says how the program was compiled and
//! explored, and what was found. Exploring is deterministic, so the same execution is found again as the same class; it
//! is compared with the recorded one, step by step. If the program has changed meanwhile, that is told.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use raddle_c::{Bug, BugKind, Request, Source};
use raddle_core::model::Model;
use raddle_explore::plan::Explorer;
use raddle_explore::sampling::Sampling;
use serde::{Deserialize, Serialize};

use crate::check::native;
use crate::output::{Output, OutputError, complain};
use crate::status::Status;

/// The options of `raddle replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// What `raddle check --trace` has written
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
}

/// An execution of a program, and how to get there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recorded {
    files: Vec<PathBuf>,
    flags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<String>,
    arguments: Vec<String>,
    model: String,
    explorer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default)]
    leaks: bool,
    kind: String,
    message: String,
    schedule: String,
}

impl Recorded {
    /// A bug that was found.
    pub(crate) fn new(request: &Request, bug: &Bug) -> Self {
        let Source { files, flags, compiler } = request.source.clone();
        Recorded {
            files,
            flags,
            compiler,
            arguments: request.arguments.clone(),
            model: request.model.name().to_owned(),
            explorer: request.explorer.name().to_owned(),
            seed: request.explorer.sampling().map(|sampling| sampling.seed),
            depth: request.explorer.sampling().map(|sampling| sampling.depth),
            leaks: request.leaks,
            kind: bug.kind.name().to_owned(),
            message: bug.message.clone(),
            schedule: bug.schedule.clone(),
        }
    }

    fn request(&self) -> Result<Request, String> {
        let model: Model = self.model.parse().map_err(|error| format!("{error}"))?;
        let explorer: Explorer = self.explorer.parse()?;
        let explorer = explorer.with_sampling(|usual| Sampling {
            iterations: 1,
            seed: self.seed.unwrap_or(usual.seed),
            depth: self.depth.unwrap_or(usual.depth),
            ..usual
        });
        let source = Source {
            files: self.files.clone(),
            flags: self.flags.clone(),
            compiler: self.compiler.clone(),
        };
        let arguments = self.arguments.clone();
        let robust = self.kind == BugKind::NotRobust.name();
        let leaks = self.leaks;
        Ok(Request { source, arguments, model, explorer, robust, leaks, ..Request::new(&[]) })
    }
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}

/// Runs the execution again and shows it.
pub(crate) fn run(args: &ReplayArgs, output: &mut Output) -> Result<Status, OutputError> {
    match replay(args) {
        Ok(text) => output.text(&text).map(|()| Status::Inconsistent),
        Err(error) => {
            complain(format!("{}: {error}", args.trace.display()));
            Ok(Status::Failed)
        }
    }
}

fn replay(args: &ReplayArgs) -> Result<String, String> {
    let text = fs::read_to_string(&args.trace).map_err(|error| format!("cannot read: {error}"))?;
    if text.is_empty() {
        return Err(String::from("the file is empty: no bug was found when it was written"));
    }
    let recorded: Recorded = serde_json::from_str(&text).map_err(|error| {
        format!("not what `raddle check --trace` writes for a C program: {error}")
    })?;
    let outcome = raddle_c::check(&recorded.request()?).map_err(|error| error.to_string())?;
    match outcome.bug {
        Some(bug) if bug.schedule == recorded.schedule && bug.message == recorded.message => {
            Ok(native::describe(&bug))
        }
        Some(bug) => Err(format!(
            "the program is not the one of the trace: the first thing that goes wrong now is\n{}",
            native::describe(&bug).trim_end()
        )),
        None => {
            Err(String::from("the program is not the one of the trace: nothing goes wrong now"))
        }
    }
}
