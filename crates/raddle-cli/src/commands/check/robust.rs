//! Whether a litmus test is robust.

use std::time::Instant;

use raddle_core::model::Model;
use raddle_core::program::Naming;
use raddle_explore::Leaf;
use raddle_explore::counterexample::{self, Style};
use raddle_explore::plan::Plan;
use raddle_explore::robustness::{self, Finding};
use raddle_litmus::{LitmusProgram, Test};

use crate::args::CheckArgs;
use crate::results::check::{Answer, Bug, Verdict, bound};

/// What is said of a program without an execution that SC does not allow.
pub(super) fn sentence_of_none(model: Model) -> String {
    format!("robust: sc allows every execution that {model} allows\n")
}

/// Explores a test and compares its executions with those of SC. Its condition does not matter.
pub(super) fn check(name: &str, test: &Test, plan: Plan, args: &CheckArgs) -> Answer {
    let start = Instant::now();
    let model = plan.model;
    let mut program = LitmusProgram::new(test, args.unroll);
    let is_bug = |leaf: &dyn Leaf| leaf.ending().is_bug();
    let robustness::Answer { summary, finding } =
        robustness::check(&mut program, plan, &args.limits(), &is_bug);
    let found = finding.map(|finding| told(&program, model, finding));
    let bound = bound(summary.extent).map(str::to_owned).filter(|_| found.is_none());
    let (verdict, word) = match (&found, &bound) {
        (Some((bug, _)), _) => (Verdict::Bug, bug.kind.clone()),
        (None, Some(_)) => (Verdict::Incomplete, String::from("incomplete")),
        (None, None) => (Verdict::Clean, String::from("robust")),
    };
    let text = match (&found, &bound) {
        (Some((bug, report)), _) => format!("{}\n\n{report}", bug.message),
        (None, Some(bound)) => format!("incomplete: {bound}\n"),
        (None, None) => sentence_of_none(model),
    };
    let bug = found.map(|(bug, _)| bug);
    Answer {
        program: name.to_owned(),
        model,
        verdict,
        classes: summary.classes,
        blocked: summary.blocked,
        executions: summary.histories,
        seconds: start.elapsed().as_secs_f64(),
        trace: bug.as_ref().map(|bug| bug.trace.clone()),
        bug,
        bound,
        estimate: None,
        litmus: None,
        word,
        text: format!("{name}, {model}: {text}"),
    }
}

/// What was found, and the report of it.
fn told(program: &LitmusProgram<'_>, model: Model, finding: Finding) -> (Bug, String) {
    let style = Style::default();
    let history = |trace| program.history(trace).unwrap_or_else(|error| format!("# {error:?}\n"));
    match finding {
        Finding::NotRobust(found) => {
            let bug = Bug {
                kind: String::from("not-robust"),
                message: robustness::sentence(program, model, &found, &style),
                place: robustness::place(program, &found, &style),
                trace: history(&found.trace),
            };
            (bug, robustness::report(program, model, &found, &style))
        }
        Finding::Wrong(ending, trace) => {
            let place = counterexample::place(&ending, &trace);
            let bug = Bug {
                kind: String::from("failure"),
                message: counterexample::sentence(program, &ending, &trace, &style),
                place: place.map_or(String::new(), |at| program.place(at)),
                trace: history(&trace),
            };
            (bug, counterexample::execution(program, model, &ending, &trace, &style))
        }
    }
}
