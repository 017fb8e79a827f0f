//! Executions in the formats of other commands.

use std::path::Path;

use raddle_core::outcome::Finding;
use raddle_core::schedule::Schedule;
use raddle_core::trace::NamedTrace;
use raddle_litmus::LitmusTest;

use crate::recorded::RecordedFile;
use crate::recorded_litmus::RecordedLitmus;
use crate::results::check::{CheckResult, LitmusResult};

/// The content of the file of `--trace`: for `raddle replay` the finding of a C or C++ program; for `raddle verify` and `raddle
/// replay` the execution of a litmus test that shows the finding or answers the test.
pub(crate) fn trace_file(result: &CheckResult) -> Option<String> {
    match &result.litmus {
        None => result.recorded.as_ref().map(ToString::to_string),
        Some(litmus) => shown(result).map(|trace| {
            recorded_litmus(result, litmus, trace).line() + &history(&litmus.test, trace)
        }),
    }
}

fn recorded_litmus(
    result: &CheckResult,
    litmus: &LitmusResult,
    trace: &NamedTrace,
) -> RecordedLitmus {
    let schedule = Schedule::of_trace(&trace.trace);
    let schedule = match trace.ending.is_bug() {
        true => schedule.ending_as(&trace.ending, &trace.trace),
        false => schedule,
    };
    RecordedLitmus {
        test: RecordedFile::new(Path::new(&result.program)),
        model: result.model().name().to_owned(),
        unroll: litmus.unroll,
        kind: result.outcome.kind(),
        schedule,
    }
}

/// The execution of a litmus test that shows the finding, or else answers what the test asks.
pub(crate) fn shown(result: &CheckResult) -> Option<&NamedTrace> {
    let finding = result.outcome.finding().and_then(|finding| finding.trace.as_ref());
    finding.or_else(|| result.finals()?.1.witness.as_ref())
}

/// The execution of a finding of a litmus test as a history.
pub(crate) fn history_of(result: &CheckResult, finding: &Finding) -> Option<String> {
    let LitmusResult { test, .. } = result.litmus.as_ref()?;
    Some(history(test, finding.trace.as_ref()?))
}

fn history(test: &LitmusTest, trace: &NamedTrace) -> String {
    test.history(trace).unwrap_or_else(|error| format!("# {error:?}\n"))
}
