//! RF-SMC: the smallest programs that need each of its rules, known counts, how executions end, and
//! what a program is told.

use std::time::Instant;

use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::Model;
use raddle_core::program::{
    Answer, End, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, PlaceId, Program,
    Segment,
};
use raddle_core::trace::{Ending, ThreadEnd};
use raddle_explore::rf_smc::{explore, explore_measured};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Unsupported};
use raddle_testkit::script::ScriptProgram;

use crate::common::rf_smc::{agrees, script, visited};

/// Visits all classes under all models, and each once; how many there are. Which rules that needs
/// depends on who runs first, so the threads are also taken the other way round.
fn counts(text: &str) -> Vec<usize> {
    let script = script(text);
    let mut reversed = script.clone();
    reversed.threads[1..].reverse();
    let count = |model| {
        let count = agrees(&script, model);
        assert_eq!(agrees(&reversed, model), count);
        count
    };
    Model::ALL.into_iter().map(count).collect()
}

/// There are as many classes under all models.
fn always(text: &str, expected: usize) {
    assert_eq!(counts(text), [expected; 10], "{text}");
}

/// There are as many classes under all models but one: under WRA, which has no modification orders.
fn more_under_wra(text: &str, expected: usize, under_wra: usize) {
    let mut all = [expected; 10];
    all[Model::ALL.iter().position(|&model| model == Model::Wra).expect("a model")] = under_wra;
    assert_eq!(counts(text), all, "{text}");
}

#[test]
fn schedules_are_compared_as_sets() {
    let text = "x = 0
        thread a { r = load x; store x 1 }
        thread b { store x 2 }
        thread c { r = load x }";
    always(text, 6);
}

#[test]
fn queues_see_what_is_added_while_they_are_emptied() {
    let text = "x = 0
        thread a { store x 1; r = load x; store x 2 }
        thread b { store x 3; r = load x }";
    more_under_wra(text, 5, 6);
}

#[test]
fn the_initial_write_is_a_source() {
    always("x = 0; thread a { store x 1 }; thread b { r = load x }", 2);
}

#[test]
fn two_updates_swap() {
    always("x = 0; thread a { add x 1 }; thread b { add x 1 }", 2);
}

#[test]
fn a_failed_compare_exchange_is_a_partner() {
    always("x = 0; thread a { add x 1; cas x 1 2 }; thread b { add x 1 }", 3);
}

#[test]
fn a_changed_update_is_a_partner() {
    always("x = 0; thread a { add x 1; store x 5 }; thread b { add x 1 }", 3);
}

#[test]
fn a_settled_update_is_a_partner() {
    always("x = 0; thread a { add x 1 }; thread b { add x 1; add x 1 }", 3);
}

#[test]
fn the_first_of_a_swap_keeps_its_slot() {
    always("x = 0; thread a { add x 1 }; thread b { add x 1; store x 7 }", 3);
}

#[test]
fn a_changed_update_is_a_source() {
    more_under_wra("x = 0; thread a { add x 1 }; thread b { store x 7; r = load x }", 3, 4);
}

#[test]
fn the_partner_of_a_swap_is_a_source() {
    always("x = 0; thread a { r = load x; cas x 0 2 }; thread b { cas x 0 0 }", 3);
}

#[test]
fn somebody_who_waits_takes_the_lock() {
    always("lock m; thread a { lock m }; thread b { lock m }", 2);
}

#[test]
fn somebody_who_came_later_takes_the_lock() {
    let text = "lock m; thread a { lock m; unlock m }; thread b { lock m; unlock m }";
    always(text, 2);
}

#[test]
fn a_lock_may_never_be_released() {
    let text = "lock m; thread a { lock m }; thread b { lock m }; thread c { lock m; unlock m }";
    always(text, 4);
}

#[test]
fn a_taker_may_have_to_wait_for_somebody_between() {
    let text = "s = 1
        thread a { sync s > 0 sub 1 }
        thread b { sync s > 0 sub 1 }
        thread c { sync s any add 1 }";
    always(text, 4);
}

#[test]
fn somebody_who_waits_for_a_value_takes_it() {
    always("s = 1; thread a { sync s > 0 sub 1 }; thread b { sync s > 0 sub 1 }", 2);
}

#[test]
fn a_taker_takes_only_what_its_guard_admits() {
    let text = "s = 0
        thread a { sync s any swap 1 }
        thread b { sync s == 0 swap 5 }
        thread c { sync s == 1 swap 0 }";
    always(text, 2);
}

#[test]
fn a_weak_compare_exchange_fails_with_every_source() {
    always("x = 0; thread a { casw x 0 1 }; thread b { store x 0 }", 4);
}

#[test]
fn a_swapped_weak_compare_exchange_fails_or_succeeds() {
    always("x = 0; thread a { casw x 0 1 }; thread b { casw x 0 0 }", 6);
}

#[test]
fn all_choices_are_made() {
    always("x = 0; thread a { n = choose 3; store x n }; thread b { r = load x }", 6);
}

#[test]
fn known_counts() {
    let store_buffering = "x = 0; y = 0
        thread a { store x 1; r = load y }
        thread b { store y 1; r = load x }";
    assert_eq!(counts(store_buffering), [3, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    let readers = "x = 0
        thread w { store x 1 }
        thread a { r = load x }; thread b { r = load x }; thread c { r = load x }";
    always(readers, 8);
    let floating_read = "x = 0; thread r { r = load x }
        thread a { store x 1 }; thread b { store x 2 }; thread c { store x 3 }";
    always(floating_read, 4);
    let updates = "x = 0
        thread a { add x 1 }; thread b { add x 1 }; thread c { add x 1 }; thread d { add x 1 }";
    always(updates, 24);
    let locks = "lock m; thread a { lock m; unlock m }
        thread b { lock m; unlock m }; thread c { lock m; unlock m }";
    always(locks, 6);
}

#[test]
fn a_join_sees_what_its_thread_did() {
    let text = "x = 0
        thread main { store x 1; spawn a; r = load x; join a; s = load x }
        thread a { store x 2 }";
    always(text, 2);
}

/// `psc` of RC11 orders accesses of different threads by happens-before only if each has an event of
/// another location next to it in its thread. For a thread's first access that is its start, for its last
/// one its end; if these were no events, the first program had a fourth class.
#[test]
fn starts_and_ends_of_threads_order_seq_cst() {
    let store_buffering = |padding: &str| {
        let text = format!(
            "x = 0; y = 0; z = 0
            thread main {{ spawn a; store y 1 sc; spawn b }}
            thread a {{ store x 1 sc; r = load y sc }}
            thread b {{ {padding}; r = load x sc }}"
        );
        [Model::Sc, Model::Rc11, Model::C20].map(|model| agrees(&script(&text), model))
    };
    assert_eq!(store_buffering(""), [3, 3, 3]);
    assert_eq!(store_buffering("store z 1"), [3, 3, 3]);
    let joined = "x = 0; y = 0
        thread main { spawn a; spawn b; join b; r = load x sc }
        thread a { store x 1 sc; r = load y sc }
        thread b { store y 1 sc }";
    for model in [Model::Sc, Model::Rc11, Model::C20] {
        assert_eq!(agrees(&script(joined), model), 3, "{model}");
    }
}

fn endings(text: &str, model: Model) -> Vec<Ending> {
    visited(&script(text), model).0.into_iter().map(|(_, ending)| ending).collect()
}

#[test]
fn locks_in_the_wrong_order_deadlock() {
    let text = "lock m; lock n
        thread a { lock m; lock n; unlock n; unlock m }
        thread b { lock n; lock m; unlock m; unlock n }";
    for model in Model::ALL {
        let endings = endings(text, model);
        let deadlock = Ending::Deadlock([1, 2].map(ThreadId::new).to_vec());
        assert_eq!(endings.iter().filter(|&ending| *ending == deadlock).count(), 1, "{model}");
        assert_eq!(endings.iter().filter(|&ending| *ending == Ending::Complete).count(), 2);
    }
}

#[test]
fn one_who_waits_for_a_thread_that_stopped_is_no_deadlock() {
    let text = "x = 0
        thread main { spawn a; store x 1; join a }
        thread a { r = load x; assume r == 1 }";
    let (visits, summary) = visited(&script(text), Model::C20);
    let endings: Vec<&Ending> = visits.iter().map(|(_, ending)| ending).collect();
    assert!(endings.contains(&&Ending::Blocked) && endings.contains(&&Ending::Complete));
    assert_eq!((summary.extent, summary.classes, summary.blocked), (Extent::All, 1, 1));
}

const FAILS: &str = "x = 0
    thread a { r = load x; assert r == 1 }
    thread b { store x 1 }
    thread c { store x 2 }";

#[test]
fn a_failure_is_told_and_may_end_the_exploration() {
    let mut stop = |leaf: &dyn Leaf| match leaf.ending() {
        Ending::Failed(..) => Control::Stop,
        _ => Control::Continue,
    };
    let mut program = ScriptProgram::new(&script(FAILS));
    let summary = explore(&mut program, Model::C20, &Limits::default(), &mut stop);
    assert_eq!(summary.extent, Extent::Stopped);
}

#[test]
fn after_a_failure_the_others_are_found() {
    let (visits, summary) = visited(&script(FAILS), Model::C20);
    let failed = visits.iter().filter(|(_, ending)| matches!(ending, Ending::Failed(..))).count();
    assert_eq!((summary.extent, summary.classes, failed), (Extent::All, 3, 2));
    let (class, _) = visits.iter().find(|(_, e)| matches!(e, Ending::Failed(..))).expect("one");
    assert_eq!(class[&ThreadId::new(1)].1, ThreadEnd::Failed);
}

#[test]
fn plain_accesses_race() {
    let text = "x = 0; thread a { store x 1 na }; thread b { r = load x na }";
    for ending in endings(text, Model::C20) {
        assert!(matches!(ending, Ending::Race(a, b) if a < b), "{ending:?}");
    }
    assert_eq!(endings(text, Model::Tso), [Ending::Complete, Ending::Complete]);
}

#[test]
fn a_limit_of_classes_ends_the_exploration_if_there_are_more() {
    let script = script("x = 0; thread a { store x 1 }; thread b { r = load x }");
    for (limit, extent, seen) in [(1, Extent::Classes, 1), (2, Extent::All, 2)] {
        let limits = Limits { classes: Some(limit), ..Limits::default() };
        let mut visits = 0;
        let mut visit = |_: &dyn Leaf| {
            visits += 1;
            Control::Continue
        };
        let summary = explore(&mut ScriptProgram::new(&script), Model::Sc, &limits, &mut visit);
        assert_eq!((summary.extent, summary.classes, visits), (extent, seen, seen));
    }
}

#[test]
fn a_deadline_ends_the_exploration() {
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let mut program = ScriptProgram::new(&script("x = 0; thread a { r = load x }"));
    let summary = explore(&mut program, Model::Sc, &limits, &mut |_: &dyn Leaf| Control::Continue);
    assert_eq!((summary.extent, summary.classes), (Extent::Deadline, 0));
}

/// Figure 13 of Bui et al.: exponentially many schedules wait at once.
#[test]
fn schedules_can_be_many() {
    let peak = |n: usize| {
        let each = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>().join("; ");
        let text = format!(
            "y = 0; {}\nthread a {{ store y 1; r = load y }}\nthread b {{ {} }}\nthread c {{ {}; store y 2 }}",
            each(&|i| format!("x{i} = 0")),
            each(&|i| format!("store x{i} 1")),
            each(&|i| format!("store x{i} 2; r{i} = load x{i}")),
        );
        let mut visit = |_: &dyn Leaf| Control::Continue;
        let mut program = ScriptProgram::new(&script(&text));
        explore_measured(&mut program, Model::Sc, &Limits::default(), &mut visit)
    };
    let measured: Vec<(u64, u64)> = (1..=5)
        .map(peak)
        .map(|(summary, statistics)| (summary.classes, statistics.peak_pending))
        .collect();
    assert_eq!(measured, [(4, 2), (8, 4), (16, 8), (32, 16), (64, 32)]);
}

/// A program with one thread, which does these things in a row, whatever it is told.
struct EventSet(Vec<Segment>);

impl Program for EventSet {
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
        self.0[depth].clone()
    }
}

impl Naming for EventSet {
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

fn only(program: &mut dyn Program) -> (Summary, Vec<Ending>) {
    let mut endings = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        endings.push(leaf.ending().clone());
        Control::Continue
    };
    (explore(program, Model::C20, &Limits::default(), &mut visit), endings)
}

#[test]
fn a_thread_at_its_limit_is_told() {
    let mut program = EventSet(vec![Segment { effects: vec![], end: End::Limit }]);
    let (summary, endings) = only(&mut program);
    assert_eq!(summary.extent, Extent::Events);
    assert_eq!(endings, [Ending::Limit(ThreadId::new(0))]);
}

#[test]
fn a_thread_that_repeats_itself_for_ever_is_a_livelock() {
    let location = LocationId::new(0);
    let load = op(OpKind::Load { location, order: MemoryOrder::Relaxed });
    let mut program = EventSet(vec![
        Segment { effects: vec![], end: End::Question(load) },
        Segment { effects: vec![], end: End::Repeats(HistoryId(0)) },
    ]);
    let (summary, endings) = only(&mut program);
    assert_eq!((summary.extent, summary.classes), (Extent::All, 1));
    assert_eq!(endings, [Ending::Livelock(vec![ThreadId::new(0)])]);
}

#[test]
fn the_initial_value_is_the_stated_one() {
    let location = LocationId::new(0);
    let init = op(OpKind::Init { location, value: 7 });
    let load = op(OpKind::Load { location, order: MemoryOrder::Relaxed });
    let mut program = EventSet(vec![
        Segment { effects: vec![init], end: End::Question(load) },
        Segment { effects: vec![], end: End::Finished },
    ]);
    let mut read = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        read.extend(leaf.trace().events.iter().map(|event| event.read));
        Control::Continue
    };
    explore(&mut program, Model::C20, &Limits::default(), &mut visit);
    assert_eq!(read, [None, Some(7)]);
}

#[test]
fn what_cannot_be_explored_is_refused() {
    let location = LocationId::new(0);
    let refused = |effects: Vec<Op>, end: End| {
        let (summary, endings) = only(&mut EventSet(vec![Segment { effects, end }]));
        assert_eq!(endings, []);
        summary.extent
    };
    let cells = Extent::Unsupported(Unsupported::Cells);
    assert_eq!(refused(vec![op(OpKind::WriteCell { location })], End::Finished), cells);
    assert_eq!(refused(vec![], End::Question(op(OpKind::ReadCell { location }))), cells);
    let malformed = Extent::Unsupported(Unsupported::Malformed);
    assert_eq!(refused(vec![], End::Question(op(OpKind::Choose { options: 0 }))), malformed);
    let spawn = op(OpKind::Spawn { thread: ThreadId::new(0) });
    assert_eq!(refused(vec![spawn], End::Finished), malformed);
}

/// A script that checks what a program has to know to run again from the beginning.
struct Rerunning(ScriptProgram);

impl Rerunning {
    /// The histories that a step rests on.
    fn rests_on(step: HistoryStep) -> Vec<HistoryId> {
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

impl Program for Rerunning {
    fn run(
        &mut self,
        known: &LocalHistories,
        past: &[HistoryId],
        step: HistoryStep,
        node: HistoryId,
    ) -> Segment {
        for (at, &reached) in past.iter().enumerate() {
            assert!(!past[..at].contains(&reached), "a history is reached once");
            for before in Self::rests_on(known.step(reached)) {
                assert!(past[..at].contains(&before), "{before:?} comes before {reached:?}");
            }
        }
        for before in Self::rests_on(step) {
            assert!(past.contains(&before), "{before:?} comes before {step:?}");
        }
        let answered = |at: &HistoryId| match known.step(*at) {
            HistoryStep::After(node, _) => Some(node),
            HistoryStep::Start(..) => None,
        };
        let mut asked: Vec<HistoryId> = past.iter().filter_map(answered).collect();
        asked.sort();
        assert!(asked.windows(2).all(|pair| pair[0] != pair[1]), "a question has one answer");
        self.0.run(known, past, step, node)
    }
}

impl Naming for Rerunning {
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
fn a_program_can_follow_its_past() {
    let text = "x = 0; s = 1; lock m
        thread main { spawn a; spawn b; r = add x 1; join a; lock m; unlock m; join b }
        thread a { lock m; r = add x 1; if r == 1 { spawn c }; unlock m; sync s > 0 sub 1 }
        thread b { r = cas x 1 2; sync s any add 1; lock m; t = load x; unlock m }
        thread c { r = load x; store x 5 }";
    for model in Model::ALL {
        let mut program = Rerunning(ScriptProgram::new(&script(text)));
        let mut visit = |_: &dyn Leaf| Control::Continue;
        let summary = explore(&mut program, model, &Limits::default(), &mut visit);
        assert_eq!(summary.extent, Extent::All);
        assert!(summary.classes >= 44, "{summary:?}");
        assert!(model != Model::Sc || summary.classes == 44, "{summary:?}");
    }
}

/// The start of a thread is an event of the execution that is checked, but not of the trace.
#[test]
fn a_race_is_named_where_something_is_sequentially_consistent() {
    let text = "x = 0; y = 0
        thread a { store y 1 sc; store x 1 na; store y 2 sc }
        thread b { r = load x na; s = load y }";
    let script = script(text);
    let mut program = ScriptProgram::new(&script);
    let mut racing = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        if let Ending::Race(first, second) = *leaf.ending() {
            let trace = leaf.trace();
            racing.push([first, second].map(|at| trace.events[at].op.kind.location()));
        }
        Control::Continue
    };
    explore(&mut program, Model::C20, &Limits::default(), &mut visit);
    assert!(!racing.is_empty());
    for locations in racing {
        assert_eq!(locations, [Some(LocationId::new(0)); 2]);
    }
}
