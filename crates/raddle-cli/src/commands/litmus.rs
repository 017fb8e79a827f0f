//! `raddle litmus`: litmus tests generated from cycles of relaxations.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use raddle_litmus::{Cycle, CycleError};

use crate::args::LitmusArgs;
use crate::output::{Output, OutputError, print_error};
use crate::status::Status;

/// Generates the tests and prints them, or writes each to a file.
pub(crate) fn run(args: &LitmusArgs, output: &mut Output) -> Result<Status, OutputError> {
    let tests = match tests(args) {
        Ok(tests) => tests,
        Err(error) => {
            print_error(error);
            return Ok(Status::Failed);
        }
    };
    if tests.is_empty() {
        print_error(
            "the relaxations form no cycle of this length: use other relaxations, or another --all",
        );
        return Ok(Status::Failed);
    }
    match &args.output {
        None => {
            let texts: Vec<&str> = tests.iter().map(|(_, text)| text.as_str()).collect();
            output.text(&texts.join("\n"))?;
        }
        Some(directory) => write(directory, &tests)?,
    }
    Ok(Status::Good)
}

/// The names and texts of the tests.
fn tests(args: &LitmusArgs) -> Result<Vec<(String, String)>, CycleError> {
    let several = args.cycles.iter().any(|cycle| cycle.trim().contains(char::is_whitespace));
    let cycles = match args.all {
        Some(length) => Cycle::all(length.get(), &args.cycles.join(" "))?,
        None if several => {
            args.cycles.iter().map(|it| Cycle::parse(it)).collect::<Result<_, _>>()?
        }
        None => vec![Cycle::parse(&args.cycles.join(" "))?],
    };
    cycles.iter().map(|cycle| Ok((cycle.name(), cycle.test(args.arch)?))).collect()
}

/// Writes each test to a file. Repeated names get a number from the second test on, as in diy.
fn write(directory: &Path, tests: &[(String, String)]) -> Result<(), OutputError> {
    fs::create_dir_all(directory).map_err(|error| OutputError::file(directory, error))?;
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (name, text) in tests {
        let count = seen.entry(name).or_insert(0);
        let (old, new) = (format!(" {name}\n"), format!("{name}{count:03}"));
        let (name, text) = match *count {
            0 => (name.clone(), text.clone()),
            _ => (new.clone(), text.replacen(&old, &format!(" {new}\n"), 1)),
        };
        *count += 1;
        let file = directory.join(format!("{name}.litmus"));
        fs::write(&file, text).map_err(|error| OutputError::file(&file, error))?;
    }
    Ok(())
}
