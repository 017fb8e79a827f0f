//! Why SC forbids an execution, and which fences restore SC.

use raddle_consistency::page::wrap;
use raddle_core::trace::{
    CycleEdge, CycleRelation, Fence, FenceSearch, FenceSide, NamedTrace, NotRobust,
};

use super::style::Style;
use super::wording::Wording;

/// The cycle and the fences, after the table of the execution.
pub(super) fn explanation(
    trace: &NamedTrace,
    not_robust: &NotRobust,
    wording: &Wording<'_>,
    style: &Style,
) -> String {
    let NotRobust { cycle, fences, .. } = not_robust;
    let mut text = String::new();
    if !cycle.is_empty() {
        text += "\nsc forbids this execution, because its events form a cycle:\n";
    }
    for edge in cycle {
        text += &wrap(&format!("  {}", edge_text(wording, *edge)), 4, style.page);
    }
    if let Some(advice) = advice(trace, fences, style) {
        text += "\n";
        text += &wrap(&advice, 0, style.page);
    }
    text
}

fn edge_text(wording: &Wording<'_>, edge: CycleEdge) -> String {
    let event =
        |at| format!("{} ({}: {})", wording.name(at), wording.thread(at), wording.event(at));
    let why = match edge.relation {
        CycleRelation::ProgramOrder => "program order",
        CycleRelation::SpawnOrJoin => "spawn or join",
        CycleRelation::ReadsFrom => "the second observes the first",
        CycleRelation::Coherence => "the second overwrites the first in memory",
        CycleRelation::FromReads => "the first does not observe the second",
    };
    format!("{} before {}: {why}", event(edge.from), event(edge.to))
}

/// Which fences make the program robust.
fn advice(trace: &NamedTrace, fences: &FenceSearch, style: &Style) -> Option<String> {
    let fences = match fences {
        FenceSearch::NotDone => return None,
        FenceSearch::Deadline => {
            let text = "The time limit was reached before it was known which fences help.";
            return Some(String::from(text));
        }
        FenceSearch::Undecided => {
            return Some(String::from("It is unknown which fences make the program robust."));
        }
        FenceSearch::Found(fences) => fences,
    };
    let place = |fence: &Fence| {
        let side = match fence.side {
            FenceSide::AfterStore => "after the store at",
            FenceSide::BeforeLoad => "before the load at",
        };
        format!("{side} {}", style.place(trace, fence.place))
    };
    let places: Vec<String> = fences.iter().map(place).collect();
    Some(match places.as_slice() {
        [one] => format!("With one full fence the program is robust: {one}."),
        all => format!(
            "With {} full fences, but not with fewer, the program is robust: {}.",
            all.len(),
            all.join("; ")
        ),
    })
}
