//! The oracle for programs with loops, against that for classes and against known outcomes.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{ThreadId, Value};
use raddle_core::model::Model;
use raddle_testkit::programs::classes;
use raddle_testkit::programs::outcomes::{OutcomeBudget, Outcomes, describe, outcomes};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, random};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

const BUDGET: OutcomeBudget = OutcomeBudget { states: 20_000, questions: 8, tests: usize::MAX };

fn outcomes_of(text: &str, model: Model) -> (ScriptProgram, Outcomes) {
    let script = Script::parse(text).expect("a script");
    let found = outcomes(&script, model, BUDGET).expect("few states");
    (ScriptProgram::new(&script), found)
}

#[track_caller]
fn assert_outcomes(text: &str, model: Model, expected: &[&str]) {
    let (program, found) = outcomes_of(text, model);
    let found: BTreeSet<String> =
        found.outcomes.iter().map(|outcome| describe(&program, outcome)).collect();
    let expected: BTreeSet<String> = expected.iter().map(|&it| it.to_owned()).collect();
    assert_eq!(found, expected, "{model}");
}

/// Final registers of the threads that finished, which must be all.
fn finished(found: &Outcomes) -> BTreeSet<BTreeMap<ThreadId, Vec<Value>>> {
    use raddle_testkit::programs::outcomes::ThreadOutcome::Finished;
    let registers = |outcome: &BTreeMap<_, _>| {
        let all = outcome.iter().map(|(&thread, end)| match end {
            Finished(registers) => Some((thread, registers.clone())),
            _ => None,
        });
        all.collect::<Option<BTreeMap<_, _>>>()
    };
    found.outcomes.iter().filter_map(registers).collect()
}

#[test]
fn programs_without_loops_have_the_outcomes_of_their_classes() {
    use raddle_core::trace::ThreadEnd;
    let mut compared = 0;
    for_cases(40, |numbers| {
        let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
        let features = ProgramFeatures::random(numbers);
        let script = random(numbers, style, features);
        for model in Model::ALL {
            let budget = if model.has_store_buffers() { 20_000 } else { 1_000 };
            let Ok(classes) = classes(&script, model, budget) else { continue };
            let budget = OutcomeBudget { states: budget, questions: 20, tests: usize::MAX };
            let Ok(found) = outcomes(&script, model, budget) else { continue };
            if !found.is_complete {
                continue;
            }
            let is_complete = |class: &raddle_core::trace::Class| {
                class.values().all(|(_, end)| *end == ThreadEnd::Finished)
            };
            let complete = classes.iter().filter(|(class, _)| is_complete(class));
            let expected: BTreeSet<_> = complete.map(|(_, registers)| registers.clone()).collect();
            assert_eq!(finished(&found), expected, "{model}\n{script}");
            compared += 1;
        }
    });
    assert!(compared > 200, "compared only {compared}");
}

#[test]
fn threads_wait_for_values_that_come_or_do_not() {
    let wait =
        "x = 0; y = 0\nthread a { loop { r = load x acq; if r == 1 { break } }; s = load y }\n";
    for model in Model::ALL {
        assert_outcomes(
            &format!("{wait}thread b {{ store y 1; store x 1 rel }}"),
            model,
            if model == Model::Relaxed { &["a s=1 r=1", "a s=0 r=1"] } else { &["a s=1 r=1"] },
        );
        let spins = "a spins at a.0: r = load x acq";
        assert_outcomes(&format!("{wait}thread b {{ store x 2 }}"), model, &[spins]);
        let both = format!("{wait}thread b {{ store x 2 }}\nthread c {{ store x 1; store y 1 }}");
        let (program, found) = outcomes_of(&both, model);
        let found: BTreeSet<String> =
            found.outcomes.iter().map(|outcome| describe(&program, outcome)).collect();
        assert!(found.contains(spins), "{model}: {found:?}");
        assert!(found.contains("a s=0 r=1"), "{model}: {found:?}");
    }
}

/// Each may read the other's flag before it is set, and then sees it, as buffers are emptied in the end.
#[test]
fn threads_that_spin_on_each_other() {
    let text = "x = 0; y = 0
        thread a { loop { r = load y; if r == 1 { break } }; store x 1 }
        thread b { loop { r = load x; if r == 1 { break } }; store y 1 }";
    for model in Model::ALL {
        let expected = "a spins at a.0: r = load y, b spins at b.0: r = load x";
        assert_outcomes(text, model, &[expected]);
    }
}

#[test]
fn a_lock_that_is_never_released_is_waited_for() {
    let text = "x = 0; lock m
        thread a { lock m; loop { r = load x; if r == 1 { break } } }
        thread b { lock m; store x 1; unlock m }";
    for model in Model::ALL {
        let waits = "a spins at a.1: r = load x, b waits at b.0: lock m";
        assert_outcomes(text, model, &["a r=1", waits]);
    }
}

#[test]
fn accesses_in_rounds_race() {
    let text = "x = 0
        thread a { loop { r = load x na; if r == 1 { break } } }
        thread b { store x 1 }";
    for model in Model::ALL {
        let (_, found) = outcomes_of(text, model);
        assert_eq!(found.races.len(), usize::from(!model.has_store_buffers()), "{model}");
    }
}
