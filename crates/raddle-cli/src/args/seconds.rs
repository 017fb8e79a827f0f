//! Durations on the command line.

use std::time::Duration;

/// Parses a duration in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let expected = || format!("'{text}' is no duration: expected seconds, such as 60 or 0.5");
    let seconds: f64 = text.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| expected())
}
