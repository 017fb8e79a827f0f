//! How one event happens before another, in plain English.

use super::hb::{HappensBefore, HbStep, How};
use super::phrases::Phrases;
use super::shorten;
use raddle_core::execution::{Action, EventId};

/// How an event happens before another: the path, and below it a reason for every synchronization.
pub(super) fn happens_before(
    words: Phrases<'_>,
    order: &HappensBefore<'_>,
    from: EventId,
    to: EventId,
) -> Vec<String> {
    let path = order.path(from, to).unwrap_or_default();
    match path.as_slice() {
        [] => vec![format!("{} happens before {}", words.name(from), words.name(to))],
        [HbStep { how: How::Program, .. }] if words.execution.is_init(from) => {
            vec!["initial values are there from the start".to_owned()]
        }
        [HbStep { how: How::Program, .. }] => vec!["program order".to_owned()],
        [HbStep { how: How::Thread, .. }] => vec![threads(words, from, to)],
        [step @ HbStep { how: How::Synchronizes { .. }, .. }] => {
            synchronizes(words, order, step).into_iter().collect()
        }
        path => {
            let arrows = format!("it happens before, by {}", arrows(words, path));
            let reasons = path.iter().filter_map(|step| synchronizes(words, order, step));
            shorten([arrows].into_iter().chain(reasons).collect(), "reasons")
        }
    }
}

/// `P0.0 happens before P1.0 (P0.0 -po-> P0.1 -sw-> P1.0)`.
pub(super) fn in_brackets(
    words: Phrases<'_>,
    order: &HappensBefore<'_>,
    from: EventId,
    to: EventId,
) -> String {
    let path = order.path(from, to).unwrap_or_default();
    let (one, other) = (words.name(from), words.name(to));
    match path.as_slice() {
        [] => format!("{one} happens before {other}"),
        [HbStep { how: How::Program, .. }] => {
            format!("{one} comes before {other} in program order")
        }
        path => format!("{one} happens before {other} ({})", arrows(words, path)),
    }
}

/// `P0.0 -po-> P0.1 -sw-> P1.0`, cut in the middle if it is long.
fn arrows(words: Phrases<'_>, path: &[HbStep]) -> String {
    let arrow = |step: &HbStep| {
        let relation = match step.how {
            How::Program => "po",
            How::Thread => "asw",
            How::Synchronizes { .. } => "sw",
        };
        format!("{} -{relation}->", words.name(step.from))
    };
    let mut parts = shorten(path.iter().map(arrow).collect(), "steps");
    parts.extend(path.last().map(|step| words.name(step.to)));
    parts.join(" ")
}

/// How spawn or join orders two events.
pub(super) fn threads(words: Phrases<'_>, from: EventId, to: EventId) -> String {
    let thread_name = |thread| &words.execution.thread(thread).name;
    match (words.execution.action(from), words.execution.action(to)) {
        (_, &Action::Join { thread }) => {
            format!("{} waits for the end of {}", words.name(to), thread_name(thread))
        }
        (&Action::Spawn { thread }, _) => {
            format!("{} starts {}", words.name(from), thread_name(thread))
        }
        _ => "spawn and join keep this order".to_owned(),
    }
}

/// Why the start of a step synchronizes with its end, if it does.
fn synchronizes(words: Phrases<'_>, order: &HappensBefore<'_>, step: &HbStep) -> Option<String> {
    let How::Synchronizes { write, read } = step.how else { return None };
    let source = order.source(read)?;
    let name = |event| words.name(event);
    let (from, to) = (name(step.from), name(step.to));
    let is_fence = |event| words.execution.action(event).location().is_none();
    if words.is_lock(read) {
        let lock = words.location(read);
        return Some(format!(
            "{from} synchronizes with {to}, which takes {lock} after its release"
        ));
    }
    if step.from == source && step.to == read {
        let location = words.location(read);
        return Some(format!(
            "{from} synchronizes with {to}: it releases {location}, and {to} reads that and acquires"
        ));
    }
    let release = match step.from == write {
        true => format!("{from} releases"),
        false if is_fence(step.from) => format!("{from} is a release fence before {}", name(write)),
        false => {
            let location = words.location(write);
            format!("{from} releases, {} is a later write of {location} there", name(write))
        }
    };
    let acquire = match step.to == read {
        true => format!("{to} acquires"),
        false => format!("{to} is an acquire fence after {}", name(read)),
    };
    let chain = match source == write {
        true => String::new(),
        false => format!(", the end of a chain of updates that starts with {}", name(write)),
    };
    let reads = words.reads(read, source);
    Some(format!("{from} synchronizes with {to}: {release}, {acquire}, and {reads}{chain}"))
}
