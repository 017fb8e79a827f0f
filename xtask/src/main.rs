//! Structural checks and measurements of this workspace.
//!
//! ```text
//! cargo xtask cycles [CRATE...]
//! cargo xtask figures [DIR]
//! ```
//!
//! `cycles` fails if sibling modules of a crate use each other in a cycle, or if a crate depends on
//! a crate that comes later in the dependency order. Without arguments it checks all packages in
//! `crates/`. See [`cycles`] for the definition and [`source`] for the limits of the analysis, and
//! [`order`] for the order of the crates.
//!
//! `figures` prints the number and length of functions, the reuse of type names, the share of
//! documented functions and the number of module cycles, per crate and in total. `DIR` is the root
//! of another checkout of the workspace. See [`figures`] for the definitions.
//!
//! Both commands analyse the library and binary targets of the packages in `crates/`, without code
//! that is compiled only for tests. The workspace is the one of the current directory.
//!
//! Exit status: 0 if there is nothing to report, 1 if a check failed, 2 if the command line or the
//! sources cannot be read.

#![forbid(unsafe_code)]

mod cycles;
mod figures;
mod graph;
mod order;
mod source;
#[cfg(test)]
mod test_crate;
mod workspace;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask cycles [CRATE...]   check for module cycles and the order of the crates
       cargo xtask figures [DIR]       print figures of the source code";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(Answer { text, passed }) => {
            // A reader that closes the pipe has seen enough.
            let _ = std::io::stdout().write_all(text.as_bytes());
            if passed { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// The output of a command.
struct Answer {
    text: String,
    passed: bool,
}

fn run(args: &[String]) -> Result<Answer, String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["cycles", names @ ..] => {
            let workspace = Workspace::load(Path::new("."))?;
            check_structure(&workspace.select(names)?, &workspace)
        }
        ["figures"] => measure(Path::new(".")),
        ["figures", dir] => measure(Path::new(dir)),
        _ => Err(format!("unknown command line\n{USAGE}")),
    }
}

fn check_structure(
    packages: &[&workspace::Package],
    workspace: &Workspace,
) -> Result<Answer, String> {
    let cycles = cycles::report(packages, &workspace.root)?;
    let violations = order::violations(packages, &workspace.members);
    let mut text = cycles.text;
    for violation in &violations {
        text.push_str(&format!("{violation}\n"));
    }
    if violations.is_empty() {
        text.push_str("dependencies between crates: one-way\n");
    }
    Ok(Answer { text, passed: cycles.passed && violations.is_empty() })
}

fn measure(dir: &Path) -> Result<Answer, String> {
    let workspace = Workspace::load(dir)?;
    let text = figures::report(&workspace.packages, &workspace.root)?;
    Ok(Answer { text, passed: true })
}
