//! The options of `raddle replay`.

use std::path::PathBuf;

use clap::Args;

/// The options of `raddle replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The file that `raddle check --trace` has written
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The C or C++ compiler [default: gcc or clang; the one named in the trace is never run]
    #[arg(long, value_name = "COMPILER")]
    pub(crate) cc: Option<String>,

    /// Pass all flags of the trace to the compiler, also those that may run programs or write files
    #[arg(long)]
    pub(crate) trust_flags: bool,
}
