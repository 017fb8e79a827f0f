//! The checkers of the C11 models agree with brute force over all sources, modification orders and
//! orders of fences, and their evidence passes the recheck.

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::history::{Format, write};
use raddle_consistency::recheck::{Rechecked, recheck_violation, recheck_witness};
use raddle_consistency::reference::enumerate;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate};
use raddle_consistency::witness::{ConsistencyVerdict, Violation, Witness};
use raddle_core::execution::{Action, Execution, ExecutionBuilder, MemoryOrder, SourceClaim};
use raddle_core::model::{Model, race};
use raddle_core::random::Random;
use raddle_testkit::c11_cases::{cycle_case, random_case};

use raddle_testkit::seeds::for_cases;

/// How often each kind of answer was given.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    consistent: usize,
    races: usize,
    axioms: usize,
    others: usize,
}

/// Checks an execution under a model and everything that the answer claims.
fn agree(execution: &Execution, model: Model, tally: &mut Tally) {
    let text = || format!("{model}\n{}", write(execution, Format::Text));
    let allowed = enumerate::allows(execution, model).is_some();
    match check(execution, model, &CheckOptions::default()) {
        ConsistencyVerdict::Consistent(witness) => {
            assert!(allowed, "wrongly allowed: {}", text());
            let rechecked = recheck_witness(execution, model, &witness);
            assert_eq!(rechecked, Ok(Rechecked::Proved), "{witness:?} {}", text());
            let Witness::Coherence(coherence) = &witness else { panic!("{witness:?}") };
            assert_eq!(race(execution, model, coherence), None, "{}", text());
            tally.consistent += 1;
        }
        ConsistencyVerdict::Inconsistent(violation) => {
            let race = matches!(violation, Violation::Race { .. });
            assert_eq!(allowed, race, "wrongly forbidden: {violation:?} {}", text());
            let rechecked = recheck_violation(execution, model, &violation, 1_000_000);
            assert_eq!(rechecked, Ok(Rechecked::Proved), "{violation:?} {}", text());
            match violation {
                Violation::Race { .. } => tally.races += 1,
                Violation::Axiom { .. } => tally.axioms += 1,
                _ => tally.others += 1,
            }
        }
        ConsistencyVerdict::Unknown { .. } => panic!("given up: {}", text()),
    }
}

fn agree_on(cases: u64, case: fn(u64) -> Execution) {
    let mut tallies: Vec<Tally> = Model::C11.iter().map(|_| Tally::default()).collect();
    for_cases(cases, |random| {
        let execution = case(random.bits());
        for (model, tally) in Model::C11.into_iter().zip(&mut tallies) {
            agree(&execution, model, tally);
        }
    });
    for (model, tally) in Model::C11.into_iter().zip(&tallies) {
        println!("{model}: {tally:?}");
        assert!(tally.consistent > 0 && tally.axioms > 0, "{model} {tally:?}");
    }
}

#[test]
fn checkers_agree_with_brute_force_on_random_executions() {
    agree_on(12_000, random_case);
}

#[test]
fn checkers_agree_with_brute_force_on_critical_cycles() {
    agree_on(12_000, cycle_case);
}

/// The same execution with memory orders, most of them sequentially consistent, and beside it two
/// threads that no run under SC can have.
fn beside_a_weak_part(execution: &Execution, random: &mut Random) -> Execution {
    let mut builder = ExecutionBuilder::new();
    for thread in execution.threads() {
        let id = builder.thread(&execution.thread(thread).name);
        builder.declare(id);
    }
    for location in execution.locations() {
        let id = builder.location(&execution.location(location).name);
        builder.init(id, 0).expect("a location has one initial value");
    }
    for thread in execution.threads() {
        for event in execution.thread_events(thread) {
            let action = *execution.action(event);
            let atomic = action.possible_orders().iter().copied().filter(|o| o.is_atomic());
            let orders: Vec<MemoryOrder> = atomic.collect();
            let seq_cst = random.chance(0.7) && orders.contains(&MemoryOrder::SeqCst);
            let order =
                if seq_cst { MemoryOrder::SeqCst } else { orders[random.below(orders.len())] };
            let claim = match execution.sources(event) {
                [source] => match execution.position(*source) {
                    Some((thread, position)) => SourceClaim::Event { thread, position },
                    None => SourceClaim::Init,
                },
                _ => SourceClaim::Unnamed,
            };
            builder.push_ordered(thread, action, order, claim);
        }
    }
    let [a, b] = ["a", "b"].map(|name| builder.location(name));
    for (name, location, other) in [("Q0", a, b), ("Q1", b, a)] {
        let thread = builder.thread(name);
        let write = Action::Write { location, value: 1 };
        let read = Action::Read { location: other, value: 0 };
        builder.push_ordered(thread, write, MemoryOrder::Relaxed, SourceClaim::Unnamed);
        builder.push_ordered(thread, read, MemoryOrder::Relaxed, SourceClaim::Init);
    }
    builder.build().expect("an execution with orders is an execution")
}

/// Larger than brute force can do. Each is consistent by construction: a run under SC, and beside it
/// store buffering with relaxed accesses.
#[test]
fn runs_under_sc_beside_a_weak_part_are_consistent() {
    for_cases(1_000, |random| {
        let shape = HistoryShape {
            model: Model::Sc,
            threads: 2 + random.below(4),
            locations: 1 + random.below(4),
            locks: 0,
            events_per_thread: 2 + random.below(10),
            values: ValueChoice::Distinct,
            name_sources: 1.0,
            ..HistoryShape::default()
        };
        let run = generate(&shape, random.bits());
        let execution = beside_a_weak_part(&run, random);
        for model in Model::C11 {
            let verdict = check(&execution, model, &CheckOptions::default());
            let text = || format!("{model}\n{}", write(&execution, Format::Text));
            let ConsistencyVerdict::Consistent(witness) = verdict else {
                panic!("{verdict:?} {}", text());
            };
            let rechecked = recheck_witness(&execution, model, &witness);
            assert_eq!(rechecked, Ok(Rechecked::Proved), "{}", text());
        }
    });
}
