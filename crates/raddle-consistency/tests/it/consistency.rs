//! The checkers against brute force over the reference machine.

use proptest::prelude::*;
use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure, check};
use raddle_consistency::history;
use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::reference::brute_force::allows;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate, perturb};
use raddle_consistency::witness::{ConsistencyVerdict, Violation};
use raddle_core::execution::Execution;
use raddle_core::model::Model;
use raddle_testkit::executions::cycles::cycles;
use raddle_testkit::executions::{ALL, ExecutionFeatures, config, executions};

/// Brute force gets this many states.
const STATES: usize = 1_000_000;

fn variants(execution: &Execution) -> Vec<CheckOptions> {
    let mut variants = vec![];
    for closure in [UseClosure::WhenNeeded, UseClosure::First, UseClosure::Never] {
        variants.push(CheckOptions { closure, ..CheckOptions::default() });
        if execution.has_reads_from_map() {
            variants.push(CheckOptions {
                closure,
                algorithm: SearchAlgorithm::Naive,
                ..CheckOptions::default()
            });
        }
    }
    variants
}

/// Every checker agrees with brute force, and its evidence holds.
fn agrees_with_brute_force(execution: &Execution) -> Result<(), TestCaseError> {
    let mut weaker_allowed = false;
    for model in Model::STORE_BUFFERS {
        let expected = allows(execution, model);
        prop_assert!(expected || !weaker_allowed, "{model} is weaker than the model before");
        weaker_allowed = expected;
        for options in variants(execution) {
            let verdict = check(execution, model, &options);
            let text = || history::write(execution, history::Format::Text);
            match &verdict {
                ConsistencyVerdict::Consistent(witness) => {
                    prop_assert!(expected, "{model} forbids, {options:?} allows\n{}", text());
                    let rechecked = recheck_witness(execution, model, witness);
                    prop_assert!(rechecked.is_ok(), "{model} {rechecked:?}\n{}", text());
                }
                ConsistencyVerdict::Inconsistent(violation) => {
                    prop_assert!(!expected, "{model} allows, {options:?} forbids\n{}", text());
                    let rechecked = recheck_violation(execution, model, violation, STATES);
                    prop_assert!(
                        matches!(rechecked, Ok(Rechecked::Proved)),
                        "{model} {options:?} {rechecked:?} {violation:?}\n{}",
                        text()
                    );
                    check_core(execution, model, violation)?;
                }
                ConsistencyVerdict::Unknown { steps } => {
                    prop_assert!(false, "{model} {options:?} gave up after {steps}\n{}", text());
                }
            }
        }
    }
    Ok(())
}

/// A core is minimal: without the last event of any thread, brute force allows it.
fn check_core(
    execution: &Execution,
    model: Model,
    violation: &Violation,
) -> Result<(), TestCaseError> {
    let Violation::Core { lens, .. } = violation else { return Ok(()) };
    prop_assert!(!allows(&execution.prefix(lens), model));
    for thread in 0..lens.len() {
        let mut shorter = lens.clone();
        if shorter[thread] == 0 {
            continue;
        }
        shorter[thread] -= 1;
        if execution.is_closed(&shorter) {
            prop_assert!(allows(&execution.prefix(&shorter), model));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn any_execution(execution in executions(ALL)) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn loads_and_stores(execution in executions(ExecutionFeatures {
        updates: false, fences: false, store_fences: false, locks: false, spawn_join: false,
        orders: false, named: 8, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn fences_and_few_threads(execution in executions(ExecutionFeatures {
        updates: false, locks: false, spawn_join: false, threads: 3, events: 7, named: 8, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn loads_and_stores_with_orders(execution in executions(ExecutionFeatures {
        updates: false, fences: false, store_fences: false, locks: false, spawn_join: false,
        threads: 3, locations: 3, events: 6, named: 8, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn stores_with_orders_and_several_sources(execution in executions(ExecutionFeatures {
        locks: false, spawn_join: false, threads: 3, values: 2, named: 3, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn updates_and_one_location(execution in executions(ExecutionFeatures {
        locations: 1, locks: false, spawn_join: false, threads: 3, events: 6, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn several_sources(execution in executions(ExecutionFeatures {
        threads: 3, values: 2, named: 0, events: 6, spawn_join: false, ..ALL
    })) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn critical_cycles(execution in cycles(4, true)) {
        agrees_with_brute_force(&execution)?;
    }

    #[test]
    fn critical_cycles_with_several_sources(execution in cycles(3, false)) {
        agrees_with_brute_force(&execution)?;
    }

    /// A closed prefix of a consistent execution is consistent.
    #[test]
    fn closed_prefixes(execution in cycles(4, true), cuts in proptest::collection::vec(0..8usize, 4)) {
        let lens = execution.threads().map(|t| execution.thread_len(t).min(cuts[t.index()]));
        let part = execution.prefix(&execution.closed_prefix(lens.collect()));
        for model in Model::STORE_BUFFERS {
            if let ConsistencyVerdict::Consistent(_) = check(&execution, model, &CheckOptions::default()) {
                let verdict = check(&part, model, &CheckOptions::default());
                prop_assert!(matches!(verdict, ConsistencyVerdict::Consistent(_)), "{model} {verdict:?}");
                prop_assert!(allows(&part, model));
            }
        }
    }

    #[test]
    fn runs_of_the_machine(seed: u64, model in 0..3usize, changes in 0..3usize, few: bool) {
        let shape = HistoryShape {
            model: Model::STORE_BUFFERS[model],
            threads: 2 + (seed % 3) as usize,
            events_per_thread: 5,
            values: if few { ValueChoice::Few(2) } else { ValueChoice::Distinct },
            fences: 0.1,
            store_fences: 0.1,
            rmw: 0.1,
            spawn_join: seed % 5 == 0,
            orders: [0.0, 0.5, 1.0][(seed / 7 % 3) as usize],
            keep_order: seed % 2 == 0,
            ..HistoryShape::default()
        };
        let execution = generate(&shape, seed);
        let execution =
            if changes == 0 { execution } else { perturb(&execution, seed, changes) };
        if changes == 0 {
            prop_assert!(allows(&execution, shape.model));
        }
        agrees_with_brute_force(&execution)?;
    }

    /// What the machine did is allowed, however long: no brute force needed.
    #[test]
    fn long_runs_of_the_machine(
        seed: u64,
        model in 0..3usize,
        threads in 2..5usize,
        locations in 1..7usize,
        rare in 0.0..0.15f64,
    ) {
        let shape = HistoryShape {
            model: Model::STORE_BUFFERS[model],
            threads,
            locations,
            events_per_thread: 30 / threads,
            values: ValueChoice::Distinct,
            name_sources: 1.0,
            fences: 0.15,
            store_fences: if seed % 2 == 0 { rare } else { 0.0 },
            rmw: rare,
            orders: if seed % 3 == 0 { 0.0 } else { rare * 4.0 },
            flushes: 0.2,
            ..HistoryShape::default()
        };
        let execution = generate(&shape, seed);
        for model in &Model::STORE_BUFFERS[model..] {
            for options in variants(&execution) {
                let options = CheckOptions { budget: 100_000, ..options };
                let verdict = check(&execution, *model, &options);
                let text = || history::write(&execution, history::Format::Text);
                match verdict {
                    ConsistencyVerdict::Consistent(witness) => {
                        let rechecked = recheck_witness(&execution, *model, &witness);
                        prop_assert!(rechecked.is_ok(), "{model} {rechecked:?}\n{}", text());
                    }
                    ConsistencyVerdict::Unknown { .. } if options.algorithm == SearchAlgorithm::Naive => {}
                    other => {
                        prop_assert!(false, "{model} {options:?} {other:?}\n{}", text());
                    }
                }
            }
        }
    }
}

/// A release store keeps later stores behind all stores before it, also those to more locations than
/// the closure has edges for.
#[test]
fn a_release_store_after_many_stores() {
    for locations in [3, 64, 65, 100] {
        let stores: Vec<String> = (0..locations).map(|l| format!("W x{l} 1")).collect();
        let writer = format!("P0: {}; W.rel f 1; W y 1", stores.join("; "));
        for (first, expected) in [("f", false), ("y", false), ("x1", true)] {
            let text = format!("{writer}\nP1: R {first} 1; R x0 0\n");
            let execution = history::parse(text.as_bytes()).expect("a history");
            for closure in [UseClosure::First, UseClosure::Never] {
                let options = CheckOptions { closure, ..CheckOptions::default() };
                let verdict = check(&execution, Model::Pso, &options);
                let allowed = matches!(verdict, ConsistencyVerdict::Consistent(_));
                assert_eq!(allowed, expected, "{locations} {first} {closure:?} {verdict:?}");
                let proves = closure == UseClosure::First && (locations <= 64 || first == "f");
                let cycle =
                    matches!(verdict, ConsistencyVerdict::Inconsistent(Violation::Cycle { .. }));
                assert_eq!(cycle, !expected && proves, "{locations} {first} {verdict:?}");
            }
        }
    }
}

/// What a sequentially consistent store orders is known to the closure.
#[test]
fn the_closure_orders_sequentially_consistent_stores() {
    for history in [
        "P0: W.sc x 1; R y 0\nP1: W.sc y 1; R x 0\n",
        "P0: W x 1; W.sc a 1; R y 0\nP1: W y 1; W.sc b 1; R x 0\n",
        "P0: W.sc x 1; R x 1; R y 0\nP1: W.sc y 1; R y 1; R x 0\n",
        "P0: W x 1; W.sc y 1\nP1: R y 1; R x 0\n",
    ] {
        let execution = history::parse(history.as_bytes()).expect("a history");
        for model in Model::STORE_BUFFERS {
            let options = CheckOptions { closure: UseClosure::First, ..CheckOptions::default() };
            let verdict = check(&execution, model, &options);
            let ConsistencyVerdict::Inconsistent(violation @ Violation::Cycle { .. }) = verdict
            else {
                panic!("{model} {verdict:?}\n{history}");
            };
            let rechecked = recheck_violation(&execution, model, &violation, 10_000);
            assert_eq!(rechecked, Ok(Rechecked::Proved), "{model}\n{history}");
        }
    }
}
