//! C and C++ programs: files that are compiled, linked together and explored.

use std::fmt::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_c::{Error, Kept, Object, Outcome, Parts, Progress, Request, Source};
use raddle_explore::parallel::checkpoint::{self, Keeper};
use raddle_explore::plan::{Language, Plan};

use super::checkpoint::fingerprint;
use super::front_end::{self, FrontEnd};
use super::progress::ProgressLine;
use super::{estimate, robust};
use crate::args::CheckArgs;
use crate::output::complain;
use crate::recorded::Recorded;
use crate::render::text::native::describe;
use crate::results::check::{Answer, Bug, LoadError, UNSUPPORTED, Verdict};

/// How long it is looked how large an exploration is.
const LOOK: Duration = Duration::from_secs(1);

/// A program that was compiled.
struct NativeProgram {
    name: String,
    source: Source,
    object: Object,
}

/// Whether a file is part of a C or C++ program.
pub(super) fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "cc" | "cpp" | "cxx" | "o" | "so"))
}

/// Compiles a program.
pub(super) fn load(files: &[PathBuf], args: &CheckArgs) -> Result<Box<dyn FrontEnd>, LoadError> {
    let (flags, _) = args.halves();
    let source = Source { files: files.to_vec(), flags: flags.to_vec(), compiler: args.cc.clone() };
    let object = raddle_c::build(&source).map_err(|error| told(&error))?;
    let name = front_end::name(files);
    Ok(Box::new(NativeProgram { name, source, object }))
}

fn told(error: &Error) -> LoadError {
    match error {
        Error::File { why, .. } => LoadError::new(format!("cannot read: {why}")),
        _ => LoadError::new(error.to_string()),
    }
}

impl NativeProgram {
    fn request(&self, plan: Plan, args: &CheckArgs) -> Request {
        let limits = args.limits();
        let timeout =
            limits.deadline.map(|end| end.saturating_duration_since(std::time::Instant::now()));
        Request {
            source: self.source.clone(),
            arguments: args.halves().1.to_vec(),
            model: plan.model,
            explorer: plan.explorer,
            max_executions: limits.classes,
            timeout,
            robust: args.robust,
            leaks: args.leaks,
            ..Request::new(&[])
        }
    }

    fn answer(&self, request: &Request, outcome: Outcome) -> Answer {
        let verdict = match outcome.verdict {
            raddle_c::Verdict::Clean => Verdict::Clean,
            raddle_c::Verdict::Bug if is_refused(&outcome) => Verdict::Incomplete,
            raddle_c::Verdict::Bug => Verdict::Bug,
            raddle_c::Verdict::Incomplete => Verdict::Incomplete,
        };
        let explorer = request.explorer.only_last(outcome.classes + outcome.blocked);
        let made = Request { explorer, ..request.clone() };
        let recorded = outcome.bug.as_ref().map(|bug| Recorded::new(&made, bug).to_string());
        let text = self.text(request, &outcome);
        let bug = outcome.bug.map(|bug| Bug {
            kind: bug.kind.name().to_owned(),
            message: bug.message,
            place: bug.place,
            trace: bug.schedule,
        });
        Answer {
            program: self.name.clone(),
            model: request.model,
            verdict,
            classes: outcome.classes,
            blocked: outcome.blocked,
            executions: outcome.executions,
            seconds: outcome.seconds,
            word: bug.as_ref().map_or(word(verdict), |bug| bug.kind.as_str()).to_owned(),
            bug,
            bound: outcome.bound,
            estimate: None,
            litmus: None,
            text,
            trace: recorded,
        }
    }

    fn text(&self, request: &Request, outcome: &Outcome) -> String {
        let mut text = format!("{}, {}: ", self.name, request.model);
        if let Some(bug) = &outcome.bug {
            text += &describe(bug);
            text += &seed_of_bug(request, outcome);
            text += "To keep the execution and run it again: raddle check --trace FILE ..., raddle replay FILE\n\n";
        } else if let Some(bound) = &outcome.bound {
            let _ = writeln!(text, "incomplete: {bound}");
        } else if request.robust {
            text += &robust::sentence_of_none(request.model);
        } else {
            text += "clean: all executions were explored, and nothing is wrong\n";
        }
        text + &counts(outcome)
    }
}

/// Which run the bug was found in, if runs have seeds.
fn seed_of_bug(request: &Request, outcome: &Outcome) -> String {
    let runs = outcome.classes + outcome.blocked;
    let last = request.explorer.only_last(runs);
    let Some(sampling) = last.sampling() else { return String::new() };
    let name = last.name();
    format!("Found in run {runs}: --explorer {name} --seed {} --iterations 1\n", sampling.seed)
}

/// Whether the program does what is not modelled.
fn is_refused(outcome: &Outcome) -> bool {
    outcome.bug.as_ref().is_some_and(|bug| bug.kind.name() == UNSUPPORTED)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Bug => "bug",
        Verdict::Incomplete => "incomplete",
    }
}

fn counts(outcome: &Outcome) -> String {
    let Outcome { classes, blocked, executions, seconds, .. } = outcome;
    let plural = if *classes == 1 { "" } else { "es" };
    format!(
        "{classes} class{plural} of executions, {blocked} that did not end, {executions} runs of \
         single threads, {seconds:.3} s\n"
    )
}

impl FrontEnd for NativeProgram {
    fn language(&self) -> Language {
        Language::C
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn check(&self, plan: Plan, args: &CheckArgs, jobs: NonZero<usize>) -> Answer {
        let request = self.request(plan, args);
        if args.estimate {
            return self.estimate(request);
        }
        let explored = self.explore(&request, args, jobs);
        explored.map_or_else(|answer| *answer, |outcome| self.answer(&request, outcome))
    }
}

impl NativeProgram {
    fn explore(
        &self,
        request: &Request,
        args: &CheckArgs,
        jobs: NonZero<usize>,
    ) -> Result<Outcome, Box<Answer>> {
        let refused = |why: String| Box::new(self.refused(request, why));
        let (resumed, keeper) = kept(request, args).map_err(refused)?;
        let line = ProgressLine::new(args.json);
        let note = |progress: &Progress<'_>| {
            line.note(progress.classes());
            if let Some(keeper) = &keeper {
                keeper.note(progress.is_last, || progress.kept());
            }
        };
        let parts = Parts { jobs, resumed, observer: Some(&note), ..Parts::default() };
        let size = || raddle_c::estimate(&self.object, request, u64::MAX, LOOK).ok().flatten();
        let outcome = line.show(size, || raddle_c::check_parts(&self.object, request, parts));
        if let Some(trouble) = keeper.as_ref().and_then(Keeper::trouble) {
            complain(trouble);
        }
        outcome.map_err(|error| Box::new(self.incomplete(request, &error)))
    }

    /// Explores for a while, and if that does not suffice says how large the exploration is.
    fn estimate(&self, mut request: Request) -> Answer {
        request.timeout = Some(request.timeout.map_or(LOOK, |timeout| timeout.min(LOOK)));
        let outcome = match raddle_c::check_built(&self.object, &request) {
            Ok(outcome) => outcome,
            Err(error) => return self.incomplete(&request, &error),
        };
        let rate = outcome.classes as f64 / (outcome.seconds - outcome.start_up).max(0.001);
        let answer = self.answer(&request, outcome);
        if answer.verdict != Verdict::Incomplete {
            return answer;
        }
        match raddle_c::estimate(&self.object, &request, u64::MAX, LOOK) {
            Ok(estimate) => estimate::with_size(answer, estimate, rate),
            Err(error) => self.incomplete(&request, &error),
        }
    }

    /// The system does not let us explore the program, although it could be compiled.
    fn incomplete(&self, request: &Request, error: &Error) -> Answer {
        let text = format!("{}, {}: incomplete: {error}\n", self.name, request.model);
        self.nothing(request, text, Some(error.to_string()), None)
    }

    /// What is left of an earlier exploration does not fit.
    fn refused(&self, request: &Request, message: String) -> Answer {
        let text = format!("{}, {}: {message}\n", self.name, request.model);
        let kind = UNSUPPORTED.to_owned();
        let bug = Bug { kind, message, place: String::new(), trace: String::new() };
        self.nothing(request, text, None, Some(bug))
    }

    /// Nothing was explored.
    fn nothing(
        &self,
        request: &Request,
        text: String,
        bound: Option<String>,
        bug: Option<Bug>,
    ) -> Answer {
        Answer {
            program: self.name.clone(),
            model: request.model,
            verdict: Verdict::Incomplete,
            classes: 0,
            blocked: 0,
            executions: 0,
            seconds: 0.0,
            bug,
            bound,
            estimate: None,
            litmus: None,
            word: word(Verdict::Incomplete).to_owned(),
            text,
            trace: None,
        }
    }
}

/// What is left of an earlier exploration, and who keeps what is left of this one.
fn kept(request: &Request, args: &CheckArgs) -> Result<(Option<Kept>, Option<Keeper>), String> {
    if args.resume.is_none() && args.checkpoint.is_none() {
        return Ok((None, None));
    }
    let program = fingerprint(request)?;
    let resumed = match &args.resume {
        None => None,
        Some(file) => Some(checkpoint::read(file, &program)?),
    };
    let keeper = match &args.checkpoint {
        None => None,
        Some(file) => {
            let kept = resumed.clone().unwrap_or_default();
            Some(Keeper::new(file, args.every, program, &kept)?)
        }
    };
    Ok((resumed, keeper))
}
