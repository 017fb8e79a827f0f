//! The rules of derivations against the machine: what they derive holds in its runs, and it proves
//! most forbidden executions forbidden.

use std::collections::HashSet;

use crate::reference::brute_force::allows;
use crate::reference::generate::{HistoryShape, ValueChoice, generate, perturb};
use crate::reference::machine::ReferenceMachine;
use crate::reference::replay::MachineReplay;
use crate::witness::{CoreSize, Fact, MachineStep, NotFrom, OrderEdge, Violation, Why};
use raddle_core::execution::{Action, EventId, Execution};
use raddle_core::model::Model;
use raddle_core::random::Random;

use super::derivation::Derivation;
use super::{Rechecked, recheck_violation};

/// Every fact that has the form of some rule.
fn candidates(execution: &Execution) -> Vec<Fact> {
    let writes = |read: EventId| {
        let location = execution.action(read).location();
        execution.events().filter(move |&e| execution.action(e).location() == location)
    };
    let mut facts = vec![];
    let has_source = |e: &EventId| {
        execution.action(*e).has_source() || matches!(execution.action(*e), Action::Unlock { .. })
    };
    for read in execution.events().filter(has_source) {
        let mut edge = |from, to, why| facts.push(Fact::Order(OrderEdge { from, to, why }));
        for first in execution.events() {
            edge(first, read, Why::FirstSource);
        }
        for source in writes(read) {
            edge(source, read, Why::ReadsFrom);
            for other in writes(read) {
                edge(other, source, Why::OwnStoreFirst { read });
                edge(other, source, Why::BeforeSource { read });
                edge(read, other, Why::BeforeOverwrite { source });
            }
        }
        for source in writes(read) {
            facts.push(Fact::Excluded { read, source, why: NotFrom::Later });
            for by in writes(read) {
                facts.push(Fact::Excluded { read, source, why: NotFrom::Hidden { by } });
                facts.push(Fact::Excluded { read, source, why: NotFrom::OwnStore { by } });
            }
        }
    }
    facts
}

/// Derives all facts that follow, in random order.
fn saturate(execution: &Execution, model: Model, random: &mut Random) -> Vec<Fact> {
    let mut derivation = Derivation::new(execution, model);
    let mut open = candidates(execution);
    for at in (1..open.len()).rev() {
        open.swap(at, random.below(at + 1));
    }
    let mut facts = vec![];
    loop {
        let before = facts.len();
        open.retain(|fact| {
            let accepted = derivation.accept(fact).is_ok();
            facts.extend(accepted.then_some(*fact));
            !accepted
        });
        if facts.len() == before {
            return facts;
        }
    }
}

/// A run of the machine that agrees with the execution, at random.
fn random_run(
    execution: &Execution,
    model: Model,
    random: &mut Random,
) -> Option<Vec<MachineStep>> {
    fn search(
        replay: &MachineReplay<'_>,
        random: &mut Random,
        seen: &mut HashSet<ReferenceMachine>,
        steps: &mut Vec<MachineStep>,
    ) -> bool {
        let mut open = replay.candidates();
        while !open.is_empty() {
            let step = open.swap_remove(random.below(open.len()));
            let mut next = replay.clone();
            if next.step(step).is_ok() && seen.insert(next.machine().clone()) {
                steps.push(step);
                if search(&next, random, seen, steps) {
                    return true;
                }
                steps.pop();
            }
        }
        replay.is_done()
    }
    let mut steps = vec![];
    let start = MachineReplay::new(execution, model);
    search(&start, random, &mut HashSet::new(), &mut steps).then_some(steps)
}

/// When an event comes: the index of its step, from 1. A store-store fence comes just after the last
/// of its own step and the flushes of earlier stores.
fn moments(execution: &Execution, model: Model, steps: &[MachineStep]) -> Vec<(usize, usize)> {
    let mut moments = vec![(0, 0); execution.event_count()];
    for (index, &step) in steps.iter().enumerate() {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        moments[event.index()] = (index + 1, 0);
    }
    for thread in execution.threads().filter(|_| model != Model::Sc) {
        let mut last = 0;
        for event in execution.thread_events(thread) {
            let moment = &mut moments[event.index()];
            last = last.max(moment.0);
            if is_store_fence(execution, event) {
                *moment = (last, event.index());
            }
        }
    }
    moments
}

/// Returns `true` if an event is a store-store fence and nothing else.
fn is_store_fence(execution: &Execution, event: EventId) -> bool {
    execution.fences_stores(event) && execution.action(event).location().is_none()
}

/// What a read observes in a run, computed from the steps alone.
fn observed(execution: &Execution, steps: &[MachineStep], read: EventId) -> EventId {
    let location = execution.action(read).location();
    let thread = execution.thread_of(read);
    let mut memory = location.map(|location| execution.init_of(location));
    let mut buffer = vec![];
    for &step in steps {
        let (MachineStep::Run(event) | MachineStep::Flush(event)) = step;
        if event == read {
            break;
        }
        let action = execution.action(event);
        let buffered = matches!(action, Action::Write { .. })
            && steps.contains(&MachineStep::Flush(event))
            && step == MachineStep::Run(event);
        let writes = action.is_source() && action.location() == location;
        if writes && buffered && execution.thread_of(event) == thread {
            buffer.push(event);
        } else if writes && !buffered {
            buffer.retain(|&own| own != event);
            memory = Some(event);
        }
    }
    buffer.last().copied().or(memory).expect("a read has a location")
}

fn holds(
    execution: &Execution,
    moments: &[(usize, usize)],
    steps: &[MachineStep],
    fact: &Fact,
) -> bool {
    match *fact {
        Fact::Order(OrderEdge { from, to, .. }) => moments[from.index()] < moments[to.index()],
        Fact::Excluded { read, .. } if !execution.action(read).has_source() => false,
        Fact::Excluded { read, source, .. } => observed(execution, steps, read) != source,
    }
}

fn shape(random: &mut Random) -> HistoryShape {
    let (threads, events_per_thread) = [(2, 5), (3, 3), (3, 4), (4, 2)][random.below(4)];
    HistoryShape {
        threads,
        events_per_thread,
        model: Model::STORE_BUFFERS[random.below(3)],
        locations: 1 + random.below(2),
        values: [ValueChoice::Distinct, ValueChoice::Few(2), ValueChoice::Few(3)][random.below(3)],
        store_fences: [0.0, 0.15][random.below(2)],
        orders: [0.0, 0.6][random.below(2)],
        fences: [0.03, 0.2][random.below(2)],
        spawn_join: random.chance(0.3),
        name_sources: [0.0, 0.5, 1.0][random.below(3)],
        ..HistoryShape::default()
    }
}

#[test]
fn derived_facts_hold_in_all_runs() {
    let mut facts_checked = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let execution = perturb(&generate(&shape(&mut random), seed), seed, random.below(2));
        for model in Model::STORE_BUFFERS {
            if random_run(&execution, model, &mut random).is_none() {
                continue;
            }
            let facts = saturate(&execution, model, &mut random);
            for _ in 0..5 {
                let steps = random_run(&execution, model, &mut random).expect("it is allowed");
                let moments = moments(&execution, model, &steps);
                for fact in &facts {
                    assert!(holds(&execution, &moments, &steps, fact), "{seed} {model} {fact:?}");
                }
                facts_checked += facts.len();
            }
        }
    }
    assert!(facts_checked > 10_000, "{facts_checked}");
}

#[test]
fn preserved_program_order_holds_in_all_runs_and_nothing_more() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let execution = generate(&HistoryShape { name_sources: 0.0, ..shape(&mut random) }, seed);
        for model in Model::STORE_BUFFERS {
            let mut derivation = Derivation::new(&execution, model);
            let Some(steps) = random_run(&execution, model, &mut random) else { continue };
            let moments = moments(&execution, model, &steps);
            for from in execution.events() {
                for to in execution.events() {
                    let ordered = derivation.in_program_order(from, to);
                    let holds = moments[from.index()] < moments[to.index()];
                    assert!(!ordered || holds, "{seed} {model} {from:?} {to:?}");
                    let same = execution.thread_of(from) == execution.thread_of(to) && from < to;
                    if same && !execution.is_init(from) {
                        let expected = preserved(&execution, model, from, to);
                        assert_eq!(ordered, expected, "{seed} {model} {from:?} {to:?}");
                    }
                }
            }
        }
    }
}

/// Preserved program order of two events of a thread, defined pair by pair.
fn preserved(execution: &Execution, model: Model, from: EventId, to: EventId) -> bool {
    let waits = |e| execution.is_buffered(e) || is_store_fence(execution, e);
    let between = || (from.index() + 1..to.index()).map(EventId::new);
    if model == Model::Sc || !waits(from) || between().any(|e| execution.drains(e)) {
        return true;
    }
    if !waits(to) && !execution.drains(to) {
        return false;
    }
    let location = |e| execution.action(e).location();
    let two_queues =
        execution.is_buffered(from) && execution.is_buffered(to) && location(from) != location(to);
    let fenced = || between().chain([to]).any(|e| execution.fences_stores(e));
    model == Model::Tso || !two_queues || fenced()
}

/// A cycle of edges of the derivation and program order, if there is one.
fn find_cycle(execution: &Execution, model: Model, facts: &[Fact]) -> Option<Vec<OrderEdge>> {
    let mut derivation = Derivation::new(execution, model);
    let edges = facts.iter().filter_map(|fact| match fact {
        Fact::Order(edge) => Some(*edge),
        Fact::Excluded { .. } => None,
    });
    let mut next: Vec<Vec<OrderEdge>> = vec![vec![]; execution.event_count()];
    for edge in edges {
        next[edge.from.index()].push(edge);
    }
    for from in execution.events() {
        for to in execution.events() {
            if derivation.in_program_order(from, to) {
                next[from.index()].push(OrderEdge { from, to, why: Why::Program });
            }
        }
    }
    execution.events().find_map(|start| path(&next, start, start))
}

fn path(next: &[Vec<OrderEdge>], from: EventId, to: EventId) -> Option<Vec<OrderEdge>> {
    let mut paths = vec![vec![]];
    let mut seen = HashSet::new();
    while let Some(path) = paths.pop() {
        let at = path.last().map_or(from, |edge: &OrderEdge| edge.to);
        if at == to && !path.is_empty() {
            return Some(path);
        }
        for edge in &next[at.index()] {
            if seen.insert(edge.to) {
                paths.push(path.iter().copied().chain([*edge]).collect());
            }
        }
    }
    None
}

#[test]
fn derivations_prove_violations_and_only_violations() {
    let (mut forbidden, mut proved) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let execution = perturb(&generate(&shape(&mut random), seed), seed, 2);
        for model in Model::STORE_BUFFERS {
            let is_allowed = allows(&execution, model);
            let derivation = saturate(&execution, model, &mut random);
            let proves = |violation: &Violation| {
                let found = recheck_violation(&execution, model, violation, usize::MAX);
                found == Ok(Rechecked::Proved)
            };
            let cycle = find_cycle(&execution, model, &derivation).is_some_and(|cycle| {
                proves(&Violation::Cycle { cycle, derivation: derivation.clone() })
            });
            let no_source = execution
                .events()
                .any(|read| proves(&Violation::NoSource { read, derivation: derivation.clone() }));
            assert!(!is_allowed || !(cycle || no_source), "{seed} {model}");
            forbidden += usize::from(!is_allowed);
            proved += usize::from(cycle || no_source);
            let lens = execution.threads().map(|t| execution.thread_len(t)).collect();
            assert_eq!(proves(&Violation::Core { lens, size: CoreSize::Minimal }), !is_allowed);
        }
    }
    assert!(forbidden > 300 && proved > forbidden / 2, "proved {proved} of {forbidden}");
}
