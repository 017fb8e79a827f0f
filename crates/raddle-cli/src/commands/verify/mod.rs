//! `raddle verify`: checks every history under every model.
//!
//! The pairs of a history and a model are independent, so they are checked on several threads; what
//! is printed does not depend on how many there are.

mod rechecking;
mod witness_file;

use raddle_consistency::check::CheckOptions;
use raddle_core::execution::Execution;
use raddle_core::model::Model;

use crate::args::VerifyArgs;
use crate::input::{self, Input};
use crate::output::{Output, OutputError, complain};
use crate::pool;
use crate::render::text::rechecking::Tally;
use crate::render::{json, text};
use crate::results::verify::Answer;
use crate::status::Status;
use witness_file::WitnessFile;

/// Checks the histories and prints the verdicts.
pub(crate) fn run(args: &VerifyArgs, output: &mut Output) -> Result<Status, OutputError> {
    let witness_file = args.witness.as_deref().map(WitnessFile::open).transpose()?;
    let inputs = input::load_all(&args.histories, args.jobs());
    witness_file.as_ref().map_or(Ok(()), WitnessFile::clear)?;
    let status = complain_about(&inputs);
    let models = args.models();
    let answers = answer_all(args, &models, &inputs);
    if args.json {
        json::verify::print(&inputs, &models, &answers, output)?;
    } else {
        text::verify::print(&models, &answers, args.explain, output)?;
    }
    if let Some(file) = witness_file {
        file.write(&answers)?;
    }
    if args.recheck && !answers.is_empty() {
        tell_rechecking(&answers, args.json, output)?;
    }
    Ok(answers.iter().map(Answer::status).fold(status, Status::max))
}

fn complain_about(inputs: &[Input]) -> Status {
    let mut status = Status::Good;
    for input in inputs {
        if let Err(error) = &input.content {
            complain(error.message(&input.name));
            status = Status::Failed;
        }
    }
    status
}

/// All answers: history by history, and within a history model by model.
fn answer_all<'a>(args: &VerifyArgs, models: &[Model], inputs: &'a [Input]) -> Vec<Answer<'a>> {
    let questions: Vec<(&str, &Execution, Model)> = inputs
        .iter()
        .filter_map(|input| Some((input.name.as_str(), input.content.as_ref().ok()?)))
        .flat_map(|(name, execution)| models.iter().map(move |&model| (name, execution, model)))
        .collect();
    let options = args.options();
    pool::map(&questions, args.jobs(), |&(history, execution, model)| {
        answer(history, execution, model, &options, args.recheck)
    })
}

fn answer<'a>(
    history: &'a str,
    execution: &'a Execution,
    model: Model,
    options: &CheckOptions,
    recheck: bool,
) -> Answer<'a> {
    let verdict = raddle_consistency::check(execution, model, options);
    let rechecking = recheck.then(|| rechecking::recheck(execution, model, &verdict));
    Answer { history, execution, model, verdict, rechecking }
}

/// Says what rechecking came to; beside JSON, which is for programs, on standard error.
fn tell_rechecking(
    answers: &[Answer<'_>],
    json: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    let tally: Tally = answers.iter().filter_map(|answer| answer.rechecking.as_ref()).collect();
    if json {
        complain(&tally);
    } else {
        output.text(&format!("\n{tally}\n"))?;
    }
    output.flush()?;
    rechecking::complain_about_failures(answers);
    Ok(())
}
