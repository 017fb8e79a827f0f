//! The options of `raddle replay`.

use std::path::PathBuf;

use clap::Args;

/// The options of `raddle replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The file that `raddle check --trace` has written
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
}
