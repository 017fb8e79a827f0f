//! Executions with more events than a machine word has bits, and bounds on the events of an execution.

use raddle_core::execution::{MemoryOrder, Value};
use raddle_core::model::Model;
use raddle_core::trace::Ending;
use raddle_explore::model::RvfOptions;
use raddle_explore::{
    Control, CutLimit, CutThread, Extent, Leaf, Limits, Summary, rf_part_smc, rvf_smc,
};
use raddle_testkit::programs::random::OrderStyle;
use raddle_testkit::programs::{classes, handover};
use raddle_testkit::script::build::{load, store};
use raddle_testkit::script::{MAIN, Script, ScriptExpression, ScriptProgram, Variable};
use raddle_testkit::seeds::for_cases;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Explores with these limits. Every location has events unless it is `quiet`.
fn explore(script: &Script, model: Model, limits: &Limits, quiet: bool) -> (Summary, Vec<Ending>) {
    let mut endings = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        endings.push(leaf.ending().clone());
        Control::Continue
    };
    let options = RvfOptions { quiet, ..RvfOptions::default() };
    let mut program = ScriptProgram::new(script);
    let summary = rf_part_smc::explore_with(&mut program, model, limits, &mut visit, options);
    (summary, endings)
}

/// The program after `events` accesses of the main thread.
fn padded(script: &Script, events: usize) -> Script {
    let mut padded = script.clone();
    padded.variables.push(Variable::new("pad", 0));
    let access = |at: usize| match at % 2 {
        0 => store("pad", ScriptExpression::Number(at as Value), MemoryOrder::Relaxed),
        _ => load("padding", "pad", MemoryOrder::Relaxed),
    };
    let main = padded.threads.iter_mut().find(|thread| thread.name == MAIN);
    let main = main.expect("the program has a main thread");
    main.body.splice(0..0, (0..events).map(access));
    padded
}

#[test]
fn long_executions_have_the_classes_of_short_ones() {
    for_cases(12, |numbers| {
        let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
        let short = handover(numbers, style);
        for model in Model::ALL {
            let Ok(expected) = classes(&short, model, 1 << 14) else { continue };
            for events in [50, 80, 120, 200, 250, 520] {
                let long = padded(&short, events);
                let (summary, endings) = explore(&long, model, &Limits::default(), false);
                assert_eq!(summary.extent, Extent::All);
                assert_eq!(endings.len(), expected.len(), "{model}, {events}\n{short}");
            }
        }
    });
}

#[test]
fn long_executions_have_the_classes_of_short_ones_by_value() {
    for_cases(12, |numbers| {
        let style = OrderStyle::ALL[numbers.below(OrderStyle::ALL.len())];
        let short = handover(numbers, style);
        for model in Model::STORE_BUFFERS {
            let leaves = |script: &Script| {
                let mut leaves = 0;
                let mut visit = |_: &dyn Leaf| {
                    leaves += 1;
                    Control::Continue
                };
                let (mut program, limits) = (ScriptProgram::new(script), Limits::default());
                let options = RvfOptions { quiet: false, ..RvfOptions::default() };
                let summary =
                    rvf_smc::explore_with(&mut program, model, &limits, &mut visit, options);
                assert_eq!(summary.extent, Extent::All);
                leaves
            };
            let expected = leaves(&short);
            for events in [60, 300] {
                assert_eq!(leaves(&padded(&short, events)), expected, "{model}, {events}\n{short}");
            }
        }
    });
}

#[test]
fn executions_with_thousands_of_undecided_reads_are_explored() {
    let text = "x = 0
        thread main { repeat 3000 { store x 1; r = load x }; spawn a; spawn b }
        thread a { store x 2 }
        thread b { r = load x }";
    for model in Model::ALL {
        let (summary, endings) = explore(&script(text), model, &Limits::default(), false);
        assert_eq!((summary.extent, endings.len()), (Extent::All, 2), "{model}");
    }
}

#[test]
fn undecided_reads_need_no_stack() {
    let text = "x = 0
        thread main { repeat 2000 { store x 1; r = load x }; spawn a; spawn b }
        thread a { store x 2 }
        thread b { r = load x }";
    let explore_all = move || {
        for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
            let (summary, endings) = explore(&script(text), model, &Limits::default(), false);
            assert_eq!((summary.extent, endings.len()), (Extent::All, 2), "{model}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(explore_all);
    thread.expect("a thread").join().expect("no overflow");
}

/// A thread polls a flag under a lock, ten million times; the main thread sets it.
const POLL: &str = "done = 0; x = 0; lock m
    thread main { spawn poller; lock m; store done 1; unlock m; END }
    thread poller {
        repeat 10000 {
            repeat 1000 { lock m; r = load done; unlock m; if r == 1 { break } }
            if r == 1 { break }
        }
    }";

fn poll(end: &str) -> Script {
    script(&POLL.replace("END", end))
}

#[test]
fn executions_stop_at_a_fixed_bound() {
    for model in Model::ALL {
        let limits = Limits { events: Some(100), ..Limits::default() };
        let (summary, endings) = explore(&poll("r = 0"), model, &limits, true);
        assert_eq!(summary.extent, Extent::Events, "{model}");
        let cut = summary.cut.expect("a thread was stopped");
        assert_eq!(cut.thread, "poller", "{model}");
        assert!(matches!(cut.limit, CutLimit::Events { events: 100, .. }), "{model}: {cut}");
        let count = |wanted: fn(&Ending) -> bool| endings.iter().filter(|it| wanted(it)).count();
        let complete = count(|it| *it == Ending::Complete);
        assert_eq!(summary.classes, complete as u64, "{model}");
        assert!(complete >= 20 && count(|it| matches!(it, Ending::Limit(_))) > 0, "{model}");
    }
}

#[test]
fn an_endless_poll_under_a_lock_is_incomplete() {
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let (summary, _) = explore(&poll("r = 0"), model, &Limits::default(), true);
        let cut = summary.cut.expect("a thread was stopped");
        assert_eq!((summary.extent, &*cut.thread), (Extent::Events, "poller"), "{model}");
        assert!(matches!(cut.limit, CutLimit::Events { events: 1_000, .. }), "{model}: {cut}");
    }
}

#[test]
fn failures_of_other_threads_are_found_when_a_thread_is_stopped() {
    let limits = Limits { events: Some(100), ..Limits::default() };
    let (_, endings) = explore(&poll("r = load x; assert r == 1"), Model::Sc, &limits, true);
    assert!(endings.iter().all(|ending| matches!(ending, Ending::Failed(..))), "{endings:?}");
}

/// The bound on a loop that does not seem to end.
const FOUR_ROUNDS: CutLimit = CutLimit::Endless { rounds: 4 };

/// What `explore` says of a program with an endless writer: the thread that was stopped, the classes, and the number of
/// endings.
fn endless(text: &str, model: Model) -> (CutThread, u64, usize) {
    let (summary, endings) = explore(&script(text), model, &Limits::default(), true);
    assert_eq!(summary.extent, Extent::Events, "{model}");
    (summary.cut.expect("a thread was stopped"), summary.classes, endings.len())
}

#[test]
fn an_endless_updater_with_a_reader_is_incomplete() {
    let text = "x = 0
        thread writer { repeat 10000 { repeat 1000 { r = add x 1 } } }
        thread reader { r = load x }";
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let (cut, classes, endings) = endless(text, model);
        assert_eq!((&*cut.thread, cut.limit), ("writer", FOUR_ROUNDS), "{model}");
        // One for each of the four updates, and one for the initial value, after ten with all updates.
        assert_eq!((classes, endings), (0, 15), "{model}");
    }
}

#[test]
fn an_endless_writer_with_a_reader_is_incomplete() {
    let text = "x = 0
        thread writer { loop { store x 1; store x 2 } }
        thread reader { r = load x }";
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let (cut, classes, endings) = endless(text, model);
        assert_eq!(cut.thread, "writer", "{model}");
        assert!(matches!(cut.limit, CutLimit::Events { events: 1_000, .. }), "{model}: {cut}");
        // One for each store that is kept, and one for the initial value.
        assert_eq!((classes, endings), (0, 1_001), "{model}");
    }
}

#[test]
fn threads_that_back_off_for_each_other_are_named_soon() {
    let body = |own: &str, other: &str| {
        format!(
            "store {own} 1 sc
             loop {{ r = load {other} sc; if r == 0 {{ break }}; store {own} 0 sc; store {own} 1 sc }}
             store {own} 0 sc"
        )
    };
    let (a, b) = (body("x", "y"), body("y", "x"));
    let text = format!("x = 0; y = 0\nthread a {{ {a} }}\nthread b {{ {b} }}");
    let (cut, classes, _) = endless(&text, Model::Sc);
    assert_eq!((cut.limit, classes), (FOUR_ROUNDS, 530));
    assert!(cut.place.contains(": r = load ") && cut.place.ends_with(" sc"), "{cut}");
}

#[test]
fn failures_beside_an_endless_writer_are_found() {
    let text = "x = 0
        thread writer { repeat 10000 { repeat 1000 { r = add x 1 } } }
        thread reader { r = load x; s = load x; assert s != r + 7 }";
    let mut failures = 0;
    let mut visit = |leaf: &dyn Leaf| {
        failures += u32::from(matches!(leaf.ending(), Ending::Failed(..)));
        if failures > 0 { Control::Stop } else { Control::Continue }
    };
    let script = script(text);
    let mut program = ScriptProgram::new(&script);
    let summary = rf_part_smc::explore(&mut program, Model::Sc, &Limits::default(), &mut visit);
    assert_eq!((summary.extent, failures), (Extent::Stopped, 1));
}

#[test]
fn a_bound_that_cuts_nothing_is_complete() {
    let text = "x = 0; p = 0
        thread a { repeat 5000 { r = load p; store p r + 1 }; store x 1 }
        thread b { r = load x }";
    for model in Model::ALL {
        let (summary, endings) = explore(&script(text), model, &Limits::default(), true);
        assert_eq!((summary.extent, summary.cut, endings.len()), (Extent::All, None, 2), "{model}");
    }
}

/// Two threads each count to a hundred `work` times in a location of their own before each of `rounds` times that they
/// tell the other one.
fn rarely_communicating(rounds: usize, work: usize) -> Script {
    let thread = |me: &str, other: &str| {
        format!(
            "thread {me} {{
                 i = 0
                 repeat {rounds} {{
                     i = i + 1
                     repeat {work} {{ repeat 100 {{ r = load own_{me}; store own_{me} r + 1 }} }}
                     store told_{me} i
                     s = load told_{other}
                 }}
             }}"
        )
    };
    let (a, b) = (thread("a", "b"), thread("b", "a"));
    script(&format!("own_a = 0; own_b = 0; told_a = 0; told_b = 0\n{a}\n{b}"))
}

#[test]
fn two_threads_perform_a_hundred_thousand_accesses_and_tell_each_other_once() {
    let program = rarely_communicating(1, 250);
    for (model, classes) in [(Model::Sc, 3), (Model::Tso, 4), (Model::Pso, 4), (Model::C20, 4)] {
        let (summary, endings) = explore(&program, model, &Limits::default(), true);
        assert_eq!((summary.extent, endings.len()), (Extent::All, classes), "{model}");
    }
}

#[test]
fn an_execution_of_a_hundred_thousand_accesses_has_a_trace() {
    let program = rarely_communicating(50, 5);
    let limits = Limits { classes: Some(1), ..Limits::default() };
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::C20] {
        let mut lengths = vec![];
        let mut visit = |leaf: &dyn Leaf| {
            lengths.push(leaf.trace().events.len());
            Control::Continue
        };
        let mut program = ScriptProgram::new(&program);
        let summary = rf_part_smc::explore(&mut program, model, &limits, &mut visit);
        // 200 in each of 500 loops, 4 in each of 50 rounds, and two spawns.
        assert_eq!((summary.extent, lengths), (Extent::Classes, vec![100_202]), "{model}");
    }
}
