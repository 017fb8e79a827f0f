//! How a process ends.

use std::fmt;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// By `exit`, or by returning from `main`; 0 to 255.
    Exited(u8),
    /// By the default action of this signal, as `abort` does.
    Signalled(u8),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exited(status) => write!(f, "exit status {status}"),
            Status::Signalled(signal) => write!(f, "signal {signal}"),
        }
    }
}
