//! Bugs of compiled programs.

use std::fmt::Write;

/// A bug, at length.
pub(crate) fn describe(bug: &raddle_c::Bug) -> String {
    let mut text = format!("{}\n  at {}\n\n{}", bug.message, bug.place, bug.report);
    text.truncate(text.trim_end().len());
    if !bug.printed.is_empty() {
        let _ = write!(text, "\n\nThe program printed:\n{}", bug.printed.trim_end());
    }
    text + "\n\n"
}
