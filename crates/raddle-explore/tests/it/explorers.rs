//! All explorers agree on random programs whose threads spin, join each other and share memory that no op carries, and
//! livelocks are those of brute force.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::model::Model;
use raddle_core::random::Random;
use raddle_core::trace::{
    Class, Ending, Observed, Pending, ShashaSnir, ThreadEnd, Trace, TraceEvent,
};
use raddle_explore::plan::{Explorer, Plan};
use raddle_explore::{Control, Extent, Leaf, Limits, Summary};
use raddle_testkit::programs;
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, random};
use raddle_testkit::programs::shrink;
use raddle_testkit::script::Script;
use raddle_testkit::seeds::for_cases;

use crate::common::spinning::{Spinning, is_in_loop};

/// How many states the oracle may visit.
const BUDGET: usize = 3_000;

/// Larger programs are left out.
const CLASSES: u64 = 500;

/// The leaves of an exploration.
struct Explored {
    leaves: Vec<(Trace, Ending)>,
    summary: Summary,
}

fn explore(script: &Script, shares_memory: bool, model: Model, explorer: Explorer) -> Explored {
    let mut leaves = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        leaves.push((leaf.trace(), leaf.ending().clone()));
        Control::Continue
    };
    let mut program = Spinning::new(script, shares_memory);
    let plan = Plan { model, explorer };
    let is_first = explorer == Explorer::RfPartSmc;
    let limits = Limits {
        classes: is_first.then_some(CLASSES),
        deadline: None,
        events: None,
        rounds: false,
        symmetry: false,
    };
    let summary = plan.explore(&mut program, &limits, &mut visit);
    assert!(is_first || summary.extent == Extent::All, "{:?}", summary.extent);
    Explored { leaves, summary }
}

impl Explored {
    /// The endings of all classes. Of the traces of a class, the worst one counts.
    fn endings(&self) -> BTreeMap<Class, String> {
        let mut endings = BTreeMap::new();
        for (trace, ending) in &self.leaves {
            let known = endings.entry(trace.class()).or_insert_with(String::new);
            if !known.starts_with("Livelock") {
                *known = format!("{ending:?}");
            }
        }
        endings
    }

    fn kinds(&self) -> BTreeSet<String> {
        let kind = |ending: &Ending| format!("{ending:?}").chars().take(4).collect::<String>();
        let wrong = self.leaves.iter().filter(|(_, ending)| ending.is_bug());
        wrong.map(|(_, ending)| kind(ending)).collect()
    }
}

/// What the explorers disagree about. Otherwise how many classes are livelocks.
fn difference(script: &Script, shares_memory: bool, model: Model) -> Result<usize, String> {
    let explore = |explorer| explore(script, shares_memory, model, explorer);
    let told =
        |what: &str| Err(format!("{model}, shares memory {shares_memory}: {what}\n{script}"));
    let rf_part = explore(Explorer::RfPartSmc);
    if rf_part.summary.extent != Extent::All {
        return Ok(0);
    }
    let (endings, rf) = (rf_part.endings(), explore(Explorer::RfSmc));
    let counts = |it: &Explored| (it.summary.classes, it.summary.blocked, it.summary.histories);
    if endings != rf.endings() || counts(&rf_part) != counts(&rf) {
        return told(&format!("RF-SMC: {:#?}\nRF-partSMC: {endings:#?}", rf.endings()));
    }
    if model.has_store_buffers() {
        let (optimal, source) = (explore(Explorer::OptimalDpor), explore(Explorer::SourceDpor));
        if endings != optimal.endings() || endings != source.endings() {
            return told(&format!("traces: {:#?}\nRF-partSMC: {endings:#?}", optimal.endings()));
        }
        if explore(Explorer::RvfSmc).kinds() != rf_part.kinds() {
            return told("RVF-SMC");
        }
        if let Some(what) = difference_from_oracle(script, model, &rf_part) {
            return told(&what);
        }
    }
    Ok(endings.values().filter(|ending| ending.starts_with("Livelock")).count())
}

/// How the classes and livelocks differ from those of the machine.
fn difference_from_oracle(script: &Script, model: Model, explored: &Explored) -> Option<String> {
    let traces = programs::traces(script, model, BUDGET).ok()?;
    let classes: BTreeSet<Class> = traces.iter().map(|(class, _)| class.clone()).collect();
    let mut found = BTreeSet::new();
    for (trace, ending) in &explored.leaves {
        let class = class_of_oracle(trace);
        let is_expected = |of: &&ShashaSnir| of.0 == class && keeps_what_loops_read(trace, &of.1);
        let repeats = matches!(ending, Ending::Livelock(_) | Ending::Blocked)
            && !trace.ends.values().any(|&end| end == ThreadEnd::Assume);
        let expected = repeats && traces.iter().find(is_expected).is_some();
        if expected != matches!(ending, Ending::Livelock(_)) {
            return Some(format!("{ending:?} of {trace:#?}"));
        }
        found.insert(class);
    }
    (found != classes).then(|| String::from("other classes than those of the machine"))
}

/// The oracle does not know loops: there the threads stop.
fn class_of_oracle(trace: &Trace) -> Class {
    let mut class = trace.class();
    for (_, end) in class.values_mut().filter(|(_, end)| *end == ThreadEnd::Repeats) {
        *end = ThreadEnd::Assume;
    }
    class
}

/// Returns `true` if after what a loop reads memory changes no more, but for updates that do not change the value.
fn keeps_what_loops_read(
    trace: &Trace,
    memory: &BTreeMap<LocationId, Vec<(ThreadId, usize)>>,
) -> bool {
    let named = |name: (ThreadId, usize)| {
        trace.events.iter().find(|it| (it.thread, it.position) == name).expect("it wrote")
    };
    let changes = |name: &&(ThreadId, usize)| named(**name).read != named(**name).written;
    let is_kept = |event: &TraceEvent| {
        let Some(location) = event.op.kind.location().filter(|_| event.read.is_some()) else {
            return true;
        };
        let order = memory.get(&location).map_or(&[][..], Vec::as_slice);
        let write = match event.observed {
            _ if event.written.is_some() => Some((event.thread, event.position)),
            Some(Observed::Event(source)) => {
                Some((trace.events[source].thread, trace.events[source].position))
            }
            _ => None,
        };
        let place = |write| order.iter().position(|&it| it == write).expect("it reached memory");
        let after = write.map_or(0, |write| place(write) + 1);
        !event.is_spurious() && order[after..].iter().find(changes).is_none()
    };
    trace.events.iter().filter(|event| is_in_loop(trace, event)).all(is_kept)
}

/// A statement that others get into the way of; some of them wait for a value.
fn statement(random: &mut Random) -> String {
    let [v, w] = [0; 2].map(|_: usize| random.below(3));
    let location = ["x", "x", "y"][random.below(3)];
    let order = |random: &mut Random, orders: &[&'static str]| orders[random.below(orders.len())];
    let update = order(random, &["rlx", "acq", "rel", "ar", "sc"]);
    let load = order(random, &["rlx", "acq", "sc"]);
    let store = order(random, &["rlx", "rel", "sc"]);
    match random.below(16) {
        0..4 => format!("r = load {location} {load}; assume r == {v}"),
        4 => format!("r = load x {load}; s = load y {load}; assume r == s"),
        5 => format!("r = swap {location} {v} {update}; assume r == {w}"),
        6 => format!("r = cas {location} {v} {w} {update}; assume r == {v}"),
        7 => format!("r, ok = casw {location} {v} {w} {update}; assume ok"),
        8 => format!("r = max {location} {v} {update}; assume r == {w}"),
        9..14 => format!("store {location} {v} {store}"),
        14 => format!("lock m; store y {v} {store}; unlock m"),
        _ => format!("sync s > 0 sub 1; r = load {location} {load}; sync s any add 1"),
    }
}

/// Up to four threads that spin; `main` may join some.
fn spinners(random: &mut Random) -> Script {
    let count = 2 + random.below(3);
    let mut threads = vec![vec![]; count];
    for _ in 0..3 + random.below(3) {
        let body = statement(random);
        threads[random.below(count)].push(body);
    }
    let mut main: Vec<String> = (0..count).map(|n| format!("spawn t{n}")).collect();
    let joins = (0..count).filter(|_| random.chance(0.4));
    main.extend(joins.map(|n| format!("join t{n}")).collect::<Vec<_>>());
    if random.chance(0.5) {
        main.push(String::from("u = load x"));
    }
    let thread = |(n, body): (usize, &Vec<String>)| format!("thread t{n} {{ {} }}", body.join(";"));
    let threads: Vec<String> = threads.iter().enumerate().map(thread).collect();
    let text = format!(
        "x = 0; y = 0; s = 1; lock m; thread main {{ {} }}; {}",
        main.join(";"),
        threads.join(";")
    );
    Script::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The explorers agree under all models, whether threads share memory or not.
fn agree_on(cases: u64, least: usize, mut case: impl FnMut(&mut Random) -> Script) {
    let mut livelocks = 0;
    for_cases(cases, |random| {
        let script = case(random);
        let shares_memory = random.chance(0.5);
        for model in Model::ALL {
            match difference(&script, shares_memory, model) {
                Ok(count) => livelocks += count,
                Err(_) => {
                    let differs = |it: &Script| difference(it, shares_memory, model).is_err();
                    let smallest = shrink(&script, &mut |script| differs(script));
                    let what = difference(&smallest, shares_memory, model);
                    panic!("{}", what.expect_err("it still fails"));
                }
            }
        }
    });
    println!("{livelocks} livelocks");
    assert!(livelocks >= least, "only {livelocks} livelocks");
}

#[test]
fn explorers_agree_on_threads_that_spin() {
    agree_on(400, 5000, spinners);
}

#[test]
fn explorers_agree_on_random_programs() {
    agree_on(60, 1, |source| {
        let style = *source.pick(&OrderStyle::ALL).expect("there are styles");
        let features =
            ProgramFeatures { choices: true, spawns: true, ..ProgramFeatures::random(source) };
        random(source, style, features)
    });
}

/// What each explorer says of a program, as counts of classes by how they end.
fn endings(text: &str, model: Model, explorer: Explorer) -> Vec<String> {
    let script = Script::parse(text).unwrap_or_else(|error| panic!("{error}"));
    explore(&script, false, model, explorer).endings().into_values().collect()
}

/// A thread that reads and one that updates without changing anything spin together.
#[test]
fn a_load_may_spin_before_updates_that_change_nothing() {
    let text = "x = 1
        thread a { r = load x; assume r == 0 }
        thread b { r = swap x 1; assume r == 0 }";
    for model in Model::ALL {
        for explorer in [Explorer::RfPartSmc, Explorer::RfSmc] {
            let endings = endings(text, model, explorer);
            assert_eq!(endings.len(), 2, "{model}");
            assert!(endings.iter().all(|it| it.starts_with("Livelock")), "{model}: {endings:?}");
        }
    }
}

/// What a loop waits for may come later, so it is blocked; but not if it has come already and the loop goes on.
#[test]
fn a_loop_is_a_livelock_if_what_it_reads_may_be_last() {
    let text = "x = 0
        thread a { store x 1; store x 2 }
        thread b { r = load x; assume r == 3 }";
    for model in Model::ALL {
        let endings = endings(text, model, Explorer::RfSmc);
        let livelocks = endings.iter().filter(|it| it.starts_with("Livelock")).count();
        assert_eq!((endings.len(), livelocks), (3, 1), "{model}: {endings:?}");
    }
}

#[test]
fn the_loop_of_a_thread_is_known() {
    let script = Script::parse("x = 0; thread a { store x 1; r = load x; assume r == 2 }").unwrap();
    for explorer in Explorer::ALL {
        let explored = explore(&script, true, Model::Sc, explorer);
        for (trace, _) in &explored.leaves {
            assert_eq!(trace.pending.get(&ThreadId::new(1)), Some(&Pending::Loop(1)));
        }
    }
}
