//! Runs by chance are executions of the model, and all of them are found.

use std::collections::BTreeSet;

use raddle_consistency::check::CheckOptions;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Ending, Trace};
use raddle_explore::sampling::{Sampling, Strategy, explore};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_testkit::programs::random::{Features, Style, cycle, random};
use raddle_testkit::programs::{self, shrink};
use raddle_testkit::script::{Script, ScriptProgram};

use raddle_testkit::seeds::for_cases;

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
    iterations: u64,
    wanted: &BTreeSet<Class>,
) -> BTreeSet<Class> {
    let mut found = BTreeSet::new();
    let sampling = Sampling { iterations, shows_all: true, depth: 6, ..Sampling::default() };
    runs(script, model, strategy, sampling, &mut |_, trace| {
        found.insert(trace.class());
        if wanted.is_subset(&found) { Control::Stop } else { Control::Continue }
    });
    found
}

/// How the classes that are found differ from all, if they do; otherwise how many there are.
///
/// Of programs with very many classes some are rare, and priorities find what needs few things to come together: there it
/// is only asked that nothing else is found.
fn compare(script: &Script, model: Model, strategy: Strategy) -> Result<Option<usize>, String> {
    let Ok(expected) = programs::classes(script, model, BUDGET) else { return Ok(None) };
    let expected: BTreeSet<Class> = expected.into_keys().collect();
    let is_hard = expected.len() > if strategy == Strategy::Pct { 40 } else { 200 };
    let iterations = if is_hard { 300 } else { 4_000_000 };
    let found = found(script, model, strategy, iterations, &expected);
    let (missed, wrong) =
        (expected.difference(&found).count(), found.difference(&expected).count());
    if wrong == 0 && (missed == 0 || is_hard) {
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
                    Err(difference) => {
                        eprintln!("{difference}");
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
    all_are_found(10, &COHERENT, |source| {
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

#[test]
fn all_classes_of_random_programs_are_found_with_sequentially_consistent_events() {
    all_are_found(10, &[Model::Rc11, Model::C20], |source| {
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
                    let verdict =
                        raddle_consistency::check(&execution, model, &CheckOptions::default());
                    assert!(
                        matches!(verdict, ConsistencyVerdict::Consistent(_)),
                        "{model}, {strategy:?}\n{script}\n{trace:?}"
                    );
                    Control::Continue
                });
            }
        }
    });
}

/// The fence must come before the store to x in the order of sequentially consistent events, though it runs after it.
#[test]
fn an_order_of_fences_against_the_run_is_found() {
    let script = script(
        "x = 0; y = 0
         thread a { store x 1 sc; store y 1 }
         thread b { r = load y; fence sc; s = load x }",
    );
    for model in [Model::Rc11, Model::C20] {
        for strategy in STRATEGIES {
            assert_eq!(compare(&script, model, strategy), Ok(Some(4)));
        }
    }
}

/// A load may come before a store in the order of sequentially consistent events, though it runs after it.
#[test]
fn an_order_of_loads_against_the_run_is_found() {
    let script = script(
        "x = 0; y = 0
         thread a { store x 1 sc; store y 1 }
         thread b { r = load y; s = load x sc }",
    );
    for strategy in STRATEGIES {
        assert_eq!(compare(&script, Model::C20, strategy), Ok(Some(4)));
    }
}

#[test]
fn failures_are_found_and_shrunk() {
    let script = script(
        "x = 0; y = 0; z = 0
         thread a { store x 1; repeat 5 { add z 1 }; r = load y; store z r }
         thread b { repeat 5 { add z 1 }; store y 1; s = load x; assert s == 1 }",
    );
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut shown = vec![];
            let summary =
                runs(&script, model, strategy, Sampling::default(), &mut |ending, trace| {
                    shown.push((ending.clone(), trace));
                    Control::Stop
                });
            assert_eq!(summary.extent, Extent::Stopped, "{model}, {strategy:?}");
            let (ending, trace) = shown.last().expect("it fails");
            assert!(matches!(ending, Ending::Failed(..)), "{ending:?}");
            let program = ScriptProgram::new(&script);
            let execution = trace.to_execution(&program).expect("a trace makes sense");
            let verdict = raddle_consistency::check(&execution, model, &CheckOptions::default());
            assert!(matches!(verdict, ConsistencyVerdict::Consistent(_)), "{model}");
            // One departure is left: b goes first, or observes something old. Nobody is interrupted.
            let threads: Vec<_> = trace.events.iter().map(|event| event.thread).collect();
            let switches = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(switches <= 2, "{model}, {strategy:?}: {trace:?}");
        }
    }
}

#[test]
fn races_are_found_under_the_models_of_c11() {
    let script = script(
        "x = 0; y = 0
         thread a { store x 1 na; store y 1 rel }
         thread b { r = load y acq; if r == 1 { s = load x na } else { store x 2 na } }",
    );
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut endings = vec![];
            runs(&script, model, strategy, Sampling::default(), &mut |ending, trace| {
                if let &Ending::Race(first, second) = ending {
                    let [one, other] = [first, second].map(|at| &trace.events[at]);
                    assert!(one.thread != other.thread);
                    assert_eq!(one.op.kind.location(), other.op.kind.location());
                }
                endings.push(ending.clone());
                Control::Stop
            });
            let races = endings.iter().any(|ending| matches!(ending, Ending::Race(..)));
            assert_eq!(races, !model.has_store_buffers(), "{model}, {strategy:?}: {endings:?}");
        }
    }
}

#[test]
fn deadlocks_are_found() {
    let script = script(
        "lock m; lock n
         thread a { lock m; lock n; unlock n; unlock m }
         thread b { lock n; lock m; unlock m; unlock n }",
    );
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut endings = vec![];
            runs(&script, model, strategy, Sampling::default(), &mut |ending, _| {
                endings.push(ending.clone());
                Control::Stop
            });
            assert!(matches!(endings[..], [.., Ending::Deadlock(_)]), "{endings:?}");
        }
    }
}

#[test]
fn a_run_is_cut_at_the_limit_of_its_events() {
    let script =
        script("x = 0; thread a { repeat 1000 { add x 1 } }; thread b { repeat 1000 { add x 1 } }");
    let sampling = Sampling { iterations: 1, events: 100, shows_all: true, ..Sampling::default() };
    let mut events = 0;
    runs(&script, Model::C20, Strategy::Random, sampling, &mut |ending, trace| {
        assert!(matches!(ending, Ending::Limit(_)), "{ending:?}");
        events = trace.events.len();
        Control::Continue
    });
    assert_eq!(events, 100);
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
