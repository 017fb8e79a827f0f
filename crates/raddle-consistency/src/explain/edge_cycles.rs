//! Sentences for cycles of two events under store-buffer models.
//!
//! Such a cycle usually means that a read missed a write that came before it, or observed one that came later. That is
//! easier to understand than the cycle.

use super::phrases::Phrases;
use crate::witness::{OrderEdge, Why};
use raddle_core::execution::EventId;

/// What a cycle of two events means, as a sentence without a full stop, if there is one for its shape.
pub(super) fn sentence(words: Phrases<'_>, cycle: &[OrderEdge]) -> Option<String> {
    let [_, _] = cycle else { return None };
    cycle.iter().find_map(|edge| match edge.why {
        Why::BeforeSource { read } | Why::OwnStoreFirst { read } => {
            missed_write(words, read, edge.to, edge.from)
        }
        Why::BeforeOverwrite { source } => missed_write(words, edge.from, source, edge.to),
        Why::ReadsFrom if words.execution.sources(edge.to) == [edge.from] => {
            Some(format!("{}, which comes later", words.reads(edge.to, edge.from)))
        }
        _ => None,
    })
}

/// `read` observes `source`, which `missed` overwrites before the read.
fn missed_write(
    words: Phrases<'_>,
    read: EventId,
    source: EventId,
    missed: EventId,
) -> Option<String> {
    let execution = words.execution;
    let is_known = |event| execution.sources(event) == [source];
    let updates = |event| execution.action(event).is_atomic_update() && is_known(event);
    if updates(read) && updates(missed) {
        return Some(both_update(words, read.min(missed), read.max(missed), source));
    }
    let (reads, missed) = (words.reads(read, source), words.name(missed));
    match (is_known(read), words.is_lock(read), execution.is_init(source)) {
        (true, true, true) => Some(format!("{reads}, but {missed} comes before")),
        (true, true, false) => Some(format!("{reads}, but {missed} comes in between")),
        (true, false, _) => Some(format!("{reads} after {missed} has overwritten it")),
        (false, false, true) => Some(format!(
            "{} can only read the initial value of {}, but {missed} has overwritten it before",
            words.name(read),
            words.location(read),
        )),
        (false, _, _) => None,
    }
}

/// Two atomic updates of the same write: the second would have to see the first.
pub(super) fn both_update(
    words: Phrases<'_>,
    one: EventId,
    other: EventId,
    source: EventId,
) -> String {
    let (location, from) = (words.location(one), words.name(source));
    let what = match (words.is_lock(one), words.execution.is_init(source)) {
        (true, true) => format!("are both the first to take {location}"),
        (true, false) => format!("both take {location} from {from}"),
        (false, true) => format!("both update {location} from its initial value"),
        (false, false) => format!("both update {location} from {from}"),
    };
    format!("{} and {} {what}", words.name(one), words.name(other))
}
