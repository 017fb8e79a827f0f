//! `raddle check`: explores every program under every model.
//!
//! A file becomes a [`FrontEnd`](front_end::FrontEnd); [`raddle_explore::plan`] knows which models support it.
//! The pairs of a program and a model are independent, so they are explored on several threads; what is
//! printed does not depend on how many there are.

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
use crate::output::{Output, OutputError, complain};
use crate::pool;
use crate::render::text::check::Detail;
use crate::render::{execution, json, text};
use crate::results::check::{CheckResult, LoadError, ProgramResults};
use crate::status::Status;
use expect::Expectations;
use front_end::FrontEnd;
use trace_file::TraceFile;

/// A program named on the command line, and the result of loading it.
struct Input {
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
        return Ok(fail("--trace names one of the programs, which would be overwritten"));
    }
    let trace_file = args.trace.as_deref().map(TraceFile::open).transpose()?;
    let programs = match check_all(args, explorer, &load::programs(files)) {
        Ok(programs) => programs,
        Err(error) => return Ok(fail(&error)),
    };
    let mut status = complain_about(&programs);
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
    complain(error);
    Status::Failed
}

fn check_all(
    args: &CheckArgs,
    explorer: Explorer,
    programs: &[Vec<PathBuf>],
) -> Result<Vec<ProgramResults>, String> {
    let inputs = pool::map(programs, args.jobs(), |files| Input {
        name: front_end::name(files),
        content: load::load(files, args),
    });
    let asked: Vec<Asked> = inputs.iter().map(|input| Asked::new(args, explorer, input)).collect();
    let questions: Vec<(&dyn FrontEnd, Plan)> = inputs
        .iter()
        .zip(&asked)
        .filter_map(|(input, asked)| Some((input.content.as_deref().ok()?, asked)))
        .flat_map(|(program, asked)| asked.plans.iter().map(move |&plan| (program, plan)))
        .collect();
    why_not_divided(args, &questions).map_or(Ok(()), Err)?;
    // Several explorations are done at the same time, one alone is divided.
    let jobs = if questions.len() == 1 { args.jobs() } else { NonZero::<usize>::MIN };
    let mut results =
        pool::map(&questions, args.jobs(), |&(program, plan)| program.check(plan, args, jobs))
            .into_iter();
    let program = |(input, asked): (Input, Asked)| ProgramResults {
        results: input.content.map(|_| results.by_ref().take(asked.plans.len()).collect()),
        name: input.name,
        refused: asked.refused,
    };
    Ok(inputs.into_iter().zip(asked).map(program).collect())
}

/// Why the exploration cannot be divided, if that was requested.
fn why_not_divided(args: &CheckArgs, questions: &[(&dyn FrontEnd, Plan)]) -> Option<String> {
    let is_kept = args.checkpoint.is_some() || args.resume.is_some();
    let is_divided = args.jobs.is_some_and(|jobs| jobs.get() > 1) && questions.len() == 1;
    let (program, plan) = questions.first()?;
    if is_kept && questions.len() > 1 {
        return Some(String::from("--checkpoint and --resume are for one program and one model"));
    }
    if is_kept && !program.is_divisible() {
        return Some(String::from("--checkpoint and --resume are for C and C++ programs"));
    }
    plan.is_divisible().err().filter(|_| is_kept || is_divided && program.is_divisible())
}

/// Of the requested models, those that support a program and those that do not.
struct Asked {
    plans: Vec<Plan>,
    refused: Vec<plan::Unsupported>,
}

impl Asked {
    fn new(args: &CheckArgs, explorer: Explorer, input: &Input) -> Self {
        let (mut plans, mut refused) = (vec![], vec![]);
        if let Ok(program) = &input.content {
            let language = program.language();
            for model in args.models(language) {
                match plan::plan(language, model, explorer) {
                    Ok(plan) if args.robust && !plan.has_robustness() => {
                        let what = plan::What::Robustness;
                        refused.push(plan::Unsupported { what, model });
                    }
                    Ok(plan) => plans.push(plan),
                    Err(unsupported) => refused.push(unsupported),
                }
            }
        }
        Asked { plans, refused }
    }
}

/// Reports programs that cannot be read, or that no requested model supports.
fn complain_about(programs: &[ProgramResults]) -> Status {
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
