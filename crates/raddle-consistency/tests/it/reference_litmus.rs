//! Litmus tests of the reference machine and the checkers: the exact verdict under SC, TSO and PSO.
//!
//! A history is written with `|` between threads: `x=1` stores, `x?1` loads, `x?0>1` is an atomic
//! update, `x?0!` a failed compare-exchange, `f` a full fence, `sf` a store-store fence, `+m` and
//! `-m` lock and unlock, `spawn1` and `join1` start thread 1 and wait for it. `x=1.rel` and `f.acq`
//! have a memory order. `@1.2` names the third event of thread 1 as the source, `@init` the initial
//! write.

use raddle_consistency::check::{CheckOptions, SearchAlgorithm, UseClosure, check};
use raddle_consistency::recheck::{Rechecked, recheck_run, recheck_violation, recheck_witness};
use raddle_consistency::reference::brute_force;
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, MemoryOrder, SourceClaim, ThreadId,
};
use raddle_core::model::Model;

fn execution(history: &str) -> Execution {
    let mut builder = ExecutionBuilder::new();
    let threads: Vec<&str> = history.split('|').collect();
    for t in 0..threads.len() {
        let thread = builder.thread(&format!("P{t}"));
        builder.declare(thread);
    }
    for name in ["x", "y", "z", "w"] {
        let location = builder.location(name);
        builder.init(location, 0).expect("stated once");
    }
    for (t, events) in threads.iter().enumerate() {
        for event in events.split_whitespace() {
            let (text, claim) = event.split_once('@').unwrap_or((event, ""));
            let (text, order) = text.split_once('.').unwrap_or((text, ""));
            let action = action(&mut builder, text);
            let order = MemoryOrder::from_name(order).unwrap_or(action.default_order());
            builder.push_ordered(ThreadId::new(t), action, order, source(claim));
        }
    }
    builder.build().expect("the history is well-formed")
}

fn source(claim: &str) -> SourceClaim {
    match claim.split_once('.') {
        None if claim.is_empty() => SourceClaim::Unnamed,
        None => SourceClaim::Init,
        Some((thread, position)) => SourceClaim::Event {
            thread: ThreadId::new(thread.parse().expect("a thread")),
            position: position.parse().expect("a position"),
        },
    }
}

fn action(builder: &mut ExecutionBuilder, text: &str) -> Action {
    let value = |text: &str| text.parse().expect("a value");
    let thread = |text: &str| ThreadId::new(text.parse().expect("a thread"));
    if text == "f" {
        Action::Fence
    } else if text == "sf" {
        Action::StoreFence
    } else if let Some(lock) = text.strip_prefix('+') {
        Action::Lock { lock: builder.location(lock) }
    } else if let Some(lock) = text.strip_prefix('-') {
        Action::Unlock { lock: builder.location(lock) }
    } else if let Some(child) = text.strip_prefix("spawn") {
        Action::Spawn { thread: thread(child) }
    } else if let Some(child) = text.strip_prefix("join") {
        Action::Join { thread: thread(child) }
    } else if let Some((name, written)) = text.split_once('=') {
        Action::Write { location: builder.location(name), value: value(written) }
    } else {
        let (name, seen) = text.split_once('?').expect("a read");
        let location = builder.location(name);
        if let Some((read, written)) = seen.split_once('>') {
            Action::Rmw { location, read: value(read), written: value(written) }
        } else if let Some(read) = seen.strip_suffix('!') {
            let (read, desired) = (value(read), 9);
            Action::Cas { location, expected: read + 1, desired, read, succeeded: false }
        } else {
            Action::Read { location, value: value(seen) }
        }
    }
}

/// Every checker answers as expected, and its evidence holds.
fn checkers_agree(history: &str, execution: &Execution, model: Model, allowed: bool) {
    for closure in [UseClosure::First, UseClosure::Never] {
        for algorithm in [SearchAlgorithm::Best, SearchAlgorithm::Naive] {
            if algorithm == SearchAlgorithm::Naive && !execution.has_reads_from_map() {
                continue;
            }
            let options = CheckOptions { closure, algorithm, ..CheckOptions::default() };
            let rechecked = match check(execution, model, &options) {
                ConsistencyVerdict::Consistent(witness) => {
                    assert!(allowed, "{model} {options:?} allows {history}");
                    recheck_witness(execution, model, &witness)
                }
                ConsistencyVerdict::Inconsistent(violation) => {
                    assert!(!allowed, "{model} {options:?} forbids {history}");
                    recheck_violation(execution, model, &violation, usize::MAX)
                }
                ConsistencyVerdict::Unknown { steps } => {
                    panic!("given up after {steps}: {history}")
                }
            };
            assert_eq!(rechecked, Ok(Rechecked::Proved), "{model} {options:?} {history}");
        }
    }
}

/// Checks which of SC, TSO and PSO allow a history, by brute force and by the checkers, and that the
/// evidence holds.
#[track_caller]
fn verdicts(history: &str, expected: [bool; 3]) {
    let execution = execution(history);
    let found = Model::STORE_BUFFERS.map(|model| {
        let witness = brute_force::witness(&execution, model);
        if let Some(witness) = &witness {
            assert_eq!(recheck_run(&execution, model, witness), Ok(()), "{history} {model}");
        }
        checkers_agree(history, &execution, model, witness.is_some());
        witness.is_some()
    });
    assert_eq!(found, expected, "{history} under sc, tso, pso");
}

const NEVER: [bool; 3] = [false, false, false];
const ALWAYS: [bool; 3] = [true, true, true];
const WEAK: [bool; 3] = [false, true, true];
const PSO_ONLY: [bool; 3] = [false, false, true];

#[test]
fn store_buffering_needs_buffers_and_full_fences_forbid_it() {
    verdicts("x=1 y?0 | y=1 x?0", WEAK);
    verdicts("x=1 y?1 | y=1 x?0", ALWAYS);
    verdicts("x=1 f y?0 | y=1 f x?0", NEVER);
    verdicts("x=1 f y?0 | y=1 x?0", WEAK);
    verdicts("x=1 sf y?0 | y=1 sf x?0", WEAK);
}

#[test]
fn message_passing_needs_a_store_fence_under_pso() {
    verdicts("x=1 y=1 | y?1 x?0", PSO_ONLY);
    verdicts("x=1 sf y=1 | y?1 x?0", NEVER);
    verdicts("x=1 f y=1 | y?1 x?0", NEVER);
    verdicts("sf x=1 y=1 | y?1 x?0", PSO_ONLY);
    verdicts("x=1 y=1 | y?1 x?1", ALWAYS);
}

#[test]
fn store_fences_order_more_than_neighbours() {
    verdicts("x=1 z=1 sf sf w=1 y=1 | y?1 x?0", NEVER);
    verdicts("x=1 sf z=1 y=1 | y?1 z?0 x?1", PSO_ONLY);
}

#[test]
fn loads_are_never_delayed() {
    verdicts("x?1 y=1 | y?1 x=1", NEVER);
}

#[test]
fn two_plus_two_writes_needs_two_buffers_for_a_thread() {
    verdicts("x=1 y=2 | y=1 x=2 | x?2 x?1 | y?2 y?1", PSO_ONLY);
    verdicts("x=1 sf y=2 | y=1 sf x=2 | x?2 x?1 | y?2 y?1", NEVER);
    verdicts("x=1 sf y=2 | y=1 x=2 | x?2 x?1 | y?2 y?1", PSO_ONLY);
}

#[test]
fn memory_is_the_same_for_all() {
    verdicts("x=1 | y=1 | x?1 y?0 | y?1 x?0", NEVER);
    verdicts("x=1 | y=1 | x?1 y?0 | y?1 x?1", ALWAYS);
}

#[test]
fn one_location_is_coherent() {
    verdicts("x=1 | x?1 x?0", NEVER);
    verdicts("x=1 x=2 | x?2 x?1", NEVER);
    verdicts("x=1 | x=2 | x?1 x?2 | x?2 x?1", NEVER);
    verdicts("x=1 x?0", NEVER);
    verdicts("x?1 x=1", NEVER);
    verdicts("x=1 x=2 x?1", NEVER);
}

#[test]
fn a_thread_reads_its_own_buffer_early() {
    verdicts("x=1 x?1 y?0 | y=1 y?1 x?0", WEAK);
    verdicts("x=1 x?1 f y?0 | y=1 y?1 f x?0", NEVER);
    verdicts("x=1 x?1@1.0 | x=1 x?1@0.0", NEVER);
    verdicts("x=1 x?1@1.0 | x=1 x?1@1.0", ALWAYS);
    // Forwarded before its own store reaches memory: the load comes before what it reads.
    verdicts("x=1 x?1@0.0 y?0 | y=1 f x?0 x=2 x?1@0.0", WEAK);
}

#[test]
fn updates_are_atomic_and_drain_the_buffer() {
    verdicts("x?0>1 | x?0>2", NEVER);
    verdicts("x?0>1 | x?1>2", ALWAYS);
    verdicts("x?0>1 | x=1 x?1>2", ALWAYS);
    verdicts("x=1 z?0>1 y?0 | y=1 z?1>2 x?0", NEVER);
    verdicts("x=1 x?0>2", NEVER);
}

#[test]
fn a_failed_compare_exchange_drains_the_buffer_too() {
    verdicts("x=1 z?0! y?0 | y=1 z?0! x?0", NEVER);
    verdicts("x=1 z?0! y?0 | y=1 x?0", WEAK);
    verdicts("x=1 y?0! | y=1 x?0!", NEVER);
}

#[test]
fn a_release_feeds_one_acquire() {
    verdicts("+m@init -m | +m -m", ALWAYS);
    verdicts("+m -m | +m -m | +m@0.1 -m", ALWAYS);
    verdicts("+m -m | +m | +m", NEVER);
    verdicts("+m -m | +m@0.1 | +m", NEVER);
    verdicts("+m | +m", NEVER);
    verdicts("+m -m | +m", ALWAYS);
    verdicts("+m@1.1 -m | +m@0.1 -m", NEVER);
}

#[test]
fn locks_are_fences() {
    verdicts("x=1 +m -m y?0 | y=1 +m -m x?0", NEVER);
    verdicts("+m x=1 y=1 -m | +m y?1 x?0 -m", NEVER);
    verdicts("+m x=1 -m | +m x?0 -m x=2", ALWAYS);
    verdicts("+m@init x=1 -m | +m@0.2 x?0 -m", NEVER);
}

#[test]
fn spawn_and_join_order_everything() {
    verdicts("x=1 spawn1 | x?0", NEVER);
    verdicts("x=1 spawn1 | x?1", ALWAYS);
    verdicts("spawn1 x=1 | x?0", ALWAYS);
    verdicts("spawn1 join1 x?0 | x=1", NEVER);
    verdicts("spawn1 x?0 join1 | x=1", ALWAYS);
    verdicts("x?1 spawn1 | x=1", NEVER);
    verdicts("x=1 spawn1 y?0 | y=1 x?1", ALWAYS);
    verdicts("x=1 spawn2 y?0 | y=1 f x?0 | z=1", NEVER);
}

#[test]
fn a_join_waits_for_buffers() {
    verdicts("join1 x?0 | y=1 x=1", NEVER);
    verdicts("join1 x?0 y?1 | y=1 x=1", NEVER);
    verdicts("x?0 join1 y?1 | y=1 x=1", ALWAYS);
    verdicts("y=1 join1 | x=1 y?0", ALWAYS);
    verdicts("spawn1 join1 | ", ALWAYS);
}

#[test]
fn a_sequentially_consistent_store_is_a_full_fence() {
    verdicts("x=1.sc y?0 | y=1.sc x?0", NEVER);
    verdicts("x=1.sc y?0.sc | y=1.sc x?0.sc", NEVER);
    verdicts("x=1.sc y?0 | y=1 x?0", WEAK);
    verdicts("x=1 y?0.sc | y=1 x?0.sc", WEAK);
    // It waits for the stores before it, and the stores after it for it.
    verdicts("x=1 z=1.sc y?0 | y=1 w=1.sc x?0", NEVER);
    verdicts("x=1 y=1.sc | y?1 x?0", NEVER);
    verdicts("x=1.sc y=1 | y?1 x?0", NEVER);
    verdicts("x=1 z=1.sc y=1 | y?1 x?0", NEVER);
    verdicts("x=1.sc y=2.sc | y=1.sc x=2.sc | x?2 x?1 | y?2 y?1", NEVER);
}

#[test]
fn a_sequentially_consistent_store_is_in_memory_at_once() {
    verdicts("x=1.sc x?1 y?0 | y=1.sc y?1 x?0", NEVER);
    verdicts("x=1.sc x?2 | x=2.sc x?1", NEVER);
    verdicts("x=1.sc x?2 | x=2 x?1", NEVER);
    verdicts("x=1.sc x?2 | x=2 x?2", ALWAYS);
    verdicts("x=1 x=2.sc | x?2 x?1", NEVER);
    // A read does not wait: the store may still be in the buffer of the other thread.
    verdicts("x=1.sc y?0 | y=1 x?0 y?1", WEAK);
}

#[test]
fn a_release_store_has_a_store_fence_before_it_under_pso() {
    verdicts("x=1.rel y?0 | y=1.rel x?0", WEAK);
    verdicts("x=1.rel y?0.acq | y=1.rel x?0.acq", WEAK);
    verdicts("x=1 y=1.rel | y?1 x?0", NEVER);
    verdicts("x=1 y=1.rel | y?1.acq x?0", NEVER);
    verdicts("x=1.rlx y=1.rlx | y?1 x?0", PSO_ONLY);
    // The fence is before the store and not after it.
    verdicts("x=1.rel y=1 | y?1 x?0", PSO_ONLY);
    verdicts("x=1.rel y=1.rlx | y?1 x?0", PSO_ONLY);
    // Stores after the release store wait for those before it, too.
    verdicts("x=1 z=1.rel y=1 | y?1 x?0", NEVER);
    verdicts("x=1 z=1.rel y=1 | y?1 z?0", PSO_ONLY);
    verdicts("w=1 x=1 z=1.rel z=2 y=1 y=2 | y?2 w?0", NEVER);
    verdicts("x=1 y=2.rel | y=1 x=2.rel | x?2 x?1 | y?2 y?1", NEVER);
}

#[test]
fn release_fences_are_store_fences_under_pso() {
    for fence in ["f.rel", "f.ar"] {
        verdicts(&format!("x=1 {fence} y=1 | y?1 x?0"), NEVER);
        verdicts(&format!("{fence} x=1 y=1 | y?1 x?0"), PSO_ONLY);
        verdicts(&format!("x=1 {fence} y?0 | y=1 {fence} x?0"), WEAK);
    }
    verdicts("x=1 f.sc y?0 | y=1 f.sc x?0", NEVER);
}

#[test]
fn acquire_fences_do_nothing() {
    verdicts("x=1 f.acq y=1 | y?1 x?0", PSO_ONLY);
    verdicts("x=1 f.acq y=1 | y?1 f.acq x?0", PSO_ONLY);
    verdicts("x=1 f.acq y?0 | y=1 f.acq x?0", WEAK);
}

#[test]
fn updates_of_any_order_drain_the_buffer() {
    for order in ["rlx", "acq", "rel", "ar", "sc"] {
        verdicts(&format!("x=1 z?0>1.{order} y?0 | y=1 w?0>1.{order} x?0"), NEVER);
    }
    for order in ["rlx", "acq", "sc"] {
        verdicts(&format!("x=1 z?0!.{order} y?0 | y=1 z?0!.{order} x?0"), NEVER);
    }
}

#[test]
fn loads_of_any_order_are_loads() {
    for order in ["na", "rlx", "acq", "sc"] {
        verdicts(&format!("x=1 y?0.{order} | y=1 x?0.{order}"), WEAK);
        verdicts(&format!("x=1 y=1 | y?1.{order} x?0.{order}"), PSO_ONLY);
        verdicts(&format!("x=1 x?1.{order} y?0.{order} | y=1 x?0.{order}"), WEAK);
    }
}

#[test]
fn unwritten_values_are_never_read() {
    verdicts("x=1 | x?2", NEVER);
}
