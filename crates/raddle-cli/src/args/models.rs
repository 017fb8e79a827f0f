//! The options of `raddle models`.

use clap::Args;

/// The options of `raddle models`.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Print one JSON object per line for each model
    #[arg(long)]
    pub(crate) json: bool,
}
