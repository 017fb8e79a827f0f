//! The JSON of `raddle check`: one object for each result or error.

use raddle_core::model::Model;
use raddle_core::outcome::{Finding, FindingKind, Related, Symmetry, Verdict};
use raddle_explore::counterexample::Style;
use raddle_explore::counterexample::data::{ExecutionData, data};
use raddle_litmus::{FinalStates, LitmusTest};
use serde::Serialize;

use crate::output::{Output, OutputError};
use crate::render::execution;
use crate::results::check::{CheckResult, LoadError, ProgramResults};

/// The version of the schema (`schema/result.json`). It grows if a field changes its meaning or disappears.
pub(super) const VERSION: u32 = 2;

#[derive(Serialize)]
struct ResultLine<'a> {
    /// The version of the schema.
    version: u32,
    command: &'static str,
    program: &'a str,
    model: &'static str,
    by: &'static str,
    explorer: &'static str,
    verdict: Verdict,
    classes: u64,
    blocked: u64,
    executions: u64,
    /// If threads were symmetric: which, and the counts of classes with renamed threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetry: Option<&'a Symmetry>,
    seconds: f64,
    /// With random and pct: the seed of the run that shows the finding, or of the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bug: Option<Bug<'a>>,
    /// With --keep-going: the other findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_bugs: Vec<Bug<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    litmus: Option<Litmus<'a>>,
}

/// A finding.
#[derive(Serialize)]
struct Bug<'a> {
    kind: FindingKind,
    message: &'a str,
    place: &'a str,
    #[serde(skip_serializing_if = "<[Related]>::is_empty")]
    related: &'a [Related],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    why: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    help: &'a [String],
    /// The whole execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<ExecutionData>,
    /// The execution as the schedule of a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// The execution of a litmus test as a history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<String>,
}

/// The estimated size of the exploration.
#[derive(Serialize)]
struct Size {
    classes: f64,
    /// The standard error of `classes`.
    error: f64,
    seconds: f64,
}

/// The final states of a litmus test.
#[derive(Serialize)]
struct Litmus<'a> {
    test: &'a str,
    /// `exists`, `~exists` or `forall`.
    quantifier: &'static str,
    /// The quantifier and the condition.
    condition: String,
    /// In herd's order.
    states: Vec<String>,
    positive: u64,
    negative: u64,
    /// `Never`, `Sometimes` or `Always`.
    observation: &'static str,
    /// Whether the claim of the quantifier holds.
    ok: bool,
    /// Whether an execution has a data race.
    race: bool,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    version: u32,
    command: &'static str,
    program: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    error: &'a LoadError,
}

impl<'a> ErrorLine<'a> {
    fn new(program: &'a str, model: Option<Model>, error: &'a LoadError) -> Self {
        let model = model.map(Model::name);
        ErrorLine { version: VERSION, command: "check", program, model, error }
    }
}

/// Prints the results, the models that do not support a program, and the errors.
pub(crate) fn print(programs: &[ProgramResults], output: &mut Output) -> Result<(), OutputError> {
    for ProgramResults { name, results, failed, refused } in programs {
        match results {
            Err(error) => {
                output.json(&ErrorLine::new(name, None, error))?;
            }
            Ok(results) => {
                for result in results {
                    output.json(&line(result))?;
                }
            }
        }
        for (model, error) in failed {
            output.json(&ErrorLine::new(name, Some(*model), error))?;
        }
        for unsupported in refused {
            let error = &LoadError::new(unsupported.to_string());
            output.json(&ErrorLine::new(name, Some(unsupported.model), error))?;
        }
    }
    Ok(())
}

fn line(result: &CheckResult) -> ResultLine<'_> {
    let (explorer, outcome) = (result.plan.explorer, &result.outcome);
    ResultLine {
        version: VERSION,
        command: "check",
        program: &result.program,
        model: result.model().name(),
        by: explorer.equivalence().name(),
        explorer: explorer.name(),
        verdict: outcome.verdict,
        classes: outcome.counts.classes,
        blocked: outcome.counts.blocked,
        executions: outcome.counts.executions,
        symmetry: outcome.symmetry.as_ref(),
        seconds: outcome.counts.seconds,
        seed: explorer.sampling().map(|sampling| {
            let sample = outcome.finding().and_then(|finding| finding.sample.as_ref());
            sample.map_or(sampling.seed, |sample| sample.seed)
        }),
        bug: outcome.finding().map(|finding| bug(result, finding)),
        more_bugs: outcome.findings.iter().skip(1).map(|finding| bug(result, finding)).collect(),
        remarks: &outcome.remarks,
        bound: outcome.bound.as_ref().map(ToString::to_string),
        estimate: outcome.estimate.map(|estimate| Size {
            classes: estimate.classes,
            error: estimate.error,
            seconds: outcome.estimated_seconds().unwrap_or_default(),
        }),
        litmus: result.finals().map(|(test, finals)| litmus(result, test, finals)),
    }
}

fn bug<'a>(result: &CheckResult, finding: &'a Finding) -> Bug<'a> {
    Bug {
        kind: finding.kind,
        message: &finding.message,
        place: finding.place_text(),
        related: &finding.related,
        why: &finding.why,
        help: &finding.help,
        trace: finding
            .trace
            .as_ref()
            .map(|trace| data(trace, &Style::in_working_directory(), true)),
        schedule: finding.schedule.as_ref().map(ToString::to_string),
        history: execution::history_of(result, finding),
    }
}

fn litmus<'a>(result: &CheckResult, test: &'a LitmusTest, finals: &FinalStates) -> Litmus<'a> {
    Litmus {
        test: &test.name,
        quantifier: test.quantifier.name(),
        condition: test.condition_text(),
        states: finals.states.iter().map(|state| test.state_text(state)).collect(),
        positive: finals.positive,
        negative: finals.negative,
        observation: finals.observation(),
        ok: finals.is_ok(test),
        race: raddle_litmus::has_race(&result.outcome),
    }
}
