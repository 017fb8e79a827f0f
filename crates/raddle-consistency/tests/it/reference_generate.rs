//! Properties of generated executions, decided by brute force.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};

use proptest::prelude::*;
use raddle_consistency::history::{Format, write};
use raddle_consistency::reference::brute_force::allows;
use raddle_consistency::reference::generate::{HistoryShape, ValueChoice, generate, perturb};
use raddle_core::execution::{Action, Execution, MemoryOrder};
use raddle_core::model::Model;
use raddle_core::random::Random;

fn shapes() -> impl Strategy<Value = HistoryShape> {
    let model = prop::sample::select(Model::STORE_BUFFERS.to_vec());
    let size = prop::sample::select(vec![(2, 5), (3, 3), (3, 4), (4, 2)]);
    let values =
        prop::sample::select(vec![ValueChoice::Distinct, ValueChoice::Few(2), ValueChoice::Few(3)]);
    let flags = (any::<bool>(), any::<bool>(), prop::sample::select(vec![0.0, 0.5, 1.0]));
    (model, size, 1..4usize, 0..3usize, values, flags).prop_map(
        |(model, (threads, events), locations, locks, values, flags)| {
            let (spawn_join, keep_order, name_sources) = flags;
            let size = HistoryShape {
                threads,
                events_per_thread: events,
                locations,
                locks,
                ..HistoryShape::default()
            };
            let orders = if locks == 1 { 0.0 } else { 0.7 };
            HistoryShape { model, values, spawn_join, keep_order, name_sources, orders, ..size }
        },
    )
}

/// Some closed prefixes, at random.
fn prefixes(execution: &Execution, random: &mut Random) -> Vec<Vec<usize>> {
    let mut lens = || -> Vec<usize> {
        execution.threads().map(|t| random.below(execution.thread_len(t) + 1)).collect()
    };
    let some = (0..40).map(|_| lens()).collect::<Vec<_>>();
    some.into_iter().filter(|lens| execution.is_closed(lens)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_executions_are_allowed(shape in shapes(), seed: u64) {
        let execution = generate(&shape, seed);
        prop_assert!(allows(&execution, shape.model));
        for thread in execution.threads() {
            prop_assert_eq!(execution.thread_len(thread), shape.events_per_thread);
        }
        prop_assert_eq!(generate(&shape, seed), execution);
    }

    #[test]
    fn weaker_models_allow_more(shape in shapes(), seed: u64, changes in 0..3usize) {
        let execution = perturb(&generate(&shape, seed), seed, changes);
        let [sc, tso, pso] = Model::STORE_BUFFERS.map(|model| allows(&execution, model));
        prop_assert!(sc <= tso && tso <= pso, "{:?}", (sc, tso, pso));
    }

    #[test]
    fn closed_prefixes_of_allowed_executions_are_allowed(shape in shapes(), seed: u64) {
        let execution = perturb(&generate(&shape, seed), seed, 1);
        for model in Model::STORE_BUFFERS {
            if allows(&execution, model) {
                for lens in prefixes(&execution, &mut Random::new(seed)) {
                    prop_assert!(allows(&execution.prefix(&lens), model), "{model} {lens:?}");
                }
            }
        }
    }

    #[test]
    fn perturbing_changes_observations_only(shape in shapes(), seed: u64) {
        let before = generate(&shape, seed);
        let after = perturb(&before, seed, 5);
        prop_assert_eq!(&perturb(&before, seed, 0), &before);
        for event in before.events() {
            let (old, new) = (before.action(event), after.action(event));
            prop_assert_eq!(before.order(event), after.order(event));
            prop_assert_eq!(old.written_value(), new.written_value());
            prop_assert_eq!(std::mem::discriminant(old), std::mem::discriminant(new));
            prop_assert!(!new.has_source() || !after.sources(event).is_empty());
        }
    }
}

/// How many of 300 perturbed executions each model allows.
fn allowed_after(shape: &HistoryShape, changes: usize) -> [usize; 3] {
    let mut allowed = [0; 3];
    for seed in 0..300 {
        let execution = perturb(&generate(shape, seed), seed, changes);
        for (count, model) in allowed.iter_mut().zip(Model::STORE_BUFFERS) {
            *count += usize::from(allows(&execution, model));
        }
    }
    allowed
}

#[test]
fn perturbed_executions_are_often_allowed_and_often_not() {
    for model in Model::STORE_BUFFERS {
        let shape = HistoryShape { model, ..HistoryShape::default() };
        for count in allowed_after(&shape, 2) {
            assert!((50..250).contains(&count), "{count} of 300 of the machine of {model}");
        }
    }
}

#[test]
fn shapes_produce_every_kind_of_event() {
    let shape =
        HistoryShape { events_per_thread: 200, spawn_join: true, ..HistoryShape::default() };
    let execution = generate(&shape, 1);
    let has = |test: fn(&Action) -> bool| {
        assert!(execution.events().any(|event| test(execution.action(event))));
    };
    has(|action| matches!(action, Action::Read { .. }));
    has(|action| matches!(action, Action::Write { .. }));
    has(|action| matches!(action, Action::Rmw { .. }));
    has(|action| matches!(action, Action::Cas { succeeded: true, .. }));
    has(|action| matches!(action, Action::Cas { succeeded: false, .. }));
    has(|action| matches!(action, Action::Fence));
    has(|action| matches!(action, Action::StoreFence));
    has(|action| matches!(action, Action::Lock { .. }));
    has(|action| matches!(action, Action::Unlock { .. }));
    has(|action| matches!(action, Action::Spawn { .. }));
}

#[test]
fn shapes_produce_every_order_on_demand() {
    let shape = HistoryShape { events_per_thread: 2_000, orders: 1.0, ..HistoryShape::default() };
    let execution = generate(&shape, 1);
    let mut kinds: HashSet<(Discriminant<Action>, Option<bool>, MemoryOrder)> = HashSet::new();
    for event in execution.events() {
        let action = execution.action(event);
        let succeeded = match action {
            Action::Cas { succeeded, .. } => Some(*succeeded),
            _ => None,
        };
        kinds.insert((discriminant(action), succeeded, execution.order(event)));
    }
    // 1 init, 4 loads, 4 stores, 5 updates, 5 + 3 compare-exchanges, 4 fences, F.ss, lock, unlock
    assert_eq!(kinds.len(), 1 + 4 + 4 + 5 + 5 + 3 + 4 + 1 + 1 + 1);
}

/// What a seed gave before there were orders to choose.
#[test]
fn without_a_share_of_orders_none_are_drawn() {
    let text = write(
        &generate(&HistoryShape { model: Model::Pso, ..HistoryShape::default() }, 3),
        Format::Text,
    );
    assert_eq!(
        text,
        "locations: x y m\ninit: y=1\nP0: LOCK m; F.ss; R x 0 <- init; UNLOCK m\n\
         P1: W x 0; R y 1 <- init; R x 0 <- P1.0; W x 1\n\
         P2: W x 1; W x 0; R y 1; R y 1 <- init\n"
    );
}

#[test]
fn many_threads_and_locks_do_not_block() {
    for seed in 0..20 {
        let shape = HistoryShape {
            model: Model::Pso,
            threads: 60,
            locks: 3,
            lock_events: 0.5,
            events_per_thread: 50,
            spawn_join: true,
            ..HistoryShape::default()
        };
        let execution = generate(&shape, seed);
        assert_eq!(execution.event_count(), 60 * 50 + 5);
    }
}

#[test]
fn a_million_events_can_be_generated() {
    for model in Model::STORE_BUFFERS {
        let shape = HistoryShape {
            model,
            threads: 8,
            events_per_thread: 125_000,
            locations: 100,
            locks: 4,
            values: ValueChoice::Distinct,
            keep_order: true,
            name_sources: 1.0,
            ..HistoryShape::default()
        };
        let execution = generate(&shape, 7);
        assert_eq!(execution.event_count(), 1_000_104);
    }
}
