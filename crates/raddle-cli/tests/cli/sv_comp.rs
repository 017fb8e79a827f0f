//! Task definitions and properties of SV-COMP: every task of `corpus/sv-comp` has its expected verdicts.

use std::path::{Path, PathBuf};

use super::{raddle, run, scratch};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/sv-comp")
}

/// The names of all tasks, sorted.
fn tasks() -> Vec<String> {
    let files = std::fs::read_dir(corpus()).expect("the directory is there");
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let mut tasks: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".yml")?.to_owned())).collect();
    tasks.sort();
    tasks
}

/// The properties of a task with their expected verdicts.
fn expected(task: &str) -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(corpus().join(format!("{task}.yml"))).expect("a task");
    let value = |line: &str, key: &str| Some(line.trim().strip_prefix(key)?.trim().to_owned());
    let properties = text.lines().filter_map(|line| value(line, "- property_file:"));
    let verdicts = text.lines().filter_map(|line| value(line, "expected_verdict:"));
    properties.zip(verdicts.map(|verdict| verdict == "true")).collect()
}

/// What is wrong with the verdict on a task, if anything is.
fn difference(task: &str, property: &str, is_right: bool) -> Option<String> {
    let arguments = format!(
        "check corpus/sv-comp/{task}.yml --jobs 1 --json --property corpus/sv-comp/{property}"
    );
    let output = raddle(&arguments).output().expect("raddle runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let verdict = if is_right { "clean" } else { "bug" };
    let is_expected = text.contains(&format!("\"verdict\":\"{verdict}\""));
    (!is_expected).then(|| format!("{task}, {property}: expected {verdict}, found {text}"))
}

#[test]
fn every_task_has_its_verdicts() {
    let tasks = tasks();
    assert_eq!(tasks.len(), 30);
    let rows: Vec<(String, String, bool)> = tasks
        .iter()
        .flat_map(|task| expected(task).into_iter().map(move |(file, is)| (task.clone(), file, is)))
        .collect();
    assert_eq!(rows.len(), 40);
    let check = |rows: &[(String, String, bool)]| -> Vec<String> {
        rows.iter().filter_map(|(task, file, is)| difference(task, file, *is)).collect()
    };
    let (first, second) = rows.split_at(rows.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| check(second));
        let mut wrong = check(first);
        wrong.extend(other.join().expect("no panic"));
        wrong
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_task_for_ilp32_says_how_it_was_compiled() {
    let printed = run("check corpus/sv-comp/peterson.yml --property unreach-call --jobs 1");
    let note = "note: the task is for ILP32 (32-bit pointers and long); it was compiled for LP64\n";
    assert!(printed.contains(note), "{printed}");
    let printed = run("check corpus/sv-comp/counter.yml --property unreach-call --jobs 1");
    assert!(!printed.contains("note"), "{printed}");
}

#[test]
fn a_property_of_a_task_must_be_chosen() {
    assert_eq!(
        run("check corpus/sv-comp/counter.yml"),
        "exit 2\n--- stdout\n--- stderr\ncorpus/sv-comp/counter.yml: choose a property of the task with --property: \
         unreach-call, no-data-race\n"
    );
    assert_eq!(
        run("check corpus/sv-comp/counter.yml --property no-deadlock"),
        "exit 2\n--- stdout\n--- stderr\ncorpus/sv-comp/counter.yml: the task does not have the property no-deadlock\n"
    );
    assert_eq!(
        run("check corpus/sv-comp/counter.yml examples/peterson.c --property unreach-call"),
        "exit 2\n--- stdout\n--- stderr\ncorpus/sv-comp/counter.yml examples/peterson.c: a task definition is a whole \
         program: pass it alone\n"
    );
}

#[test]
fn other_properties_are_refused_by_name() {
    let printed = run(
        "check corpus/sv-comp/counter.yml --property corpus/sv-comp/properties/termination.prp",
    );
    let reason = "property 'CHECK( init(main()), LTL(F end) )' is not supported";
    assert!(printed.starts_with("exit 2\n") && printed.contains(reason), "{printed}");
    let printed = run("check corpus/sv-comp/counter.yml --property no-overflow");
    assert!(printed.contains("property no-overflow is not supported"), "{printed}");
}

#[test]
fn options_of_the_environment_belong_to_c_programs_and_to_traces() {
    let printed = run("check examples/store-buffering.litmus --spurious");
    assert!(printed.contains("litmus tests do not support --spurious"), "{printed}");
    let printed = run("check examples/peterson.c --keep-going --explorer random");
    assert!(
        printed.contains("--keep-going requires an explorer that finds everything"),
        "{printed}"
    );
    let printed = run("check examples/peterson.c --nondet 3..1");
    assert!(printed.contains("expected at least one and at most 65536 values"), "{printed}");
    let directory = scratch("environment-trace");
    let (program, trace) = (directory.join("null.c"), directory.join("trace"));
    let text = "#include <stdlib.h>\nint main(void) { *(int *)malloc(4) = 1; }\n";
    std::fs::write(&program, text).expect("it can be written");
    let arguments = format!("{} --trace {}", program.display(), trace.display());
    let found = run(&format!("check {arguments} --malloc-may-fail"));
    assert!(found.contains("a null pointer is followed"), "{found}");
    let replayed = run(&format!("replay {}", trace.display()));
    assert!(replayed.starts_with("exit 1\n"), "{replayed}");
    assert!(replayed.contains("a null pointer is followed"), "{replayed}");
}
