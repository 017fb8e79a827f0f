//! The text of `raddle check`: one result in full, several as a table.

use std::fmt::Write as _;

use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Counts, CutLimit, Finding, Outcome, Verdict};
use raddle_core::trace::Ending;
use raddle_explore::counterexample::{self, Style};
use raddle_litmus::{FinalStates, LitmusTest, Quantifier};

use super::units::{rounded, time};
use crate::output::{Output, OutputError, print_error};
use crate::render::table::table;
use crate::render::{execution, herd};
use crate::results::check::{CheckResult, ProgramResults};

/// How much to print, and how.
pub(crate) struct Detail {
    /// Every result in full, even if there are several.
    pub(crate) each: bool,
    /// Also an execution of each litmus test.
    pub(crate) explain: bool,
    /// Nothing but errors.
    pub(crate) quiet: bool,
    /// The layout of reports.
    pub(crate) style: Style,
}

/// Prints the results.
pub(crate) fn print(
    detail: &Detail,
    programs: &[ProgramResults],
    output: &mut Output,
) -> Result<(), OutputError> {
    let results: Vec<&CheckResult> =
        programs.iter().flat_map(|program| program.results.iter().flatten()).collect();
    if detail.each || results.len() == 1 {
        for result in &results {
            output.text(&full_text(result, detail))?;
        }
        output.flush()?;
        results.into_iter().for_each(|result| print_incomplete(result, detail));
        return Ok(());
    }
    let is_bug = |result: &&CheckResult| result.outcome.verdict == Verdict::Bug;
    if results.is_empty() || detail.quiet && !results.iter().any(is_bug) {
        return Ok(());
    }
    output.text(&table(&rows(programs, &results)))?;
    let notes = notes(programs, &results);
    if notes.is_empty() { Ok(()) } else { output.text(&format!("\n{notes}")) }
}

/// Prints to standard error that a full result is incomplete, if its text does not show this.
fn print_incomplete(result: &CheckResult, detail: &Detail) {
    let head = head(result);
    if let Some(finding) = result.failure() {
        print_error(format_args!("{head}: {}, {}", finding.message, finding.place_text()));
    }
    let outcome = &result.outcome;
    let is_shown = result.finals().is_none()
        && outcome.finding().is_none()
        && outcome.estimate.is_none()
        && !detail.quiet;
    if let Some(bound) = outcome.bound.as_ref().filter(|_| !is_shown) {
        print_error(format_args!("{head}: incomplete: {}", reason(bound)));
    }
}

fn head(result: &CheckResult) -> String {
    format!("{}, {}", result.program, result.model())
}

/// The text of one result.
pub(crate) fn full_text(result: &CheckResult, detail: &Detail) -> String {
    match result.finals() {
        _ if detail.quiet && result.outcome.verdict != Verdict::Bug => String::new(),
        Some((test, finals)) => litmus_text(result, test, finals, detail),
        None => {
            let text = outcome_text(result, detail);
            let gap = if is_report(result) { "\n" } else { " " };
            format!("{}:{gap}{text}", head(result))
        }
    }
}

/// Returns `true` if the text of a result begins with a report of its own.
fn is_report(result: &CheckResult) -> bool {
    let findings = &result.outcome.findings;
    findings.len() == 1 && findings[0].trace.is_some() && result.outcome.estimate.is_none()
}

/// The final states of a litmus test as herd prints them, and an execution.
fn litmus_text(
    result: &CheckResult,
    test: &LitmusTest,
    finals: &FinalStates,
    detail: &Detail,
) -> String {
    let has_race = raddle_litmus::has_race(&result.outcome);
    let mut text = format!("{}\n", herd::text(test, finals, has_race));
    if detail.explain
        && let Some(trace) = execution::shown(result)
    {
        let message = match (&trace.ending, result.outcome.finding()) {
            (Ending::Complete, _) | (_, None) => witness_sentence(test, result.model()),
            (_, Some(finding)) => finding.message.clone(),
        };
        let execution = counterexample::execution(trace, &detail.style);
        let _ = write!(text, "{message}\n\n{execution}\n");
    }
    text
}

/// What the witness of a litmus test shows.
fn witness_sentence(test: &LitmusTest, model: Model) -> String {
    let holds = match test.quantifier {
        Quantifier::Exists | Quantifier::NotExists => "satisfies",
        Quantifier::Forall => "does not satisfy",
    };
    format!("{model} allows an execution that {holds} the condition.")
}

/// Why a result is incomplete, and the option that lifts the limit.
fn reason(bound: &Bound) -> String {
    let advice = match bound {
        Bound::Classes => "raise it with --max-executions",
        Bound::Deadline => "raise it with --timeout",
        Bound::Events => "raise it with --max-events, or bound loops with --unroll",
        Bound::LoopIterations => "raise it with --unroll",
        Bound::LongExecution(cut) => match cut.limit {
            CutLimit::Events { rounds: 2.., .. } | CutLimit::Endless { .. } => {
                "bound its rounds with --unroll, or test with --explorer random"
            }
            CutLimit::Events { .. } => "raise the limit with --max-events",
            CutLimit::Rounds => "raise the limit with --unroll",
        },
        _ => return bound.to_string(),
    };
    format!("{bound}: {advice}")
}

fn outcome_text(result: &CheckResult, detail: &Detail) -> String {
    let outcome = &result.outcome;
    let mut text = match (outcome.finding(), &outcome.bound) {
        _ if outcome.estimate.is_some() => return estimate_text(outcome),
        (Some(finding), _) if finding.trace.is_none() => return format!("{}\n", finding.message),
        (Some(_), _) if outcome.findings.len() > 1 => {
            all_findings_text(&outcome.findings, &detail.style)
        }
        (Some(finding), _) => finding_text(finding, &detail.style),
        (None, Some(bound)) => format!("incomplete: {}\n", reason(bound)),
        (None, None) if result.robust => {
            format!("robust: sc allows every execution that {} allows\n", result.model())
        }
        (None, None) => {
            String::from("clean: all executions were explored, and none shows an error\n")
        }
    };
    for remark in &outcome.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    if detail.quiet {
        return text;
    }
    // Litmus tests and programs that were not explored have no counts.
    if result.litmus.is_none() && outcome.counts != Counts::default() {
        let _ = writeln!(text, "{}", outcome.counts_text());
    }
    text
}

/// Several findings, numbered.
fn all_findings_text(findings: &[Finding], style: &Style) -> String {
    let mut text = format!("{} errors were found\n\n", findings.len());
    for (number, finding) in (1..).zip(findings) {
        let _ = write!(text, "{number}. {}", finding_text(finding, style));
    }
    text
}

/// A finding with its execution, and how to get it again.
fn finding_text(finding: &Finding, style: &Style) -> String {
    let mut text = counterexample::report(finding, style);
    if finding.schedule.is_none() {
        return format!("{}\n", text.trim_end());
    }
    if let Some(sample) = &finding.sample {
        let (number, explorer, seed) = (sample.number, &sample.explorer, sample.seed);
        let again = format!("--explorer {explorer} --seed {seed} --iterations 1");
        let _ = writeln!(text, "Found in run {number}: {again}");
    }
    text + "To replay this execution: raddle check --trace FILE ..., then raddle replay FILE\n\n"
}

fn estimate_text(outcome: &Outcome) -> String {
    let estimate = outcome.estimate.unwrap_or_default();
    format!(
        "about {} execution classes (standard error {}), estimated time {}\n",
        rounded(estimate.classes),
        rounded(estimate.error),
        time(outcome.estimated_seconds().unwrap_or_default()),
    )
}

/// One row for each program, one column for each model.
fn rows(programs: &[ProgramResults], results: &[&CheckResult]) -> Vec<Vec<String>> {
    let used = |model: &Model| results.iter().any(|result| result.model() == *model);
    let models: Vec<Model> = Model::ALL.into_iter().filter(used).collect();
    let names = models.iter().map(|model| model.name().to_owned());
    let mut rows = vec![["program".to_owned()].into_iter().chain(names).collect()];
    for program in programs.iter().filter(|program| program.results.is_ok()) {
        let cell = |&model| program.result(model).map_or("-".to_owned(), cell);
        rows.push([program.name.clone()].into_iter().chain(models.iter().map(cell)).collect());
    }
    rows
}

/// A result in the table. A question mark: executions that were not explored may change it.
fn cell(result: &CheckResult) -> String {
    let outcome = &result.outcome;
    if let Some((test, finals)) = result.finals() {
        let doubt = if finals.is_settled(test) { "" } else { "?" };
        let race = if raddle_litmus::has_race(outcome) { ", race" } else { "" };
        return format!("{}{doubt}{race}", finals.observation());
    }
    match (outcome.finding(), outcome.verdict) {
        (Some(finding), _) if finding.trace.is_some() => finding.kind.name().to_owned(),
        (_, Verdict::Clean) if result.robust && result.litmus.is_some() => "robust".to_owned(),
        (_, verdict) => verdict.name().to_owned(),
    }
}

/// What the table does not show: messages, bounds, and why models do not support a program.
fn notes(programs: &[ProgramResults], results: &[&CheckResult]) -> String {
    let mut notes = String::new();
    for result in results {
        let head = head(result);
        if let (Verdict::Bug, Some(finding)) = (result.outcome.verdict, result.outcome.finding()) {
            let _ = writeln!(notes, "{head}: {}", finding.message);
        }
        if let Some(bound) = &result.outcome.bound {
            let _ = writeln!(notes, "{head}: incomplete: {}", reason(bound));
        }
        for remark in &result.outcome.remarks {
            let _ = writeln!(notes, "{head}: note: {remark}");
        }
    }
    let mut reasons: Vec<String> = (programs.iter())
        .filter(|program| program.results.as_ref().is_ok_and(|results| !results.is_empty()))
        .flat_map(|program| program.refused.iter().map(|unsupported| format!("-: {unsupported}\n")))
        .collect();
    reasons.sort();
    reasons.dedup();
    notes + &reasons.concat()
}
