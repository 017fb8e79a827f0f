//! Oracle for exploration: known numbers of classes, and definitions that must agree.

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::reference::enumerate::allows;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::{Action, ExecutionBuilder, MemoryOrder, SourceClaim, ThreadId};
use raddle_core::model::Model;
use raddle_testkit::programs::{Pruning, by_axioms, classes};
use raddle_testkit::script::Script;

const BUDGET: usize = 1_000_000;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn count(text: &str, model: Model) -> usize {
    classes(&script(text), model, BUDGET).expect("it is small").len()
}

/// Asserts the number of classes under some models.
#[track_caller]
fn assert_counts(text: &str, expected: &[(Model, usize)]) {
    for &(model, expected) in expected {
        assert_eq!(count(text, model), expected, "{model}\n{text}");
    }
}

/// Asserts the same number of classes under every model.
#[track_caller]
fn assert_count(text: &str, expected: usize) {
    assert_counts(text, &Model::ALL.map(|model| (model, expected)));
}

/// Returns a script of threads with the same code.
fn copies(variables: &str, threads: usize, body: &str) -> String {
    let threads: Vec<String> = (0..threads).map(|i| format!("thread t{i} {{ {body} }}")).collect();
    format!("{variables}\n{}", threads.join("\n"))
}

#[test]
fn store_buffering() {
    let sb = |store: &str, fence: &str, load: &str| {
        format!(
            "x = 0; y = 0
             thread a {{ store x 1 {store}; {fence}; r = load y {load} }}
             thread b {{ store y 1 {store}; {fence}; r = load x {load} }}"
        )
    };
    use Model::*;
    let all = [Tso, Pso, Sra, Ra, Wra, Rc20, Relaxed, Rc11, C20].map(|model| (model, 4));
    assert_counts(&sb("rlx", "", "rlx"), &all);
    assert_counts(&sb("rel", "", "acq"), &all);
    assert_counts(&sb("rlx", "", "rlx"), &[(Sc, 3)]);
    assert_counts(
        &sb("sc", "", "sc"),
        &[(Sc, 3), (Tso, 3), (Pso, 3), (Rc11, 3), (C20, 3), (Rc20, 4), (Ra, 4)],
    );
    let fences = [Sc, Tso, Pso, Sra, Ra, Wra, Rc20, Rc11, C20].map(|model| (model, 3));
    assert_counts(&sb("rlx", "fence sc", "rlx"), &fences);
    assert_counts(&sb("rlx", "fence sc", "rlx"), &[(Relaxed, 4)]);
}

#[test]
fn message_passing() {
    let mp = |store: &str, load: &str| {
        format!(
            "x = 0; y = 0
             thread a {{ store x 1; store y 1 {store} }}
             thread b {{ r = load y {load}; s = load x }}"
        )
    };
    use Model::*;
    assert_counts(
        &mp("rel", "acq"),
        &[(Sc, 3), (Tso, 3), (Pso, 3), (Sra, 3), (Ra, 3), (Wra, 3), (Rc20, 3), (Rc11, 3), (C20, 3)],
    );
    assert_counts(&mp("rel", "acq"), &[(Relaxed, 4)]);
    assert_counts(
        &mp("rlx", "acq"),
        &[(Tso, 3), (Pso, 4), (Ra, 3), (Rc20, 4), (Rc11, 4), (C20, 4)],
    );
    assert_counts(&mp("rel", "rlx"), &[(Rc20, 4), (C20, 4), (Sra, 3)]);
}

#[test]
fn load_buffering_is_forbidden_everywhere() {
    assert_count(
        "x = 0; y = 0
         thread a { r = load x; store y 1 }
         thread b { r = load y; store x 1 }",
        3,
    );
}

#[test]
fn independent_reads_of_independent_writes() {
    let iriw = |store: &str, load: &str| {
        format!(
            "x = 0; y = 0
             thread a {{ store x 1 {store} }}
             thread b {{ store y 1 {store} }}
             thread c {{ r = load x {load}; s = load y {load} }}
             thread d {{ r = load y {load}; s = load x {load} }}"
        )
    };
    use Model::*;
    assert_counts(
        &iriw("rel", "acq"),
        &[(Sc, 15), (Tso, 15), (Pso, 15), (Ra, 16), (Rc20, 16), (C20, 16), (Relaxed, 16)],
    );
    assert_counts(&iriw("sc", "sc"), &[(Rc20, 16), (C20, 15), (Rc11, 15)]);
}

#[test]
fn two_plus_two_writes() {
    let two = "x = 0; y = 0
         thread a { store x 1; store y 2; r = load y }
         thread b { store y 1; store x 2; s = load x }";
    use Model::*;
    // Both threads read what the other one wrote: under SC each store would come before the other.
    assert_counts(two, &[(Sc, 3), (Tso, 3), (Pso, 4), (Sra, 3), (Ra, 4), (Rc20, 4), (C20, 4)]);
}

#[test]
fn readers_double() {
    for readers in 0..4 {
        let text = format!("{}\nthread w {{ store x 1 }}", copies("x = 0", readers, "r = load x"));
        assert_count(&text, 1 << readers);
    }
}

#[test]
fn nonatomic_increments() {
    // (n + 1)^(n - 1), under every model.
    assert_count(&copies("x = 0", 2, "r = load x; store x r + 1"), 3);
    assert_count(&copies("x = 0", 3, "r = load x; store x r + 1"), 16);
}

#[test]
fn atomic_updates_have_any_order() {
    assert_count(&copies("x = 0", 2, "r = add x 1"), 2);
    assert_count(&copies("x = 0", 3, "r = add x 1"), 6);
    assert_count(&copies("x = 0", 3, "sync x any add 1"), 6);
}

#[test]
fn locks_are_taken_in_any_order() {
    assert_count(&copies("lock m", 2, "lock m; unlock m"), 2);
    assert_count(&copies("lock m", 3, "lock m; unlock m"), 6);
    // Who comes second waits forever.
    assert_count(&copies("lock m", 2, "lock m"), 2);
    assert_count(&copies("lock m\nx = 0", 2, "lock m; r = load x; store x r + 1; unlock m"), 2);
}

#[test]
fn synchronization_objects_acquire_and_release_in_every_model() {
    // A semaphore that b waits for: then it sees what a stored before.
    let text = "x = 0; o = 0
         thread a { store x 1; sync o any add 1 }
         thread b { sync o > 0 sub 1; r = load x }";
    assert_count(text, 1);
    // A lock made of an object.
    let body = "sync o == 0 swap 1; r = load x; store x r + 1; sync o any swap 0";
    assert_count(&copies("x = 0; o = 0", 2, body), 2);
}

#[test]
fn locks_taken_in_opposite_orders() {
    assert_count(
        "lock m; lock n
         thread a { lock m; lock n; unlock n; unlock m }
         thread b { lock n; lock m; unlock m; unlock n }",
        3,
    );
}

#[test]
fn counters_with_compare_exchange() {
    let body = "r = load x; repeat 3 { s = cas x r r + 1; if s == r { break }; r = s }";
    assert_counts(&copies("x = 0", 2, body), &[(Model::Sc, 4), (Model::C20, 4)]);
    assert_counts(&copies("x = 0", 3, body), &[(Model::Sc, 48)]);
}

#[test]
fn weak_compare_exchange_fails_spuriously() {
    assert_count("x = 0\nthread a { r = cas x 0 1 }", 1);
    assert_count("x = 0\nthread a { r = casw x 0 1 }", 2);
    assert_count("x = 0\nthread a { r = casw x 5 1 }", 1);
    assert_count("x = 0\nthread a { r, ok = casw x 0 1; if ok == 0 { s = load x } }", 2);
}

#[test]
fn choices_assumptions_and_failures() {
    assert_count("thread main { r = choose 3; s = choose 2 }", 6);
    assert_count(
        "x = 0\nthread main { spawn a; r = choose 3; assume r == 1; join a }\nthread a { }",
        3,
    );
    // A failure ends its thread only.
    let text = "x = 0
         thread a { r = load x; assert r == 0; s = load x }
         thread b { store x 1; r = load x }";
    assert_count(text, 3);
}

#[test]
fn threads_wait_for_each_other() {
    // b's load comes after a's store, which comes after main's first one.
    assert_count(
        "x = 0
         thread main { store x 1; spawn a; join a; spawn b; join b; r = load x }
         thread a { store x 2 }
         thread b { r = load x; store x 3 }",
        1,
    );
    // A thread that does not end is never joined.
    assert_count("thread main { spawn a; join a }\nthread a { assume 0 }", 1);
}

#[test]
fn addresses_depend_on_registers() {
    assert_count(
        "a = [0, 0, 0]
         thread t { r = load a[0]; s = load a[r + 1] }
         thread u { store a[0] 1; store a[2] 1 }",
        3,
    );
}

#[test]
fn the_definitions_of_sc_agree() {
    for text in [
        copies("x = 0", 3, "r = load x; store x r + 1"),
        copies("x = 0; y = 0", 2, "r = add x 1; store y r; s = load x"),
        copies("lock m; x = 0", 2, "lock m; r = load x; store x r + 1; unlock m; s = load x"),
    ] {
        let script = script(&text);
        let machine = classes(&script, Model::Sc, BUDGET).expect("it is small");
        for pruning in [Pruning::None, Pruning::Prefixes] {
            let axioms = by_axioms(&script, Model::Sc, pruning, BUDGET).expect("it is small");
            assert_eq!(machine, axioms, "{text}");
        }
    }
}

#[test]
fn a_private_access_matters_between_sequentially_consistent_ones() {
    // With the private access, `po|≠loc; hb; po|≠loc` leads from a's first store to b's second load.
    let text = |private: &str| {
        format!(
            "x = 0; y = 0; p = 0
             thread a {{ store x 1 sc; {private}; store x 2 rel }}
             thread b {{ r = load x acq; s = load y sc }}
             thread c {{ store y 1 sc; r = load x sc }}"
        )
    };
    for model in [Model::Rc11, Model::C20] {
        let plain = count(&text(""), model);
        assert_eq!(count(&text("store p 1"), model), plain - 1, "{model}");
    }
    assert_eq!(count(&text("store p 1"), Model::Rc20), count(&text(""), Model::Rc20));
}

#[test]
fn an_update_precedes_or_follows_a_store() {
    // Seen from the end: 10, if the update came first, or 11; never 1 or 0.
    let text = "x = 0
         thread main { spawn a; spawn b; join a; join b; r = load x }
         thread a { store x 10 }
         thread b { s = add x 1 }";
    for model in Model::ALL.into_iter().filter(|model| model.has_modification_order()) {
        let classes = classes(&script(text), model, BUDGET).expect("it is small");
        let mut last: Vec<i128> =
            classes.values().map(|outcome| outcome[&ThreadId::new(0)][0]).collect();
        last.sort_unstable();
        assert_eq!(last, [10, 11], "{model}");
    }
}

#[test]
fn the_checkers_support_synchronization_objects() {
    // Under Relaxed the object makes b see the message, and a plain update does not.
    for synchronizes in [false, true] {
        let mut builder = ExecutionBuilder::new();
        let [a, b] = ["a", "b"].map(|name| builder.thread(name));
        let [x, o] = ["x", "o"].map(|name| builder.location(name));
        let order = MemoryOrder::AcqRel;
        let first = Action::Rmw { location: o, read: 0, written: 1 };
        let second = Action::Rmw { location: o, read: 1, written: 0 };
        let (write, relaxed) = (Action::Write { location: x, value: 1 }, MemoryOrder::Relaxed);
        builder.push_ordered(a, write, relaxed, SourceClaim::Unnamed);
        let position = builder.push_ordered(a, first, order, SourceClaim::Init);
        let source = SourceClaim::Event { thread: a, position };
        builder.push_ordered(b, second, order, source);
        let read = Action::Read { location: x, value: 0 };
        builder.push_ordered(b, read, relaxed, SourceClaim::Init);
        if synchronizes {
            builder.synchronize(o);
        }
        let execution = builder.build().expect("it makes sense");
        let verdict = check(&execution, Model::Relaxed, &CheckOptions::default());
        assert_eq!(
            matches!(verdict, ConsistencyVerdict::Consistent(_)),
            !synchronizes,
            "{verdict:?}"
        );
        assert_eq!(allows(&execution, Model::Relaxed).is_none(), synchronizes);
    }
}
