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

use std::fmt::Write;
use std::time::{Duration, Instant};

use raddle_bmc::{BmcCounterexample, BmcOptions, InputValue, ReadValue, TraceStep};
use raddle_core::outcome::{Finding, FindingKind, Verdict};
use raddle_native::{Error, Guide, KnownRead, Request, Source};

use crate::args::BmcArgs;
use crate::recorded::RecordedBug;
use crate::results::bmc::Confirmation;

/// Explores the compiled program with the inputs of the counterexample.
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
    let request = Request { source, model: options.model, ..Request::new(&[]) };
    explore(&request, kind, bug, args.replay_timeout)
        .unwrap_or_else(|error| unknown(error.to_string()))
}

/// Guides the program along the counterexample for at most half of `time`, then explores all executions.
fn explore(
    request: &Request,
    kind: FindingKind,
    bug: &BmcCounterexample,
    time: Duration,
) -> Result<Confirmation, Error> {
    let start = Instant::now();
    let object = raddle_native::build(&request.source)?;
    let confirmed = |found: Finding| {
        Confirmation::Confirmed(Box::new(RecordedBug::new(request, &found)), Box::new(found))
    };
    for guide in [guide(bug), guide(bug).in_any_order()] {
        let request = Request { timeout: Some(time / 4), ..request.clone() };
        let outcome = raddle_native::check_built(&object.clone().led_by(guide), &request)?;
        let is_bug = outcome.verdict == Verdict::Bug;
        if let Some(found) = outcome.into_finding().filter(|_| is_bug) {
            return Ok(confirmed(found));
        }
    }
    let rest = time.saturating_sub(start.elapsed());
    let outcome =
        raddle_native::check_built(&object, &Request { timeout: Some(rest), ..request.clone() })?;
    let bound = outcome.bound.clone();
    Ok(match (outcome.verdict, outcome.into_finding()) {
        (Verdict::Incomplete, Some(unsupported)) => Confirmation::Unknown(unsupported.message),
        (_, Some(found)) => confirmed(found),
        (Verdict::Clean, None) if bug.steps.iter().any(|step| step.is_part) => {
            Confirmation::Unknown(String::from(
                "the compiled program may copy structures as a whole instead of field by field",
            ))
        }
        (Verdict::Clean, None) if is_always_detected(kind) => Confirmation::Contradicted,
        (Verdict::Clean, None) => Confirmation::Unknown(String::from(
            "the compiled program does not detect this kind of bug",
        )),
        (_, None) => {
            let reason = bound.map(|bound| bound.to_string());
            Confirmation::Unknown(
                reason.unwrap_or_else(|| String::from("the exploration did not find the bug")),
            )
        }
    })
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
