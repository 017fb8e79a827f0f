//! Output formats.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object per line (schema: crates/raddle-cli/schema/result.json)
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// XML of JUnit, for continuous integration
    Junit,
    /// Graphs of executions for Graphviz
    Dot,
    /// A web page with the executions, as one file
    Html,
    /// The format of herd, for litmus tests
    Herd,
}

/// The options that choose the format and the file of the output.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// The format of the output
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,

    /// Write the output to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl OutputArgs {
    /// The format that was chosen, with the short forms `--json` and `--herd`.
    pub(crate) fn format(&self, json: bool, herd: bool) -> Format {
        match self.format {
            Some(format) => format,
            None if json => Format::Json,
            None if herd => Format::Herd,
            None => Format::Text,
        }
    }

    /// The file to write; standard output without one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }
}
