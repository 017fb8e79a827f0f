//! Exit statuses.

use std::process::ExitCode;

/// The result of a command. Variants are in the order of precedence: the exit status is the greatest of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// No history is inconsistent and no program has a bug.
    #[default]
    Good,
    /// A check was given up, or a bound was reached.
    Unknown,
    /// A history is inconsistent under a model, or a program has a bug.
    Inconsistent,
    /// Invalid input, invalid usage, or a bug in Raddle itself.
    Failed,
    /// A signal with this number ended the command.
    Interrupted(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Good => 0,
            Status::Inconsistent => 1,
            Status::Failed => 2,
            Status::Unknown => 3,
            Status::Interrupted(signal) => 128 + signal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Status::{Failed, Good, Inconsistent, Interrupted, Unknown};

    #[test]
    fn interrupted_precedes_failed_precedes_inconsistent_precedes_unknown_precedes_good() {
        assert!(Interrupted(2) > Failed);
        assert!(Failed > Inconsistent && Inconsistent > Unknown && Unknown > Good);
    }
}
