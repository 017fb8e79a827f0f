//! The child's side: one task, then the end.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use raddle_core::outcome::{Bound, Counts, Outcome, Verdict};
use raddle_explore::parallel::checkpoint::{self, CheckpointWriter};
use raddle_native::{Checkpoint, Error, ParallelOptions, Progress};

use super::frames;
use super::protocol::{Answer, CheckpointFiles, ExploreTask, Message, Task};
use crate::internal_error;
use crate::output::print_error;

/// Time between two reports of progress.
const REPORT: Duration = Duration::from_millis(50);

/// Reads a task, does it and answers.
pub(crate) fn serve() -> ExitCode {
    match try_serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(format_args!("raddle: {error}"));
            ExitCode::from(2)
        }
    }
}

fn try_serve() -> io::Result<()> {
    let parent = Parent::new()?;
    depend_on_parent()?;
    let for_panics = Parent::new()?;
    internal_error::set_panic_reporter(move |what| for_panics.send_panic(&format!("failed{what}")));
    let Some(task) = frames::read(&mut io::stdin().lock())? else {
        return Err(io::Error::other("this command is for Raddle itself: use `raddle check`"));
    };
    let answer = answer(task, &parent);
    parent.send(&Message::Answer(answer))
}

/// Lets this process die with its parent, and before it if memory is short.
fn depend_on_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        let parent = getppid();
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != parent || parent.is_none() {
            return Err(io::Error::other("the parent has ended"));
        }
        // If that is not permitted, the operating system chooses on its own.
        let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    }
    Ok(())
}

/// The pipe to the parent.
struct Parent(Mutex<File>);

impl Parent {
    fn new() -> io::Result<Self> {
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Parent(Mutex::new(File::from(stdout))))
    }

    fn send(&self, message: &Message) -> io::Result<()> {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frames::write(&mut *pipe, message)
    }

    /// Reports a panic, also one of a worker process. A message is short, so that those of several processes do not mix.
    fn send_panic(&self, what: &str) {
        let what: String = what.chars().take(512).collect();
        if self.send(&Message::Panicked(what.clone())).is_err() {
            print_error(what);
        }
    }
}

fn answer(task: Task, parent: &Parent) -> Answer {
    match task {
        Task::Build(task) => match raddle_native::build(&task.into()) {
            Ok(object) => Answer::Built(object),
            Err(Error::File { why, .. }) => Answer::Refused(format!("cannot read: {why}")),
            Err(error) => Answer::Refused(error.to_string()),
        },
        Task::Explore(task) => match Checkpoints::open(&task.checkpoints) {
            Ok(checkpoints) => explored(explore(&task, checkpoints, parent)),
            Err(error) => Answer::Refused(error),
        },
        Task::ExploreOrEstimate(task, time) => explored(explore_or_estimate(task, time)),
        Task::Replay(ExploreTask { object, request, .. }, recording) => {
            match raddle_native::replay_built(&object, &request, &recording) {
                Ok(outcome) => Answer::Replayed(Ok(outcome)),
                Err(Error::Changed(files)) => Answer::Replayed(Err(files)),
                Err(error) => Answer::Refused(error.to_string()),
            }
        }
        Task::Estimate(ExploreTask { object, request, .. }, time) => {
            let estimate = raddle_native::estimate(&object, &request, u64::MAX, time);
            Answer::Estimated(estimate.ok().flatten())
        }
    }
}

/// A program that was built but that the operating system does not permit to load has an incomplete outcome.
fn explored(outcome: Result<Outcome, Error>) -> Answer {
    let not_explored = |error: Error| {
        Outcome::new(vec![], Counts::default(), Some(Bound::Other(error.to_string())))
    };
    let mut outcome = outcome.unwrap_or_else(not_explored);
    // Compiling is no part of the time that is shown, so loading is none either.
    let Counts { seconds, start_up, .. } = &mut outcome.counts;
    *seconds -= std::mem::take(start_up);
    Answer::Explored(outcome)
}

fn explore(
    task: &ExploreTask,
    Checkpoints { resumed, writer }: Checkpoints,
    parent: &Parent,
) -> Result<Outcome, Error> {
    let last = Mutex::new(Instant::now());
    let observer = |progress: &Progress<'_>| {
        if let Some(writer) = &writer {
            writer.update(progress.is_last, || progress.checkpoint());
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= REPORT {
            *last = Instant::now();
            let counts = Counts { classes: progress.classes(), ..Counts::default() };
            // A parent that does not listen any more ends this process.
            let _ = parent.send(&Message::Progress(counts));
        }
    };
    let observer = Some::<&(dyn Fn(&Progress<'_>) + Sync)>(&observer);
    let options =
        ParallelOptions { jobs: task.jobs, resumed, observer, ..ParallelOptions::default() };
    let outcome = raddle_native::check_parallel(&task.object, &task.request, options);
    if let Some(error) = writer.as_ref().and_then(CheckpointWriter::error) {
        print_error(error);
    }
    outcome
}

fn explore_or_estimate(task: ExploreTask, time: Duration) -> Result<Outcome, Error> {
    let ExploreTask { object, mut request, .. } = task;
    request.timeout = Some(request.timeout.map_or(time, |timeout| timeout.min(time)));
    let outcome = raddle_native::check_built(&object, &request)?;
    if outcome.verdict != Verdict::Incomplete {
        return Ok(outcome);
    }
    Ok(match raddle_native::estimate(&object, &request, u64::MAX, time)? {
        None => outcome,
        estimate => Outcome { estimate, bound: Some(Bound::Estimated), ..outcome },
    })
}

/// The checkpoint of `--resume` and the one of `--checkpoint`.
struct Checkpoints {
    resumed: Option<Checkpoint>,
    writer: Option<CheckpointWriter>,
}

impl Checkpoints {
    fn open(files: &CheckpointFiles) -> Result<Self, String> {
        let CheckpointFiles { fingerprint, resume, write } = files;
        let read = |file| checkpoint::read::<Checkpoint>(Path::new(file), fingerprint);
        let resumed = resume.as_ref().map(read).transpose()?;
        let first = || resumed.clone().unwrap_or_default();
        let start = |(file, every): &(OsString, Duration)| {
            CheckpointWriter::new(Path::new(file), *every, fingerprint.clone(), &first())
        };
        let writer = write.as_ref().map(start).transpose()?;
        Ok(Checkpoints { resumed, writer })
    }
}
