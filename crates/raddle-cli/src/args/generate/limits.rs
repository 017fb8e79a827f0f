//! How large the numbers of `--generate` may be.
//!
//! A history is made in memory, with up to 400 bytes for an event and up to 1000 for a thread, a
//! location or a lock. A slip of the finger is refused before memory runs out.

use std::fmt::Display;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The most threads, locations, locks and histories.
const MOST: usize = 1_000_000;

/// The most events of a history, and of reads to change.
const MOST_EVENTS: usize = 10_000_000;

/// Why so many events are refused, if they are.
pub(super) fn too_many_events(threads: usize, events: usize) -> Option<&'static str> {
    (threads.saturating_mul(events) > MOST_EVENTS)
        .then_some("--threads times --events is more than 10000000, the most events of a history")
}

/// Parses a number of things of which there must be one.
pub(super) fn some(text: &str) -> Result<NonZero<usize>, String> {
    in_range(text, NonZero::<usize>::MIN..=super::positive(MOST))
}

/// Parses a number of things of which there may be none.
pub(super) fn any(text: &str) -> Result<usize, String> {
    in_range(text, 0..=MOST)
}

/// Parses a number of events.
pub(super) fn events(text: &str) -> Result<usize, String> {
    in_range(text, 0..=MOST_EVENTS)
}

/// Parses a number and says what is expected instead of one out of range.
pub(super) fn in_range<T>(text: &str, range: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
}
