//! What is not robust, for people.

use super::{Fence, Link, NotRobust, Side};
use crate::Extent;
use crate::counterexample::{self, Style};
use raddle_consistency::explain::wrap;
use raddle_consistency::witness::Relation;
use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::trace::Ending;

/// What was found, in one sentence.
#[must_use]
pub fn sentence(program: &dyn Program, model: Model, found: &NotRobust, style: &Style) -> String {
    let what = match found.ending {
        Ending::Complete | Ending::Blocked | Ending::Limit(_) => String::new(),
        _ => {
            format!(" ({})", counterexample::sentence(program, &found.ending, &found.trace, style))
        }
    };
    format!("not robust: {model} allows an execution that sc does not{what}")
}

/// Where it shows: the first event of the circle.
#[must_use]
pub fn place(program: &dyn Program, found: &NotRobust, style: &Style) -> String {
    let event = found.cycle.first().and_then(|link| found.part.events.get(link.from));
    event.map_or(String::new(), |event| style.place(program, event.op.place))
}

/// The execution, why SC does not allow it, and which fences help.
#[must_use]
pub fn report(program: &dyn Program, model: Model, found: &NotRobust, style: &Style) -> String {
    let ending = Ending::Complete;
    let mut text = counterexample::execution(program, model, &ending, &found.part, style);
    if !found.cycle.is_empty() {
        text += "\nUnder sc there would be a circle:\n";
        for link in &found.cycle {
            text += &wrap(
                &format!("  {}", link_text(program, model, found, *link, style)),
                4,
                style.page,
            );
        }
    }
    if found.fences == Err(Extent::Stopped) {
        return text;
    }
    text + "\n" + &wrap(&advice(program, found, style), 0, style.page)
}

fn link_text(
    program: &dyn Program,
    model: Model,
    found: &NotRobust,
    link: Link,
    style: &Style,
) -> String {
    let name = |at| counterexample::event(program, model, &found.part, at, style);
    let why = match link.relation {
        Relation::Po => "program order",
        Relation::Asw => "a thread starts after its spawn and ends before its join",
        Relation::Rf => "it is observed by it",
        Relation::Mo => "it is replaced by it in memory",
        _ => "it does not observe it",
    };
    format!("{} before {}: {why}", name(link.from), name(link.to))
}

/// Which fences make the program robust.
#[must_use]
pub fn advice(program: &dyn Program, found: &NotRobust, style: &Style) -> String {
    let fences = match &found.fences {
        Ok(fences) => fences,
        Err(Extent::Deadline) => {
            return String::from("The time was up before it was known which fences help.");
        }
        Err(_) => return String::from("It could not be told which fences help."),
    };
    let place = |fence: &Fence| {
        let side = match fence.side {
            Side::After => "after the store at",
            Side::Before => "before the load at",
        };
        format!("{side} {}", style.place(program, fence.place))
    };
    let places: Vec<String> = fences.iter().map(place).collect();
    match places.as_slice() {
        [one] => format!("With one full fence the program is robust: {one}."),
        all => format!(
            "With {} full fences the program is robust, and not with fewer: {}.",
            all.len(),
            all.join("; ")
        ),
    }
}
