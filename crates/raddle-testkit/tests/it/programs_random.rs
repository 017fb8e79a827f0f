//! Oracle for exploration on random programs: its definitions agree, weaker models allow more, and transformations
//! preserve the classes.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::Class;
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::transform::{Transformed, padded, permuted, renamed};
use raddle_testkit::programs::{Classes, Pruning, by_axioms, classes, shrink};
use raddle_testkit::script::Script;
use raddle_testkit::seeds::for_cases;

/// Maximal number of states. Larger programs are skipped.
const BUDGET: usize = 3_000;

fn program(numbers: &mut Random) -> (Script, OrderStyle) {
    let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
    if numbers.chance(0.4) {
        return (cycle(numbers, style), style);
    }
    let features = ProgramFeatures::random(numbers);
    (random(numbers, style, features), style)
}

/// Returns the classes of a program by the axioms of a model.
fn axiomatic(script: &Script, model: Model) -> Option<Classes> {
    by_axioms(script, model, Pruning::Prefixes, BUDGET).ok()
}

fn assert_included(script: &Script, weaker: Model, inner: &Classes, outer: &Classes) {
    for (class, outcome) in inner {
        assert_eq!(outer.get(class), Some(outcome), "{weaker} lacks {class:?}\n{script}");
    }
}

#[test]
fn printed_programs_parse_to_the_same_program() {
    for_cases(2_000, |numbers| {
        let (script, _) = program(numbers);
        let text = script.to_string();
        assert_eq!(Script::parse(&text).as_ref(), Ok(&script), "{text}");
    });
}

#[test]
fn models_with_store_buffers_include_each_other() {
    let mut compared = 0;
    for_cases(150, |numbers| {
        let (script, _) = program(numbers);
        let all = Model::STORE_BUFFERS.map(|model| classes(&script, model, 20_000));
        let [Ok(sc), Ok(tso), Ok(pso)] = all else { return };
        assert_included(&script, Model::Tso, &sc, &tso);
        assert_included(&script, Model::Pso, &tso, &pso);
        compared += 1;
    });
    assert!(compared > 100, "{compared} programs were small enough");
}

/// Pairs of models: every class of the first is a class of the second.
const INCLUSIONS: [(Model, Model); 8] = [
    (Model::Sc, Model::Sra),
    (Model::Sra, Model::Ra),
    (Model::Ra, Model::Wra),
    (Model::Ra, Model::Rc20),
    (Model::Sc, Model::Rc11),
    (Model::Rc11, Model::C20),
    (Model::C20, Model::Rc20),
    (Model::Rc20, Model::Relaxed),
];

#[test]
fn models_with_axioms_include_each_other() {
    let mut compared = 0;
    for_cases(40, |numbers| {
        let (script, _) = program(numbers);
        let models = [Model::Sc].into_iter().chain(Model::C11);
        let all: BTreeMap<Model, Option<Classes>> =
            models.map(|model| (model, axiomatic(&script, model))).collect();
        for (stronger, weaker) in INCLUSIONS {
            let (Some(strong), Some(weak)) = (&all[&stronger], &all[&weaker]) else { return };
            assert_included(&script, weaker, strong, weak);
        }
        compared += 1;
    });
    assert!(compared > 20, "{compared} programs were small enough");
}

#[test]
fn the_definitions_of_sc_agree_on_random_programs() {
    let mut compared = 0;
    for_cases(150, |numbers| {
        let (script, _) = program(numbers);
        let Some(axioms) = axiomatic(&script, Model::Sc) else { return };
        let Ok(machine) = classes(&script, Model::Sc, 50_000) else { return };
        assert_eq!(machine, axioms, "{script}");
        compared += 1;
    });
    assert!(compared > 80, "{compared} programs were small enough");
}

#[test]
fn pruning_preserves_the_classes() {
    let mut compared = 0;
    for_cases(40, |numbers| {
        let (script, _) = program(numbers);
        for model in Model::C11 {
            let all = by_axioms(&script, model, Pruning::None, BUDGET);
            let (Ok(all), Some(pruned)) = (all, axiomatic(&script, model)) else { return };
            assert_eq!(all, pruned, "{model}\n{script}");
        }
        compared += 1;
    });
    assert!(compared > 15, "{compared} programs were small enough");
}

/// Asserts that a transformed program has the classes of the original one.
fn assert_same(script: &Script, changed: &Transformed, model: Model) -> bool {
    let budget = if model.has_store_buffers() { 20_000 } else { BUDGET };
    let both = (classes(script, model, budget), classes(&changed.script, model, budget));
    let (Ok(before), Ok(after)) = both else { return false };
    let translated: BTreeSet<Class> = after.keys().map(|class| changed.translate(class)).collect();
    assert_eq!(translated.len(), after.len(), "{model}\n{script}\n{}", changed.script);
    assert!(translated.iter().eq(before.keys()), "{model}\n{script}\n{}", changed.script);
    true
}

#[test]
fn permuting_threads_preserves_the_classes() {
    let mut compared = 0;
    for_cases(80, |numbers| {
        let (script, _) = program(numbers);
        let model = Model::ALL[numbers.below(Model::ALL.len())];
        compared += usize::from(assert_same(&script, &permuted(&script, numbers), model));
    });
    assert!(compared > 40, "{compared} programs were small enough");
}

#[test]
fn renaming_locations_preserves_the_classes() {
    let mut compared = 0;
    for_cases(80, |numbers| {
        let (script, _) = program(numbers);
        let model = Model::ALL[numbers.below(Model::ALL.len())];
        compared += usize::from(assert_same(&script, &renamed(&script, numbers), model));
    });
    assert!(compared > 40, "{compared} programs were small enough");
}

#[test]
fn private_accesses_preserve_the_classes_without_psc() {
    let mut compared = 0;
    for_cases(80, |numbers| {
        let (script, style) = program(numbers);
        let model = Model::ALL[numbers.below(Model::ALL.len())];
        let has_sc = matches!(style, OrderStyle::SeqCst | OrderStyle::All);
        if has_sc && matches!(model, Model::Rc11 | Model::C20) {
            return;
        }
        compared += usize::from(assert_same(&script, &padded(&script, numbers), model));
    });
    assert!(compared > 20, "{compared} programs were small enough");
}

#[test]
fn failing_programs_are_shrunk() {
    let differs = |script: &Script| {
        let [sc, tso] = [Model::Sc, Model::Tso].map(|model| classes(script, model, 20_000));
        matches!((sc, tso), (Ok(sc), Ok(tso)) if sc != tso)
    };
    let mut shrunk = 0;
    for_cases(200, |numbers| {
        let script = cycle(numbers, OrderStyle::ReleaseAcquire);
        if shrunk == 5 || !differs(&script) {
            return;
        }
        let small = shrink(&script, &mut |script| differs(script));
        let lengths: Vec<usize> = small.threads.iter().map(|thread| thread.body.len()).collect();
        assert_eq!(lengths.iter().sum::<usize>(), lengths[0] + 2 * lengths[0], "{small}");
        assert_eq!(lengths[0], small.variables.len(), "{small}");
        shrunk += 1;
    });
    assert_eq!(shrunk, 5);
}

#[test]
fn critical_cycles_distinguish_the_models() {
    let pairs = [
        (Model::Sc, Model::Tso),
        (Model::Tso, Model::Pso),
        (Model::Sc, Model::Sra),
        (Model::Ra, Model::Rc20),
        (Model::C20, Model::Rc20),
        (Model::Rc20, Model::Relaxed),
    ];
    let mut told_apart = pairs.map(|pair| (pair, 0));
    for_cases(100, |numbers| {
        let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
        let script = cycle(numbers, style);
        let mut known: BTreeMap<Model, usize> = BTreeMap::new();
        for ((stronger, weaker), programs) in &mut told_apart {
            let [strong, weak] = [*stronger, *weaker].map(|model| {
                let count = || classes(&script, model, 100_000).map_or(0, |all| all.len());
                *known.entry(model).or_insert_with(count)
            });
            *programs += usize::from(strong != 0 && weak != 0 && strong != weak);
        }
    });
    assert!(told_apart.iter().all(|(_, programs)| *programs > 0), "{told_apart:?}");
    println!("{told_apart:?}");
}
