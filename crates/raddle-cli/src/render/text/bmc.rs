//! The result of `raddle bmc`.

use std::fmt::Write;

use raddle_bmc::{Abstraction, BmcCounterexample, BmcOptions, BmcReport};
use raddle_core::model::Model;
use raddle_core::outcome::{Bound, Finding};
use raddle_explore::counterexample;

use crate::render::style::style;
use crate::results::bmc::{BmcResult, Confirmation};

/// The verdict, the counterexample if there is one, and the size of the formula.
pub(crate) fn text(result: &BmcResult) -> String {
    let BmcResult { program, options, report, .. } = result;
    let mut text = format!("{}, {}: ", program.display(), options.model.name());
    match (report.outcome.finding(), &report.outcome.bound) {
        (Some(finding), _) => text += &found(result, finding),
        (None, None) => {
            let bounds = bounds(options);
            let _ =
                writeln!(text, "clean: no execution has a bug, and {bounds} exclude no execution");
        }
        (None, Some(Bound::Deadline)) => {
            let bounds = bounds(options);
            let _ =
                writeln!(text, "the time limit was reached within {bounds}: increase --timeout");
        }
        (None, Some(Bound::Excluded(reasons))) => {
            let _ = writeln!(text, "no bug within {}", bounds(options));
            for reason in reasons {
                let _ = writeln!(text, "  {reason}");
            }
        }
        (None, Some(bound)) => {
            let _ = writeln!(text, "incomplete: {bound}");
        }
    }
    text + &sizes(report)
}

fn sizes(report: &BmcReport) -> String {
    let size = &report.statistics;
    format!(
        "{}, {}, {}; {} variables, {} clauses, {:.3} s\n",
        counted(size.threads, "thread"),
        counted(size.statements, "visible statement"),
        counted(size.cells, "shared cell"),
        size.variables,
        size.clauses,
        report.outcome.counts.seconds
    )
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The bounds, named after their options.
pub(crate) fn bounds(options: &BmcOptions) -> String {
    let mut text = format!("rounds={}, unwind={}", options.rounds, options.unwind);
    if options.model != Model::Sc {
        match options.abstraction {
            Abstraction::Stamps => {}
            Abstraction::Simple => {
                let _ = write!(text, ", nodes={}", options.nodes);
            }
            Abstraction::Etso => {
                let _ = write!(text, ", nodes={}, K={}", options.nodes, options.max_time);
            }
        }
    }
    if let Some(bits) = options.bits {
        let _ = write!(text, ", bits={bits}");
    }
    text
}

fn found(result: &BmcResult, finding: &Finding) -> String {
    let BmcResult { report, confirmation, .. } = result;
    let Some(bug) = &report.counterexample else { return format!("{finding}\n") };
    let mut text = match confirmation {
        Some(Confirmation::Confirmed(_, native)) => counterexample::report(native, &style(false)),
        _ => solver_report(finding, bug),
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
        Some(Confirmation::Confirmed(_, native)) => {
            text += "Confirmed: the compiled program has this execution.\n";
            if !is_same_bug(finding, native) {
                let (kind, place) = (finding.kind, finding.place_text());
                let _ = writeln!(
                    text,
                    "The counterexample of the solver ends differently ({kind} at {place}): {}",
                    finding.message
                );
            }
        }
        Some(Confirmation::Unknown(why) | Confirmation::Failed(why)) => {
            let _ = writeln!(text, "Not confirmed by the compiled program: {}", why.trim_end());
        }
        Some(Confirmation::Contradicted) => {
            text += "The compiled program contradicts this: no execution with these inputs has the bug.\n";
        }
        None => {}
    }
    text
}

/// Returns `true` if both findings are the same kind of error at the same place. Their messages differ in wording.
fn is_same_bug(solver: &Finding, native: &Finding) -> bool {
    (solver.kind, solver.place_text()) == (native.kind, native.place_text())
}

/// The finding with the execution that the solver found.
fn solver_report(finding: &Finding, bug: &BmcCounterexample) -> String {
    let mut text = format!("{finding}\n\n");
    let width =
        bug.steps.iter().map(|step| step.thread.len() + step.text.len()).max().unwrap_or(0) + 2;
    let mut round = 0;
    for step in &bug.steps {
        if step.round != round {
            round = step.round;
            text.push('\n');
        }
        let step_text = format!("{}  {}", step.thread, step.text);
        let _ = writeln!(text, "  {step_text:width$}  {}", step.place);
    }
    text.push('\n');
    text
}
