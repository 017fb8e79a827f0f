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
mod progress;
mod trace_file;

use std::num::NonZero;
use std::path::PathBuf;

use raddle_explore::plan::{self, Explorer, Plan};

use crate::args::CheckArgs;
use crate::input;
use crate::output::{Output, OutputError, print_error};
use crate::pool;
use crate::render::text::check::Detail;
use crate::render::{execution, json, text};
use crate::results::check::{CheckResult, LoadError, ProgramResults};
use crate::status::Status;
use expect::Expectations;
use front_end::FrontEnd;
use trace_file::TraceFile;

/// A program named on the command line, and the result of loading it.
struct LoadedProgram {
    name: String,
    content: Result<Box<dyn FrontEnd>, LoadError>,
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
    if args.trace.as_deref().is_some_and(|file| input::is_one_of(file, &files)) {
        return Ok(fail("--trace would overwrite one of the programs: name another file"));
    }
    if let Some(error) = applicable::refusal(args, &files) {
        return Ok(fail(&error));
    }
    let trace_file = args.trace.as_deref().map(TraceFile::open).transpose()?;
    let programs = match check_all(args, explorer, &load::programs(files)) {
        Ok(programs) => programs,
        Err(error) => return Ok(fail(&error)),
    };
    let mut status = print_errors(&programs);
    if args.json {
        json::check::print(&programs, output)?;
    } else {
        let detail = Detail { full: args.herd || args.explain, explain: args.explain };
        text::check::print(detail, &programs, output)?;
    }
    let results = || programs.iter().flat_map(|program| program.results.iter().flatten());
    status = match &expectations {
        Some(expectations) => {
            let comparison = expectations.compare(&programs);
            text::expect::print(&comparison, args.json, output)?;
            status.max(comparison.status())
        }
        None => results().map(CheckResult::status).fold(status, Status::max),
    };
    if let Some(file) = trace_file {
        file.write(results().find_map(execution::trace_file).as_deref())?;
    }
    Ok(status)
}

fn fail(error: &str) -> Status {
    print_error(error);
    Status::Failed
}

/// Explores every program under every requested model that supports it.
fn check_all(
    args: &CheckArgs,
    explorer: Explorer,
    programs: &[Vec<PathBuf>],
) -> Result<Vec<ProgramResults>, String> {
    let inputs = pool::map(programs, args.jobs(), |files| LoadedProgram {
        name: front_end::name(files),
        content: load::load(files, args),
    });
    let supported: Vec<SupportedPlans> =
        inputs.iter().map(|input| SupportedPlans::new(args, explorer, input)).collect();
    let explorations: Vec<(&dyn FrontEnd, Plan)> = inputs
        .iter()
        .zip(&supported)
        .filter_map(|(input, supported)| Some((input.content.as_deref().ok()?, supported)))
        .flat_map(|(program, supported)| supported.plans.iter().map(move |&plan| (program, plan)))
        .collect();
    why_not_divided(args, &explorations).map_or(Ok(()), Err)?;
    // Several explorations run in parallel; a single one is divided among the workers.
    let jobs = if explorations.len() == 1 { args.jobs() } else { NonZero::<usize>::MIN };
    let mut results =
        pool::map(&explorations, args.jobs(), |&(program, plan)| program.check(plan, args, jobs))
            .into_iter();
    let program = |(input, supported): (LoadedProgram, SupportedPlans)| {
        let count = if input.content.is_ok() { supported.plans.len() } else { 0 };
        let results: Vec<Result<CheckResult, LoadError>> = results.by_ref().take(count).collect();
        ProgramResults {
            results: input.content.and_then(|_| results.into_iter().collect()),
            name: input.name,
            refused: supported.refused,
        }
    };
    Ok(inputs.into_iter().zip(supported).map(program).collect())
}

/// Why the exploration cannot be divided, if that was requested.
fn why_not_divided(args: &CheckArgs, explorations: &[(&dyn FrontEnd, Plan)]) -> Option<String> {
    let has_checkpoint = args.checkpoint.is_some() || args.resume.is_some();
    let is_divided = args.jobs.is_some_and(|jobs| jobs.get() > 1) && explorations.len() == 1;
    let (program, plan) = explorations.first()?;
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
fn print_errors(programs: &[ProgramResults]) -> Status {
    let mut status = Status::Good;
    let mut refusals: Vec<(String, &str, usize)> = vec![];
    for ProgramResults { name, results, refused } in programs {
        match results {
            Err(error) => status = fail(&format!("{name}:{error}")),
            Ok(results) if results.is_empty() => {
                let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
                let reason = reasons.join("; ");
                match refusals.iter_mut().find(|(known, ..)| *known == reason) {
                    Some((_, _, others)) => *others += 1,
                    None => refusals.push((reason, name, 0)),
                }
            }
            Ok(_) => {}
        }
    }
    for (reason, name, others) in refusals {
        let others = if others == 0 { String::new() } else { format!(" and {others} others") };
        status = fail(&format!("{name}{others}: {reason}"));
    }
    status
}
