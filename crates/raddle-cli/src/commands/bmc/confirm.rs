//! Confirms a counterexample of bounded checking by exploring the compiled program.
//!
//! The program is compiled and explored as by `raddle check`, with the inputs of the counterexample: the functions that
//! return inputs are replaced by functions that return these values, per thread. The report shows the bug that this
//! exploration finds.
//!
//! There are three attempts. First the exploration is guided: reads return the values of the counterexample, in its
//! order. This is fast even if there are too many executions to explore. It may fail, because the steps of the
//! counterexample are statements of the source, without those that are irrelevant to the solver. The second attempt
//! allows these values in any order. The third explores all executions with these inputs. If that is exhaustive and finds
//! no bug, the counterexample is wrong: a bug in Raddle.
//!
//! The program is built and explored in child processes, so the time limit holds whatever the compiler and the program do.

use std::fmt::Write;
use std::time::{Duration, Instant};

use raddle_bmc::{BmcCounterexample, BmcOptions, InputValue, ReadValue, TraceStep};
use raddle_core::outcome::{Bound, Finding, FindingKind, Outcome, Verdict};
use raddle_native::{Guide, KnownRead, Object, Request, Source};

use crate::args::BmcArgs;
use crate::child::{self, ExploreTask, Failure, Limits, Subject, Task};
use crate::recorded::RecordedBug;
use crate::results::bmc::Confirmation;
use crate::signals;

/// An attempt ends on its own when its time is up. If it has not done so after this time, its process is ended.
const GRACE: Duration = Duration::from_millis(600);

/// Explores the compiled program with the inputs of the counterexample. It takes little longer than the time limit for that.
pub(super) fn confirm(
    options: &BmcOptions,
    kind: FindingKind,
    bug: &BmcCounterexample,
    args: &BmcArgs,
) -> Confirmation {
    let begin = Instant::now();
    let unknown = |why: String| Confirmation::Unknown(why);
    if let Err(error) = signals::catch() {
        return unknown(format!("signals cannot be handled: {error}"));
    }
    let mut source = Source {
        files: vec![options.file.clone()],
        flags: options.flags.clone(),
        compiler: args.cc.clone(),
    };
    let directory = match tempfile::TempDir::with_prefix("raddle-") {
        Ok(directory) => directory,
        Err(error) => return unknown(format!("cannot create a temporary directory: {error}")),
    };
    if !bug.inputs.is_empty() {
        let file = args.inputs_file().unwrap_or_else(|| directory.path().join("inputs.c"));
        if let Err(error) = std::fs::write(&file, inputs(&bug.inputs)) {
            return unknown(format!("{}: cannot write: {error}", file.display()));
        }
        source.flags.extend(
            FUNCTIONS
                .iter()
                .map(|(name, _)| format!("-D__VERIFIER_nondet_{name}=raddle_input_{name}")),
        );
        source.files.push(file);
    }
    let program = options.file.display().to_string();
    let compiled = CompiledProgram {
        name: &program,
        request: Request { source, model: options.model, ..Request::new(&[]) },
        time: args.replay_timeout,
        end: begin.checked_add(args.replay_timeout),
        memory: child::default_limit(),
    };
    match compiled.confirm(kind, bug) {
        Ok(confirmation) => confirmation,
        Err(Failure::Refused(why)) => unknown(why),
        Err(Failure::Stopped(bound, _)) => unknown(reason(&bound)),
        Err(Failure::Internal(what)) => Confirmation::Failed(what),
    }
}

/// The program that was checked, compiled with the inputs of the counterexample.
struct CompiledProgram<'a> {
    name: &'a str,
    request: Request,
    /// The time for all attempts.
    time: Duration,
    /// When this time is over, if that can be expressed.
    end: Option<Instant>,
    memory: Option<u64>,
}

impl CompiledProgram<'_> {
    /// Guides the program along the counterexample for at most half of the time, then explores all executions.
    fn confirm(&self, kind: FindingKind, bug: &BmcCounterexample) -> Result<Confirmation, Failure> {
        let limits = Limits { deadline: self.end, memory: self.memory };
        let subject = Subject { program: self.name, model: None };
        let object = child::build(&self.request.source, subject, limits)?;
        for guide in [guide(bug), guide(bug).in_any_order()] {
            let outcome = self.explore(object.clone().led_by(guide), self.time / 4)?;
            let is_bug = outcome.verdict == Verdict::Bug;
            if let Some(found) = outcome.into_finding().filter(|_| is_bug) {
                return Ok(self.confirmed(&object, found));
            }
        }
        let outcome = self.explore(object.clone(), self.time)?;
        Ok(match outcome.finding() {
            None => not_found(&outcome, kind, bug),
            Some(unsupported) if outcome.verdict == Verdict::Incomplete => {
                Confirmation::Unknown(unsupported.message.clone())
            }
            Some(found) => self.confirmed(&object, found.clone()),
        })
    }

    /// Explores a program for at most `time`, or as long as there is time left. At a limit the outcome is incomplete.
    fn explore(&self, object: Object, time: Duration) -> Result<Outcome, Failure> {
        let now = Instant::now();
        let time = self.end.map_or(time, |end| time.min(end.saturating_duration_since(now)));
        let request = Request { timeout: Some(time), ..self.request.clone() };
        let deadline = now.checked_add(time.saturating_add(GRACE));
        let limits = Limits { deadline, memory: self.memory };
        let subject = Subject { program: self.name, model: Some(request.model) };
        let task = Task::Explore(ExploreTask::new(object, &request));
        match child::explore(&task, subject, limits, &|_| ()) {
            Err(Failure::Stopped(bound, counts)) => Ok(Outcome::new(vec![], counts, Some(bound))),
            result => result,
        }
    }

    fn confirmed(&self, object: &Object, found: Finding) -> Confirmation {
        let recorded = RecordedBug::new(&self.request, object.compiler(), &found);
        Confirmation::Confirmed(recorded.map(Box::new), Box::new(found))
    }
}

/// What it means that the last attempt found nothing.
fn not_found(outcome: &Outcome, kind: FindingKind, bug: &BmcCounterexample) -> Confirmation {
    let is_part = bug.steps.iter().any(|step| step.is_part);
    let why = match (outcome.verdict, &outcome.bound) {
        (Verdict::Clean, _) if is_part => {
            "the compiled program may copy structures as a whole instead of field by field"
        }
        (Verdict::Clean, _) if is_always_detected(kind) => return Confirmation::Contradicted,
        (Verdict::Clean, _) => "the compiled program does not detect this kind of bug",
        (_, Some(bound)) => return Confirmation::Unknown(reason(bound)),
        (_, None) => "the exploration did not find the bug",
    };
    Confirmation::Unknown(String::from(why))
}

/// A bound with the options of this command.
fn reason(bound: &Bound) -> String {
    match bound {
        Bound::Deadline => format!("{bound}: increase --replay-timeout"),
        Bound::Memory { megabytes } => format!("it needs more than {megabytes} MB of memory"),
        _ => bound.to_string(),
    }
}

/// The values that threads read in the counterexample.
fn guide(bug: &BmcCounterexample) -> Guide {
    let known = |step: &TraceStep| {
        let ReadValue { cell, value, bits } = step.read.clone()?;
        let (thread, place) = (step.thread.clone(), step.place.clone());
        Some(KnownRead { thread, place, variable: cell, value, bits })
    };
    Guide::new(bug.steps.iter().filter_map(known))
}

/// Returns `true` if every execution of a compiled program with this bug fails. After an access out of bounds, to
/// uninitialised memory or to a dead local variable it may continue.
fn is_always_detected(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Crash | FindingKind::Misuse | FindingKind::UseAfterReturn)
}

/// The functions that return inputs, and their types.
const FUNCTIONS: &[(&str, &str)] = &[
    ("bool", "_Bool"),
    ("char", "char"),
    ("uchar", "unsigned char"),
    ("short", "short"),
    ("ushort", "unsigned short"),
    ("int", "int"),
    ("uint", "unsigned"),
    ("unsigned", "unsigned"),
    ("unsigned_int", "unsigned"),
    ("uint32_t", "unsigned"),
    ("long", "long"),
    ("ulong", "unsigned long"),
    ("longlong", "long long"),
    ("ulonglong", "unsigned long long"),
    ("size_t", "unsigned long"),
];

/// C code of functions that return these inputs, per thread and in order. The exploration tries every assignment of
/// threads to the lists of inputs.
fn inputs(values: &[InputValue]) -> String {
    let mut threads: Vec<&str> = values.iter().map(|input| input.thread.as_str()).collect();
    threads.sort_unstable();
    threads.dedup();
    let of = |thread: &str| {
        values
            .iter()
            .filter(|input| input.thread == thread)
            .map(|input| input.value as i64)
            .collect::<Vec<_>>()
    };
    let longest = threads.iter().map(|thread| of(thread).len()).max().unwrap_or(1);
    let mut text = String::from("// Inputs of a counterexample.\n");
    for (name, _) in FUNCTIONS {
        let _ = writeln!(text, "#undef __VERIFIER_nondet_{name}");
    }
    text += "extern _Bool __VERIFIER_nondet_bool(void);\nextern void __VERIFIER_assume(int);\n";
    let _ = writeln!(text, "static const unsigned long values[][{longest}] = {{");
    for thread in &threads {
        let listed: Vec<String> =
            of(thread).iter().map(|value| format!("{}ul", *value as u64)).collect();
        let _ = writeln!(text, "    {{{}}}, // {thread}", listed.join(", "));
    }
    let counts: Vec<String> = threads.iter().map(|thread| of(thread).len().to_string()).collect();
    let (count, counts) = (threads.len(), counts.join(", "));
    let _ = write!(
        text,
        "}};\n\
         static const int counts[] = {{{counts}}};\n\
         static _Thread_local int who = -1, next;\n\
         static unsigned long input(void) {{\n\
         \x20   if (who < 0) {{\n\
         \x20       who = 0;\n\
         \x20       while (who + 1 < {count} && __VERIFIER_nondet_bool())\n\
         \x20           who++;\n\
         \x20   }}\n\
         \x20   __VERIFIER_assume(next < counts[who]);\n\
         \x20   return values[who][next++];\n\
         }}\n"
    );
    for (name, ty) in FUNCTIONS {
        let _ = writeln!(text, "{ty} raddle_input_{name}(void) {{ return ({ty})input(); }}");
    }
    text
}
