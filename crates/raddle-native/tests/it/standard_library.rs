//! What programs use of the C and C++ libraries: each part in a right program and a broken variant.

use std::path::Path;

use raddle_core::model::Model;
use raddle_native::{Object, Request, Source, build, check_built};

fn built(file: &str, flags: &[&str]) -> Object {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posix").join(file);
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    build(&Source { files: vec![path], flags, compiler: None }).expect("it compiles")
}

/// The verdict, or the kind of the finding, of a case.
fn shown(object: &Object, model: Model, arguments: &[&str]) -> String {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let request = Request { model, arguments, ..Request::new(&[]) };
    let outcome = check_built(object, &request).expect("it loads");
    outcome.kind().map_or(outcome.verdict.name(), |kind| kind.name()).to_owned()
}

/// Compares each case and its broken variant with the model under which they run and the kind that the variant shows.
fn compare(object: &Object, expected: &[(Model, &str)]) {
    let mut wrong = vec![];
    for (number, &(model, kind)) in expected.iter().enumerate() {
        let number = number.to_string();
        let (right, broken) =
            (shown(object, model, &[&number]), shown(object, model, &[&number, "bad"]));
        if (&*right, &*broken) != ("clean", kind) {
            wrong.push(format!("case {number} under {model}: {right}, broken: {broken}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_cpp_library_works() {
    use Model::{C20, Sc};
    let expected = [
        (C20, "race"),
        (C20, "race"),
        (C20, "assertion"),
        (C20, "race"),
        (C20, "assertion"),
        (C20, "race"),
        // Under c20, latch::wait of this library may miss the last count_down: it is a release, not sequentially consistent.
        (Sc, "assertion"),
        (C20, "race"),
        (C20, "deadlock"),
        (C20, "assertion"),
        (C20, "assertion"),
        (C20, "assertion"),
    ];
    compare(&built("library.cpp", &["-std=c++20"]), &expected);
}

#[test]
fn the_c_library_and_linux_work() {
    use Model::C20;
    let kinds = ["assertion", "assertion", "assertion", "assertion", "deadlock", "assertion"];
    compare(&built("library.c", &[]), &kinds.map(|kind| (C20, kind)));
}

#[test]
fn waiting_cancellation_and_annotations_work() {
    let kinds = [
        "livelock",
        "livelock",
        "livelock",
        "livelock",
        "assertion",
        "deadlock",
        "deadlock",
        "assertion",
        "deadlock",
        "assertion",
        "deadlock",
        "livelock",
        "assertion",
    ];
    let object = built("linux.c", &[]);
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        compare(&object, &kinds.map(|kind| (model, kind)));
    }
}

#[test]
fn functions_that_are_not_declared_have_their_built_in_types() {
    assert_eq!(shown(&built("undeclared.c", &[]), Model::Sc, &[]), "clean");
}
