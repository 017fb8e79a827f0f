//! Random testing produces only executions of the model, and finds every class of small programs.

use std::collections::BTreeSet;

use raddle_consistency::check::CheckOptions;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Ending, Trace};
use raddle_explore::sampling::{Sampling, Strategy, explore};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::{self, shrink};
use raddle_testkit::script::{Script, ScriptProgram};

use raddle_testkit::seeds::for_cases;

/// Maximal number of states that the oracle visits.
const BUDGET: usize = 2_000;

const STRATEGIES: [Strategy; 2] = [Strategy::Random, Strategy::Pct];

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Samples a script and passes the ending and the trace of every visited run to `visit`.
fn sample(
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

/// Returns the classes of sampled runs. Stops once all of `wanted` are among them.
fn sampled_classes(
    script: &Script,
    model: Model,
    strategy: Strategy,
    iterations: u64,
    wanted: &BTreeSet<Class>,
) -> BTreeSet<Class> {
    let mut found = BTreeSet::new();
    let sampling = Sampling { iterations, visit_all: true, depth: 6, ..Sampling::default() };
    sample(script, model, strategy, sampling, &mut |_, trace| {
        found.insert(trace.class());
        if wanted.is_subset(&found) { Control::Stop } else { Control::Continue }
    });
    found
}

/// Compares the sampled classes with those of the oracle. Returns the number of classes, `None` if they are too many for the
/// oracle, or a description of the difference.
///
/// In programs with very many classes some are rare, and PCT finds only those that need few ordering constraints. There
/// the test only requires that no impossible class is found.
fn compare(script: &Script, model: Model, strategy: Strategy) -> Result<Option<usize>, String> {
    let Ok(expected) = programs::classes(script, model, BUDGET) else { return Ok(None) };
    let expected: BTreeSet<Class> = expected.into_keys().collect();
    let is_hard = expected.len() > if strategy == Strategy::Pct { 40 } else { 200 };
    let iterations = if is_hard { 300 } else { 4_000_000 };
    let found = sampled_classes(script, model, strategy, iterations, &expected);
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

fn any_style(random: &mut Random) -> OrderStyle {
    *random.pick(&OrderStyle::ALL).expect("`ALL` is not empty")
}

fn assert_all_classes_found(
    cases: u64,
    models: &[Model],
    mut case: impl FnMut(&mut Random) -> Script,
) {
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
                        panic!(
                            "{}",
                            compare(&smallest, model, strategy)
                                .expect_err("the smallest script fails, too")
                        );
                    }
                }
            }
        }
    });
    println!("{classes} classes");
}

#[test]
fn all_classes_of_random_programs_are_found_with_store_buffers() {
    assert_all_classes_found(20, &Model::STORE_BUFFERS, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_store_buffers() {
    assert_all_classes_found(20, &Model::STORE_BUFFERS, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// C11-style models without an order of sequentially consistent events.
const COHERENT: [Model; 5] = [Model::Sra, Model::Ra, Model::Wra, Model::Rc20, Model::Relaxed];

#[test]
fn all_classes_of_random_programs_are_found_with_views() {
    assert_all_classes_found(10, &COHERENT, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_views() {
    assert_all_classes_found(20, &COHERENT, |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

#[test]
fn all_classes_of_random_programs_are_found_with_sequentially_consistent_events() {
    assert_all_classes_found(10, &[Model::Rc11, Model::C20], |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        random(source, style, features)
    });
}

#[test]
fn all_classes_of_critical_cycles_are_found_with_sequentially_consistent_events() {
    assert_all_classes_found(20, &[Model::Rc11, Model::C20], |source| {
        let style = any_style(source);
        cycle(source, style)
    });
}

/// The consistency checker allows every run of programs that are too large for the oracle.
#[test]
fn every_run_is_consistent() {
    for_cases(30, |source| {
        let (style, features) = (any_style(source), ProgramFeatures::random(source));
        let script = random(source, style, features);
        for model in Model::ALL {
            for strategy in STRATEGIES {
                let program = ScriptProgram::new(&script);
                let sampling = Sampling {
                    iterations: 20,
                    seed: source.bits(),
                    visit_all: true,
                    ..Sampling::default()
                };
                sample(&script, model, strategy, sampling, &mut |_, trace| {
                    let execution =
                        trace.to_execution(&program).expect("the trace is an execution");
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

/// The fence must precede the store to x in the order of sequentially consistent events, although it is executed later.
#[test]
fn sc_fences_ordered_against_execution_order_are_found() {
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

/// A load may precede a store in the order of sequentially consistent events, although it is executed later.
#[test]
fn sc_loads_ordered_against_execution_order_are_found() {
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
                sample(&script, model, strategy, Sampling::default(), &mut |ending, trace| {
                    shown.push((ending.clone(), trace));
                    Control::Stop
                });
            assert_eq!(summary.extent, Extent::Stopped, "{model}, {strategy:?}");
            let (ending, trace) = shown.last().expect("the script fails");
            assert!(matches!(ending, Ending::Failed(..)), "{ending:?}");
            let program = ScriptProgram::new(&script);
            let execution = trace.to_execution(&program).expect("the trace is an execution");
            let verdict = raddle_consistency::check(&execution, model, &CheckOptions::default());
            assert!(matches!(verdict, ConsistencyVerdict::Consistent(_)), "{model}");
            // One deviation is left: b runs first, or reads a stale value. No thread is preempted.
            let threads: Vec<_> = trace.events.iter().map(|event| event.thread).collect();
            let switches = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(switches <= 2, "{model}, {strategy:?}: {trace:?}");
        }
    }
}

#[test]
fn races_are_found_under_c11_models() {
    let script = script(
        "x = 0; y = 0
         thread a { store x 1 na; store y 1 rel }
         thread b { r = load y acq; if r == 1 { s = load x na } else { store x 2 na } }",
    );
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut endings = vec![];
            sample(&script, model, strategy, Sampling::default(), &mut |ending, trace| {
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
            sample(&script, model, strategy, Sampling::default(), &mut |ending, _| {
                endings.push(ending.clone());
                Control::Stop
            });
            assert!(matches!(endings[..], [.., Ending::Deadlock(_)]), "{endings:?}");
        }
    }
}

#[test]
fn a_run_is_cut_at_the_event_limit() {
    let script =
        script("x = 0; thread a { repeat 1000 { add x 1 } }; thread b { repeat 1000 { add x 1 } }");
    let sampling =
        Sampling { iterations: 1, max_events: 100, visit_all: true, ..Sampling::default() };
    let mut events = 0;
    sample(&script, Model::C20, Strategy::Random, sampling, &mut |ending, trace| {
        assert!(matches!(ending, Ending::Limit(_)), "{ending:?}");
        events = trace.events.len();
        Control::Continue
    });
    assert_eq!(events, 100);
}

#[test]
fn runs_without_a_bug_prove_nothing() {
    let script = script("x = 0; thread a { store x 1 }; thread b { r = load x }");
    let sampling = Sampling { iterations: 7, ..Sampling::default() };
    for model in Model::ALL {
        for strategy in STRATEGIES {
            let mut visits = 0;
            let summary = sample(&script, model, strategy, sampling, &mut |_, _| {
                visits += 1;
                Control::Continue
            });
            assert_eq!((summary.extent, summary.classes, visits), (Extent::Sampled, 7, 0));
        }
    }
}
