//! Limits for the numbers of `raddle history generate`.
//!
//! A history is generated in memory, with up to 400 bytes per event and up to 1000 per thread, location or lock. The
//! limits reject typing errors before memory is exhausted.

use std::fmt::Display;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The limit for threads, locations, locks and histories.
const MOST: usize = 1_000_000;

/// The limit for events of a history, and for reads to perturb.
const MOST_EVENTS: usize = 10_000_000;

/// The error message if the history would exceed the limit of events.
pub(super) fn too_many_events(threads: usize, events: usize) -> Option<&'static str> {
    (threads.saturating_mul(events) > MOST_EVENTS).then_some(
        "--threads times --events exceeds 10000000, the limit for a history: reduce one of them",
    )
}

/// Parses a number that must be positive.
pub(super) fn positive(text: &str) -> Result<NonZero<usize>, String> {
    in_range(text, NonZero::<usize>::MIN..=super::positive(MOST))
}

/// Parses a number that may be zero.
pub(super) fn count(text: &str) -> Result<usize, String> {
    in_range(text, 0..=MOST)
}

/// Parses a number of events.
pub(super) fn events(text: &str) -> Result<usize, String> {
    in_range(text, 0..=MOST_EVENTS)
}

/// Parses a number; the error names the range.
pub(super) fn in_range<T>(text: &str, range: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
}
