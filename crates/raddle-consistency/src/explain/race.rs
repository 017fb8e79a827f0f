//! Data races.

use super::phrases::Phrases;
use super::{Page, wrap};
use crate::history;
use raddle_core::execution::{EventId, Execution};

/// The two accesses and why they race, in one sentence without a full stop.
pub(super) fn sentence(execution: &Execution, first: EventId, second: EventId) -> String {
    let location = execution.action(first).location();
    let location = location.map_or("", |location| &execution.location(location).name);
    let is_atomic = |event| execution.order(event).is_atomic();
    let what = |event| without_source(&history::write_event(execution, event)).to_owned();
    let plain = match (is_atomic(first), is_atomic(second)) {
        (false, false) => "neither is atomic".to_owned(),
        (false, true) => format!("{} is not atomic", what(first)),
        (true, _) => format!("{} is not atomic", what(second)),
    };
    format!(
        "{} and {} race on {location}: {} and {} are not ordered by happens-before, and {plain}",
        execution.name(first),
        execution.name(second),
        what(first),
        what(second),
    )
}

fn without_source(event: &str) -> &str {
    event.split_once(" <- ").map_or(event, |(what, _)| what)
}

/// The two accesses, what the race means, and what to do.
pub(super) fn explanation(
    words: Phrases<'_>,
    first: EventId,
    second: EventId,
    page: Page,
) -> String {
    let sentence = wrap(&format!("{}.", sentence(words.execution, first, second)), 2, page);
    let events = [first, second].map(|event| words.event_line(event)).concat();
    let meaning = format!(
        "The behaviour of a program with such a race is undefined in C, C++ and Rust, so {} gives \
         no meaning to this execution.",
        words.model
    );
    let hint = "To order them, hold one lock around each, or let one thread release after its \
                access what the other acquires before; or make both accesses atomic.";
    format!("{sentence}\n{events}\n{}{}", wrap(&meaning, 0, page), wrap(hint, 0, page))
}
