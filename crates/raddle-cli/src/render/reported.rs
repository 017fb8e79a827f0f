//! Results of all commands in one form, for the formats that show findings and executions: SARIF, JUnit, DOT and HTML.

use std::path::Path;

use raddle_core::outcome::{Finding, FindingKind, Verdict};
use raddle_explore::counterexample::data::{ExecutionData, data};
use raddle_explore::counterexample::{self, Style};

use super::execution;
use crate::results::bmc::BmcResult;
use crate::results::check::{CheckResult, ProgramResults};

/// The result for one program under one model.
#[derive(Default)]
pub(crate) struct Reported<'a> {
    /// The command: `check`, `bmc` or `verify`.
    pub(crate) command: &'static str,
    pub(crate) program: String,
    pub(crate) model: &'static str,
    /// `clean`, `bug`, `incomplete`, `consistent`, `inconsistent`, `unknown` or `error`.
    pub(crate) verdict: &'static str,
    /// What was explored, in one line.
    pub(crate) counts: String,
    pub(crate) seconds: f64,
    pub(crate) findings: Vec<ReportedFinding<'a>>,
    /// Why not everything was explored, or why nothing was.
    pub(crate) reason: Option<String>,
    pub(crate) remarks: Vec<String>,
    /// An execution that is no error: what a litmus test asks for, or a history that a model allows.
    pub(crate) execution: Option<ExecutionData>,
}

/// An error.
pub(crate) struct ReportedFinding<'a> {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) place: String,
    /// The finding of an exploration.
    pub(crate) finding: Option<&'a Finding>,
    pub(crate) execution: Option<ExecutionData>,
}

impl<'a> ReportedFinding<'a> {
    fn new(finding: &'a Finding, style: &Style) -> Self {
        ReportedFinding {
            kind: finding.kind.name(),
            message: finding.message.clone(),
            place: finding.place_text().to_owned(),
            finding: Some(finding),
            execution: finding.trace.as_ref().map(|trace| data(trace, style, false)),
        }
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        match self.finding {
            Some(finding) => counterexample::report(finding, &Style::in_working_directory()),
            None => format!("{}\n", self.message),
        }
    }
}

/// The results of `raddle check`.
pub(crate) fn of_check(programs: &[ProgramResults]) -> Vec<Reported<'_>> {
    let mut all = vec![];
    for ProgramResults { name, results, failed, refused } in programs {
        let error = |model: &'static str, reason: String| Reported {
            command: "check",
            program: name.clone(),
            model,
            verdict: "error",
            reason: Some(reason),
            ..Reported::default()
        };
        match results {
            Err(why) => all.push(error("", why.message.clone())),
            Ok(results) => all.extend(results.iter().map(of_result)),
        }
        all.extend(failed.iter().map(|(model, why)| error(model.name(), why.message.clone())));
        all.extend(refused.iter().map(|why| error(why.model.name(), why.to_string())));
    }
    all
}

fn of_result(result: &CheckResult) -> Reported<'_> {
    let style = Style::in_working_directory();
    let outcome = &result.outcome;
    let is_bug = |finding: &&Finding| finding.kind != FindingKind::Unsupported;
    let findings = outcome.findings.iter().filter(is_bug);
    let findings: Vec<ReportedFinding<'_>> =
        findings.map(|finding| ReportedFinding::new(finding, &style)).collect();
    let unsupported = outcome.findings.iter().find(|finding| !is_bug(finding));
    let shown = execution::shown(result).filter(|_| findings.is_empty());
    Reported {
        command: "check",
        program: result.program.clone(),
        model: result.model().name(),
        verdict: outcome.verdict.name(),
        counts: outcome.counts_text(),
        seconds: outcome.counts.seconds,
        findings,
        reason: match (unsupported, &outcome.bound) {
            (Some(finding), _) => Some(finding.to_string()),
            (None, bound) => bound.as_ref().map(ToString::to_string),
        },
        remarks: outcome.remarks.clone(),
        execution: shown.map(|trace| data(trace, &style, false)),
    }
}

/// The result of `raddle bmc`.
pub(crate) fn of_bmc(result: &BmcResult) -> Reported<'_> {
    let style = Style::in_working_directory();
    let outcome = &result.report.outcome;
    let is_bug = outcome.verdict == Verdict::Bug;
    let found = result.reported().filter(|_| is_bug);
    Reported {
        command: "bmc",
        program: result.program.display().to_string(),
        model: result.options.model.name(),
        verdict: outcome.verdict.name(),
        counts: super::text::bmc::bounds(&result.options),
        seconds: outcome.counts.seconds,
        findings: found.map(|finding| ReportedFinding::new(finding, &style)).into_iter().collect(),
        reason: outcome.bound.as_ref().map(ToString::to_string),
        ..Reported::default()
    }
}

/// A file and a line of a place in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileLine {
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// The file and the line of a place: of `a.c:7`, or of `line 7: MOV [x],$1` in a litmus test.
pub(crate) fn file_line(program: &str, place: &str) -> Option<FileLine> {
    if let Some(rest) = place.strip_prefix("line ") {
        let line = rest.split(':').next()?.parse().ok()?;
        return Some(FileLine { file: program.to_owned(), line });
    }
    let (file, line) = place.rsplit_once(':')?;
    let line = line.parse().ok()?;
    let is_file = !file.is_empty() && Path::new(file).file_name().is_some();
    (is_file && line > 0).then(|| FileLine { file: file.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_files_and_lines() {
        let of = |place| file_line("t.litmus", place).map(|it| (it.file, it.line));
        assert_eq!(of("a/b.c:7"), Some((String::from("a/b.c"), 7)));
        assert_eq!(of("line 4: MOV [x],$1"), Some((String::from("t.litmus"), 4)));
        assert_eq!(of("the start"), None);
        assert_eq!(of("a library"), None);
    }
}
