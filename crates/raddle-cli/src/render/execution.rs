//! Executions in the formats of other commands.

use raddle_core::outcome::Finding;
use raddle_core::trace::NamedTrace;
use raddle_litmus::LitmusTest;

use crate::results::check::{CheckResult, LitmusResult};

/// The content of the file of `--trace`: for `raddle replay` the finding of a C or C++ program; for `raddle verify` the
/// execution of a litmus test that shows the finding or answers the test.
pub(crate) fn trace_file(result: &CheckResult) -> Option<String> {
    match &result.litmus {
        None => result.recorded.as_ref().map(ToString::to_string),
        Some(LitmusResult { test, .. }) => shown(result).map(|trace| history(test, trace)),
    }
}

/// The execution of a litmus test that shows the finding, or else answers what the test asks.
pub(crate) fn shown(result: &CheckResult) -> Option<&NamedTrace> {
    let finding = result.outcome.finding().and_then(|finding| finding.trace.as_ref());
    finding.or_else(|| result.finals()?.1.witness.as_ref())
}

/// The execution of a finding in JSON: a schedule, or for a litmus test a history.
pub(crate) fn text_of(result: &CheckResult, finding: &Finding) -> String {
    match (&finding.schedule, &result.litmus, &finding.trace) {
        (Some(schedule), ..) => schedule.to_string(),
        (None, Some(LitmusResult { test, .. }), Some(trace)) => history(test, trace),
        _ => String::new(),
    }
}

fn history(test: &LitmusTest, trace: &NamedTrace) -> String {
    test.history(trace).unwrap_or_else(|error| format!("# {error:?}\n"))
}
