//! The exit status of the program.

use std::process::ExitCode;

/// What a run came to, in the order of precedence: of several, the greatest is the exit status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Everything is consistent, or the command has nothing to judge.
    #[default]
    Good,
    /// Some check was given up, or a bound was reached.
    Unknown,
    /// Some history is inconsistent under some model, or some program has a bug.
    Inconsistent,
    /// Bad input, bad usage, or a flaw of Raddle itself.
    Failed,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Good => 0,
            Status::Inconsistent => 1,
            Status::Failed => 2,
            Status::Unknown => 3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Status::{Failed, Good, Inconsistent, Unknown};

    #[test]
    fn bad_input_wins_over_inconsistent_over_unknown_over_good() {
        assert!(Failed > Inconsistent && Inconsistent > Unknown && Unknown > Good);
    }
}
