//! Replaying a recorded execution.

use std::time::Instant;

use raddle_core::outcome::{Bound, Counts, FindingKind, Outcome};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{Counterexample, Ending};
use raddle_explore::replay::{Mismatch, Replayed, is_allowed};
use raddle_explore::robustness;
use serde::{Deserialize, Serialize};

use super::leaks::CompleteExecutions;
use super::meaning::unjoined;
use super::recording::{self, Learned, ModuleHash};
use super::{Request, finding, load, on_large_stack};
use crate::build::{Error, Object};
use crate::program::NativeProgram;

/// An execution of a program that shows an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The kind of error.
    pub kind: FindingKind,
    /// The execution.
    pub schedule: Schedule,
    /// What the program had learned when it was found.
    pub learned: String,
}

/// Runs a recorded execution of a program that was built, and no other one. The request must be that of the exploration; its source is
/// not used. If the execution shows no error, the outcome is incomplete: others may show one.
///
/// # Errors
/// If the program cannot be loaded, or if it differs from the one that was recorded.
pub fn replay_built(
    object: &Object,
    request: &Request,
    recording: &Recording,
) -> Result<Outcome, Error> {
    object.supports(request.model)?;
    on_large_stack(|| {
        let start = Instant::now();
        let mut program = load(object, request)?;
        let start_up = start.elapsed().as_secs_f64();
        let learned: Learned = serde_json::from_str(&recording.learned)
            .map_err(|error| Error::System(format!("the recording is damaged: {error}")))?;
        let changed = changed(&learned.modules, &recording::modules(&program));
        if !changed.is_empty() {
            return Err(Error::Changed(changed));
        }
        let mut outcome = run(&mut program, request, recording, &learned);
        let seconds = start.elapsed().as_secs_f64();
        outcome.counts = Counts { seconds, start_up, ..outcome.counts };
        Ok(outcome)
    })
}

/// The files that are not the recorded ones.
fn changed(recorded: &[ModuleHash], now: &[ModuleHash]) -> Vec<String> {
    let all = recorded.iter().chain(now);
    let is_same = |module: &&ModuleHash| recorded.contains(module) && now.contains(module);
    let mut files: Vec<String> =
        all.filter(|module| !is_same(module)).map(|module| module.file.clone()).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Runs the execution. The program must have the recorded files.
fn run(
    program: &mut NativeProgram,
    request: &Request,
    recording: &Recording,
    learned: &Learned,
) -> Outcome {
    let incomplete = |why: String, executions: u64| {
        let counts = Counts { classes: 1, executions, ..Counts::default() };
        Outcome::new(vec![], counts, Some(Bound::Other(why)))
    };
    let replayed = match recording::follow(program, learned, &recording.schedule) {
        Ok(replayed) => replayed,
        Err(Mismatch(how)) => {
            return incomplete(format!("the program does not match the schedule: {how}"), 0);
        }
    };
    let executions = program.executions;
    if !is_allowed(program, request.model, &replayed.trace) {
        let model = request.model;
        return incomplete(format!("{model} does not allow the recorded execution"), executions);
    }
    let (found, complete) = error(program, request, recording.kind, replayed);
    let mut findings = finding::findings(program, request, found, complete);
    if findings.is_empty() {
        return incomplete(String::from("the recorded execution shows no error"), executions);
    }
    for finding in &mut findings {
        finding.schedule = Some(recording.schedule.clone());
        finding.learned = Some(recording.learned.clone());
    }
    let counts = Counts { classes: 1, executions, ..Counts::default() };
    Outcome::new(findings, counts, None)
}

/// The error of an execution, if it has one of this kind or one at its end.
fn error(
    program: &NativeProgram,
    request: &Request,
    kind: FindingKind,
    Replayed { ending, trace }: Replayed,
) -> (Vec<Counterexample>, CompleteExecutions) {
    let mut complete = CompleteExecutions::default();
    let found = match kind {
        FindingKind::NotRobust => robustness::compare(program, request.model, ending, trace),
        FindingKind::Leak if ending == Ending::Complete => {
            complete.note(trace);
            None
        }
        _ if ending.is_bug() || request.environment.require_join && unjoined(&trace).is_some() => {
            Some(Counterexample::new(ending, trace))
        }
        _ => None,
    };
    (found.into_iter().collect(), complete)
}
