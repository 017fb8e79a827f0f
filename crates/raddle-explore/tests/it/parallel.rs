//! Exploring by subtrees, by one worker or several: the same classes, each once, the same first failure.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use raddle_core::model::Model;
use raddle_core::program::Program;
use raddle_core::random::Random;
use raddle_core::trace::{Class, Ending};
use raddle_explore::parallel::frontier::Frontier;
use raddle_explore::parallel::process::{ForkSide, ProcessLink, WorkerProcesses};
use raddle_explore::parallel::{
    Budget, ExploredSubtree, Helpers, ParallelResult, ParallelTask, explore,
};
use raddle_explore::rf_part_smc::subtree::Subtree;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, Visitor, rf_part_smc};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, random};
use raddle_testkit::programs::{handover, shrink};
use raddle_testkit::script::{Script, ScriptProgram};

use raddle_testkit::seeds::for_cases;

/// Collects classes; stops where something goes wrong, if asked to.
#[derive(Default)]
struct Collector {
    stops: bool,
    classes: Vec<Class>,
    wrong: Option<(Ending, Class)>,
}

impl Visitor for Collector {
    fn visit(&mut self, leaf: &dyn Leaf) -> Control {
        let class = leaf.trace().class();
        if self.stops && leaf.ending().is_bug() {
            self.wrong = Some((leaf.ending().clone(), class));
            return Control::Stop;
        }
        self.classes.push(class);
        Control::Continue
    }
}

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(
    script: &Script,
    model: Model,
    (jobs, first, next): (usize, u64, u64),
    stops: bool,
) -> ParallelResult<Collector> {
    let with_program = |run: &mut dyn FnMut(&mut dyn Program)| run(&mut ScriptProgram::new(script));
    let task = ParallelTask {
        model,
        limits: &Limits::default(),
        jobs: NonZero::new(jobs).expect("somebody works"),
        budget: Budget { first, next, alone: Duration::ZERO },
        helpers: Helpers::Threads(&with_program),
        visitor: &|| Collector { stops, ..Collector::default() },
        keeps: &|_| true,
        observer: None,
    };
    explore(&task, &mut ScriptProgram::new(script), Frontier::new())
}

fn alone(script: &Script, model: Model) -> (Collector, Summary) {
    let mut collector = Collector::default();
    let mut program = ScriptProgram::new(script);
    let limits = Limits::default();
    let summary = rf_part_smc::explore(&mut program, model, &limits, &mut collector);
    (collector, summary)
}

/// Memory does not grow with the number of subtrees if their visitors have seen nothing.
#[test]
fn visitors_that_are_not_kept_are_dropped() {
    let text = "x = 0\nthread w { store x 1 }\nthread r { a = load x }\nthread s { a = load x }\n";
    let script = script(text);
    let with_program =
        |run: &mut dyn FnMut(&mut dyn Program)| run(&mut ScriptProgram::new(&script));
    let task = ParallelTask {
        model: Model::Sc,
        limits: &Limits::default(),
        jobs: NonZero::new(1).expect("somebody works"),
        budget: Budget { first: 1, next: 1, alone: Duration::ZERO },
        helpers: Helpers::Threads(&with_program),
        visitor: &Collector::default,
        keeps: &|collector: &Collector| collector.classes.len() > 1,
        observer: None,
    };
    let explored = explore(&task, &mut ScriptProgram::new(&script), Frontier::new());
    assert_eq!((explored.summary.classes, explored.visitors.len()), (4, 0));
}

const WAYS: [(usize, u64, u64); 4] = [(1, 1, 1), (1, 2, 3), (2, 1, 2), (3, 5, 1)];

/// How what is explored in parts differs from what is explored at once.
fn difference(script: &Script, model: Model) -> Option<String> {
    let (expected, summary) = alone(script, model);
    let all: BTreeSet<&Class> = expected.classes.iter().collect();
    for way in WAYS {
        let ParallelResult { summary: parts, visitors, frontier, .. } =
            run(script, model, way, false);
        let classes: Vec<&Class> = visitors.iter().flat_map(|it| &it.classes).collect();
        let distinct: BTreeSet<&Class> = classes.iter().copied().collect();
        let same = (parts.extent, parts.classes, parts.blocked)
            == (summary.extent, summary.classes, summary.blocked);
        if !same || distinct != all || distinct.len() != classes.len() || !frontier.is_done() {
            return Some(format!(
                "{model}, {way:?}: {} of {} classes, {} twice, {parts:?} for {summary:?}\n{script}",
                distinct.len(),
                all.len(),
                classes.len() - distinct.len(),
            ));
        }
    }
    None
}

fn agree_on(cases: u64, mut case: impl FnMut(&mut Random) -> Script) {
    for_cases(cases, |random| {
        let script = case(random);
        for model in [Model::Sc, Model::Pso, Model::Relaxed, Model::C20] {
            if difference(&script, model).is_some() {
                let smallest = shrink(&script, &mut |script| difference(script, model).is_some());
                panic!("{}", difference(&smallest, model).expect("it still differs"));
            }
        }
    });
}

#[test]
fn parts_of_random_programs_are_the_whole() {
    agree_on(120, |source| {
        let style = *source.pick(&OrderStyle::ALL).expect("there are styles");
        let features = ProgramFeatures::random(source);
        random(source, style, features)
    });
}

#[test]
fn parts_of_programs_that_hand_data_over_are_the_whole() {
    agree_on(60, |source| {
        let style = *source.pick(&OrderStyle::ALL).expect("there are styles");
        handover(source, style)
    });
}

#[test]
fn weak_exchanges_and_choices_are_divided() {
    let weak = script(
        "x = 0
         thread a { n = choose 3; r = casw x 0 1; s = casw x 1 n }
         thread b { r = casw x 0 2; s = casw x 2 0 }
         thread c { n = choose 2; store x n }",
    );
    for model in Model::ALL {
        assert_eq!(difference(&weak, model), None);
    }
}

/// A CAS counter with three threads.
const COUNTER: &str = "x = 0
    thread a { r = load x; repeat 4 { s, ok = cas x r r + 1; if ok == 1 { break }; r = s } }
    thread b { r = load x; repeat 4 { s, ok = cas x r r + 1; if ok == 1 { break }; r = s } }
    thread c { r = load x; repeat 4 { s, ok = cas x r r + 1; if ok == 1 { break }; r = s } }";

#[test]
fn a_counter_has_as_many_classes_by_any_number_of_workers() {
    let counter = script(COUNTER);
    for way in [(1, 10, 10), (2, 10, 10), (4, 3, 7)] {
        let summary = run(&counter, Model::Sc, way, false).summary;
        assert_eq!((summary.extent, summary.classes), (Extent::All, 48), "{way:?}");
    }
}

#[test]
fn what_goes_wrong_first_depends_neither_on_the_number_of_workers_nor_on_parts() {
    let mut found = 0;
    for_cases(60, |source| {
        let body = |source: &mut Random| {
            let statements = ["store x 1", "store y 1", "r = load x", "s = load y", "r = add x 1"];
            let pick = |_| statements[source.below(statements.len())];
            (0..4).map(pick).collect::<Vec<_>>().join("; ")
        };
        let [a, b, c] = [0; 3].map(|_| body(source));
        let script = script(&format!(
            "x = 0; y = 0
             thread a {{ {a} }}; thread b {{ {b} }}; thread c {{ {c}; assert r + s < 2 }}"
        ));
        let of = |jobs, next| {
            let ParallelResult { summary, mut visitors, .. } =
                run(&script, Model::Tso, (jobs, 2, next), true);
            let wrong = visitors.pop().and_then(|last| last.wrong);
            (summary.extent, summary.classes, summary.blocked, wrong)
        };
        let one = of(1, 0);
        found += usize::from(one.3.is_some());
        for (jobs, next) in [(1, 1), (1, 4), (2, 3), (4, 2)] {
            assert_eq!(of(jobs, next), one, "{script}");
        }
    });
    assert!(found > 10, "{found}");
}

/// Explores until nothing is left before the first part with one of these classes, as a front end does whose program
/// must be explored in another way from there on. Returns the part, and what was counted up to there.
fn first_part_with(
    script: &Script,
    wanted: &BTreeSet<Class>,
    jobs: usize,
) -> (Option<Subtree>, u64) {
    let with_program = |run: &mut dyn FnMut(&mut dyn Program)| run(&mut ScriptProgram::new(script));
    let interrupts = |note: &ExploredSubtree<'_, Collector>| {
        let interrupts = note.visitor.classes.iter().any(|class| wanted.contains(class));
        if interrupts { Control::Stop } else { Control::Continue }
    };
    let task = ParallelTask {
        model: Model::Sc,
        limits: &Limits::default(),
        jobs: NonZero::new(jobs).expect("somebody works"),
        budget: Budget { first: 2, next: 3, alone: Duration::ZERO },
        helpers: Helpers::Threads(&with_program),
        visitor: &Collector::default,
        keeps: &|_| true,
        observer: Some(&interrupts),
    };
    let mut frontier = Frontier::new();
    while !frontier.is_done() {
        frontier = explore(&task, &mut ScriptProgram::new(script), frontier).frontier;
    }
    (frontier.stopped().cloned(), frontier.counts().classes)
}

#[test]
fn what_is_learned_first_does_not_depend_on_the_number_of_workers() {
    let counter = script(COUNTER);
    let all = alone(&counter, Model::Sc).0.classes;
    for_cases(60, |random| {
        let wanted = (0..3).map(|_| all[random.below(all.len())].clone()).collect();
        let one = first_part_with(&counter, &wanted, 1);
        assert!(one.0.is_some());
        for jobs in [2, 4] {
            assert_eq!(first_part_with(&counter, &wanted, jobs), one);
        }
    });
}

/// Before the first question there are more events than a machine word has bits.
#[test]
fn long_executions_are_explored_in_parts() {
    let stores = "store x 1; ".repeat(600);
    let long = script(&format!("x = 0; thread a {{ {stores} }}; thread b {{ r = load x }}"));
    let expected = alone(&long, Model::Sc).1;
    assert_eq!((expected.extent, expected.classes), (Extent::All, 601));
    for way in WAYS {
        let summary = run(&long, Model::Sc, way, false).summary;
        assert_eq!((summary.extent, summary.classes), (Extent::All, 601));
    }
}

/// What is left can be kept and explored later, by somebody else.
#[test]
fn what_is_left_is_a_value() {
    let counter = script(COUNTER);
    let text = Cell::new(None);
    let reports = AtomicUsize::new(0);
    for stop_after in [1, 2, 5, 9] {
        let (mut total, mut frontier) = (0, Frontier::new());
        while !frontier.is_done() {
            reports.store(0, Ordering::Relaxed);
            let with_program =
                |run: &mut dyn FnMut(&mut dyn Program)| run(&mut ScriptProgram::new(&counter));
            let kept = std::sync::Mutex::new(String::new());
            let keep = |note: &ExploredSubtree<'_, Collector>| {
                if reports.fetch_add(1, Ordering::Relaxed) < stop_after {
                    *kept.lock().unwrap() = serde_json::to_string(note.left).unwrap();
                }
                Control::Continue
            };
            let task = ParallelTask {
                model: Model::Sc,
                limits: &Limits::default(),
                jobs: NonZero::new(2).unwrap(),
                budget: Budget { first: 3, next: 5, alone: Duration::ZERO },
                helpers: Helpers::Threads(&with_program),
                visitor: &Collector::default,
                keeps: &|_| true,
                observer: Some(&keep),
            };
            explore(&task, &mut ScriptProgram::new(&counter), frontier);
            let kept = kept.into_inner().unwrap();
            frontier = serde_json::from_str(&kept).expect("it was written so");
            frontier.give_back_all();
            total = frontier.counts().classes;
            text.set(Some(kept));
        }
        assert_eq!(total, 48);
    }
    assert!(text.take().is_some());
}

/// Subtrees that worker processes were given, and a signal that this number has grown.
#[derive(Default)]
struct Orders {
    given: Mutex<usize>,
    changed: Condvar,
}

impl Orders {
    fn add(&self) {
        *self.given.lock().unwrap() += 1;
        self.changed.notify_all();
    }

    fn wait_for_first(&self) {
        let given = self.given.lock().unwrap();
        drop(self.changed.wait_while(given, |given| *given == 0).unwrap());
    }
}

/// A worker process that takes one subtree and dies before it answers.
struct DyingWorker(&'static Orders);

impl ProcessLink for DyingWorker {
    fn send(&mut self, _: &str) -> io::Result<()> {
        self.0.add();
        Ok(())
    }

    fn receive(&mut self, _: &dyn Fn() -> bool) -> io::Result<String> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Counts classes. Once the process was forked, waits until a worker process was given a subtree.
struct Counter {
    orders: &'static Orders,
    is_forked: &'static AtomicBool,
    classes: u64,
}

impl Visitor for Counter {
    fn visit(&mut self, _: &dyn Leaf) -> Control {
        if self.is_forked.load(Ordering::SeqCst) {
            self.orders.wait_for_first();
        }
        self.classes += 1;
        Control::Continue
    }
}

/// What a dead worker process was exploring is explored by another worker, and counted once.
#[test]
fn the_subtree_of_a_dead_worker_process_is_explored_again() {
    static IS_FORKED: AtomicBool = AtomicBool::new(false);
    let orders: &'static Orders = Box::leak(Box::default());
    let counter = move || Counter { orders, is_forked: &IS_FORKED, classes: 0 };
    let fork = move |workers: usize| {
        IS_FORKED.store(true, Ordering::SeqCst);
        ForkSide::Parent(
            (0..workers).map(|_| Box::new(DyingWorker(orders)) as Box<dyn ProcessLink>).collect(),
        )
    };
    let processes = WorkerProcesses {
        fork: &fork,
        end: || panic!("this process is no copy"),
        is_hungry: &AtomicBool::new(false),
        pack: |_| panic!("this process is no copy"),
        unpack: |_| panic!("no worker process answers"),
    };
    let task = ParallelTask {
        model: Model::Sc,
        limits: &Limits::default(),
        jobs: NonZero::new(3).expect("3 is not 0"),
        budget: Budget { first: 1, next: 1, alone: Duration::ZERO },
        helpers: Helpers::Processes(processes),
        visitor: &counter,
        keeps: &|_| true,
        observer: None,
    };
    let text = "x = 0\nthread w { store x 1 }\n".to_owned()
        + &(0..6).map(|at| format!("thread r{at} {{ a = load x }}\n")).collect::<String>();
    let script = script(&text);
    let explored = explore(&task, &mut ScriptProgram::new(&script), Frontier::new());
    let visited: u64 = explored.visitors.iter().map(|counter| counter.classes).sum();
    assert_eq!((explored.summary.extent, explored.summary.classes, visited), (Extent::All, 64, 64));
    assert!(*orders.given.lock().unwrap() > 0);
}
