//! The `raddle` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_cli::main()
}
