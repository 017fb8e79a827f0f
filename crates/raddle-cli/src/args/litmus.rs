//! The options of `raddle litmus`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use raddle_explore::plan::Language;

/// What `raddle litmus --help` shows below the options.
pub(super) const EXAMPLES: &str = "\
Relaxations: Rfe, Fre, Wse (between threads), Rfi, Fri, Wsi (within a thread), PodWR, PosRR and similar
(program order, different or same location), MFencedWR, SFencedWW, LFencedRR, DpAddrdR, DpDatadW,
DpCtrldW, Rmw.

Examples:
  raddle litmus PodWR Fre PodWR Fre
  raddle litmus 'PodWW Rfe PodRR Fre' 'MFencedWR Fre PodWR Fre' --arch C
  raddle litmus --all 4 PodWR PodWW PodRR Fre Rfe Wse --output tests";

/// The options of `raddle litmus`.
#[derive(Debug, Args)]
pub(crate) struct LitmusArgs {
    /// The relaxations of one cycle, or several cycles, each in quotes
    #[arg(value_name = "CYCLE", required = true)]
    pub(crate) cycles: Vec<String>,

    /// The language of the tests: X86 or C
    #[arg(long, value_name = "ARCH", default_value = "X86", value_parser = language)]
    pub(crate) arch: Language,

    /// Generate all cycles of length N from the relaxations
    #[arg(long, value_name = "N")]
    pub(crate) all: Option<NonZero<usize>>,

    /// Write each test to its own file in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

fn language(name: &str) -> Result<Language, String> {
    match name {
        "X86" => Ok(Language::X86),
        "C" => Ok(Language::C),
        _ => Err(format!("unknown architecture '{name}': expected X86 or C")),
    }
}
