//! Rechecking violations: proofs by hand pass, and each flaw in one is named.

use raddle_consistency::recheck::{RecheckError, Rechecked, recheck_violation};
use raddle_consistency::reference::brute_force::allows;
use raddle_consistency::witness::{CoreSize, Fact, NotFrom, OrderEdge, Violation, Why};
use raddle_core::execution::{
    Action, EventId, Execution, ExecutionBuilder, LocationId, SourceClaim,
};
use raddle_core::model::Model;

const PLENTY: usize = 1_000_000;

/// Two locations, `x` and `y`, are events 0 and 1; the events of the threads follow.
fn execution(threads: &[&[Action]]) -> Execution {
    let mut builder = ExecutionBuilder::new();
    for name in ["x", "y"] {
        let location = builder.location(name);
        builder.init(location, 0).expect("stated once");
    }
    for (t, actions) in threads.iter().enumerate() {
        let thread = builder.thread(&format!("P{t}"));
        for &action in *actions {
            builder.push(thread, action, SourceClaim::Unnamed);
        }
    }
    builder.build().expect("well-formed")
}

fn at(name: &str) -> LocationId {
    LocationId::new(usize::from(name == "y"))
}

fn store(name: &str, value: i128) -> Action {
    Action::Write { location: at(name), value }
}

fn load(name: &str, value: i128) -> Action {
    Action::Read { location: at(name), value }
}

fn edge(from: usize, to: usize, why: Why) -> OrderEdge {
    OrderEdge { from: EventId::new(from), to: EventId::new(to), why }
}

fn overwritten(read: usize, by: usize, source: usize) -> OrderEdge {
    edge(read, by, Why::BeforeOverwrite { source: EventId::new(source) })
}

fn fact(index: usize, why: &'static str) -> Result<Rechecked, RecheckError> {
    Err(RecheckError::Fact { index, why })
}

fn conclusion(why: &'static str) -> Result<Rechecked, RecheckError> {
    Err(RecheckError::Conclusion { why })
}

/// Store buffering: both stores are overwritten too late.
fn store_buffering() -> (Execution, Violation) {
    let execution = execution(&[&[store("x", 1), load("y", 0)], &[store("y", 1), load("x", 0)]]);
    let (y, x) = (overwritten(3, 4, 1), overwritten(5, 2, 0));
    let cycle = vec![edge(2, 3, Why::Program), y, edge(4, 5, Why::Program), x];
    (execution, Violation::Cycle { cycle, derivation: vec![Fact::Order(y), Fact::Order(x)] })
}

#[test]
fn a_cycle_is_proved_where_program_order_is_preserved() {
    let (execution, violation) = store_buffering();
    let check = |model| recheck_violation(&execution, model, &violation, PLENTY);
    assert_eq!(check(Model::Sc), Ok(Rechecked::Proved));
    assert_eq!(check(Model::Tso), conclusion("an edge of the cycle is no fact"));
    assert_eq!(check(Model::Pso), conclusion("an edge of the cycle is no fact"));
}

#[test]
fn a_cycle_must_close_and_consist_of_facts() {
    let (execution, violation) = store_buffering();
    let Violation::Cycle { cycle, derivation } = violation else { panic!("a cycle") };
    let check = |cycle: &[OrderEdge], derivation: &[Fact]| {
        let violation = Violation::Cycle { cycle: cycle.to_vec(), derivation: derivation.to_vec() };
        recheck_violation(&execution, Model::Sc, &violation, PLENTY)
    };
    assert_eq!(check(&[], &derivation), conclusion("the cycle is empty"));
    assert_eq!(check(&cycle[..3], &derivation), conclusion("the cycle does not close"));
    assert_eq!(check(&cycle, &derivation[..1]), conclusion("an edge of the cycle is no fact"));
    let unknown = [edge(2, 99, Why::Program), edge(99, 2, Why::Program)];
    assert_eq!(check(&unknown, &[]), conclusion("it is about events that do not exist"));
    let wrong = Fact::Order(overwritten(3, 2, 1));
    assert_eq!(check(&cycle, &[wrong]), fact(0, "the second does not write the location"));
}

#[test]
fn a_load_may_come_before_the_own_store_that_it_reads() {
    let execution = execution(&[
        &[store("x", 1), load("x", 1), load("y", 0)],
        &[store("y", 1), Action::Fence, load("x", 0)],
    ]);
    let (read, source) = (EventId::new(3), EventId::new(2));
    let derivation = vec![
        Fact::Order(overwritten(4, 5, 1)),
        Fact::Order(overwritten(7, 2, 0)),
        Fact::Excluded { read, source, why: NotFrom::Later },
    ];
    let violation = Violation::NoSource { read, derivation };
    let check = |model| recheck_violation(&execution, model, &violation, PLENTY);
    assert!(!allows(&execution, Model::Sc) && allows(&execution, Model::Tso));
    assert_eq!(check(Model::Sc), Ok(Rechecked::Proved));
    assert_eq!(check(Model::Tso), fact(2, "the source may be read from the buffer"));
    assert_eq!(check(Model::Pso), fact(2, "the source may be read from the buffer"));
}

#[test]
fn a_read_must_have_no_source_left() {
    // Both stores of 1 come before the store of 2, which the second load sees first.
    let execution =
        execution(&[&[store("x", 1), store("x", 1), store("x", 2)], &[load("x", 2), load("x", 1)]]);
    let [first, second, by, read] = [2, 3, 4, 6].map(EventId::new);
    let hidden = |source| Fact::Excluded { read, source, why: NotFrom::Hidden { by } };
    let reads_from = Fact::Order(edge(4, 5, Why::ReadsFrom));
    for model in Model::STORE_BUFFERS {
        let check = |derivation: &[Fact]| {
            let violation = Violation::NoSource { read, derivation: derivation.to_vec() };
            recheck_violation(&execution, model, &violation, PLENTY)
        };
        let all = [reads_from, hidden(first), hidden(second)];
        assert_eq!(check(&all), Ok(Rechecked::Proved));
        assert_eq!(check(&all[..2]), conclusion("the read has a source left"));
        assert_eq!(check(&all[1..]), fact(0, "what hides may come after the read"));
    }
}

#[test]
fn an_unwritten_value_has_no_sources() {
    let execution = execution(&[&[store("x", 1), load("x", 2), load("x", 1)]]);
    let check = |read| {
        let violation = Violation::UnwrittenValue { read: EventId::new(read) };
        recheck_violation(&execution, Model::Sc, &violation, PLENTY)
    };
    assert_eq!(check(3), Ok(Rechecked::Proved));
    assert_eq!(check(4), conclusion("the read has sources"));
    assert_eq!(check(2), conclusion("the event reads nothing"));
}

#[test]
fn a_core_is_closed_and_forbidden() {
    let (execution, _) = store_buffering();
    let check = |model, lens: &[usize], budget| {
        let violation = Violation::Core { lens: lens.to_vec(), size: CoreSize::Smallest };
        recheck_violation(&execution, model, &violation, budget)
    };
    assert_eq!(check(Model::Sc, &[2, 2], PLENTY), Ok(Rechecked::Proved));
    assert_eq!(check(Model::Sc, &[2, 2], 2), Ok(Rechecked::TooLarge));
    assert_eq!(check(Model::Tso, &[2, 2], PLENTY), conclusion("the core is allowed"));
    assert_eq!(check(Model::Sc, &[2, 1], PLENTY), conclusion("the core is allowed"));
    assert_eq!(
        check(Model::Sc, &[2, 3], PLENTY),
        conclusion("the core is not a part of the execution")
    );
    assert_eq!(
        check(Model::Sc, &[2], PLENTY),
        conclusion("the core is not a part of the execution")
    );
}

#[test]
fn a_core_contains_the_sources_of_its_reads() {
    let execution = execution(&[&[store("x", 1)], &[load("x", 1)]]);
    let violation = Violation::Core { lens: vec![0, 1], size: CoreSize::Minimal };
    let found = recheck_violation(&execution, Model::Sc, &violation, PLENTY);
    assert_eq!(found, conclusion("the core is not closed"));
}

#[test]
fn a_derivation_stops_at_its_budget() {
    let (execution, violation) = store_buffering();
    let found = recheck_violation(&execution, Model::Sc, &violation, 0);
    assert_eq!(found, Ok(Rechecked::TooLarge));
}
