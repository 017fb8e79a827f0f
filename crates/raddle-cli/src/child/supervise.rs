//! The parent's side: starts children, receives what they report, and ends them.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use raddle_core::outcome::{Bound, Counts};
use rustix::process::{Pid, Signal, kill_process_group};

use super::protocol::{Answer, Message, Task};
use super::{COMMAND, frames, memory};
use crate::signals;

/// Time between two looks at the clock and at signals.
const POLL: Duration = Duration::from_millis(20);

/// Time between two measurements of memory.
const SAMPLE: Duration = Duration::from_millis(50);

/// What a child may use. At a limit it is ended.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    /// When it must have answered.
    pub(crate) deadline: Option<Instant>,
    /// Memory of the child and its descendants, in bytes.
    pub(crate) memory: Option<u64>,
}

/// A child that was ended, or died, before its answer.
#[derive(Clone, Debug)]
pub(super) struct Stopped {
    pub(super) reason: StopReason,
    /// How far the exploration had got.
    pub(super) counts: Counts,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(super) enum StopReason {
    /// A limit was reached, or a signal arrived.
    Bound(Bound),
    /// The child died or panicked: a bug in Raddle.
    Died(String),
}

/// Runs a task in a child. `progress` receives what the exploration counts from time to time.
///
/// # Errors
/// If the child is stopped or dies.
pub(super) fn run(
    task: &Task,
    limits: Limits,
    progress: &dyn Fn(Counts),
) -> Result<Answer, Stopped> {
    let (start, mut counts) = (Instant::now(), Counts::default());
    let end = |reason, mut counts: Counts| {
        counts.seconds = start.elapsed().as_secs_f64();
        Stopped { reason, counts }
    };
    let died = |error: io::Error| {
        end(StopReason::Died(format!("could not be started: {error}")), Counts::default())
    };
    if signals::received().is_some() {
        let bound = Bound::Interrupted { phase: task.phase(), classes: 0 };
        return Err(end(StopReason::Bound(bound), counts));
    }
    // Compilers leave temporary files behind when they are killed. The directory stays only if SIGKILL ends this process.
    let directory = match task {
        Task::Build(_) => Some(tempfile::tempdir().map_err(died)?),
        _ => None,
    };
    let directory = directory.as_ref().map(tempfile::TempDir::path);
    let mut child = ChildProcess::start(task, directory).map_err(died)?;
    let mut watch = Watch { limits, next_sample: start + SAMPLE };
    loop {
        match child.messages.recv_timeout(POLL) {
            Ok(Ok(Message::Answer(answer))) => return Ok(answer),
            Ok(Ok(Message::Progress(news))) => {
                counts = news;
                progress(counts);
            }
            Ok(Ok(Message::Panicked(what))) => return Err(end(StopReason::Died(what), counts)),
            Ok(Err(error)) => {
                let reason = format!("sent an invalid message ({error})");
                return Err(end(StopReason::Died(reason), counts));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(end(StopReason::Died(child.cause_of_death()), counts));
            }
        }
        if let Some(bound) = watch.exceeded(&child, task, counts.classes) {
            return Err(end(StopReason::Bound(bound), counts));
        }
    }
}

/// Watches limits and signals.
struct Watch {
    limits: Limits,
    next_sample: Instant,
}

impl Watch {
    /// Why the child must end, if it must.
    fn exceeded(&mut self, child: &ChildProcess, task: &Task, classes: u64) -> Option<Bound> {
        let now = Instant::now();
        if signals::received().is_some() {
            return Some(Bound::Interrupted { phase: task.phase(), classes });
        }
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Bound::Deadline);
        }
        let limit = self.limits.memory.filter(|_| now >= self.next_sample)?;
        self.next_sample = now + SAMPLE;
        let is_exceeded = memory::exceeds(child.process.id(), limit);
        is_exceeded.then_some(Bound::Memory { megabytes: limit >> 20 })
    }
}

/// A child. Its process group ends when this is dropped.
struct ChildProcess {
    process: Child,
    messages: Receiver<io::Result<Message>>,
    /// Its process group was ended and it was waited for.
    is_reaped: bool,
}

impl ChildProcess {
    /// Starts a child with a task. Its temporary files are in `directory`, if one is given.
    fn start(task: &Task, directory: Option<&Path>) -> io::Result<Self> {
        let task = frames::encode(task)?;
        // The executable at the path of this one may be another one by now.
        let mut command = Command::new("/proc/self/exe");
        command.arg(COMMAND).process_group(0);
        if let Some(directory) = directory {
            command.env("TMPDIR", directory);
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (sender, messages) = mpsc::channel();
        let child = ChildProcess { process, messages, is_reaped: false };
        let (mut stdin, mut stdout) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        // Ends with the process group, or when nobody receives any more.
        thread::Builder::new().spawn(move || {
            // A child that does not read its task dies, which the messages show.
            let _ = io::Write::write_all(&mut stdin, &task);
            drop((stdin, task));
            while let Some(message) = frames::read(&mut stdout).transpose() {
                let is_last = message.is_err();
                if sender.send(message).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(child)
    }

    /// How a child ended that has closed its standard output.
    fn cause_of_death(&mut self) -> String {
        self.end().map_or_else(|error| error.to_string(), cause_of_death)
    }

    /// Ends the process group. Does not change how a child ended that is already dead.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            // Before it is waited for: afterwards the number may belong to another group.
            let leader = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
            // An error means that no process is left.
            let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
            self.is_reaped = true;
        }
        self.process.wait()
    }
}

fn cause_of_death(status: ExitStatus) -> String {
    const SIGKILL: i32 = 9;
    match status.signal() {
        Some(SIGKILL) => String::from(
            "was killed by signal 9; the operating system does so if memory is short (--max-memory lowers the limit)",
        ),
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended without an answer (status {})", status.code().unwrap_or_default()),
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_death_name_the_signal_or_the_status() {
        let text = |status| cause_of_death(ExitStatus::from_raw(status));
        assert_eq!(text(6), "was killed by signal 6");
        assert_eq!(text(3 << 8), "ended without an answer (status 3)");
    }
}
