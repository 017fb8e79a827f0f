//! The sequentialised program in C says the same: it is given to the check again, as a program of one thread.

use std::path::Path;

use raddle_bmc::{Answer, Model, Options, check};

/// Whether there is a bug, told directly and by way of C.
fn both(program: &str, flags: &[&str], model: Model) -> (bool, bool) {
    let directory = tempfile::TempDir::new().expect("a directory");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(program);
    let mut options = Options::new(file);
    options.flags = flags.iter().map(ToString::to_string).collect();
    (options.model, options.rounds, options.nodes, options.max_time) = (model, 2, 3, 3);
    options.emit = Some(directory.path().join("sequential.c"));
    let direct = check(&options).expect("it is modelled");
    let emitted = Options::new(directory.path().join("sequential.c"));
    let again = check(&emitted).expect("what is written is modelled");
    let is_bug = |answer: &Answer| matches!(answer, Answer::Bug(_));
    (is_bug(&direct.answer), is_bug(&again.answer))
}

#[test]
fn store_buffering_is_a_bug_with_store_buffers() {
    assert_eq!(both("litmus/sb.c", &[], Model::Sc), (false, false));
    assert_eq!(both("litmus/sb.c", &[], Model::Tso), (true, true));
    assert_eq!(both("litmus/sb.c", &["-DSC"], Model::Tso), (false, false));
}

#[test]
fn message_passing_is_a_bug_with_buffers_for_locations() {
    assert_eq!(both("litmus/mp.c", &[], Model::Tso), (false, false));
    assert_eq!(both("litmus/mp.c", &[], Model::Pso), (true, true));
    assert_eq!(both("litmus/mp.c", &["-DREL"], Model::Pso), (false, false));
}

#[test]
fn what_waits_and_what_is_updated_is_there_too() {
    assert_eq!(both("pthreads/mutex.c", &["-DN=2", "-DBROKEN"], Model::Sc), (true, true));
    assert_eq!(both("pthreads/mutex.c", &["-DN=2"], Model::Sc), (false, false));
}
