//! Whole reports: objects, values, threads and places have the names of the source.
//!
//! `SNAPSHOTS=overwrite cargo test -p raddle-native --test it reports` writes the current reports.

use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_core::outcome::Finding;
use raddle_core::trace::{Ending, Frame};
use raddle_explore::counterexample::{self, Style};
use raddle_native::{Request, check};

const REPORTS: &str = "tests/reports";
const EXAMPLES: &str = "../../examples";
const ERRORS: &str = "../../corpus/c/errors";

/// Programs with errors: directory, file, model, flags.
const PROGRAMS: [(&str, &str, Model, &[&str]); 20] = [
    (EXAMPLES, "treiber.cpp", Model::Rc11, &[]),
    (REPORTS, "freed.cpp", Model::C20, &[]),
    (REPORTS, "values.c", Model::Sc, &[]),
    (REPORTS, "locals.c", Model::Tso, &[]),
    (REPORTS, "lambdas.cpp", Model::C20, &[]),
    (EXAMPLES, "lost-wakeup.c", Model::Sc, &[]),
    (REPORTS, "publish.c", Model::Pso, &[]),
    (REPORTS, "stale.c", Model::C20, &[]),
    (REPORTS, "prepared.c", Model::C20, &[]),
    (ERRORS, "deadlock.c", Model::C20, &[]),
    (ERRORS, "livelock.c", Model::C20, &[]),
    (ERRORS, "race.c", Model::C20, &[]),
    (ERRORS, "use_after_free.c", Model::C20, &[]),
    (ERRORS, "double_free.c", Model::C20, &[]),
    (ERRORS, "dead_stack.c", Model::C20, &[]),
    (ERRORS, "heap_overflow.c", Model::Sc, &[]),
    (ERRORS, "abort.c", Model::C20, &[]),
    (ERRORS, "leak.c", Model::C20, &[]),
    (ERRORS, "foreign_unlock.c", Model::C20, &[]),
    (ERRORS, "divide.c", Model::C20, &[]),
];

/// The most important finding in a program, compiled by gcc.
fn finding(path: &Path, model: Model, flags: &[&str]) -> Finding {
    let mut request = Request { model, ..Request::new(&[path]) };
    let is_cpp = path.extension().is_some_and(|extension| extension == "cpp");
    request.source.compiler = Some(if is_cpp { "g++" } else { "gcc" }.to_owned());
    request.source.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    request.leaks = path.ends_with("leak.c");
    let outcome = check(&request).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    outcome.into_finding().unwrap_or_else(|| panic!("{path:?}: no finding"))
}

/// Compares a text with the expected one, or overwrites that.
fn compare(expected: &Path, text: &str) {
    if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
        std::fs::write(expected, text).expect("the text can be written");
    }
    let known = std::fs::read_to_string(expected).unwrap_or_default();
    assert_eq!(text, known, "{}:\n{text}", expected.display());
}

/// Reports at 80 and 160 columns fit the page, and have no addresses.
#[test]
fn reports_say_what_the_source_says() {
    for (directory, file, model, flags) in PROGRAMS {
        let finding = finding(&Path::new(directory).join(file), model, flags);
        for width in [80, 160] {
            let mut style = Style::in_working_directory();
            style.page.width = width;
            let report = counterexample::report(&finding, &style);
            let is_source = |line: &str| line.contains(" | ");
            let longest = report.lines().filter(|line| !is_source(line));
            let longest = longest.map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= width, "{file}, {width}:\n{report}");
            assert!(!report.contains("0x"), "{file}:\n{report}");
            let name = format!("{file}.{width}.txt");
            let report = format!("{}\n", report.trim_end());
            compare(&PathBuf::from(REPORTS).join("expected").join(name), &report);
        }
    }
}

/// The functions and lines of a call stack.
fn frames(stack: &[Frame]) -> Vec<String> {
    let frame = |frame: &Frame| {
        let function = frame.function.as_deref().unwrap_or("?");
        match (&frame.position, frame.library) {
            (_, Some(library)) => format!("[{}]", library.name()),
            (Some(position), None) => format!("{function}:{}", position.line),
            (None, None) => function.to_owned(),
        }
    };
    let mut frames: Vec<String> = stack.iter().map(frame).collect();
    frames.dedup();
    frames
}

#[test]
fn both_sides_of_a_race_have_call_stacks() {
    let finding = finding(Path::new("../../examples/treiber.cpp"), Model::Rc11, &[]);
    let trace = finding.trace.expect("an execution");
    let Ending::Race(first, second) = trace.ending else { panic!("{:?}", trace.ending) };
    let stack = |at: usize| frames(trace.stacks.of_event(&trace.trace.events[at]));
    let starts_with = |stack: &[String], functions: &[&str]| {
        assert_eq!(stack[..functions.len()], *functions, "{stack:?}");
        assert_eq!(stack.last().map(String::as_str), Some("[the C++ standard library]"));
    };
    starts_with(&stack(second), &["Stack<int>::pop:16", "main::{lambda()#1}::operator():24"]);
    starts_with(&stack(first), &["Stack<int>::push:8", "main::{lambda()#2}::operator():25"]);
    for event in &trace.trace.events {
        assert!(!trace.stacks.of_event(event).is_empty(), "{event:?}");
    }
    let node = trace.objects.iter().find(|object| object.name.starts_with("Node#"));
    let allocated = frames(&node.expect("a node").allocated.stack);
    assert!(allocated.contains(&String::from("Stack<int>::push:8")), "{allocated:?}");
}
