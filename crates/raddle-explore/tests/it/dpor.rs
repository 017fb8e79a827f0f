//! Exploration by traces: known counts, regressions, endings of executions, and answers to programs.

use std::time::Instant;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId, Program,
    Segment,
};
use raddle_core::trace::{Ending, Observed, ThreadEnd};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Unsupported, rf_smc};
use raddle_testkit::script::ScriptProgram;

use crate::common::dpor::{Explore, OPTIMAL, SOURCE, agrees, script, visited};

/// Returns the number of traces under SC, TSO and PSO. Asserts that the explorers agree with the oracle, and that the
/// order of threads does not matter.
fn trace_counts(text: &str) -> [usize; 3] {
    let script = script(text);
    let mut reversed = script.clone();
    reversed.threads[1..].reverse();
    Model::STORE_BUFFERS.map(|model| {
        let count = agrees(&script, model);
        assert_eq!(agrees(&reversed, model), count, "{model}\n{text}");
        count
    })
}

/// Returns the number of traces under SC, TSO and PSO if there are too many for the oracle. Asserts that the explorers
/// agree.
fn large_trace_counts(text: &str) -> [u64; 3] {
    let script = script(text);
    Model::STORE_BUFFERS.map(|model| {
        let count = |explore: Explore| {
            let mut visit = |_: &dyn Leaf| Control::Continue;
            let mut program = ScriptProgram::new(&script);
            let summary = explore(&mut program, model, &Limits::default(), &mut visit);
            assert_eq!(summary.extent, Extent::All);
            summary.classes + summary.blocked
        };
        assert_eq!(count(OPTIMAL), count(SOURCE), "{model}\n{text}");
        count(OPTIMAL)
    })
}

/// Returns a script with one thread per body.
fn script_text(memory: &str, bodies: impl IntoIterator<Item = String>) -> String {
    let thread = |(n, body)| format!("thread t{n} {{ {body} }}\n");
    format!("{memory}\n{}", bodies.into_iter().enumerate().map(thread).collect::<String>())
}

#[test]
fn store_buffering_has_one_more_trace_with_buffers() {
    let text = "x = 0; y = 0
        thread p { store x 1; r = load y }
        thread q { store y 1; s = load x }";
    assert_eq!(trace_counts(text), [3, 4, 4]);
}

/// Figure 5 of Abdulla et al., TACAS 2015: it makes no difference whether the load finds its store in the buffer or in
/// memory.
#[test]
fn a_load_of_an_own_store_is_not_ordered_with_its_flush() {
    let text = "x = 0; thread p { store x 1; r = load x }; thread q { store x 2 }";
    assert_eq!(trace_counts(text), [3; 3]);
}

/// Figure 1 of Agarwal et al., CAV 2021: 98 Mazurkiewicz traces, 9 reads-from classes.
#[test]
fn figure_1_of_rvf_smc() {
    let text = "x = 0; y = 0
        thread a { store x 1; store y 1 }
        thread b { store x 1; store y 1; r = load x }
        thread c { store x 1; store y 1; r = load y }";
    assert_eq!(large_trace_counts(text)[0], 98);
    let visits = visited(OPTIMAL, &script(text), Model::Sc).0;
    assert_eq!(crate::common::dpor::classes(&visits).len(), 9);
}

#[test]
fn floating_reads_have_one_trace_per_order() {
    for n in 1..=6 {
        let writers = (1..=n).map(|value| format!("store x {value}"));
        let text = script_text("x = 0", writers.chain(["r = load x".into()]));
        assert_eq!(large_trace_counts(&text), [(1..=n as u64 + 1).product::<u64>(); 3]);
    }
}

#[test]
fn each_reader_observes_the_write_or_not() {
    let readers = (0..10).map(|_| "r = load x".to_owned());
    let text = script_text("x = 0", std::iter::once("store x 1".to_owned()).chain(readers));
    assert_eq!(large_trace_counts(&text), [1 << 10; 3]);
}

/// The orders of `2n` events in which a load precedes the store of its thread, up to the order of adjacent loads.
#[test]
fn nonatomic_increments_have_known_counts() {
    let inc = |n| script_text("x = 0", (0..n).map(|_| "r = load x; store x r + 1".to_owned()));
    assert_eq!(trace_counts(&inc(2)), [4; 3]);
    assert_eq!(large_trace_counts(&inc(3)), [36; 3]);
    assert_eq!(large_trace_counts(&inc(4)), [576; 3]);
}

/// A stack protected by a lock.
#[test]
fn a_robust_program_has_equally_many_traces_under_all_models() {
    let push = "lock m; t = load top; store cells[t] 1; store top t + 1; unlock m";
    let pop = "lock m; t = load top; if t > 0 { r = load cells[t - 1]; store top t - 1 }; unlock m";
    let twice = |body: &str| format!("repeat 2 {{ {body} }}");
    let text = script_text("lock m; top = 0; cells = [0, 0, 0]", [twice(push), twice(pop)]);
    let [sc, tso, pso] = large_trace_counts(&text);
    assert_eq!([sc, tso, pso], [6; 3]);
}

/// A race whose events were both in the last execution has to be reversed again if other events do not depend on the
/// first one.
#[test]
fn races_of_the_last_execution_are_reversed_again() {
    let text = "y = 0; z = 0
        thread b { store y 0; s = load z }
        thread c { store z 0; r = load y }
        thread d { r = load z; store y 0 }";
    assert_eq!(trace_counts(text), [17, 24, 24]);
}

/// A weak compare-exchange depends on a load of the location if it succeeds, but not if it fails.
#[test]
fn alternatives_of_a_step_have_different_dependencies() {
    let text = "x = 0; y = 0
        thread a { r = casw x 0 0; store y 0 }
        thread b { store y 0; r = load x }";
    assert_eq!(trace_counts(text)[0], 5);
    let text = "x = 0; lock m
        thread main { spawn a }
        thread a { spawn c; s = load x }
        thread c { spawn d; s = casw x 0 0 }
        thread d { lock m; s = load x }";
    assert_eq!(trace_counts(text), [5; 3]);
}

/// A weak compare-exchange that is reversed with a store may fail spuriously, although its success there was explored.
#[test]
fn a_reversed_step_has_all_its_alternatives() {
    let text = "x = 0; s = 0
        thread a { r = load x; sync s any add 1 }
        thread b { sync s any add 1; store x 0 }
        thread c { r = casw x 0 0 }";
    assert_eq!(trace_counts(text)[0], 15);
}

#[test]
fn a_blocked_thread_could_have_been_first() {
    assert_eq!(trace_counts("lock m; thread a { lock m }; thread b { lock m }"), [2; 3]);
    let text = "lock m; thread a { lock m; unlock m }; thread b { lock m }; thread c { lock m }";
    assert_eq!(trace_counts(text), [4; 3]);
}

#[test]
fn guards_are_passed_wherever_they_admit_the_value() {
    let text = "s = 1
        thread a { sync s > 0 sub 1 }
        thread b { sync s > 0 sub 1 }
        thread c { sync s any add 1 }";
    assert_eq!(trace_counts(text), [4; 3]);
    let text = "s = 0
        thread a { sync s any swap 1 }
        thread b { sync s == 0 swap 5 }
        thread c { sync s == 1 swap 0 }";
    assert_eq!(trace_counts(text), [2; 3]);
}

/// Under PSO stores to different locations are independent, except on two sides of a store-store fence.
#[test]
fn store_fences_order_flushes() {
    let passing = |between: &str| {
        trace_counts(&format!(
            "x = 0; y = 0
            thread a {{ store x 1; {between} store y 1 }}
            thread b {{ r = load y; s = load x }}"
        ))
    };
    assert_eq!(passing(""), [3, 3, 4]);
    assert_eq!(passing("storefence;"), [3, 3, 3]);
    assert_eq!(passing("fence rel;"), [3, 3, 3]);
    assert_eq!(passing("fence sc;"), [3, 3, 3]);
}

fn endings(text: &str, model: Model) -> Vec<Ending> {
    visited(OPTIMAL, &script(text), model).0.into_iter().map(|(_, ending)| ending).collect()
}

#[test]
fn locks_in_the_wrong_order_deadlock() {
    let text = "lock m; lock n
        thread a { lock m; lock n; unlock n; unlock m }
        thread b { lock n; lock m; unlock m; unlock n }";
    for model in Model::STORE_BUFFERS {
        let endings = endings(text, model);
        let deadlock = Ending::Deadlock([1, 2].map(ThreadId::new).to_vec());
        assert_eq!(endings.iter().filter(|&ending| *ending == deadlock).count(), 1, "{model}");
        assert_eq!(endings.len(), 3, "{model}");
    }
}

#[test]
fn a_failed_assumption_blocks() {
    let text = "x = 0
        thread main { spawn a; store x 1; join a }
        thread a { r = load x; assume r == 1 }";
    for explore in [OPTIMAL, SOURCE] {
        let (_, summary) = visited(explore, &script(text), Model::Tso);
        assert_eq!((summary.extent, summary.classes, summary.blocked), (Extent::All, 1, 1));
    }
}

#[test]
fn exploration_continues_after_a_failure() {
    let text = "x = 0
        thread a { r = load x; assert r == 1 }
        thread b { store x 1 }
        thread c { store x 2 }";
    let (visits, summary) = visited(OPTIMAL, &script(text), Model::Pso);
    let failed: Vec<_> =
        visits.iter().filter(|(_, ending)| matches!(ending, Ending::Failed(..))).collect();
    assert_eq!((summary.extent, summary.classes, failed.len()), (Extent::All, 6, 4));
    for ((class, _), _) in failed {
        assert_eq!(class[&ThreadId::new(1)].1, ThreadEnd::Failed);
    }
}

#[test]
fn the_class_limit_stops_the_exploration_if_there_are_more() {
    let script = script("x = 0; thread a { store x 1 }; thread b { r = load x }");
    for explore in [OPTIMAL, SOURCE] {
        for (limit, extent, seen) in [(1, Extent::Classes, 1), (2, Extent::All, 2)] {
            let limits = Limits { classes: Some(limit), ..Limits::default() };
            let mut visits = 0;
            let mut visit = |_: &dyn Leaf| {
                visits += 1;
                Control::Continue
            };
            let mut program = ScriptProgram::new(&script);
            let summary = explore(&mut program, Model::Sc, &limits, &mut visit);
            assert_eq!((summary.extent, summary.classes, visits), (extent, seen, seen));
        }
    }
}

#[test]
fn the_deadline_and_the_visitor_stop_the_exploration() {
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let script = script("x = 0; thread a { r = load x }; thread b { store x 1 }");
    for explore in [OPTIMAL, SOURCE] {
        let mut program = ScriptProgram::new(&script);
        let mut keep_going = |_: &dyn Leaf| Control::Continue;
        let summary = explore(&mut program, Model::Sc, &late, &mut keep_going);
        assert_eq!((summary.extent, summary.classes), (Extent::Deadline, 0));
        let mut program = ScriptProgram::new(&script);
        let mut stop = |_: &dyn Leaf| Control::Stop;
        let summary = explore(&mut program, Model::Sc, &Limits::default(), &mut stop);
        assert_eq!((summary.extent, summary.classes), (Extent::Stopped, 1));
    }
}

#[test]
fn models_without_store_buffers_are_unsupported() {
    let script = script("x = 0; thread a { r = load x }");
    for explore in [OPTIMAL, SOURCE] {
        let (visits, summary) = visited(explore, &script, Model::C20);
        assert_eq!(visits, []);
        assert_eq!(summary.extent, Extent::Unsupported(Unsupported::Model));
    }
}

/// With more than 64 events the exploration starts again, and no execution is shown twice.
#[test]
fn long_executions_need_larger_event_sets() {
    let text = "x = 0; y = 0
        thread a { store x 1; repeat 70 { if r == 9 { break }; r = load y }; s = load x }
        thread b { r = load x }";
    for model in Model::STORE_BUFFERS {
        for explore in [OPTIMAL, SOURCE] {
            let (visits, summary) = visited(explore, &script(text), model);
            assert_eq!((summary.extent, visits.len()), (Extent::All, 2), "{model}");
        }
    }
}

#[test]
fn executions_that_are_too_long_end_at_the_limit() {
    let text = "x = 0; thread a { repeat 1100 { if r == 9 { break }; r = load x } }";
    let (visits, summary) = visited(OPTIMAL, &script(text), Model::Sc);
    assert_eq!((summary.extent, visits.len()), (Extent::Events, 1));
    assert_eq!(visits[0].1, Ending::Limit(ThreadId::new(1)));
}

/// Program whose threads execute these segments in order, whatever the answers are.
struct FixedSegments(Vec<Vec<Segment>>);

impl Program for FixedSegments {
    fn run(
        &mut self,
        histories: &LocalHistories,
        _: &[HistoryId],
        step: HistoryStep,
        _: HistoryId,
    ) -> Segment {
        let mut depth = 0;
        let mut step = step;
        while let HistoryStep::After(node, _) = step {
            step = histories.step(node);
            depth += 1;
        }
        let HistoryStep::Start(thread, _) = step else { unreachable!("every history has a start") };
        self.0[thread.index()][depth].clone()
    }
}

impl Naming for FixedSegments {
    fn place(&self, place: PlaceId) -> String {
        format!("{place:?}")
    }

    fn location_name(&self, location: LocationId) -> String {
        format!("{location:?}")
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        format!("{thread:?}")
    }
}

fn op(kind: OpKind) -> Op {
    Op { kind, place: PlaceId(0) }
}

fn load(location: usize) -> OpKind {
    OpKind::Load { location: LocationId::new(location), order: MemoryOrder::Relaxed }
}

fn store(location: usize, value: i128, carries: bool) -> OpKind {
    let (location, order) = (LocationId::new(location), MemoryOrder::Relaxed);
    OpKind::Store { location, value, order, carries }
}

/// Segment that ends with a question.
fn asks(effects: impl IntoIterator<Item = OpKind>, question: OpKind) -> Segment {
    Segment { effects: effects.into_iter().map(op).collect(), end: End::Question(op(question)) }
}

/// Segment that ends in another way.
fn ends(effects: impl IntoIterator<Item = OpKind>, end: End) -> Segment {
    Segment { effects: effects.into_iter().map(op).collect(), end }
}

fn spawn(thread: usize) -> OpKind {
    OpKind::Spawn { thread: ThreadId::new(thread) }
}

fn explore_segments(rows: Vec<Vec<Segment>>, model: Model) -> (Summary, Vec<Ending>) {
    explore_segments_by(OPTIMAL, rows, model)
}

fn explore_segments_by(
    explore: Explore,
    rows: Vec<Vec<Segment>>,
    model: Model,
) -> (Summary, Vec<Ending>) {
    let mut endings = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        endings.push(leaf.ending().clone());
        Control::Continue
    };
    (explore(&mut FixedSegments(rows), model, &Limits::default(), &mut visit), endings)
}

#[test]
fn a_thread_at_its_event_limit_is_reported() {
    let (summary, endings) = explore_segments(vec![vec![ends([], End::Limit)]], Model::Tso);
    assert_eq!(summary.extent, Extent::Events);
    assert_eq!(endings, [Ending::Limit(ThreadId::new(0))]);
}

/// A spinning thread is stuck only if memory keeps what it read.
#[test]
fn a_loop_without_progress_is_a_livelock_if_memory_is_stable() {
    let spins = |stores: Vec<OpKind>| {
        let main = vec![ends([spawn(1), spawn(2)], End::Finished)];
        let spinning = vec![asks([], load(0)), ends([], End::Repeats(HistoryId(1)))];
        vec![main, spinning, vec![ends(stores, End::Finished)]]
    };
    let livelock = Ending::Livelock(vec![ThreadId::new(1)]);
    for model in Model::STORE_BUFFERS {
        assert_eq!(explore_segments(spins(vec![]), model).1, vec![livelock.clone()]);
        let (summary, mut endings) = explore_segments(spins(vec![store(0, 1, false)]), model);
        endings.sort_by_key(|ending| *ending != livelock);
        assert_eq!(endings, [livelock.clone(), Ending::Blocked], "{model}");
        assert_eq!((summary.classes, summary.blocked), (1, 1));
    }
}

#[test]
fn init_sets_the_initial_value() {
    let init = OpKind::Init { location: LocationId::new(0), value: 7 };
    let mut read = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        read.extend(leaf.trace().events.iter().map(|event| event.read));
        Control::Continue
    };
    let mut program = FixedSegments(vec![vec![asks([init], load(0)), ends([], End::Finished)]]);
    OPTIMAL(&mut program, Model::Pso, &Limits::default(), &mut visit);
    assert_eq!(read, [None, Some(7)]);
}

/// A load of a pointer is answered with the origin of the store, even if that is still in the buffer.
#[test]
fn loads_of_pointers_are_answered_with_their_origin() {
    let stores = [store(0, 5, true)];
    let rows = vec![vec![asks(stores, load(0)), ends([], End::Finished)]];
    for model in Model::STORE_BUFFERS {
        let mut program = AnswerRecorder { rows: FixedSegments(rows.clone()), seen: vec![] };
        let mut visit = |_: &dyn Leaf| Control::Continue;
        let summary = OPTIMAL(&mut program, model, &Limits::default(), &mut visit);
        assert_eq!((summary.extent, summary.classes), (Extent::All, 1));
        let origin = raddle_core::program::Origin { node: HistoryId(0), index: 1 };
        assert_eq!(program.seen, [Answer::From(origin)], "{model}");
    }
}

/// Program that records the answers it gets.
struct AnswerRecorder {
    rows: FixedSegments,
    seen: Vec<Answer>,
}

impl Program for AnswerRecorder {
    fn run(
        &mut self,
        known: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        if let HistoryStep::After(_, answer) = step {
            self.seen.push(answer);
        }
        self.rows.run(known, past, step, node)
    }
}

impl Naming for AnswerRecorder {
    fn place(&self, place: PlaceId) -> String {
        self.rows.place(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.rows.location_name(location)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.rows.thread_name(thread)
    }
}

#[test]
fn malformed_programs_are_unsupported() {
    let malformed = Extent::Unsupported(Unsupported::Malformed);
    let refused = |effects: Vec<OpKind>| {
        let (summary, endings) =
            explore_segments(vec![vec![ends(effects, End::Finished)]], Model::Tso);
        assert_eq!(endings, []);
        summary.extent
    };
    assert_eq!(refused(vec![spawn(0)]), malformed);
    assert_eq!(refused(vec![OpKind::Unlock { lock: LocationId::new(0) }]), malformed);
    let (summary, _) =
        explore_segments(vec![vec![asks([], OpKind::Choose { options: 0 })]], Model::Tso);
    assert_eq!(summary.extent, malformed);
}

/// Two unsynchronized accesses of a cell race, in the only trace.
#[test]
fn unordered_accesses_of_cells_race() {
    let location = LocationId::new(0);
    let [write, read] = [OpKind::WriteCell { location }, OpKind::ReadCell { location }];
    let main = vec![
        asks([write, spawn(1), spawn(2)], OpKind::Join { thread: ThreadId::new(1) }),
        asks([], read),
        ends([], End::Finished),
    ];
    let quiet = vec![ends([], End::Finished)];
    let racing = vec![asks([], read), ends([write], End::Finished)];
    let explorers: [Explore; 2] = [OPTIMAL, rf_smc::explore];
    let models = Model::STORE_BUFFERS.into_iter();
    for (model, explore) in models.flat_map(|model| explorers.map(|it| (model, it))) {
        let all = |rows| explore_segments_by(explore, rows, model);
        let (summary, endings) = all(vec![main.clone(), quiet.clone(), quiet.clone()]);
        assert_eq!((summary.extent, endings), (Extent::All, vec![Ending::Complete]));
        let (summary, endings) = all(vec![main.clone(), racing.clone(), quiet.clone()]);
        assert_eq!((summary.extent, endings), (Extent::All, vec![Ending::Complete]));
        let (_, endings) = all(vec![main.clone(), quiet.clone(), racing.clone()]);
        assert_eq!(endings.len(), 1);
        assert!(matches!(endings[0], Ending::Race(first, second) if first < second));
    }
}

/// A store that is observed publishes a preceding write of a cell.
#[test]
fn reads_from_orders_accesses_of_cells() {
    let location = LocationId::new(0);
    let [write, read] = [OpKind::WriteCell { location }, OpKind::ReadCell { location }];
    let rows = vec![
        vec![ends([spawn(1), spawn(2)], End::Finished)],
        vec![ends([write, store(1, 1, false)], End::Finished)],
        vec![asks([], load(1)), asks([], read), ends([], End::Finished)],
    ];
    for model in Model::STORE_BUFFERS {
        let (_, mut endings) = explore_segments(rows.clone(), model);
        endings.sort_by_key(|ending| *ending != Ending::Complete);
        assert_eq!(endings.len(), 2, "{model}");
        assert_eq!(endings[0], Ending::Complete);
        assert!(matches!(endings[1], Ending::Race(..)), "{model}: {:?}", endings[1]);
        let (summary, endings) = explore_segments_by(rf_smc::explore, rows.clone(), model);
        assert_eq!(summary.extent, Extent::Unsupported(Unsupported::Cells), "not beyond a race");
        assert!(matches!(endings.last(), Some(Ending::Race(..))), "{model}: {endings:?}");
    }
}

/// Script that checks that the past suffices to execute the program again from its start.
struct PastChecker(ScriptProgram);

impl PastChecker {
    /// Returns the histories that must precede a step.
    fn dependencies(step: HistoryStep) -> Vec<HistoryId> {
        match step {
            HistoryStep::Start(_, None) => vec![],
            HistoryStep::Start(_, Some(spawn)) => vec![spawn.node],
            HistoryStep::After(node, Answer::From(from) | Answer::SpuriousFrom(from)) => {
                vec![node, from.node]
            }
            HistoryStep::After(node, _) => vec![node],
        }
    }
}

impl Program for PastChecker {
    fn run(
        &mut self,
        known: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        for (at, &reached) in past.iter().enumerate() {
            assert!(!past[..at].contains(&reached), "a history is reached only once");
            for before in Self::dependencies(known.step(reached)) {
                assert!(past[..at].contains(&before), "{before:?} must precede {reached:?}");
            }
        }
        for before in Self::dependencies(step) {
            assert!(past.contains(&before), "{before:?} must precede {step:?}");
        }
        self.0.run(known, past, step, node)
    }

    fn shares_memory(&self) -> bool {
        true
    }
}

impl Naming for PastChecker {
    fn place(&self, place: PlaceId) -> String {
        self.0.place(place)
    }

    fn location_name(&self, location: LocationId) -> String {
        self.0.location_name(location)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.0.thread_name(thread)
    }

    fn initial_value(&self, location: LocationId) -> i128 {
        self.0.initial_value(location)
    }
}

#[test]
fn the_past_suffices_to_execute_a_program_again() {
    let text = "x = 0; s = 1; lock m
        thread main { spawn a; spawn b; r = add x 1; join a; lock m; unlock m; join b }
        thread a { lock m; r = add x 1; if r == 1 { spawn c }; unlock m; sync s > 0 sub 1 }
        thread b { r = cas x 1 2; sync s any add 1; lock m; t = load x; unlock m }
        thread c { r = load x; store x 5 }";
    for model in Model::STORE_BUFFERS {
        for explore in [OPTIMAL, SOURCE] {
            let mut program = PastChecker(ScriptProgram::new(&script(text)));
            let mut visit = |_: &dyn Leaf| Control::Continue;
            let summary = explore(&mut program, model, &Limits::default(), &mut visit);
            assert_eq!(summary.extent, Extent::All);
            let (plain, _) = visited(explore, &script(text), model);
            assert_eq!(summary.classes + summary.blocked, plain.len() as u64);
        }
    }
}

/// Traces of executions with delayed stores.
#[test]
fn traces_have_the_order_in_which_stores_reach_memory() {
    let text = "x = 0; thread a { store x 1; r = load x }; thread b { store x 2 }";
    let mut orders = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        let trace = leaf.trace();
        let order = trace.memory[&LocationId::new(0)].iter();
        let threads: Vec<usize> = order.map(|&at| trace.events[at].thread.index()).collect();
        let read = trace.events.iter().find_map(|event| match event.observed {
            Some(Observed::Event(source)) => Some(trace.events[source].thread.index()),
            _ => None,
        });
        orders.push((threads, read));
        Control::Continue
    };
    OPTIMAL(&mut ScriptProgram::new(&script(text)), Model::Tso, &Limits::default(), &mut visit);
    orders.sort();
    let expected = [(vec![1, 2], Some(1)), (vec![1, 2], Some(2)), (vec![2, 1], Some(1))];
    assert_eq!(orders, expected);
}
