//! Exploring scripts by reads-value-from, and comparing with brute force.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::execution::ThreadId;
use raddle_core::model::Model;
use raddle_core::program::OpKind;
use raddle_core::trace::Source;
use raddle_core::trace::{Class, Ending, Observed, ThreadEnd, Trace};
use raddle_explore::model::RvfOptions;
use raddle_explore::rvf_smc::explore_with;
use raddle_explore::{Control, Extent, Leaf, Limits, Summary, rf_part_smc};
use raddle_testkit::programs::values::{ValueClass, local_histories, value_class, value_classes};
use raddle_testkit::script::{Script, ScriptProgram};

/// How many states brute force may visit.
const BUDGET: usize = 5_000;

/// All reads-from classes that a leaf stands for: by thread what its questions may have observed.
pub(crate) type Cover = BTreeMap<ThreadId, (Vec<BTreeSet<Source>>, ThreadEnd)>;

/// What is told of a leaf.
pub(crate) struct Visit {
    #[allow(dead_code, reason = "not all tests that share this file need it")]
    pub(crate) ending: Ending,
    pub(crate) trace: Trace,
    pub(crate) cover: Cover,
}

/// The script that a text is.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the visits of a script are told, in their order.
pub(crate) fn visits(script: &Script, model: Model, options: RvfOptions) -> (Vec<Visit>, Summary) {
    let mut visits = vec![];
    let mut visit = |leaf: &dyn Leaf| {
        let trace = leaf.trace();
        let alternatives = leaf.alternatives().expect("leaves by value have alternatives");
        let cover = cover(&trace, &alternatives);
        visits.push(Visit { ending: leaf.ending().clone(), trace, cover });
        Control::Continue
    };
    let mut program = ScriptProgram::new(script);
    let summary = explore_with(&mut program, model, &Limits::default(), &mut visit, options);
    (visits, summary)
}

/// The source of an observer, named as classes name it.
fn source(trace: &Trace, observed: Observed, spurious: bool) -> Source {
    match observed {
        Observed::Initial if spurious => Source::SpuriousInitial,
        Observed::Initial => Source::Initial,
        Observed::Choice(choice) => Source::Choice(choice),
        Observed::Event(event) => {
            let event = &trace.events[event];
            Source::Event { thread: event.thread, position: event.position, spurious }
        }
    }
}

fn cover(trace: &Trace, alternatives: &[Vec<Observed>]) -> Cover {
    let mut cover: Cover =
        trace.ends.iter().map(|(&thread, &end)| (thread, (vec![], end))).collect();
    for (event, all) in trace.events.iter().zip(alternatives) {
        if event.observed.is_none() || matches!(event.op.kind, OpKind::Join { .. }) {
            continue;
        }
        let all = all.iter().map(|&it| source(trace, it, event.is_spurious())).collect();
        cover.get_mut(&event.thread).expect("a thread that was started").0.push(all);
    }
    cover
}

fn covers(cover: &Cover, class: &Class) -> bool {
    let is_in = |(thread, (sources, end)): (&ThreadId, &(Vec<Source>, ThreadEnd))| {
        cover.get(thread).is_some_and(|(sets, other)| {
            end == other
                && sources.len() == sets.len()
                && sources.iter().zip(sets).all(|(source, set)| set.contains(source))
        })
    };
    cover.len() == class.len() && class.iter().all(is_in)
}

/// What there is: all reads-from classes, and their classes by value.
pub(crate) type Expected = BTreeMap<Class, ValueClass>;

/// What is wrong with the exploration of a program, if brute force can tell.
pub(crate) fn fault(script: &Script, model: Model, options: &[RvfOptions]) -> Option<String> {
    let expected = value_classes(script, model, BUDGET).ok()?;
    options.iter().find_map(|&options| fault_with(script, model, options, &expected))
}

/// What is wrong with the exploration of a program by open classes, if brute force can tell: executions that do not
/// exist, or local histories that nobody has met together.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn open_fault(script: &Script, model: Model, options: &[RvfOptions]) -> Option<String> {
    let expected = value_classes(script, model, BUDGET).ok()?;
    options.iter().find_map(|&options| {
        let (visits, summary) = visits(script, model, options);
        let wrong = summary_fault(&visits, &summary)
            .or_else(|| existence_fault(&visits, &expected))
            .or_else(|| together_fault(&visits, &expected))?;
        Some(format!("{model}, {options:?}, {} leaves: {wrong}", visits.len()))
    })
}

fn existence_fault(visits: &[Visit], expected: &Expected) -> Option<String> {
    let wrong = visits.iter().find(|visit| !expected.contains_key(&visit.trace.class()))?;
    Some(format!("there is no {:?}", wrong.trace.class()))
}

fn together_fault(visits: &[Visit], expected: &Expected) -> Option<String> {
    let reached: BTreeSet<_> =
        visits.iter().map(|visit| value_class(&visit.trace).histories).collect();
    let missing = expected.values().find(|class| !reached.contains(&class.histories))?;
    Some(format!("never {:?}", missing.histories))
}

/// What is wrong with the exploration of a program that has these classes.
pub(crate) fn fault_with(
    script: &Script,
    model: Model,
    options: RvfOptions,
    expected: &Expected,
) -> Option<String> {
    let (visits, summary) = visits(script, model, options);
    let counts = format!("{} leaves, {} reads-from classes", visits.len(), expected.len());
    let wrong = summary_fault(&visits, &summary)
        .or_else(|| leaf_fault(&visits, expected))
        .or_else(|| history_fault(&visits, expected))
        .or_else(|| cover_fault(&visits, expected))?;
    Some(format!("{model}, {options:?}, {counts}: {wrong}"))
}

/// All classes by RF-partSMC, which brute force has confirmed on small programs; none if they are more than
/// `most`.
#[allow(dead_code, reason = "not all tests that share this file need it")]
pub(crate) fn by_reads_from(script: &Script, model: Model, most: u64) -> Option<Expected> {
    let mut expected = Expected::new();
    let mut visit = |leaf: &dyn Leaf| {
        let trace = leaf.trace();
        expected.insert(trace.class(), value_class(&trace));
        Control::Continue
    };
    let limits = Limits { classes: Some(most), ..Limits::default() };
    let mut program = ScriptProgram::new(script);
    let summary = rf_part_smc::explore(&mut program, model, &limits, &mut visit);
    (summary.extent == Extent::All).then_some(expected)
}

fn summary_fault(visits: &[Visit], summary: &Summary) -> Option<String> {
    let counted = (summary.classes + summary.blocked) as usize;
    let is_right = summary.extent == Extent::All && counted == visits.len();
    (!is_right).then(|| format!("{summary:?}"))
}

/// Every leaf is an execution that exists, and no two have the same class.
fn leaf_fault(visits: &[Visit], expected: &Expected) -> Option<String> {
    let mut seen = BTreeSet::new();
    visits.iter().find_map(|visit| {
        let class = visit.trace.class();
        let value_class = value_class(&visit.trace);
        if expected.get(&class) != Some(&value_class) {
            return Some(format!("there is no {class:?}"));
        }
        if !covers(&visit.cover, &class) {
            return Some(format!("{class:?} is not what {:?} says", visit.cover));
        }
        (!seen.insert(value_class)).then(|| format!("{class:?} twice by value"))
    })
}

fn history_fault(visits: &[Visit], expected: &Expected) -> Option<String> {
    let reachable = local_histories(expected.values());
    let classes: Vec<ValueClass> = visits.iter().map(|visit| value_class(&visit.trace)).collect();
    let reached = local_histories(&classes);
    let missing = reachable.difference(&reached).next()?;
    Some(format!("never {missing:?}"))
}

fn cover_fault(visits: &[Visit], expected: &Expected) -> Option<String> {
    expected.keys().find_map(|class| {
        let times = visits.iter().filter(|visit| covers(&visit.cover, class)).count();
        (times != 1).then(|| format!("{times} leaves for {class:?}"))
    })
}
