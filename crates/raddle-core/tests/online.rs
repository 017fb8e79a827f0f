//! Runs by chance are executions of the model, and all of them are found.

#[path = "common/seeds.rs"]
mod seeds;

use std::collections::BTreeSet;

use raddle_core::consistency::{self, Options};
use raddle_core::explore::online::{Sampling, Strategy, explore};
use raddle_core::explore::{Class, Control, Ending, Extent, Leaf, Limits, Summary, Trace};
use raddle_core::model::Model;
use raddle_core::reference::programs::random::{Features, Style, cycle, random};
use raddle_core::reference::programs::{self, shrink};
use raddle_core::reference::random::Random;
use raddle_core::script::{Script, ScriptProgram};
use raddle_core::witness::Verdict;

use seeds::for_cases;

/// How many states the oracle may visit.
const BUDGET: usize = 2_000;

const STRATEGIES: [Strategy; 2] = [Strategy::Random, Strategy::Pct];

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a script; the visitor gets the ending and the trace of every run.
fn runs(
    script: &Script,
    model: Model,
    strategy: Strategy,
    sampling: Sampling,
    visit: &mut dyn FnMut(&Ending, Trace) -> Control,
) -> Summary {
    let mut visitor = |leaf: &dyn Leaf| visit(leaf.ending(), leaf.trace());
    let mut program = ScriptProgram::new(script);
    let limits = Limits::default();
    explore(&mut program, model, strategy, &sampling, &limits, &mut visitor)
}

/// The classes that runs have, until these are found.
fn found(
    script: &Script,
    model: Model,
    strategy: Strategy,
    wanted: &BTreeSet<Class>,
) -> BTreeSet<Class> {
    let mut found = BTreeSet::new();
    let sampling =
        Sampling { iterations: 40_000, shows_all: true, depth: 6, ..Sampling::default() };
    runs(script, model, strategy, sampling, &mut |_, trace| {
        found.insert(trace.class());
        if wanted.is_subset(&found) { Control::Stop } else { Control::Continue }
    });
    found
}

/// How the classes that are found differ from all, if they do; otherwise how many there are.
fn compare(script: &Script, model: Model, strategy: Strategy) -> Result<Option<usize>, String> {
    let Ok(expected) = programs::classes(script, model, BUDGET) else { return Ok(None) };
    let expected: BTreeSet<Class> = expected.into_keys().collect();
    let found = found(script, model, strategy, &expected);
    let (missed, wrong) =
        (expected.difference(&found).count(), found.difference(&expected).count());
    if missed + wrong == 0 {
        return Ok(Some(expected.len()));
    }
    Err(format!(
        "{model}, {strategy:?}: {missed} of {} missed, {wrong} impossible\n{script}",
        expected.len()
    ))
}

fn any_style(random: &mut Random) -> Style {
    *random.pick(&Style::ALL).expect("there are styles")
}

fn all_are_found(cases: u64, models: &[Model], mut case: impl FnMut(&mut Random) -> Script) {
    let mut classes = 0;
    for_cases(cases, |random| {
        let script = case(random);
        for &model in models {
            for strategy in STRATEGIES {
                match compare(&script, model, strategy) {
                    Ok(count) => classes += count.unwrap_or(0),
                    Err(_) => {
                        let smallest =
                            shrink(&script, &mut |it| compare(it, model, strategy).is_err());
                        panic!("{}", compare(&smallest, model, strategy).expect_err("it fails"));
                    }
                }
            }
        }
    });
    println!("{classes} classes");
}

#[test]
fn all_classes_of_random_programs_are_found_with_store_buffers() {
    all_are_found(20, &Model::STORE_BUFFERS, |source| {
        let (style, features) = (any_style(source), Features::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_store_buffers() {
    all_are_found(20, &Model::STORE_BUFFERS, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// The models without an order of sequentially consistent events.
const COHERENT: [Model; 5] = [Model::Sra, Model::Ra, Model::Wra, Model::Rc20, Model::Relaxed];

#[test]
fn all_classes_of_random_programs_are_found_with_views() {
    all_are_found(20, &COHERENT, |source| {
        let (style, features) = (any_style(source), Features::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_views() {
    all_are_found(20, &COHERENT, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// Where everything is sequentially consistent, or fences are, the order of a run is enough.
#[test]
fn all_classes_of_random_programs_are_found_with_sequentially_consistent_events() {
    all_are_found(20, &[Model::Rc11, Model::C20], |source| {
        let (style, features) = (any_style(source), Features::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_sequentially_consistent_events() {
    all_are_found(20, &[Model::Rc11, Model::C20], |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// Every run of programs that are too large for the oracle is one that the checker of the model allows.
#[test]
fn every_run_is_consistent() {
    for_cases(30, |source| {
        let (style, features) = (any_style(source), Features::random(source));
        let script = random(source, style, features);
        for model in Model::ALL {
            for strategy in STRATEGIES {
                let program = ScriptProgram::new(&script);
                let sampling = Sampling {
                    iterations: 20,
                    seed: source.bits(),
                    shows_all: true,
                    ..Sampling::default()
                };
                runs(&script, model, strategy, sampling, &mut |_, trace| {
                    let execution = trace.to_execution(&program).expect("a trace makes sense");
                    let verdict = consistency::check(&execution, model, &Options::default());
                    assert!(
                        matches!(verdict, Verdict::Consistent(_)),
                        "{model}, {strategy:?}\n{script}\n{trace:?}"
                    );
                    Control::Continue
                });
            }
        }
    });
}

#[test]
fn a_run_without_an_error_proves_nothing() {
    let script = script("x = 0; thread a { store x 1 }; thread b { r = load x }");
    let sampling = Sampling { iterations: 7, ..Sampling::default() };
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut visits = 0;
            let summary = runs(&script, model, strategy, sampling, &mut |_, _| {
                visits += 1;
                Control::Continue
            });
            assert_eq!((summary.extent, summary.classes, visits), (Extent::Sampled, 7, 0));
        }
    }
}
