//! Quiet locations: the traps, each with the smallest program that shows it, and executions with many quiet accesses.

use std::collections::BTreeMap;

use raddle_core::model::Model;
use raddle_core::trace::{Class, Ending};
use raddle_explore::model::RvfOptions;
use raddle_explore::{Control, Extent, Leaf, Limits, rf_part_smc, rvf_smc};
use raddle_testkit::programs::random::OrderStyle;
use raddle_testkit::programs::{classes, handover};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// How often each class is visited, with quiet locations or without.
fn visits(script: &Script, model: Model, quiet: bool) -> BTreeMap<Class, usize> {
    let mut seen = BTreeMap::new();
    let mut visit = |leaf: &dyn Leaf| {
        *seen.entry(leaf.trace().class()).or_insert(0) += 1;
        Control::Continue
    };
    let (limits, options) = (Limits::default(), RvfOptions { quiet, ..RvfOptions::default() });
    let mut program = ScriptProgram::new(script);
    let summary = rf_part_smc::explore_with(&mut program, model, &limits, &mut visit, options);
    assert_eq!(summary.extent, Extent::All, "{model}\n{script}");
    assert_eq!(summary.classes + summary.blocked, seen.values().sum::<usize>() as u64);
    seen
}

/// Checks the number of classes with and without quiet locations, and by brute force.
fn assert_classes(text: &str, model: Model, expected: usize) {
    let script = script(text);
    let by_brute_force = classes(&script, model, 1 << 20).expect("a small program");
    assert_eq!(by_brute_force.len(), expected, "{model}\n{script}");
    for quiet in [false, true] {
        let seen = visits(&script, model, quiet);
        assert!(seen.keys().eq(by_brute_force.keys()), "{model}, {quiet}\n{script}");
        assert!(seen.values().all(|&times| times == 1), "{model}, {quiet}\n{script}");
    }
}

#[test]
fn a_quiet_update_empties_the_store_buffer() {
    let text = "x = 0; y = 0; p = 0; q = 0
        thread a { store x 1; s = add p 1; r = load y }
        thread b { store y 1; s = add q 1; r = load x }";
    assert_classes(text, Model::Tso, 3);
    assert_classes(text, Model::Pso, 3);
    let fails = text.replace("add p 1", "cas p 7 1");
    assert_classes(&fails, Model::Tso, 3);
    let locks = "x = 0; y = 0; lock m; lock n
        thread a { store x 1; lock m; unlock m; r = load y }
        thread b { store y 1; lock n; unlock n; r = load x }";
    assert_classes(locks, Model::Tso, 3);
    let stores = "x = 0; y = 0; p = 0; q = 0
        thread a { store x 1; store p 1 sc; r = load y }
        thread b { store y 1; store q 1 sc; r = load x }";
    assert_classes(stores, Model::Tso, 3);
    // Accesses of one run are one step of the model: the strongest.
    let after_load = text.replace("s = add p 1", "s = load p; s = add p 1; s = load p");
    let after_load = after_load.replace("s = add q 1", "s = load q; s = add q 1; s = load q");
    assert_classes(&after_load, Model::Tso, 3);
    assert_classes(&after_load, Model::Pso, 3);
    let after_known_load = after_load.replace("s = add p", "s = load p; s = add p");
    let after_known_load = after_known_load.replace("s = add q", "s = load q; s = add q");
    assert_classes(&after_known_load, Model::Tso, 3);
    let after_store = stores.replace("store p 1 sc", "store p 1; store p 2 sc");
    assert_classes(&after_store, Model::Tso, 3);
    // There is an event between them.
    let before_event = text.replace("store x", "s = add p 1; s = add p 1; store x");
    let before_event = before_event.replace("store y", "s = add q 1; s = add q 1; store y");
    assert_classes(&before_event, Model::Tso, 3);
    assert_classes(&before_event, Model::Pso, 3);
    // A segment with a spawn is no part of a run.
    let after_spawn = "x = 0; y = 0; p = 0; q = 0
        thread main { spawn b; store x 1; store p 1 sc; r = load y }
        thread b { store y 1; store q 1 sc; r = load x }";
    assert_classes(after_spawn, Model::Tso, 3);
    assert_classes(after_spawn, Model::Pso, 3);
}

#[test]
fn a_quiet_release_store_orders_stores_under_pso() {
    let text = "x = 0; y = 0; p = 0
        thread a { store x 1; QUIET; store y 1 }
        thread b { r = load y; s = load x }";
    assert_classes(&text.replace("QUIET", "store p 1"), Model::Pso, 4);
    assert_classes(&text.replace("QUIET", "store p 1 rel"), Model::Pso, 3);
    assert_classes(&text.replace("QUIET", "store p 1; store p 2 rel"), Model::Pso, 3);
    assert_classes(&text.replace("QUIET", "store p 1 rel; store p 2"), Model::Pso, 3);
}

#[test]
fn a_quiet_access_separates_accesses_of_one_location() {
    let with = |access: &str| {
        format!(
            "x = 0; y = 0; d = 0; e = 0
             thread a {{ store x 1 sc; {access}; store x 9 sc }}
             thread b {{ r = load x acq; if r == 9 {{ {}; s = load y sc }} }}
             thread c {{ store y 3 sc; r = load x sc }}",
            access.replace(" d", " e")
        )
    };
    for model in [Model::Rc11, Model::C20] {
        let without = with("fence rlx").replace("fence rlx; ", "");
        let script = script(&without);
        let expected = classes(&script, model, 1 << 20).expect("a small program").len();
        assert_eq!(expected, 12, "{model}");
        assert_classes(&with("store d 1"), model, 11);
        assert_classes(&with("s = load d"), model, 11);
        // The first access is known, and is another step than the second one.
        for access in ["store d 1", "s = load d"] {
            let twice = with(access).replace("store x 1", &format!("{access}; store x 1"));
            assert_classes(&twice, model, 11);
        }
    }
}

#[test]
fn under_pso_a_store_publishes_only_what_has_left_the_buffer() {
    let text = "d = 0; f = 0
        thread a { store d 2; store f 1 }
        thread b { r = load f; if r == 1 { s = load d } }";
    assert_classes(text, Model::Pso, 3);
    assert_classes(text, Model::Tso, 2);
    assert_classes(&text.replace("store f 1", "store f 1 rel"), Model::Pso, 2);
    assert_classes(&text.replace("store f 1", "storefence; store f 1"), Model::Pso, 2);
    assert_classes(&text.replace("store f 1", "s = swap f 1"), Model::Pso, 2);
}

#[test]
fn under_pso_the_last_flush_before_a_store_decides_what_it_publishes() {
    let text = "d = 0; p = 0; f = 0
        thread a { store d 1; FLUSH; store d 2; END; store f 1 }
        thread b { r = load f; if r == 1 { s = load d } }";
    for flush in ["store p 1 sc", "t = add p 1", "t = cas p 7 1", "store p 1 rel"] {
        let text = text.replace("FLUSH", flush);
        assert_classes(&text.replace("END", "t = 0"), Model::Pso, 3);
        assert_classes(&text.replace("END", flush), Model::Pso, 2);
        assert_classes(&text.replace("END", "t = load p"), Model::Pso, 3);
    }
}

#[test]
fn each_class_is_visited_once_if_a_conflict_is_found_late() {
    let text = "x = 0; y = 0; q = 0
        thread a { store x 1; r = load y; if r == 2 { store q 1 } }
        thread b { r = load x; store y 2; s = load q }
        thread c { r = load x; store y 1 }";
    for model in Model::ALL {
        let (with, without) =
            (visits(&script(text), model, true), visits(&script(text), model, false));
        assert_eq!(with, without, "{model}");
        assert!(with.values().all(|&times| times == 1), "{model}");
    }
}

#[test]
fn no_leaf_is_skipped_if_a_conflict_changes_their_order() {
    let text = "d = 0; lock m
        thread main { spawn a; s = cas d 0 2 sc; spawn b }
        thread a { lock m; unlock m; store d 1 sc }
        thread b { r = load d sc; lock m }";
    for model in Model::ALL {
        let script = script(text);
        assert_eq!(visits(&script, model, true), visits(&script, model, false), "{model}");
    }
}

#[test]
fn a_thread_does_not_know_what_the_last_one_knew() {
    let text = "d = 0
        thread main { r = add d 1 ar; spawn a; r = cas d 0 2 ar; spawn b }
        thread a { s = load d acq }
        thread b { store d r rel }";
    for model in Model::ALL {
        let script = script(text);
        assert_eq!(visits(&script, model, true), visits(&script, model, false), "{model}");
    }
}

#[test]
fn a_location_that_is_reached_late_is_quiet() {
    // The first location is not, so there is nothing quiet until a thread has read 1.
    let text = "x = 0; d = 0; e = 0
        thread a { r = load x; if r == 1 { store d 1; s = load d; store x 2 } }
        thread b { store x 1; r = load x; if r == 2 { s = load d; store e 1 } }
        thread c { r = load x; if r == 2 { s = load d } }";
    for model in Model::ALL {
        let (with, without) =
            (visits(&script(text), model, true), visits(&script(text), model, false));
        assert_eq!(with, without, "{model}");
    }
}

#[test]
fn a_relaxed_flag_publishes_nothing_under_c20() {
    let text = "d = 0; f = 0
        thread a { store d 2; store f 1 rel }
        thread b { r = load f acq; if r == 1 { s = load d } }";
    assert_classes(text, Model::C20, 2);
    assert_classes(&text.replace("f acq", "f"), Model::C20, 3);
    assert_classes(&text.replace("1 rel", "1"), Model::C20, 3);
    let fences = text.replace("1 rel", "1").replace("f acq", "f");
    let fences =
        fences.replace("store f", "fence rel; store f").replace("{ s =", "{ fence acq; s =");
    assert_classes(&fences, Model::C20, 2);
    assert_classes(&fences, Model::Rc20, 2);
}

#[test]
fn a_write_is_compared_with_all_reads_since_the_last_write() {
    let text = "x = 0; thread a { store x 1; r = load x }; thread b { r = add x 1 }";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        assert_classes(text, model, 3);
    }
    let readers = "x = 0; f = 0
        thread a { r = load x; store f 1 rel }
        thread b { r = load x }
        thread c { r = load f acq; if r == 1 { store x 1 } }";
    for model in Model::ALL {
        assert_eq!(visits(&script(readers), model, true), visits(&script(readers), model, false));
    }
}

#[test]
fn threads_run_only_with_values_that_they_can_read() {
    // A thread that reads 1 from `d` reads 1 from `x` later. That `d` is accessed out of order is only seen if `x` is 0 before.
    let text = "x = 0; d = 0
        thread a { store x 1; store d 1 }
        thread b { q = load x; if q == 0 { s = load d; r = load x } }";
    for model in [Model::Sc, Model::Tso] {
        for quiet in [false, true] {
            let mut visit = |_: &dyn Leaf| Control::Continue;
            let (limits, options) =
                (Limits::default(), RvfOptions { quiet, ..RvfOptions::default() });
            let mut program = ScriptProgram::new(&script(text));
            let summary =
                rf_part_smc::explore_with(&mut program, model, &limits, &mut visit, options);
            // One history each of main and `a`, and 1 + 2 + 2 + 3 of `b`.
            assert_eq!((summary.classes, summary.histories), (4, 10), "{model}, {quiet}");
        }
    }
}

#[test]
fn whoever_waits_for_a_quiet_lock_makes_it_a_conflicting_one() {
    let text = "x = 0; lock m
        thread a { lock m; store x 1; unlock m }
        thread b { lock m; r = load x }";
    for model in Model::ALL {
        assert_classes(text, model, 2);
    }
    let alone = "lock m; thread main { lock m; lock m }";
    for model in Model::ALL {
        assert_classes(alone, model, 1);
    }
}

#[test]
fn whoever_waits_for_a_quiet_object_makes_it_a_conflicting_one() {
    let text = "x = 0; o = 0
        thread a { sync o > 0 sub 1; store x 1 }
        thread b { sync o any add 1; r = load x }";
    for model in Model::ALL {
        assert_classes(text, model, 2);
        assert_classes("o = 0; thread main { sync o > 0 sub 1 }", model, 1);
    }
}

#[test]
fn a_lock_that_is_taken_again_is_part_of_a_run() {
    let twice = "lock m; unlock m; lock m; unlock m";
    let handed_over = format!(
        "lock m
        thread main {{ {twice}; spawn b; join b; {twice} }}
        thread b {{ {twice} }}"
    );
    let contended = format!("lock m\nthread a {{ {twice} }}\nthread b {{ {twice} }}");
    let held = "lock m; x = 0
        thread a { lock m; unlock m; lock m; store x 1; lock m }
        thread b { r = load x }";
    let object = "o = 1
        thread a { sync o > 0 sub 1; sync o any add 1; sync o > 0 sub 1; sync o any add 1 }
        thread b { sync o > 0 sub 1; sync o any add 1; sync o > 0 sub 1; sync o any add 1 }";
    for model in Model::ALL {
        assert_classes(&handed_over, model, 1);
        assert_classes(&contended, model, 6);
        assert_classes(held, model, 2);
        assert_classes(object, model, 6);
    }
}

#[test]
fn known_locks_and_unlocks_empty_the_store_buffer() {
    let text = "x = 0; y = 0; lock m; lock n
        thread a { BEFORE m; store x 1; AFTER m; r = load y }
        thread b { BEFORE n; store y 1; AFTER n; r = load x }";
    let (pair, twice) = ("lock L; unlock L", "lock L; unlock L; lock L; unlock L");
    let program = |before: &str, after: &str| {
        let with = |text: String, lock: &str| {
            let (before, after) = (before.replace('L', lock), after.replace('L', lock));
            let text = text.replace(&format!("BEFORE {lock}"), &before);
            text.replace(&format!("AFTER {lock}"), &after)
        };
        with(with(text.to_owned(), "m"), "n")
    };
    for model in [Model::Tso, Model::Pso] {
        assert_classes(&program(pair, pair), model, 3);
        assert_classes(&program(twice, twice), model, 3);
        // Only the unlock is after the store, or only a lock.
        assert_classes(&program("lock L", "unlock L"), model, 3);
        assert_classes(&program(pair, "lock L"), model, 3);
    }
}

#[test]
fn a_weak_compare_exchange_of_a_private_location_may_fail() {
    for model in Model::ALL {
        assert_classes("p = 0; thread a { r = casw p 0 1 }", model, 2);
        assert_classes("p = 0; thread a { s = load p; r = casw p 0 1; r = casw p 5 1 }", model, 2);
    }
}

#[test]
fn a_thread_forgets_values_when_it_learns_of_other_threads() {
    let text = "d = 0; f = 0; g = 0
        thread a { r = load d; store f 1 rel; s = load g acq; if s == 1 { t = load d; assert t == 5 } }
        thread b { r = load f acq; if r == 1 { store d 5; store g 1 rel } }";
    for model in Model::ALL {
        let classes = visits(&script(text), model, true);
        assert_eq!(classes, visits(&script(text), model, false), "{model}");
    }
    assert_classes(text, Model::Sc, 3);
    assert_classes(text, Model::C20, 3);
}

#[test]
fn data_is_handed_over_by_spawns_and_joins() {
    let text = "d = 0; x = 0
        thread main { store d 1; spawn a; spawn b; join a; r = load d; store x 1 }
        thread a { r = load d; store d 2 }
        thread b { r = load x; spawn c }
        thread c { r = load x }";
    for model in Model::ALL {
        assert_eq!(visits(&script(text), model, true), visits(&script(text), model, false));
    }
}

#[test]
fn joins_of_another_execution_hand_nothing_over() {
    for observed in [0, 1] {
        let text = format!(
            "d = 0; x = 0
             thread main {{
                 spawn a; spawn b; join a; r = load x acq
                 if r == {observed} {{ join b }}
                 s = load d
             }}
             thread a {{ r = 0 }}
             thread b {{ store x 1 rel; store d 1 }}"
        );
        for model in Model::ALL {
            assert_classes(&text, model, 3);
        }
    }
}

#[test]
fn data_is_handed_over_by_joins_of_threads_that_join() {
    let text = "d = 0; x = 0
        thread main { spawn a; spawn c; r = load x; join a; s = load d; store d 2; t = load x }
        thread a { spawn b; join b }
        thread b { store d 1 }
        thread c { store x 1 }";
    for model in Model::ALL {
        assert_classes(text, model, 3);
    }
}

#[test]
fn programs_that_hand_data_over_have_the_same_classes_with_and_without_quiet_locations() {
    for_cases(150, |numbers| {
        let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
        let script = handover(numbers, style);
        for model in Model::ALL {
            let (with, without) = (visits(&script, model, true), visits(&script, model, false));
            assert_eq!(with, without, "{model}\n{script}");
        }
    });
}

/// Two threads increment a counter after the main thread has initialised an array, which both read.
fn with_array(cells: usize) -> Script {
    let zeros = vec!["0"; cells].join(", ");
    script(&format!(
        "x = 0; table = [{zeros}]
         thread main {{
             i = 0
             repeat {cells} {{ store table[i] i + 1; i = i + 1 }}
             spawn a; spawn b; join a; join b
             i = 0
             repeat {cells} {{ r = load table[i]; assert r == i + 1; i = i + 1 }}
         }}
         thread a {{ r = load table[0]; s = load x; store x s + r }}
         thread b {{ r = load table[{}]; s = load x; store x s + r }}",
        cells - 1
    ))
}

#[test]
fn initialisation_before_threads_start_costs_no_events() {
    for model in Model::ALL {
        let few = visits(&with_array(2), model, true);
        let many = visits(&with_array(600), model, true);
        assert_eq!((few.len(), many.len()), (3, 3), "{model}");
    }
}

#[test]
fn sixty_locks_of_which_two_contend() {
    let locks: String = (0..60).map(|lock| format!("lock l{lock}; ")).collect();
    let section = |lock: usize| format!("lock l{lock}; unlock l{lock}; ");
    let thread = |locks: std::ops::Range<usize>| -> String { locks.map(section).collect() };
    let text =
        format!("{locks} thread a {{ {} }}; thread b {{ {} }}", thread(0..31), thread(29..60));
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let seen = visits(&script(&text), model, true);
        assert_eq!((seen.len(), seen.values().sum::<usize>()), (4, 4), "{model}");
    }
}

#[test]
fn ten_thousand_reads_of_one_thread_do_not_overflow_the_stack() {
    let text = "x = 0; y = 0
        thread a { repeat 10000 { r = load x; store x r + 1 }; store y 1 }
        thread b { r = load y }";
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let mut values = vec![];
        let mut visit = |leaf: &dyn Leaf| {
            assert_eq!(*leaf.ending(), Ending::Complete);
            values.extend(leaf.trace().events.iter().filter_map(|it| it.written).max());
            Control::Continue
        };
        let mut program = ScriptProgram::new(&script(text));
        let limits = Limits::default();
        let summary = rf_part_smc::explore(&mut program, model, &limits, &mut visit);
        assert_eq!((summary.extent, summary.classes), (Extent::All, 2), "{model}");
        assert_eq!(values, [10_000, 10_000], "{model}");
    }
}

#[test]
fn initialisation_costs_no_events_by_value() {
    for model in Model::STORE_BUFFERS {
        let mut leaves = 0;
        let mut visit = |_: &dyn Leaf| {
            leaves += 1;
            Control::Continue
        };
        let mut program = ScriptProgram::new(&with_array(600));
        let summary = rvf_smc::explore(&mut program, model, &Limits::default(), &mut visit);
        assert_eq!((summary.extent, summary.classes, leaves), (Extent::All, 3, 3), "{model}");
    }
}
