//! A counterexample is shown to the compiled program before it is shown to anybody.
//!
//! The program is compiled and explored as `raddle check` does it, with the inputs of the counterexample: the functions
//! that give inputs are replaced by ones that give these, thread by thread. Which bug comes out of that is what is
//! reported.
//!
//! First the program is led along the counterexample: its threads read what they read there. That takes no time even
//! where there are too many executions to search. It may fail: statements of the counterexample are those of the source, and
//! some that do not matter are left out there. So next a thread may read these values in any order, and then all executions
//! with these inputs are explored. If there is nothing wrong with any, then the counterexample is a flaw of ours.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_bmc::{BmcCounterexample, BmcOptions, InputValue, ReadValue, TraceStep};
use raddle_c::{Error, Guide, KnownRead, Request, Source};
use raddle_core::outcome::{Finding, FindingKind, Verdict};

use crate::args::BmcArgs;
use crate::recorded::Recorded;
use crate::results::bmc::Confirmation;

/// Looks for a bug in the compiled program.
pub(super) fn confirm(
    options: &BmcOptions,
    kind: FindingKind,
    bug: &BmcCounterexample,
    args: &BmcArgs,
) -> Confirmation {
    let unknown = |why: String| Confirmation::Unknown(why);
    let mut source = Source {
        files: vec![options.file.clone()],
        flags: options.flags.clone(),
        compiler: args.cc.clone(),
    };
    let directory = match tempfile::TempDir::with_prefix("raddle-") {
        Ok(directory) => directory,
        Err(error) => return unknown(format!("no temporary directory: {error}")),
    };
    if !bug.inputs.is_empty() {
        let file = match &args.trace {
            Some(trace) => PathBuf::from(format!("{}.inputs.c", trace.display())),
            None => directory.path().join("inputs.c"),
        };
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
    let request = Request { source, model: options.model, ..Request::new(&[]) };
    explore(&request, kind, bug, args.replay_timeout)
        .unwrap_or_else(|error| unknown(error.to_string()))
}

/// Leads the program along the counterexample, for half of the time, and then explores it.
fn explore(
    request: &Request,
    kind: FindingKind,
    bug: &BmcCounterexample,
    time: Duration,
) -> Result<Confirmation, Error> {
    let start = Instant::now();
    let object = raddle_c::build(&request.source)?;
    let confirmed = |found: Finding| {
        Confirmation::Confirmed(Box::new(Recorded::new(request, &found)), Box::new(found))
    };
    for guide in [guide(bug), guide(bug).in_any_order()] {
        let request = Request { timeout: Some(time / 4), ..request.clone() };
        let outcome = raddle_c::check_built(&object.clone().led_by(guide), &request)?;
        let is_bug = outcome.verdict == Verdict::Bug;
        if let Some(found) = outcome.into_finding().filter(|_| is_bug) {
            return Ok(confirmed(found));
        }
    }
    let rest = time.saturating_sub(start.elapsed());
    let outcome =
        raddle_c::check_built(&object, &Request { timeout: Some(rest), ..request.clone() })?;
    let bound = outcome.bound.clone();
    Ok(match (outcome.verdict, outcome.into_finding()) {
        (Verdict::Incomplete, Some(unsupported)) => Confirmation::Unknown(unsupported.message),
        (_, Some(found)) => confirmed(found),
        (Verdict::Clean, None) if bug.steps.iter().any(|step| step.is_part) => {
            Confirmation::Unknown(String::from(
                "the compiled program may copy structures at once, not part by part",
            ))
        }
        (Verdict::Clean, None) if notices(kind) => Confirmation::Contradicted,
        (Verdict::Clean, None) => Confirmation::Unknown(String::from(
            "the compiled program does not notice that something is wrong",
        )),
        (_, None) => {
            let reason = bound.map(|bound| bound.to_string());
            Confirmation::Unknown(reason.unwrap_or_else(|| String::from("it was not found")))
        }
    })
}

/// What threads read in the counterexample.
fn guide(bug: &BmcCounterexample) -> Guide {
    let known = |step: &TraceStep| {
        let ReadValue { cell, value, bits } = step.read.clone()?;
        let (thread, place) = (step.thread.clone(), step.place.clone());
        Some(KnownRead { thread, place, variable: cell, value, bits })
    };
    Guide::new(bug.steps.iter().filter_map(known))
}

/// Whether a compiled program fails where this happens. One that accesses memory beyond an object, or that nobody has
/// initialised, or a variable whose function has ended, may go on.
fn notices(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Crash | FindingKind::Misuse | FindingKind::UseAfterReturn)
}

/// The functions that give inputs, and their types.
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

/// Functions that give these inputs: every thread gets its own, one after the other. Which thread is which is tried.
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
