//! Outcomes survive serialization in a binary format, whatever they contain.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId, Value};
use raddle_core::model::Model;
use raddle_core::outcome::{
    Bound, Counts, Estimate, Finding, FindingKind, Outcome, Phase, Place, Related, SampledRun,
    Symmetry, Unsupported, Verdict,
};
use raddle_core::program::{Failure, Guard, Naming, Op, OpKind, PlaceId, Update, UpdateKind};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{
    Counterexample, CycleEdge, CycleRelation, Ending, Fence, FenceSearch, FenceSide, NamedTrace,
    NotRobust, ObjectState, Observed, Pending, ThreadEnd, Trace, TraceEvent,
};

/// Names everything after its number.
struct Numbers;

impl Naming for Numbers {
    fn place(&self, place: PlaceId) -> String {
        format!("file.c:{}", place.0)
    }

    fn location_name(&self, location: LocationId) -> String {
        format!("x{}", location.index())
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        format!("thread {}", thread.index())
    }

    fn initial_value(&self, location: LocationId) -> Value {
        Value::MIN + location.index() as Value
    }
}

fn assert_survives(outcome: &Outcome) {
    let bytes = postcard::to_allocvec(outcome).unwrap();
    let read: Outcome = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(&read, outcome);
}

fn with_trace(ending: Ending, trace: Trace, not_robust: Option<NotRobust>) -> Outcome {
    let counterexample = Counterexample { ending, trace, not_robust };
    with_named(counterexample.named(&Numbers, Model::C20))
}

fn with_named(trace: NamedTrace) -> Outcome {
    let finding = Finding { trace: Some(trace), ..Finding::new(FindingKind::Race, "they race") };
    Outcome::new(vec![finding], Counts::default(), None)
}

fn updates() -> Vec<Update> {
    use UpdateKind::{Add, And, Max, Min, Nand, Or, Sub, Swap, Xor};
    let update =
        |kind| Update { kind, operand: Value::MAX, bits: 128, signed: true, carries: true };
    [Swap, Add, Sub, And, Nand, Or, Xor, Max, Min].map(update).to_vec()
}

fn op_kinds() -> Vec<OpKind> {
    let (location, lock, thread) = (LocationId::new(1), LocationId::new(2), ThreadId::new(3));
    let (value, update) = (-(1 << 120), updates()[0]);
    let guards = [
        Guard::Always,
        Guard::Equal(value),
        Guard::Below(value),
        Guard::Above(value),
        Guard::NoBits(value),
    ];
    let mut kinds = vec![
        OpKind::Init { location, value },
        OpKind::StoreFence,
        OpKind::Unlock { lock },
        OpKind::Spawn { thread },
        OpKind::WriteCell { location },
        OpKind::Lock { lock },
        OpKind::Join { thread },
        OpKind::Choose { options: u32::MAX },
        OpKind::ReadCell { location },
    ];
    for order in MemoryOrder::ALL {
        kinds.push(OpKind::Store { location, value, order, carries: true });
        kinds.push(OpKind::Fence { order });
        kinds.push(OpKind::Load { location, order });
        kinds.push(OpKind::CompareExchange {
            location,
            expected: value,
            desired: Value::MIN,
            carries: false,
            success: MemoryOrder::SeqCst,
            failure: order,
            weak: true,
        });
    }
    let order = MemoryOrder::AcqRel;
    for is_blind in [false, true] {
        let rmw = |update| OpKind::Rmw { location, update, order, is_blind };
        kinds.extend(updates().into_iter().map(rmw));
    }
    kinds.extend(guards.into_iter().map(|guard| OpKind::Sync { location, guard, update }));
    kinds
}

/// A trace with every op, every observation, every end of a thread and every pending op.
fn trace_with_everything() -> Trace {
    let thread = ThreadId::new;
    let observed =
        [None, Some(Observed::Initial), Some(Observed::Event(1)), Some(Observed::Choice(7))];
    let event = |(at, kind): (usize, OpKind)| TraceEvent {
        thread: thread(at % 3),
        position: at,
        op: Op { kind, place: PlaceId(at as u32) },
        observed: observed[at % observed.len()],
        read: (at % 2 == 0).then_some(Value::MAX),
        written: (at % 3 == 0).then_some(Value::MIN),
    };
    let events: Vec<TraceEvent> = op_kinds().into_iter().enumerate().map(event).collect();
    let ends = [
        ThreadEnd::Finished,
        ThreadEnd::Assume,
        ThreadEnd::Waiting,
        ThreadEnd::Repeats,
        ThreadEnd::Failed,
        ThreadEnd::Limit,
        ThreadEnd::Open,
    ];
    Trace {
        ends: ends.into_iter().enumerate().map(|(at, end)| (thread(at), end)).collect(),
        pending: BTreeMap::from([
            (thread(2), Pending::Question(events[0].op)),
            (thread(3), Pending::Loop(5)),
        ]),
        memory: BTreeMap::from([(LocationId::new(1), vec![0, 4])]),
        events,
    }
}

#[test]
fn every_op_of_a_trace_survives() {
    let outcome = with_trace(Ending::Complete, trace_with_everything(), None);
    assert_survives(&outcome);
}

#[test]
fn every_ending_survives() {
    let (thread, threads) = (ThreadId::new(1), vec![ThreadId::new(0), ThreadId::new(1)]);
    for &kind in FindingKind::ALL {
        let failure = Failure { kind, message: String::from("wrong"), place: PlaceId(4) };
        assert_survives(&with_trace(Ending::Failed(thread, failure), Trace::default(), None));
    }
    for ending in [
        Ending::Complete,
        Ending::Blocked,
        Ending::Deadlock(threads.clone()),
        Ending::Livelock(threads),
        Ending::Race(3, 4),
        Ending::Limit(thread),
    ] {
        assert_survives(&with_trace(ending, Trace::default(), None));
    }
}

#[test]
fn every_kind_of_evidence_against_robustness_survives() {
    use CycleRelation::{Coherence, FromReads, ProgramOrder, ReadsFrom, SpawnOrJoin};
    let relations = [ProgramOrder, SpawnOrJoin, ReadsFrom, Coherence, FromReads];
    let edge = |relation| CycleEdge { from: 1, to: 2, relation };
    let sides = [FenceSide::AfterStore, FenceSide::BeforeLoad];
    let fences: BTreeSet<Fence> = sides.map(|side| Fence { side, place: PlaceId(9) }).into();
    for fences in [
        FenceSearch::NotDone,
        FenceSearch::Deadline,
        FenceSearch::Undecided,
        FenceSearch::Found(fences),
    ] {
        let part = trace_with_everything();
        let evidence = NotRobust { part, cycle: relations.map(edge).to_vec(), fences };
        assert_survives(&with_trace(Ending::Complete, Trace::default(), Some(evidence)));
    }
}

#[test]
fn names_and_special_values_survive() {
    for model in Model::ALL {
        let counterexample = Counterexample::new(Ending::Complete, trace_with_everything());
        let mut named = counterexample.named(&Numbers, model);
        named.names.special_values = vec![(Value::MIN, "freed".into()), (0, "dropped".into())];
        let state = ObjectState { short: String::from("1 of 2"), clause: String::from("it waits") };
        named.names.object_states.insert((LocationId::new(1), Value::MAX), state);
        named.printed = String::from("line\n\u{1F980}");
        assert_survives(&with_named(named));
    }
}

#[test]
fn every_bound_survives() {
    use Phase::{Building, Estimating, Exploring, Waiting};
    use Unsupported::{Cells, Malformed, Model, Undecided};
    let mut bounds = vec![
        Bound::Classes,
        Bound::Deadline,
        Bound::Memory { megabytes: u64::MAX },
        Bound::Events,
        Bound::LoopIterations,
        Bound::Sampled { runs: 3, explorer: "pct".into(), seed: u64::MAX },
        Bound::AllBlocked,
        Bound::Excluded(vec![String::from("one"), String::from("two")]),
        Bound::Estimated,
        Bound::Other(String::from("another reason")),
    ];
    bounds.extend([Cells, Malformed, Undecided, Model].map(Bound::Unsupported));
    let phases = [Waiting, Building, Exploring, Estimating];
    bounds.extend(phases.map(|phase| Bound::Interrupted { phase, classes: 7 }));
    for bound in bounds {
        assert_survives(&Outcome::new(vec![], Counts::default(), Some(bound)));
    }
}

#[test]
fn findings_counts_and_estimates_survive() {
    let schedule: Schedule =
        "race=m:1,m/0/12:0 model=tso counted m:0=m/3:2~ m/3:4=#7".parse().unwrap();
    let finding = Finding {
        place: Some(Place::new("a.c:7")),
        related: vec![Related { message: String::from("here"), place: Place::new("b.c:1") }],
        schedule: Some(schedule),
        sample: Some(SampledRun { explorer: "random".into(), number: 4, seed: 5 }),
        ..Finding::new(FindingKind::Race, "they race")
    };
    let counts = Counts {
        classes: u64::MAX,
        blocked: 1,
        executions: 2,
        histories: 3,
        seconds: 0.1,
        start_up: f64::MIN_POSITIVE,
    };
    let estimate = Some(Estimate { classes: 1e300, error: 0.5, probes: 6 });
    for verdict in [Verdict::Clean, Verdict::Bug, Verdict::Incomplete] {
        let findings = vec![finding.clone()];
        let symmetry =
            Some(Symmetry { threads: vec![vec!["a".into(), "b".into()]], classes: 7, blocked: 8 });
        let (bound, remarks) = (None, vec![String::from("not explored")]);
        let outcome = Outcome { verdict, findings, counts, bound, estimate, symmetry, remarks };
        assert_survives(&outcome);
    }
}
