//! What parents and children tell each other.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use raddle_core::outcome::{Counts, Estimate, Outcome, Phase};
use raddle_native::{Object, Recording, Request, Source};
use serde::{Deserialize, Serialize};

/// What a child does.
#[derive(Serialize, Deserialize)]
pub(crate) enum Task {
    /// Compiles and links a program.
    Build(BuildTask),
    /// Explores a program.
    Explore(ExploreTask),
    /// Explores a program for this time and, if that is not enough, estimates for as long how many execution classes it has.
    ExploreOrEstimate(ExploreTask, Duration),
    /// Only estimates.
    Estimate(ExploreTask, Duration),
    /// Runs one recorded execution of a program.
    Replay(ExploreTask, Recording),
}

impl Task {
    /// What the child is doing.
    pub(crate) fn phase(&self) -> Phase {
        match self {
            Task::Build(_) => Phase::Building,
            Task::Explore(_) | Task::Replay(..) => Phase::Exploring,
            Task::ExploreOrEstimate(..) | Task::Estimate(..) => Phase::Estimating,
        }
    }
}

/// A program to build. Paths need not be UTF-8.
#[derive(Serialize, Deserialize)]
pub(crate) struct BuildTask {
    files: Vec<OsString>,
    flags: Vec<String>,
    compiler: Option<String>,
}

impl From<&Source> for BuildTask {
    fn from(source: &Source) -> Self {
        BuildTask {
            files: source.files.iter().map(|file| file.clone().into_os_string()).collect(),
            flags: source.flags.clone(),
            compiler: source.compiler.clone(),
        }
    }
}

impl From<BuildTask> for Source {
    fn from(task: BuildTask) -> Self {
        let files = task.files.into_iter().map(PathBuf::from).collect();
        Source { files, flags: task.flags, compiler: task.compiler }
    }
}

/// A program to explore.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ExploreTask {
    /// The program.
    pub(crate) object: Object,
    /// How to explore it. The source is not used.
    pub(crate) request: Request,
    /// The number of workers.
    pub(crate) jobs: NonZero<usize>,
    /// Checkpoints to read and write.
    pub(crate) checkpoints: CheckpointFiles,
}

impl ExploreTask {
    /// Explores `object` as `request` says, with one worker and without checkpoints.
    pub(crate) fn new(object: Object, request: &Request) -> Self {
        let request = Request { source: Source::default(), ..request.clone() };
        let checkpoints = CheckpointFiles::default();
        ExploreTask { object, request, jobs: NonZero::<usize>::MIN, checkpoints }
    }
}

/// The files of `--resume` and `--checkpoint`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct CheckpointFiles {
    /// Identifies the exploration.
    pub(crate) fingerprint: String,
    /// The file to continue from.
    pub(crate) resume: Option<OsString>,
    /// The file to write, and the time between two checkpoints.
    pub(crate) write: Option<(OsString, Duration)>,
}

/// What a child tells its parent.
#[derive(Serialize, Deserialize)]
pub(super) enum Message {
    /// How far the exploration has got.
    Progress(Counts),
    /// The result. The child has nothing to do any more.
    Answer(Answer),
    /// A bug in Raddle, as the panic describes it.
    Panicked(String),
}

/// The result of a task.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// The program was built.
    Built(Object),
    /// The program was explored.
    Explored(Outcome),
    /// The execution was run, or the program has changed: the files that are not the recorded ones.
    Replayed(Result<Outcome, Vec<String>>),
    /// The estimate, if there is one.
    Estimated(Option<Estimate>),
    /// The program, a checkpoint or the operating system does not permit the task, for this reason.
    Refused(String),
}
