//! What came of it, for people.

use std::fmt::Write;

use raddle_bmc::{BmcCounterexample, BmcOptions, BmcVerdict, Model};

use raddle_explore::counterexample::{self, Style};

use crate::results::bmc::{Confirmation, Outcome};

/// The whole answer.
pub(crate) fn text(outcome: &Outcome) -> String {
    let Outcome { program, options, report, confirmation } = outcome;
    let mut text = format!("{}, {}: ", program.display(), options.model.name());
    match &report.verdict {
        BmcVerdict::Bug(bug) => text += &found(bug, confirmation.as_ref()),
        BmcVerdict::Safe => {
            let _ = writeln!(
                text,
                "clean: nothing is wrong, and {} leave no execution out",
                bounds(options)
            );
        }
        BmcVerdict::Bounded(reasons) => {
            let _ = writeln!(text, "no bug within {}", bounds(options));
            for reason in reasons {
                let _ = writeln!(text, "  {reason}");
            }
        }
        BmcVerdict::Timeout => {
            let _ = writeln!(text, "the time was up: nothing is known of {}", bounds(options));
        }
    }
    let size = &report.statistics;
    let _ = writeln!(
        text,
        "{}, {}, {}; {} variables, {} clauses, {:.3} s",
        counted(size.threads, "thread"),
        counted(size.statements, "visible statement"),
        counted(size.cells, "shared cell"),
        size.variables,
        size.clauses,
        size.seconds
    );
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The bounds, as the options are called.
pub(crate) fn bounds(options: &BmcOptions) -> String {
    let mut text = format!("rounds={}, unwind={}", options.rounds, options.unwind);
    if options.model != Model::Sc {
        match options.abstraction {
            raddle_bmc::Abstraction::Stamps => {}
            raddle_bmc::Abstraction::Simple => {
                let _ = write!(text, ", nodes={}", options.nodes);
            }
            raddle_bmc::Abstraction::Etso => {
                let _ = write!(text, ", nodes={}, K={}", options.nodes, options.max_time);
            }
        }
    }
    if let Some(bits) = options.bits {
        let _ = write!(text, ", bits={bits}");
    }
    text
}

fn found(bug: &BmcCounterexample, confirmation: Option<&Confirmation>) -> String {
    let mut text = match confirmation {
        Some(Confirmation::Confirmed(_, native)) => {
            counterexample::report(native, &Style::in_working_directory())
        }
        _ => own(bug),
    };
    if !bug.inputs.is_empty() {
        text += "Inputs:\n";
        for input in &bug.inputs {
            let _ = writeln!(
                text,
                "  {}: {}() = {}  {}",
                input.thread, input.function, input.value, input.place
            );
        }
        text.push('\n');
    }
    match confirmation {
        Some(Confirmation::Confirmed(..)) => {
            text += "The execution is one of the compiled program.\n";
        }
        Some(Confirmation::Unknown(why)) => {
            let _ = writeln!(text, "Not confirmed by the compiled program: {}", why.trim_end());
        }
        Some(Confirmation::Contradicted) => {
            text += "The compiled program contradicts this: no execution with these inputs goes wrong.\n";
        }
        None => {}
    }
    text
}

/// The bug as the solver found it.
fn own(bug: &BmcCounterexample) -> String {
    let mut text = format!("thread {}: {}\n  at {}\n\n", bug.thread, bug.message, bug.place);
    let width =
        bug.steps.iter().map(|step| step.thread.len() + step.text.len()).max().unwrap_or(0) + 2;
    let mut round = 0;
    for step in &bug.steps {
        if step.round != round {
            round = step.round;
            text.push('\n');
        }
        let told = format!("{}  {}", step.thread, step.text);
        let _ = writeln!(text, "  {told:width$}  {}", step.place);
    }
    text.push('\n');
    text
}
