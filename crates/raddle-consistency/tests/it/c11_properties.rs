//! Properties of the C11 models on random executions and critical cycles, all by brute force.

use raddle_consistency::history::{Format, write};
use raddle_consistency::recheck::{RecheckError, Rechecked, recheck_coherence};
use raddle_consistency::reference::{brute_force, enumerate};
use raddle_core::execution::Coherence;
use raddle_core::execution::{EventId, Execution};
use raddle_core::model::reference::{fences_update_hidden_location, has_modification_orders};
use raddle_core::model::relations::{Relations, own_acquire, writes};
use raddle_core::model::{Model, broken};
use raddle_core::random::Random;
use raddle_testkit::c11_cases::{cycle_case, random_case};

use raddle_testkit::axiomatic::MODELS;

fn text(execution: &Execution) -> String {
    write(execution, Format::Text)
}

/// Tests a property of as many executions of both kinds, times `RADDLE_CASES`.
fn for_cases(cases: u64, property: impl Fn(&Execution, &mut Random)) {
    raddle_testkit::seeds::for_cases(cases, |random| {
        let seed = random.bits();
        for execution in [random_case(seed), cycle_case(seed)] {
            property(&execution, random);
        }
    });
}

/// The numbers of choices that the naive enumeration is good for.
const CHOICES: usize = 200;

/// All reads-from and modification orders; `None` if there are too many. No fences are ordered.
fn all_choices(execution: &Execution, model: Model) -> Option<Vec<Coherence>> {
    let rf = execution.events().map(|e| own_acquire(execution, e)).collect();
    let mut all = vec![Coherence { rf, mo: vec![], fences: vec![] }];
    for read in execution.events().filter(|&e| execution.action(e).has_source()) {
        let sources: Vec<EventId> =
            execution.sources(read).iter().copied().filter(|&source| source != read).collect();
        all = product(&all, &sources, |choice, &source| choice.rf[read.index()] = Some(source))?;
    }
    for location in execution.locations().filter(|_| has_modification_orders(model)) {
        let own = |e: &EventId| {
            let action = execution.action(*e);
            !execution.is_init(*e) && writes(action) && action.location() == Some(location)
        };
        let events: Vec<EventId> = execution.events().filter(own).collect();
        let orders = permutations(&events)?;
        all = product(&all, &orders, |choice, order| {
            choice.mo.push([&[execution.init_of(location)], &order[..]].concat());
        })?;
    }
    Some(all)
}

fn product<T>(
    all: &[Coherence],
    options: &[T],
    choose: impl Fn(&mut Coherence, &T),
) -> Option<Vec<Coherence>> {
    let mut result = vec![];
    for choice in all {
        for option in options {
            let mut choice = choice.clone();
            choose(&mut choice, option);
            result.push(choice);
        }
    }
    (result.len() <= CHOICES).then_some(result)
}

fn permutations(events: &[EventId]) -> Option<Vec<Vec<EventId>>> {
    let mut orders = vec![vec![]];
    for &event in events {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<EventId>| {
                (0..=order.len()).map(|at| [&order[..at], &[event], &order[at..]].concat())
            })
            .collect();
        if orders.len() > CHOICES {
            return None;
        }
    }
    Some(orders)
}

#[test]
fn pruning_loses_nothing() {
    for_cases(300, |execution, _| {
        for model in MODELS.into_iter().filter(|&model| !fences_update_hidden_location(model)) {
            let Some(choices) = all_choices(execution, model) else { continue };
            let holds = |c| broken(model, &Relations::new(execution, model, c)).is_none();
            let found = enumerate::allows(execution, model).is_some();
            assert_eq!(found, choices.iter().any(holds), "{model}\n{}", text(execution));
        }
    });
}

/// The order of strength.
#[test]
fn stronger_models_allow_less() {
    let pairs = [
        (Model::Sc, Model::Sra),
        (Model::Sra, Model::Ra),
        (Model::Ra, Model::Wra),
        (Model::Ra, Model::Rc20),
        (Model::Rc20, Model::Relaxed),
        (Model::Sc, Model::Rc11),
        (Model::Rc11, Model::C20),
        (Model::C20, Model::Rc20),
    ];
    for_cases(1_000, |execution, _| {
        for (strong, weak) in pairs {
            if enumerate::allows(execution, strong).is_some() {
                let allowed = enumerate::allows(execution, weak).is_some();
                assert!(allowed, "{strong} but not {weak}\n{}", text(execution));
            }
        }
    });
}

/// Fences as updates of a hidden location, and the same without that location.
#[test]
fn a_hidden_location_is_an_acyclic_order_of_fences() {
    for_cases(1_500, |execution, _| {
        for model in [Model::Ra, Model::Rc20] {
            let Some(choices) = all_choices(execution, model) else { continue };
            let holds = |choice: &Coherence| {
                let relations = Relations::new(execution, model, choice);
                broken(model, &relations).is_none() && relations.psc_fences().cycle().is_none()
            };
            let found = enumerate::allows(execution, model).is_some();
            assert_eq!(found, choices.iter().any(holds), "{model}\n{}", text(execution));
        }
    });
}

#[test]
fn the_axiom_of_sc_is_the_machine_without_buffers() {
    for_cases(1_500, |execution, _| {
        let by_axiom = enumerate::allows(execution, Model::Sc).is_some();
        let by_machine = brute_force::allows(execution, Model::Sc);
        assert_eq!(by_axiom, by_machine, "{}", text(execution));
    });
}

#[test]
fn closed_prefixes_of_allowed_executions_are_allowed() {
    for_cases(300, |execution, random| {
        let lens = execution.threads().map(|t| random.below(execution.thread_len(t) + 1)).collect();
        let lens = execution.closed_prefix(lens);
        for model in MODELS {
            if enumerate::allows(execution, model).is_some() {
                let part = execution.prefix(&lens);
                let allowed = enumerate::allows(&part, model).is_some();
                assert!(allowed, "{model} {lens:?}\n{}", text(execution));
            }
        }
    });
}

#[test]
fn witnesses_pass_and_corrupted_ones_do_not() {
    for_cases(500, |execution, random| {
        for model in MODELS {
            let Some(witness) = enumerate::allows(execution, model) else { continue };
            let passes = recheck_coherence(execution, model, &witness);
            assert_eq!(passes, Ok(Rechecked::Proved), "{model}\n{}", text(execution));
            let Some(corrupted) = corrupt(witness, random) else { continue };
            let refused = recheck_coherence(execution, model, &corrupted);
            let malformed = matches!(refused, Err(RecheckError::Malformed { .. }));
            assert!(malformed, "{model} {corrupted:?} {refused:?}\n{}", text(execution));
        }
    });
}

/// Something that cannot be, if there is anything to corrupt.
fn corrupt(mut witness: Coherence, random: &mut Random) -> Option<Coherence> {
    let reads: Vec<usize> = (0..witness.rf.len()).filter(|&e| witness.rf[e].is_some()).collect();
    let last = EventId::new(witness.rf.len());
    match random.below(7) {
        0 => witness.rf[*random.pick(&reads)?] = None,
        1 => {
            let read = *random.pick(&reads)?;
            witness.rf[read] = Some(EventId::new(read));
        }
        2 => witness.rf.push(None),
        3 => drop(witness.mo.last_mut()?.pop()),
        4 => witness.mo.last_mut().filter(|order| order.len() > 1)?.reverse(),
        5 => witness.mo.push(vec![]),
        _ => witness.fences.push(last),
    }
    Some(witness)
}
