//! Litmus tests.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::Naming;
use raddle_core::trace::{Ending, Trace};
use raddle_explore::plan::{Language, Plan};
use raddle_explore::{Extent, counterexample};
use raddle_litmus::{self, LitmusProgram, Options, Outcome, Quantifier, Test, Trouble};

use super::front_end::FrontEnd;
use super::{estimate, robust};
use crate::args::CheckArgs;
use crate::results::check::{Answer, Bug, Facts, LoadError, Verdict, bound};

/// A test and where it comes from.
struct LitmusTest {
    name: String,
    test: Test,
}

/// Reads a litmus test.
pub(super) fn load(path: &Path) -> Result<Box<dyn FrontEnd>, LoadError> {
    let bytes = fs::read(path).map_err(|error| LoadError::unreadable(&error))?;
    let test = Test::parse(&bytes).map_err(|error| LoadError {
        line: Some(error.line),
        column: Some(error.column),
        message: error.message,
    })?;
    Ok(Box::new(LitmusTest { name: path.display().to_string(), test }))
}

impl FrontEnd for LitmusTest {
    fn language(&self) -> Language {
        self.test.language
    }

    fn is_divisible(&self) -> bool {
        false
    }

    fn check(&self, plan: Plan, args: &CheckArgs, _: NonZero<usize>) -> Answer {
        if args.estimate {
            return estimate::refused(&self.name, plan.model);
        }
        if args.robust {
            return robust::check(&self.name, &self.test, plan, args);
        }
        let start = Instant::now();
        let options = Options { limits: args.limits(), unroll: args.unroll };
        let outcome = raddle_litmus::explore(&self.test, plan, &options);
        let seconds = start.elapsed().as_secs_f64();
        let told =
            Told { test: &self.test, model: plan.model, outcome: &outcome, unroll: args.unroll };
        let bug = told.bug();
        let runs = outcome.summary.classes + outcome.summary.blocked;
        let bound = match outcome.summary.extent {
            Extent::Sampled => Some(plan.explorer.sampled(runs)),
            extent => bound(extent).map(str::to_owned),
        };
        let verdict = match (&bug, &bound) {
            (Some(_), _) => Verdict::Bug,
            (None, Some(_)) => Verdict::Incomplete,
            (None, None) => Verdict::Clean,
        };
        Answer {
            program: self.name.clone(),
            model: plan.model,
            verdict,
            classes: outcome.summary.classes,
            blocked: outcome.summary.blocked,
            executions: outcome.summary.histories,
            seconds,
            bug,
            bound,
            estimate: None,
            litmus: Some(told.facts()),
            word: told.word(),
            text: told.text(args.explain),
            trace: told.execution().map(|(_, trace)| told.history(trace)),
        }
    }
}

/// An outcome to be told.
struct Told<'a> {
    test: &'a Test,
    model: Model,
    outcome: &'a Outcome,
    unroll: u32,
}

impl Told<'_> {
    fn facts(&self) -> Facts {
        let Told { test, outcome, .. } = *self;
        Facts {
            test: test.name.clone(),
            quantifier: test.quantifier.name(),
            condition: test.condition_text(),
            states: outcome.states.iter().map(|state| test.state_text(state)).collect(),
            positive: outcome.positive,
            negative: outcome.negative,
            observation: outcome.observation(),
            ok: outcome.is_ok(test),
            race: outcome.race.is_some(),
        }
    }

    /// The verdict in a table; a question mark tells that not everything was explored.
    fn word(&self) -> String {
        let outcome = self.outcome;
        let doubt = if outcome.is_settled(self.test) { "" } else { "?" };
        let race = if outcome.race.is_some() { ", race" } else { "" };
        format!("{}{doubt}{race}", outcome.observation())
    }

    fn text(&self, explain: bool) -> String {
        let mut text = format!("{}\n", self.outcome.herd(self.test));
        if explain && let Some((ending, trace)) = self.execution() {
            let program = self.program();
            let style = counterexample::Style::default();
            let sentence = match ending {
                Ending::Complete => self.answer_of(),
                _ => counterexample::sentence(&program, ending, trace, &style),
            };
            let table = counterexample::execution(&program, self.model, ending, trace, &style);
            text += &format!("{sentence}\n\n{table}\n");
        }
        text
    }

    fn program(&self) -> LitmusProgram<'_> {
        LitmusProgram::new(self.test, self.unroll)
    }

    /// The execution to be shown: what goes wrong, or an answer to what the test asks.
    fn execution(&self) -> Option<(&Ending, &Trace)> {
        let Outcome { failure, race, witness, .. } = self.outcome;
        let wrong = failure.as_ref().or(race.as_ref());
        let wrong = wrong.map(|Trouble { ending, trace }| (ending, trace));
        wrong.or(witness.as_ref().map(|trace| (&Ending::Complete, trace)))
    }

    /// What the witness shows.
    fn answer_of(&self) -> String {
        let holds = match self.test.quantifier {
            Quantifier::Exists | Quantifier::NotExists => "satisfies",
            Quantifier::Forall => "does not satisfy",
        };
        format!("{} allows an execution that {holds} the condition.", self.model)
    }

    /// The execution for `raddle verify`.
    fn history(&self, trace: &Trace) -> String {
        self.program().history(trace).unwrap_or_else(|error| format!("# {error:?}\n"))
    }

    fn bug(&self) -> Option<Bug> {
        let claim = self.test.quantifier;
        let excluded = claim != Quantifier::Exists && !self.outcome.is_ok(self.test);
        let (ending, trace) =
            self.execution().filter(|(ending, _)| excluded || **ending != Ending::Complete)?;
        let program = self.program();
        let style = counterexample::Style::default();
        let (kind, message) = match ending {
            Ending::Complete => {
                let message = format!("{} does not hold", self.test.condition_text());
                ("condition", message)
            }
            Ending::Race(..) => ("race", counterexample::sentence(&program, ending, trace, &style)),
            Ending::Failed(_, failure) if failure.kind == FindingKind::Misuse => {
                ("misuse", counterexample::sentence(&program, ending, trace, &style))
            }
            _ => ("failure", counterexample::sentence(&program, ending, trace, &style)),
        };
        let place = counterexample::place(ending, trace);
        let place = place.map_or(String::new(), |at| program.place(at));
        Some(Bug { kind: kind.to_owned(), message, place, trace: self.history(trace) })
    }
}
