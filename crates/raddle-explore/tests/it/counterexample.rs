//! The reports of counterexamples, word for word.

use insta::assert_snapshot;
use raddle_consistency::explain::Page;
use raddle_core::execution::{LocationId, MemoryOrder, ThreadId};
use raddle_core::model::Model;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{
    End, Failure, HistoryId, HistoryStep, LocalHistories, Naming, Op, OpKind, POINTER,
    POINTER_BASE, PlaceId, Program, Segment,
};
use raddle_core::trace::{
    Counterexample, Ending, NamedTrace, Observed, ThreadEnd, Trace, TraceEvent,
};
use raddle_explore::counterexample::{self, Style};
use raddle_explore::{Control, Leaf, Limits, rf_part_smc, rf_smc};
use raddle_testkit::programs::random::{self, ProgramFeatures};
use raddle_testkit::script::{Script, ScriptProgram};
use raddle_testkit::seeds::for_cases;

/// The first execution in which something goes wrong.
fn first_bug(program: &mut dyn Program, model: Model) -> Counterexample {
    let mut found = None;
    let mut visit = |leaf: &dyn Leaf| match leaf.ending() {
        Ending::Complete | Ending::Blocked => Control::Continue,
        ending => {
            found = Some(Counterexample::new(ending.clone(), leaf.trace()));
            Control::Stop
        }
    };
    rf_part_smc::explore(program, model, &Limits::default(), &mut visit);
    found.expect("something goes wrong")
}

fn of_program(mut program: impl Program, model: Model, style: &Style) -> String {
    let found = first_bug(&mut program, model);
    report(&found.named(&program, model), style)
}

/// The report of an execution.
fn report(trace: &NamedTrace, style: &Style) -> String {
    let kind = trace.ending.finding_kind().unwrap_or(FindingKind::Failure);
    counterexample::report(&counterexample::finding(kind, trace.clone(), style), style)
}

/// The report of the first execution of a script in which something goes wrong.
fn of(text: &str, model: Model) -> String {
    of_program(program(text), model, &Style::default())
}

fn program(text: &str) -> ScriptProgram {
    ScriptProgram::new(&Script::parse(text).unwrap_or_else(|error| panic!("{error}")))
}

/// A program whose threads do these things in a row, whatever they are told.
struct Rows(Vec<Vec<Segment>>);

impl Program for Rows {
    fn run(
        &mut self,
        histories: &LocalHistories,
        _: &[HistoryId],
        mut step: HistoryStep,
        _: HistoryId,
    ) -> Segment {
        let mut depth = 0;
        loop {
            match step {
                HistoryStep::Start(thread, _) => return self.0[thread.index()][depth].clone(),
                HistoryStep::After(node, _) => step = histories.step(node),
            }
            depth += 1;
        }
    }
}

impl Naming for Rows {
    fn place(&self, place: PlaceId) -> String {
        format!("/home/user/project/src/main.rs:{}", place.0)
    }

    fn location_name(&self, location: LocationId) -> String {
        format!("cell{}", location.index())
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        ["main", "main/0", "main/1"][thread.index()].to_owned()
    }
}

fn op(line: u32, kind: OpKind) -> Op {
    Op { kind, place: PlaceId(line) }
}

fn segment(effects: Vec<Op>, end: End) -> Segment {
    Segment { effects, end }
}

#[test]
fn an_assertion_fails() {
    let text = "x = 0
        thread main { spawn a; spawn b; join a; join b; r = load x; assert r == 2 }
        thread a { r = load x; store x r + 1 }
        thread b { r = load x; store x r + 1 }";
    assert_snapshot!(of(text, Model::Sc), @r#"
    error[panic]: thread main: an assertion failed
    --> main.5: assert r == 2

    The execution:

       main                   a                     b
    1  spawn a                                                            main.0: spawn a
    2  spawn b                                                            main.1: spawn b
    3                         load x = 0 (initial)                        a.0: r = load x
    4                                               load x = 0 (initial)  b.0: r = load x
    5                                               store x = 1           b.1: store x r + 1
    6                         store x = 1                                 a.1: store x r + 1
    7  join a                                                             main.2: join a
    8  join b                                                             main.3: join b
    9  load x = 1 (step 6)                                                main.4: r = load x
       ! an assertion failed                                              main.5: assert r == 2
    "#);
}

#[test]
fn store_buffering() {
    let text = "x = 0; y = 0; r = 0; s = 0
        thread main {
            spawn a; spawn b; join a; join b
            u = load r; v = load s; assert u + v > 0
        }
        thread a { store x 1; t = load y; store r t }
        thread b { store y 1; t = load x; store s t }";
    assert_snapshot!(of(text, Model::Tso), @r#"
    error[panic]: thread main: an assertion failed
    --> main.6: assert u + v > 0
     = why: the load of x by b at b.1: t = load x is stale: the store by a at a.0: store x 1 is still in a store buffer.
            No fence in a separates that store from the load at a.1: t = load y, which overtakes it

    The execution, which tso allows but sc does not; `memory` shows when stores reach memory:

        main                   a                     b                     memory
     1  spawn a                                                                            main.0: spawn a
     2  spawn b                                                                            main.1: spawn b
     3                         store x = 1                                                 a.0: store x 1
     4                         load y = 0 (initial)                                        a.1: t = load y
     5                         store r = 0                                                 a.2: store r t
     6                                               store y = 1                           b.0: store y 1
     7                                               load x = 0 (initial)                  b.1: t = load x
     8                                               store s = 0                           b.2: store s t
                                                                           x = 1 (step 3)
                                                                           y = 1 (step 6)
                                                                           r = 0 (step 5)
     9  join a                                                                             main.2: join a
                                                                           s = 0 (step 8)
    10  join b                                                                             main.3: join b
    11  load r = 0 (step 5)                                                                main.4: u = load r
    12  load s = 0 (step 8)                                                                main.5: v = load s
        ! an assertion failed                                                              main.6: assert u + v > 0
    "#);
}

#[test]
fn stores_that_are_still_delayed() {
    let text = "x = 0; y = 0
        thread a { store x 1; store y 1 }
        thread b { r = load y; s = load x; assert s >= r }";
    assert_snapshot!(of(text, Model::Pso), @r#"
    error[panic]: thread b: an assertion failed
    --> b.2: assert s >= r
     = why: the load of x by b at b.1: s = load x is stale: the store by a at a.0: store x 1 is still in a store buffer.
            No fence in a separates that store from the store at a.1: store y 1, which overtakes it

    The execution, which pso allows but sc does not; `memory` shows when stores reach memory:

       main     a            b                      memory
    1  spawn a                                                      main.0: spawn a
    2  spawn b                                                      main.1: spawn b
    3           store x = 1                                         a.0: store x 1
    4           store y = 1                         y = 1 (step 4)  a.1: store y 1
    5                        load y = 1 (step 4)                    b.0: r = load y
    6                        load x = 0 (initial)                   b.1: s = load x
                             ! an assertion failed                  b.2: assert s >= r

    Still in store buffers at the end: x = 1 (step 3).
    "#);
}

#[test]
fn message_passing() {
    let text = "data = 0; flag = 0
        thread a { store data 42; store flag 1 rel }
        thread b { f = load flag; if f == 1 { d = load data; assert d == 42 } }";
    assert_snapshot!(of(text, Model::C20), @r#"
    error[panic]: thread b: an assertion failed
    --> b.3: assert d == 42
     = why: the relaxed load of data by b at b.2: d = load data is stale: it misses the relaxed store to data by a at
            a.0: store data 42. b learns of a through flag, but the relaxed load of flag at b.0: f = load flag does not
            acquire what the release store to flag at a.1: store flag 1 rel releases

    The execution, which c20 allows but sc does not; `not step 1`: the read does not observe that step, although it is
    above:

       main     a                      b
    1  spawn a                                                                    main.0: spawn a
    2  spawn b                                                                    main.1: spawn b
    3           store data (rlx) = 42                                             a.0: store data 42
    4           store flag (rel) = 1                                              a.1: store flag 1 rel
    5                                  load flag (rlx) = 1 (step 4)               b.0: f = load flag
    6                                  load data (rlx) = 0 (initial, not step 3)  b.2: d = load data
                                       ! an assertion failed                      b.3: assert d == 42
    "#);
}

#[test]
fn a_modification_order_of_its_own() {
    let text = "x = 0; y = 0
        thread main {
            spawn a; spawn b; join a; join b
            r = load x; s = load y; assert r >= s
        }
        thread a { store x 1; store y 1 }
        thread b { store y 2; store x 2 }";
    assert_snapshot!(of(text, Model::C20), @r#"
    error[panic]: thread main: an assertion failed
    --> main.6: assert r >= s
     = why: the relaxed load of x by main at main.4: r = load x is stale: it misses the relaxed store to x by b at b.1:
            store x 2. No release and acquire lead from that store to the load, and only sequentially consistent
            accesses or fences would order them otherwise

    The execution, which c20 allows but sc does not; `not step 1`: the read does not observe that step, although it is
    above:

        main                                   a                  b
     1  spawn a                                                                      main.0: spawn a
     2  spawn b                                                                      main.1: spawn b
     3                                         store x (rlx) = 1                     a.0: store x 1
     4                                         store y (rlx) = 1                     a.1: store y 1
     5                                                            store y (rlx) = 2  b.0: store y 2
     6                                                            store x (rlx) = 2  b.1: store x 2
     7  join a                                                                       main.2: join a
     8  join b                                                                       main.3: join b
     9  load x (rlx) = 1 (step 3, not step 6)                                        main.4: r = load x
    10  load y (rlx) = 2 (step 5)                                                    main.5: s = load y
        ! an assertion failed                                                        main.6: assert r >= s

    Modification order of x: x = 2 (step 6), x = 1 (step 3).
    "#);
}

#[test]
fn two_locks() {
    let text = "lock m; lock n; x = 0
        thread main { spawn a; spawn b; join a; join b }
        thread a { lock m; store x 1; lock n; unlock n; unlock m }
        thread b { lock n; lock m; unlock m; unlock n }";
    assert_snapshot!(of(text, Model::Sc), @r#"
    error[deadlock]: deadlock: main, a, b wait forever
    --> main.2: join a

    The execution:

       main     a            b
    1  spawn a                       main.0: spawn a
    2  spawn b                       main.1: spawn b
    3           lock m               a.0: lock m
    4           store x = 1          a.1: store x 1
    5                        lock n  b.0: lock n

    main waits for the end of a (main.2: join a).
    a waits for lock n, which b holds since step 5 (a.2: lock n).
    b waits for lock m, which a holds since step 3 (b.1: lock m).
    "#);
}

#[test]
fn a_lost_wake_up() {
    let text = "ready = 0; condition = 0; lock m
        thread main { spawn waiter; spawn notifier; spawn bystander }
        thread waiter {
            lock m
            r = load ready
            if r == 0 {
                sync condition any or 1
                unlock m
                sync condition nobits 1 or 0
                lock m
            }
            unlock m
        }
        thread notifier { store ready 1; sync condition any swap 0 }
        thread bystander { store ready 0; store ready 0 }";
    assert_snapshot!(of(text, Model::Sc), @r#"
    error[deadlock]: deadlock: waiter waits forever
    --> waiter.5: sync condition nobits 1 or 0

    The execution:

       main            waiter                      notifier
    1  spawn waiter                                                             main.0: spawn waiter
    2  spawn notifier                                                           main.1: spawn notifier
    3                  lock m                                                   waiter.0: lock m
    4                  load ready = 0 (initial)                                 waiter.1: r = load ready
    5                                              store ready = 1              notifier.0: store ready 1
    6                                              condition: 0 -> 0 (initial)  notifier.1: sync condition any swap 0
    7                  condition: 0 -> 1 (step 6)                               waiter.3: sync condition any or 1
    8                  unlock m                                                 waiter.4: unlock m

    waiter waits until the bits 0b1 of condition are clear; its value is 1 since step 7 (waiter.5: sync condition nobits 1
      or 0).
    3 events without influence on the error are omitted.
    "#);
}

/// The notifier wakes nobody because of what it reads, which only a model with store buffers allows.
#[test]
fn a_wake_up_that_never_comes() {
    let text = "x = 0; y = 0; condition = 0
        thread waiter { store x 1; r = load y; if r == 0 { sync condition == 1 or 0 } }
        thread notifier { store y 1; r = load x; if r == 1 { sync condition any swap 1 } }";
    let told = of(text, Model::Tso);
    assert!(told.contains("which tso allows but sc does not"), "{told}");
    assert!(told.contains("load x = 0 (initial)"), "{told}");
}

#[test]
fn a_lock_is_never_released() {
    let text = "lock m
        thread a { lock m }
        thread b { lock m; unlock m }
        thread c { lock m; lock m }";
    assert_snapshot!(of(text, Model::Sc), @r#"
    error[deadlock]: deadlock: b, c wait forever
    --> b.0: lock m

    The execution:

       main     a
    1  spawn a          main.0: spawn a
    2  spawn b          main.1: spawn b
    3  spawn c          main.2: spawn c
    4           lock m  a.0: lock m

    b waits for lock m, which a holds since step 4 (b.0: lock m).
    c waits for lock m, which a holds since step 4 (c.0: lock m).
    "#);
}

#[test]
fn a_livelock() {
    let location = LocationId::new(0);
    let load = |line| op(line, OpKind::Load { location, order: MemoryOrder::Acquire });
    let order = MemoryOrder::Release;
    let store = op(3, OpKind::Store { location, value: 1, order, carries: false });
    let spawn = op(4, OpKind::Spawn { thread: ThreadId::new(1) });
    let join = op(5, OpKind::Join { thread: ThreadId::new(1) });
    let main =
        vec![segment(vec![store, spawn], End::Question(join)), segment(vec![], End::Finished)];
    // It is the second history, after that in which the main thread starts.
    let child = vec![
        segment(vec![], End::Question(load(7))),
        segment(vec![], End::Question(load(8))),
        segment(vec![], End::Repeats(HistoryId(1))),
    ];
    let style = Style { directory: String::from("/home/user/project/"), ..Style::default() };
    assert_snapshot!(of_program(Rows(vec![main, child]), Model::C20, &style), @r#"
    error[livelock]: livelock: main/0 spins forever
    --> src/main.rs:7
     = note: main/0 spins here

    The execution, an ordinary interleaving:

       main                   main/0
    1  store cell0 (rel) = 1                                 main.rs:3
    2  spawn main/0                                          main.rs:4
    3                         load cell0 (acq) = 1 (step 1)  main.rs:7
    4                         load cell0 (acq) = 1 (step 1)  main.rs:8

    main waits for the end of main/0 (src/main.rs:5).
    main/0 spins: it repeats steps 3 to 4 forever (from src/main.rs:7).
    "#);
}

#[test]
fn a_race_of_cells() {
    let location = LocationId::new(0);
    let spawn = op(2, OpKind::Spawn { thread: ThreadId::new(1) });
    let read = op(3, OpKind::ReadCell { location });
    let write = op(6, OpKind::WriteCell { location });
    let main = vec![
        segment(vec![op(1, OpKind::WriteCell { location }), spawn], End::Question(read)),
        segment(vec![], End::Finished),
    ];
    let child = vec![segment(vec![write], End::Finished)];
    let style = Style { directory: String::from("/home/user/project"), ..Style::default() };
    assert_snapshot!(of_program(Rows(vec![main, child]), Model::C20, &style), @r#"
    error[race]: data race on cell0 between main/0 (src/main.rs:6) and main (src/main.rs:3)
    --> src/main.rs:3
     = note: main reads cell0
    ::: src/main.rs:6
     = note: main/0 writes cell0
     = why: no synchronization orders the two accesses

    The execution, an ordinary interleaving:

       main                                      main/0
    1  write cell0                                                                 main.rs:1
    2  spawn main/0                                                                main.rs:2
    3                                            write cell0 <- races with step 4  main.rs:6
    4  read cell0 (step 3) <- races with step 3                                    main.rs:3
    "#);
}

#[test]
fn both_explorers_say_for_what_threads_wait() {
    let text = "lock m
        thread a { lock m; lock m }";
    let mut program = program(text);
    let mut found = None;
    let mut visit = |leaf: &dyn Leaf| {
        found = Some(Counterexample::new(leaf.ending().clone(), leaf.trace()));
        Control::Stop
    };
    rf_smc::explore(&mut program, Model::Sc, &Limits::default(), &mut visit);
    let trace = found.expect("a deadlock").named(&program, Model::Sc);
    let by_reads_from = report(&trace, &Style::default());
    assert_eq!(by_reads_from, of(text, Model::Sc));
    assert!(
        by_reads_from.contains("a waits for lock m, which it holds since step 2"),
        "{by_reads_from}"
    );
}

/// Many threads, each of which does something that takes room.
fn crowd() -> String {
    let each = |f: &dyn Fn(usize) -> String| (0..7).map(f).collect::<String>();
    format!(
        "counter = 0\nthread main {{ {}{} r = load counter; assert r < 7 }}\n{}",
        each(&|i| format!("spawn worker{i}; ")),
        each(&|i| format!("join worker{i}; ")),
        each(&|i| format!("thread worker{i} {{ add counter 1 }}\n")),
    )
}

#[test]
fn columns_overlap_where_there_is_little_room() {
    let page = Page { width: 125, lines: 14 };
    let style = Style { page, ..Style::default() };
    assert_snapshot!(of_program(program(&crowd()), Model::Sc, &style), @r#"
    error[panic]: thread main: an assertion failed
    --> main.15: assert r < 7

    The execution:

        main   worker0   worker1   worker2   worker3   worker4   worker5   worker6
     1  spawn worker0                                                                                 main.0: spawn worker0
     2  spawn worker1                                                                                 main.1: spawn worker1
     3  spawn worker2                                                                                 main.2: spawn worker2
     4  spawn worker3                                                                                 main.3: spawn worker3
     5  spawn worker4                                                                                 main.4: spawn worker4
     6  spawn worker5                                                                                 main.5: spawn worker5
     7  spawn worker6                                                                                 main.6: spawn worker6
     8         counter: 0 -> 1 (initial)                                                              worker0.0: add counter 1
     9                   counter: 1 -> 2 (step 8)                                                     worker1.0: add counter 1
    10                             counter: 2 -> 3 (step 9)                                           worker2.0: add counter 1
    ... 9 more rows ...
    20  join worker5                                                                                  main.12: join worker5
    21  join worker6                                                                                  main.13: join worker6
    22  load counter = 7 (step 14)                                                                    main.14: r = load counter
        ! an assertion failed                                                                         main.15: assert r < 7
    "#);
}

#[test]
fn rows_name_their_threads_where_there_is_no_room() {
    let page = Page { width: 60, lines: 6 };
    let style = Style { page, ..Style::default() };
    assert_snapshot!(of_program(program(&crowd()), Model::Sc, &style), @r#"
    error[panic]: thread main: an assertion failed
    --> main.15: assert r < 7

    The execution:

     1  main     spawn worker0  main.0: spawn worker0
     2  main     spawn worker1  main.1: spawn worker1
     3  main     spawn worker2  main.2: spawn worker2
     4  main     spawn worker3  main.3: spawn worker3
    ... 17 more rows ...
    22  main     load counter = 7 (step 14)  main.14: r = load
                   counter
        main     ! an assertion failed  main.15: assert r < 7
    "#);
}

#[test]
fn values_that_are_no_numbers() {
    let location = LocationId::new(0);
    let thread = ThreadId::new(0);
    let stored = |position: usize, value| {
        let order = MemoryOrder::Relaxed;
        let op = op(1, OpKind::Store { location, value, order, carries: false });
        TraceEvent { thread, position, op, observed: None, read: None, written: Some(value) }
    };
    let values =
        [POINTER + 3 * POINTER_BASE, POINTER + 3 * POINTER_BASE + 8, (1 << 119) + 2, -5, -99];
    let mut events: Vec<TraceEvent> =
        values.iter().enumerate().map(|(at, &value)| stored(at, value)).collect();
    let weak = OpKind::CompareExchange {
        location,
        expected: -99,
        desired: 0,
        carries: false,
        success: MemoryOrder::AcqRel,
        failure: MemoryOrder::Relaxed,
        weak: true,
    };
    let observed = Some(Observed::Event(4));
    events.push(TraceEvent {
        observed,
        read: Some(-99),
        written: None,
        ..TraceEvent { op: op(2, weak), ..stored(5, 0) }
    });
    let choose = op(3, OpKind::Choose { options: 3 });
    let observed = Some(Observed::Choice(2));
    events.push(TraceEvent { op: choose, observed, written: None, ..stored(6, 0) });
    // How the thread ended is not known.
    let trace = Trace { events, ..Trace::default() };
    let message = String::from("the message\nhas lines");
    let failure = Failure { kind: FindingKind::Panic, message, place: PlaceId(4) };
    let found = Counterexample::new(Ending::Failed(thread, failure), trace);
    let mut trace = found.named(&Rows(vec![]), Model::C20);
    trace.names.special_values = vec![(-99, "dropped".into())];
    assert_snapshot!(report(&trace, &Style::default()), @r#"
    error[panic]: thread main: the message
                  has lines
    --> /home/user/project/src/main.rs:4
     = note: main fails here

    The execution, an ordinary interleaving:

         main
    1-4  4 accesses before the threads start                      main.rs:1
      5  store cell0 (rlx) = dropped                              main.rs:1
      6  exchange cell0 (rlx) fails spuriously, dropped (step 5)  main.rs:2
      7  choose 2 of 0..3                                         main.rs:3
         ! the message                                            main.rs:4
    "#);
}

/// Checks what can be checked of the report of any execution.
fn check_any(named: &NamedTrace) {
    let NamedTrace { model, trace, .. } = named;
    let page = Page { width: 10_000, lines: 10_000 };
    let text = report(named, &Style { page, ..Style::default() });
    let full = report(named, &Style { page, full: true, ..Style::default() });
    let is_row = |line: &&str| {
        let number = line.trim_start().split("  ").next().unwrap_or_default();
        number.parse::<usize>().is_ok()
    };
    assert_eq!(
        full.lines().filter(is_row).count(),
        trace.events.len(),
        "{model}: {trace:?}\n{full}"
    );
    let interleaved = text.contains("an ordinary interleaving:");
    let is_told = match model {
        Model::Sc => text.contains("The execution:"),
        Model::Tso | Model::Pso => interleaved || text.contains("`memory` shows"),
        _ => interleaved || text.contains("allows but sc does not"),
    };
    assert!(is_told, "{model}: {trace:?}\n{text}");
}

#[test]
fn every_execution_can_be_told() {
    let mut told = 0;
    for_cases(60, |numbers| {
        let features = ProgramFeatures::random(numbers);
        let style = random::OrderStyle::ALL[numbers.below(random::OrderStyle::ALL.len())];
        let scripts = [random::random(numbers, style, features), random::cycle(numbers, style)];
        for (script, model) in scripts.iter().flat_map(|s| Model::ALL.map(|model| (s, model))) {
            let mut visits = vec![];
            let mut visit = |leaf: &dyn Leaf| {
                visits.push(Counterexample::new(leaf.ending().clone(), leaf.trace()));
                Control::Continue
            };
            let limits = Limits { classes: Some(20), ..Limits::default() };
            let mut program = ScriptProgram::new(script);
            rf_part_smc::explore(&mut program, model, &limits, &mut visit);
            told += visits.len();
            for found in visits {
                check_any(&found.named(&program, model));
            }
        }
    });
    assert!(told > 1_000, "{told}");
}

/// Two threads that store and load in turns.
fn long_execution(events: usize) -> NamedTrace {
    let location = |thread: usize| LocationId::new(thread);
    let order = MemoryOrder::Relaxed;
    let mut all: Vec<TraceEvent> = vec![];
    for at in 0..events {
        let (thread, position) = (at % 2, at / 2);
        let (kind, observed, value) = match position % 2 {
            0 => {
                let (location, value) = (location(thread), 1 + position as i128);
                (OpKind::Store { location, value, order, carries: false }, None, value)
            }
            _ => {
                let other = location(1 - thread);
                let writes = |&at: &usize| {
                    all[at].written.is_some() && all[at].op.kind.location() == Some(other)
                };
                let source = (0..at).rev().find(writes).expect("a store");
                let value = all[source].written.expect("a store");
                (OpKind::Load { location: other, order }, Some(Observed::Event(source)), value)
            }
        };
        let (read, written) =
            if observed.is_some() { (Some(value), None) } else { (None, Some(value)) };
        let thread = ThreadId::new(thread);
        all.push(TraceEvent {
            thread,
            position,
            op: op(1 + at as u32, kind),
            observed,
            read,
            written,
        });
    }
    let ends = [0, 1].map(|thread| (ThreadId::new(thread), ThreadEnd::Failed));
    let trace = Trace { events: all, ends: ends.into(), ..Trace::default() };
    let failure =
        Failure { kind: FindingKind::Assertion, message: String::from("m"), place: PlaceId(4) };
    let thread = ThreadId::new((events + 1) % 2);
    Counterexample::new(Ending::Failed(thread, failure), trace).named(&Rows(vec![]), Model::C20)
}

#[test]
fn ten_thousand_events_are_shown() {
    for full in [false, true] {
        let text = report(&long_execution(10_000), &Style { full, ..Style::default() });
        assert!(text.lines().count() >= if full { 10_000 } else { 200 }, "{text}");
    }
}
