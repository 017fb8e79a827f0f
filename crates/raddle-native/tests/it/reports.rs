//! Whole reports: objects, values and places have the names of the source.

use std::path::{Path, PathBuf};

use raddle_core::model::Model;
use raddle_explore::counterexample::{self, Style};
use raddle_native::{Request, check};

/// The report on a program of `tests/reports`, compiled by gcc.
fn report(file: &str, model: Model) -> String {
    let path = Path::new("tests/reports").join(file);
    let mut request = Request { model, ..Request::new(&[path.as_path()]) };
    let compiler = if file.ends_with(".cpp") { "g++" } else { "gcc" };
    request.source.compiler = Some(compiler.to_owned());
    let outcome = check(&request).unwrap_or_else(|error| panic!("{file}: {error}"));
    let finding = outcome.findings.first().unwrap_or_else(|| panic!("{file}: {outcome:?}"));
    counterexample::report(finding, &Style::in_working_directory())
}

/// Compares the report on a program with the text that is expected.
fn expect(file: &str, model: Model) {
    let report = report(file, model);
    let expected = PathBuf::from("tests/reports/expected").join(file).with_extension("txt");
    let expected = std::fs::read_to_string(expected).expect("there is a text");
    assert_eq!(report.trim_end(), expected.trim_end(), "{report}");
}

/// The type of a block is known from the pointers to it.
#[test]
fn nodes_are_named_by_type_and_number() {
    expect("stack.cpp", Model::Rc11);
}

#[test]
fn values_are_shown_as_their_types_say() {
    expect("values.c", Model::Sc);
}

#[test]
fn locals_and_elements_of_arrays_have_names() {
    expect("locals.c", Model::Tso);
}

#[test]
fn it_is_said_who_has_freed_an_object() {
    expect("freed.cpp", Model::C20);
}
