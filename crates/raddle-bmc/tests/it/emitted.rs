//! The emitted C program has the same verdict as the formula. It is checked again, as a program with one thread.

use raddle_bmc::{BmcOptions, check};
use raddle_core::model::Model;

use super::support::{corpus, is_bug};

/// Whether the program has a bug, and whether the C program that is emitted for it has one.
fn direct_and_emitted(program: &str, flags: &[&str], model: Model) -> (bool, bool) {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be created");
    let mut options = BmcOptions::new(corpus("c").join(program));
    options.flags = flags.iter().map(ToString::to_string).collect();
    (options.model, options.rounds, options.nodes, options.max_time) = (model, 2, 3, 3);
    options.emit = Some(directory.path().join("sequential.c"));
    let direct = check(&options).expect("the program is supported");
    let emitted = check(&BmcOptions::new(directory.path().join("sequential.c")));
    (is_bug(&direct), is_bug(&emitted.expect("the emitted program is supported")))
}

#[test]
fn store_buffering_is_a_bug_under_tso() {
    assert_eq!(direct_and_emitted("litmus/sb.c", &[], Model::Sc), (false, false));
    assert_eq!(direct_and_emitted("litmus/sb.c", &[], Model::Tso), (true, true));
    assert_eq!(direct_and_emitted("litmus/sb.c", &["-DSC"], Model::Tso), (false, false));
}

#[test]
fn message_passing_is_a_bug_under_pso() {
    assert_eq!(direct_and_emitted("litmus/mp.c", &[], Model::Tso), (false, false));
    assert_eq!(direct_and_emitted("litmus/mp.c", &[], Model::Pso), (true, true));
    assert_eq!(direct_and_emitted("litmus/mp.c", &["-DREL"], Model::Pso), (false, false));
}

#[test]
fn blocking_and_atomic_updates_are_emitted() {
    let broken = direct_and_emitted("pthreads/mutex.c", &["-DN=2", "-DBROKEN"], Model::Sc);
    assert_eq!(broken, (true, true));
    let correct = direct_and_emitted("pthreads/mutex.c", &["-DN=2"], Model::Sc);
    assert_eq!(correct, (false, false));
}
