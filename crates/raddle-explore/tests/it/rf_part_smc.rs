//! RF-partSMC against brute force: the same classes, none twice, the same outcomes.

use std::collections::BTreeMap;

use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::Class;
use raddle_explore::{Control, Extent, Leaf, Limits, rf_part_smc};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::{Classes, classes, handover, shrink, transform};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

/// How many states brute force may visit.
fn budget(model: Model) -> usize {
    if model.has_store_buffers() { 20_000 } else { 1_500 }
}

/// How often the explorer visits each class.
fn explored(script: &Script, model: Model) -> BTreeMap<Class, usize> {
    let mut program = ScriptProgram::new(script);
    let mut seen = BTreeMap::new();
    let mut visit = |leaf: &dyn Leaf| {
        *seen.entry(leaf.trace().class()).or_insert(0) += 1;
        Control::Continue
    };
    let limits = Limits::default();
    let summary = rf_part_smc::explore(&mut program, model, &limits, &mut visit);
    assert_eq!(summary.extent, Extent::All);
    assert_eq!(summary.classes + summary.blocked, seen.values().sum::<usize>() as u64);
    seen
}

/// What is wrong with the exploration of a program, if brute force can tell.
fn fault(script: &Script, model: Model) -> Option<String> {
    fault_of(script, model, &classes(script, model, budget(model)).ok()?)
}

/// What is wrong with the exploration of a program with these classes.
fn fault_of(script: &Script, model: Model, expected: &Classes) -> Option<String> {
    let seen = explored(script, model);
    let missing = expected.keys().find(|&class| !seen.contains_key(class));
    let extra = seen.keys().find(|&class| !expected.contains_key(class));
    let twice = seen.iter().find(|&(_, &times)| times > 1);
    let counts = format!("{} classes, visited {}", expected.len(), seen.len());
    missing
        .map(|class| format!("{counts}: missing {class:?}"))
        .or(extra.map(|class| format!("{counts}: not allowed {class:?}")))
        .or(twice.map(|(class, times)| format!("{counts}: {times} times {class:?}")))
}

/// Checks the exploration of a program. Returns `false` if brute force cannot tell.
fn check(script: &Script, model: Model) -> bool {
    let Ok(expected) = classes(script, model, budget(model)) else { return false };
    if fault_of(script, model, &expected).is_some() {
        let smallest = shrink(script, &mut |smaller| fault(smaller, model).is_some());
        panic!("{model}: {}\n{smallest}", fault(&smallest, model).expect("it still fails"));
    }
    true
}

fn any_style(random: &mut Random) -> OrderStyle {
    OrderStyle::ALL[random.below(OrderStyle::ALL.len())]
}

#[test]
fn random_programs_have_the_classes_of_brute_force() {
    for_cases(60, |numbers| {
        let style = any_style(numbers);
        let features = ProgramFeatures::random(numbers);
        let script = random(numbers, style, features);
        for model in Model::ALL {
            check(&script, model);
        }
    });
}

#[test]
fn critical_cycles_have_the_classes_of_brute_force() {
    for_cases(120, |numbers| {
        let style = any_style(numbers);
        let script = cycle(numbers, style);
        for model in Model::ALL {
            check(&script, model);
        }
    });
}

#[test]
fn programs_that_hand_data_over_have_the_classes_of_brute_force() {
    let mut compared = 0;
    for_cases(120, |numbers| {
        let style = any_style(numbers);
        let script = handover(numbers, style);
        for model in Model::ALL {
            compared += u32::from(check(&script, model));
        }
    });
    assert!(compared > 600, "brute force was possible for only {compared} programs");
}

#[test]
fn the_order_of_threads_names_and_private_accesses_do_not_matter() {
    for_cases(60, |numbers| {
        let style = any_style(numbers);
        let features = ProgramFeatures::random(numbers);
        let script = random(numbers, style, features);
        let changed = [
            transform::permuted(&script, numbers),
            transform::renamed(&script, numbers),
            transform::padded(&script, numbers),
        ];
        for model in Model::ALL {
            let expected = explored(&script, model);
            for (kind, changed) in changed.iter().enumerate() {
                // Under these models a private access between two others of one location matters.
                if kind == 2 && matches!(model, Model::Rc11 | Model::C20) {
                    continue;
                }
                let seen = explored(&changed.script, model);
                let seen: BTreeMap<Class, usize> =
                    seen.iter().map(|(class, &times)| (changed.translate(class), times)).collect();
                assert_eq!(seen, expected, "{model}\n{script}\n{}", changed.script);
            }
        }
    });
}

#[test]
fn what_nobody_else_can_notice_does_not_matter() {
    let mut shorter = 0;
    for_cases(150, |numbers| {
        let style = any_style(numbers);
        let features = ProgramFeatures::random(numbers);
        let script = random(numbers, style, features);
        let padded = transform::padded(&script, numbers).script;
        for script in [script, padded] {
            let without = script.without_private();
            shorter += u32::from(without != script);
            for model in Model::ALL {
                if matches!(model, Model::Rc11 | Model::C20) {
                    continue;
                }
                let (expected, seen) = (explored(&script, model), explored(&without, model));
                assert_eq!(seen.len(), expected.len(), "{model}\n{script}\n{without}");
            }
        }
    });
    assert!(shorter > 100, "only {shorter} programs had something to take out");
}

/// A thread that has joined all others writes after their reads; one that has joined some twice does not.
#[test]
fn writes_after_joins_matter_to_those_that_were_not_joined() {
    for joins in ["join a; join b", "join a; join a", "join b; join b", "join b", ""] {
        let script = Script::parse(&format!(
            "x = 0; y = 0; thread main {{ spawn a; spawn b; {joins}; store x 2; store y 2 }};
             thread a {{ r = load x; store y 1 }}; thread b {{ r = load y; store x 1 }}"
        ));
        let script = script.expect("a script");
        for model in Model::ALL {
            assert_eq!(fault(&script, model), None, "{joins}, {model}");
        }
    }
}
