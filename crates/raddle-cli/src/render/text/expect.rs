//! The text of `raddle check --expect`.

use std::fmt::Write as _;

use crate::output::{Output, OutputError, print_error};
use crate::results::check::{Comparison, Difference};

/// Prints the differences and how many there are; `quiet`: to standard error.
pub(crate) fn print(
    comparison: &Comparison,
    quiet: bool,
    output: &mut Output,
) -> Result<(), OutputError> {
    let Comparison { agree, differences } = comparison;
    let mut text = String::from("\n");
    for Difference { program, model, message, .. } in differences {
        let _ = writeln!(text, "{program}, {model}: {message}");
    }
    let _ = writeln!(text, "{agree} as expected, {} not", differences.len());
    if quiet {
        print_error(text.trim());
        return Ok(());
    }
    output.text(&text)
}
