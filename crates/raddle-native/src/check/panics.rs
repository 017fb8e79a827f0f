//! What a panic says.
//!
//! The hook of the standard library prints `thread 'name' panicked at file:line:column:` and the message. A test that fails, or a
//! thread that aborts because of a panic, has printed that before.

use raddle_core::outcome::{Finding, FindingKind, Place};

/// Replaces the sentence of a finding by what the last panic printed.
pub(super) fn describe(finding: &mut Finding) {
    let can_panic = matches!(finding.kind, FindingKind::Panic | FindingKind::Abort);
    let Some(trace) = finding.trace.as_ref().filter(|_| can_panic) else { return };
    let Some(Panic { thread, place, message }) = last_panic(&trace.printed) else { return };
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    finding.message = format!("thread '{thread}' panicked{message}");
    finding.place = Some(Place::new(place));
}

#[derive(Debug, PartialEq, Eq)]
struct Panic {
    thread: String,
    place: String,
    message: String,
}

/// The last panic that was printed.
fn last_panic(printed: &str) -> Option<Panic> {
    const HEAD: &str = "thread '";
    let lines: Vec<&str> = printed.lines().collect();
    let at =
        lines.iter().rposition(|line| line.starts_with(HEAD) && line.contains(" panicked at "))?;
    let (thread, place) = lines[at][HEAD.len()..].split_once(" panicked at ")?;
    let thread = thread.rsplit_once('\'').map_or(thread, |(name, _)| name);
    // The column is not part of places.
    let place = place.trim_end_matches(':');
    let place = place.rsplit_once(':').map_or(place, |(place, _)| place);
    let is_message =
        |line: &&&str| !line.starts_with("note: ") && !line.starts_with("stack backtrace:");
    let message: Vec<&str> =
        lines[at + 1..].iter().take_while(is_message).take(3).copied().collect();
    let message = message.iter().map(|line| line.trim()).collect::<Vec<_>>().join(", ");
    Some(Panic { thread: thread.to_owned(), place: place.to_owned(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_panic_counts() {
        let printed = "\nthread 'main' panicked at src/a.rs:1:2:\nfirst\nnote: run with\n\n\
                       thread '<unnamed>' (2) panicked at src/lib.rs:10:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run\n";
        let panic = Panic {
            thread: "<unnamed>".into(),
            place: "src/lib.rs:10".into(),
            message: "assertion `left == right` failed, left: 1, right: 2".into(),
        };
        assert_eq!(last_panic(printed), Some(panic));
        assert_eq!(last_panic("thread 'a' is fine\n"), None);
    }
}
