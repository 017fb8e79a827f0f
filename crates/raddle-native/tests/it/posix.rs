//! What POSIX forbids to do with synchronization objects: a broken and a repaired program for each rule.

use std::path::Path;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Verdict};
use raddle_native::{Request, build, check_built};

/// The names of the cases of `tests/posix/rules.c`, and parts of the messages. A repaired program has none.
const RULES: &[(&str, &str)] = &[
    ("init_own_held_mutex", "a mutex is initialised while a thread holds it"),
    ("init_held_mutex", "a mutex was initialised while a thread held it"),
    ("init_free_mutex", ""),
    ("init_mutex_twice", "a mutex is initialised that is initialised already"),
    ("init_mutex_again", ""),
    ("init_local_mutexes", ""),
    ("heap_mutexes", ""),
    ("destroy_own_locked_mutex", "a mutex is destroyed while a thread holds it"),
    ("destroy_locked_mutex", "a mutex is used that was destroyed"),
    ("destroy_abandoned_mutex", "a mutex is destroyed while a thread holds it"),
    ("destroy_free_mutex", ""),
    ("zeroed_semaphore", "a semaphore is used that was never initialised"),
    ("destroyed_semaphore", "a semaphore is used that was destroyed"),
    ("awaited_semaphore", "a semaphore is used that was destroyed"),
    ("init_semaphore_twice", "a semaphore is initialised that is initialised already"),
    ("good_semaphore", ""),
    ("uninitialised_barrier", "a barrier is used that was never initialised"),
    ("destroyed_barrier", "a barrier is used that was destroyed"),
    ("awaited_barrier", "a barrier is used that was destroyed"),
    ("awaited_counting_barrier", "a barrier is used that was destroyed"),
    ("init_barrier_twice", "a barrier is initialised that is initialised already"),
    ("good_barrier", ""),
    ("good_counting_barrier", ""),
    ("destroyed_condition", "a condition variable is used that was destroyed"),
    ("awaited_condition", "a condition variable is destroyed while threads wait for it"),
    ("init_awaited_condition", "a condition variable is initialised while threads wait for it"),
    ("init_condition_twice", "a condition variable is initialised that is initialised already"),
    ("good_condition", ""),
    ("local_conditions", ""),
    ("destroyed_rwlock_to_read", "a reader-writer lock is used that was destroyed"),
    ("destroyed_rwlock_to_write", "a reader-writer lock is used that was destroyed"),
    ("destroyed_rwlock_to_try", "a reader-writer lock is used that was destroyed"),
    ("destroy_held_rwlock", "a reader-writer lock is destroyed while a thread holds it"),
    ("init_held_rwlock", "a reader-writer lock is initialised while a thread holds it"),
    ("init_rwlock_twice", "a reader-writer lock is initialised that is initialised already"),
    ("unlock_rwlock_of_another", "a lock is released by a thread that does not hold it"),
    ("good_rwlock", ""),
    ("local_rwlocks", ""),
    ("destroyed_spin_lock", "a spin lock is used that was destroyed"),
    ("destroy_spin_lock_in_use", "a spin lock is used that was destroyed"),
    ("destroy_held_spin_lock", "a spin lock is destroyed while a thread holds it"),
    ("init_spin_lock_twice", "a spin lock is initialised that is initialised already"),
    ("good_spin_lock", ""),
    ("good_c11_objects", ""),
    ("destroyed_c11_condition", "a condition variable is used that was destroyed"),
];

fn request(file: &str) -> Request {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/posix").join(file);
    Request::new(&[&path])
}

/// How the outcome of a case differs from what is expected.
fn difference(name: &str, model: Model, expected: &str, found: &[String]) -> Option<String> {
    let is_expected = match (expected, found) {
        ("", []) => true,
        ("", _) | (_, []) => false,
        (expected, [message, ..]) => message.contains(expected),
    };
    (!is_expected).then(|| format!("{name} under {model}: {found:?}"))
}

#[test]
fn broken_rules_are_found_and_repaired_programs_are_clean() {
    let object = build(&request("rules.c").source).expect("it compiles");
    let mut wrong = vec![];
    for &(name, expected) in RULES {
        for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
            let arguments = vec![name.to_owned()];
            let request = Request { model, arguments, ..request("rules.c") };
            let outcome = check_built(&object, &request).expect("it loads");
            // Without a happens-before order, a use during the destruction is a race.
            let is_race = outcome.kind() == Some(FindingKind::Race) && model == Model::C20;
            let is_found = is_race && !expected.is_empty();
            if !is_found && (outcome.verdict == Verdict::Incomplete || outcome.findings.len() > 1) {
                wrong.push(format!("{name} under {model}: {outcome}"));
            }
            let found: Vec<String> = outcome.findings.iter().map(|it| it.message.clone()).collect();
            wrong.extend(difference(name, model, expected, &found).filter(|_| !is_found));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn local_objects_of_cpp_are_new_in_every_round() {
    let object = build(&request("objects.cpp").source).expect("it compiles");
    let counts = [Model::Sc, Model::C20].map(|model| {
        let outcome = check_built(&object, &Request { model, ..request("objects.cpp") });
        let outcome = outcome.expect("it loads");
        (outcome.verdict, outcome.counts.classes)
    });
    assert_eq!(counts, [(Verdict::Clean, 16), (Verdict::Clean, 16)]);
}
