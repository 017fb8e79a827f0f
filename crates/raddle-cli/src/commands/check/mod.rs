//! `raddle check`: explores every program under every model.
//!
//! A file becomes a [`FrontEnd`](front_end::FrontEnd); [`raddle_explore::plan`] knows which models support it.
//! The explorations of several programs and models are independent, so they run on several threads. The output does not
//! depend on the number of threads.

mod applicable;
mod checkpoint;
mod expect;
mod front_end;
mod litmus;
mod load;
mod native;
mod overwrites;
mod progress;
mod trace_file;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use raddle_core::outcome::{Bound, Phase};
use raddle_explore::plan::{self, Explorer, Plan};

use crate::args::{CheckArgs, Format};
use crate::internal_error;
use crate::output::{Output, OutputError, print_error};
use crate::pool::{self, Item};
use crate::render::style::style;
use crate::render::text::check::Detail;
use crate::render::{self, execution, json, reported, text};
use crate::results::check::{CheckResult, LoadError, ProgramResults};
use crate::signals;
use crate::status::Status;
use expect::Expectations;
use front_end::{FrontEnd, Resources};
use trace_file::TraceFile;

/// How long an exploration may take to end when a signal has arrived. Child processes end earlier than that.
const GRACE: Duration = Duration::from_millis(400);

/// A program named on the command line, and the result of loading it.
struct LoadedProgram {
    name: String,
    content: Result<Arc<dyn FrontEnd>, LoadError>,
}

/// A program to explore in one way.
struct Exploration {
    program: Arc<dyn FrontEnd>,
    plan: Plan,
}

/// Explores the programs and prints the results.
pub(crate) fn run(args: &CheckArgs, output: &mut Output) -> Result<Status, OutputError> {
    let explorer = match args.explorer() {
        Ok(explorer) => explorer,
        Err(error) => return Ok(fail(&error)),
    };
    let expectations = match args.expect.as_deref().map(Expectations::read).transpose() {
        Ok(expectations) => expectations,
        Err(error) => return Ok(fail(&error)),
    };
    let files = match load::files(&args.programs) {
        Ok(files) => files,
        Err((path, error)) => return Ok(fail(&format!("{}:{error}", path.display()))),
    };
    let refusal = overwrites::refusal(args, &files).or_else(|| applicable::refusal(args, &files));
    if let Some(error) = refusal {
        return Ok(fail(&error));
    }
    output.redirect(args.output.file())?;
    let trace_file = args.trace.as_deref().map(TraceFile::open).transpose()?;
    if let Err(error) = signals::catch() {
        return Ok(fail(&format!("signals cannot be handled: {error}")));
    }
    let shared = Arc::new(args.clone());
    let programs = match check_all(&shared, explorer, &load::programs(files)) {
        Ok(programs) => programs,
        Err(error) => return Ok(fail(&error)),
    };
    let mut status = print_errors(&programs);
    let format = args.format();
    if let Some(text) = render::common(format, &|| reported::of_check(&programs)) {
        output.text(&text)?;
    } else if format == Format::Json {
        json::check::print(&programs, output)?;
    } else {
        let detail = Detail {
            each: format == Format::Herd || args.explain,
            explain: args.explain,
            quiet: args.quiet,
            style: style(args.full),
        };
        text::check::print(&detail, &programs, output)?;
    }
    let results = || programs.iter().flat_map(|program| program.results.iter().flatten());
    status = match &expectations {
        Some(expectations) => {
            let comparison = expectations.compare(&programs);
            text::expect::print(&comparison, format != Format::Text, output)?;
            status.max(comparison.status())
        }
        None => results().map(CheckResult::status).fold(status, Status::max),
    };
    if let Some(file) = trace_file {
        file.write(results().find_map(execution::trace_file).as_deref())?;
    }
    let was_interrupted =
        |result: &CheckResult| matches!(result.outcome.bound, Some(Bound::Interrupted { .. }));
    let signal = signals::received().filter(|_| results().any(was_interrupted));
    let has_explored = |result: &CheckResult| result.outcome.counts.classes > 0;
    if signal.is_some()
        && results().count() == 1
        && results().all(has_explored)
        && format == Format::Text
    {
        print_error(continuation(args, std::env::args().collect()));
    }
    Ok(signal.map_or(status, Status::Interrupted))
}

/// How to continue an interrupted exploration; `command` is the command line.
fn continuation(args: &CheckArgs, command: Vec<String>) -> String {
    let Some(checkpoint) = &args.checkpoint else {
        return String::from("to continue next time, explore with --checkpoint FILE");
    };
    let mut words: Vec<String> = vec![];
    let mut rest = command.into_iter().skip(2);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--" => {
                words.push(word);
                words.extend(rest.by_ref());
            }
            "--resume" => {
                rest.next();
            }
            _ if word.starts_with("--resume=") => {}
            _ => words.push(word),
        }
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let checkpoint = quoted(&checkpoint.to_string_lossy());
    format!("to continue: raddle check --resume {checkpoint} {}", words.join(" "))
}

/// A word of a command line, in quotes if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn fail(error: &str) -> Status {
    print_error(error);
    Status::Failed
}

/// Explores every program under every requested model that supports it.
pub(crate) fn check_all(
    args: &Arc<CheckArgs>,
    explorer: Explorer,
    programs: &[Vec<PathBuf>],
) -> Result<Vec<ProgramResults>, String> {
    let inputs = pool::map(programs, args.jobs(), |files| LoadedProgram {
        name: front_end::name(files),
        content: load::load(files, args),
    });
    let supported: Vec<SupportedPlans> =
        inputs.iter().map(|input| SupportedPlans::new(args, explorer, input)).collect();
    let explorations: Vec<Exploration> = inputs
        .iter()
        .zip(&supported)
        .filter_map(|(input, supported)| Some((input.content.as_ref().ok()?, supported)))
        .flat_map(|(program, supported)| supported.plans.iter().map(move |&plan| (program, plan)))
        .map(|(program, plan)| Exploration { program: Arc::clone(program), plan })
        .collect();
    why_not_divided(args, &explorations).map_or(Ok(()), Err)?;
    let mut results = explore_all(args, explorations).into_iter();
    let program = |(input, supported): (LoadedProgram, SupportedPlans)| {
        let SupportedPlans { plans, refused } = supported;
        let (mut explored, mut failed) = (vec![], vec![]);
        for plan in plans.into_iter().filter(|_| input.content.is_ok()) {
            match results.next().unwrap_or(Item::Waiting) {
                Item::Done(Ok(result)) => explored.push(result),
                Item::Done(Err(error)) => failed.push((plan.model, error)),
                item => {
                    let bound = missing(&item, input.content.as_deref().ok());
                    let (name, robust) = (input.name.clone(), args.robust);
                    explored.push(CheckResult::not_explored(name, plan, robust, bound));
                }
            }
        }
        let results = input.content.map(|_| explored);
        ProgramResults { name: input.name, results, failed, refused }
    };
    Ok(inputs.into_iter().zip(supported).map(program).collect())
}

/// Why an exploration has no result.
fn missing<R>(item: &Item<R>, program: Option<&dyn FrontEnd>) -> Bound {
    let is_waiting = matches!(item, Item::Waiting);
    let phase = if is_waiting { Phase::Waiting } else { Phase::Exploring };
    let interrupted = Bound::Interrupted { phase, classes: 0 };
    program.and_then(|program| program.not_built()).cloned().unwrap_or(interrupted)
}

/// Explores programs in parallel, until a signal arrives. A single exploration is divided among the workers.
fn explore_all(
    args: &Arc<CheckArgs>,
    explorations: Vec<Exploration>,
) -> Vec<Item<Result<CheckResult, LoadError>>> {
    let is_single = explorations.len() == 1;
    let jobs = if is_single { args.jobs() } else { NonZero::<usize>::MIN };
    let memory = args.memory(explorations.len().min(args.jobs().get()));
    let (resources, shared) = (Resources { jobs, memory }, Arc::clone(args));
    let work =
        move |Exploration { program, plan }: &Exploration| program.check(*plan, &shared, resources);
    pool::map_until(explorations, args.jobs(), work, || signals::received().is_some(), GRACE)
}

/// Why the exploration cannot be divided, if that was requested.
fn why_not_divided(args: &CheckArgs, explorations: &[Exploration]) -> Option<String> {
    let has_checkpoint = args.checkpoint.is_some() || args.resume.is_some();
    let is_divided = args.jobs.is_some_and(|jobs| jobs.get() > 1) && explorations.len() == 1;
    let Exploration { program, plan } = explorations.first()?;
    if has_checkpoint && explorations.len() > 1 {
        return Some(String::from("--checkpoint and --resume require one program and one model"));
    }
    if has_checkpoint && !program.is_divisible() {
        return Some(String::from(
            "litmus tests do not support --checkpoint and --resume: use them with C or C++ programs",
        ));
    }
    plan.is_divisible().err().filter(|_| has_checkpoint || is_divided && program.is_divisible())
}

/// Of the requested models, those that support a program and those that do not.
struct SupportedPlans {
    plans: Vec<Plan>,
    refused: Vec<plan::UnsupportedModel>,
}

impl SupportedPlans {
    fn new(args: &CheckArgs, explorer: Explorer, input: &LoadedProgram) -> Self {
        let (mut plans, mut refused) = (vec![], vec![]);
        if let Ok(program) = &input.content {
            let language = program.language();
            for model in args.models(language) {
                match plan::plan(language, model, explorer) {
                    Ok(plan) if args.robust && !plan.has_robustness() => {
                        let feature = plan::Feature::Robustness;
                        refused.push(plan::UnsupportedModel { feature, model });
                    }
                    Ok(plan) => plans.push(plan),
                    Err(unsupported) => refused.push(unsupported),
                }
            }
        }
        SupportedPlans { plans, refused }
    }
}

/// Reports programs that cannot be read, or that no requested model supports.
pub(crate) fn print_errors(programs: &[ProgramResults]) -> Status {
    let mut status = Status::Good;
    let mut refusals: Vec<(String, &str, usize)> = vec![];
    for ProgramResults { name, results, failed, refused } in programs {
        for error in results.as_ref().err().into_iter().chain(failed.iter().map(|(_, it)| it)) {
            status = Status::Failed;
            match error.is_internal {
                true => internal_error::report(&error.message),
                false => print_error(format_args!("{name}:{error}")),
            }
        }
        match results {
            Ok(results) if results.is_empty() && failed.is_empty() => {
                let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
                let reason = reasons.join("; ");
                match refusals.iter_mut().find(|(known, ..)| *known == reason) {
                    Some((_, _, others)) => *others += 1,
                    None => refusals.push((reason, name, 0)),
                }
            }
            _ => {}
        }
    }
    for (reason, name, others) in refusals {
        let others = if others == 0 { String::new() } else { format!(" and {others} others") };
        status = fail(&format!("{name}{others}: {reason}"));
    }
    status
}
